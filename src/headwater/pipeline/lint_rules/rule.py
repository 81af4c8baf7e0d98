"""The types of lint rules, and their input."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from headwater.pipeline.checking.document import Node, Scalar, node_at
from headwater.pipeline.checking.problems import Path
from headwater.pipeline.spec import PipelineSpec, SourceLocation


@dataclass(frozen=True, slots=True)
class Subject:
    """A valid pipeline file.

    Attributes:
        written: its tree before `${…}` is expanded.
    """

    spec: PipelineSpec
    written: Node

    def line(self, path: Path, line_in_text: int = 1) -> int:
        """The line of the value at a path; within a `|` block, of a line of its text."""
        return self.begins(path) + (line_in_text if self.is_block(path) else 0)

    def begins(self, path: Path) -> int:
        """The line in which the value at a path begins; for a `|` block, that of the `|`."""
        return node_at(self.written, path).mark.line

    def is_block(self, path: Path) -> bool:
        """Whether the value at a path is a `|` block."""
        node = node_at(self.written, path)
        return isinstance(node, Scalar) and node.block


class Hit(NamedTuple):
    """A violation of a rule; `line_in_text` is the line within the value at the path."""

    path: Path
    message: str
    line_in_text: int = 1


Hits = Iterator[Hit]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        id: `HW` and three digits, never reused once a rule is removed.
        title: the finding, in a few words.
        reason: why it is a problem.
        mend: what to write instead.
        find: returns the violations, in any order.
    """

    id: str
    title: str
    reason: str
    mend: str
    find: Callable[[Subject], Hits]


def path_of(location: SourceLocation, *below: str) -> Path:
    """The key path of an input, processor or output; its steps have no dots."""
    return (*location.path.split("."), *below)
