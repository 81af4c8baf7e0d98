"""Problems of a pipeline file, with their positions."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

Path = tuple[str, ...]
Complaints = Iterator[tuple[Path, str]]
"""The paths of keys, relative to a rule's subject, and what is wrong with each."""


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """The position of a node: line and column from 1.

    Attributes:
        setting: the `--set` key that set it, if any; line and column are those of the replaced node.
    """

    line: int
    column: int
    setting: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One problem; sorts by position in the file."""

    mark: Mark
    path: Path
    message: str

    def text(self, file: str) -> str:
        """One line: `orders.yaml:12:5: output.iceberg.mode: expected …`."""
        where = f"--set {self.mark.setting}" if self.mark.setting else f"{file}:{self.mark.line}:{self.mark.column}"
        return one_line(": ".join(filter(None, (where, dotted(self.path), self.message))))


def one_line(text: str) -> str:
    """The text with non-printable characters escaped, since keys and names come from the file unchanged."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def dotted(path: Path) -> str:
    """A path as people write it, also in `--set`; a step with a dot or a quote is quoted.

    >>> dotted(("spark", "spark.sql.shuffle.partitions"))
    'spark."spark.sql.shuffle.partitions"'
    """
    return ".".join(step if re.fullmatch(r'[^."\s]+', step) else f'"{step}"' for step in path)


def nearest(wrong: str, known: Sequence[str]) -> str:
    """`, did you mean 'x'?`, or an empty text."""
    close = get_close_matches(wrong, known, n=1)
    return f", did you mean {close[0]!r}?" if close else ""
