"""What a lint rule is, and what it is given."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from headwater.pipeline.checking.document import Node, Scalar, node_at
from headwater.pipeline.checking.problems import Path
from headwater.pipeline.spec import PipelineSpec, Place


@dataclass(frozen=True, slots=True)
class Subject:
    """A pipeline file that checks.

    Attributes:
        written: its tree as it is written, before `${…}` is put in.
    """

    spec: PipelineSpec
    written: Node

    def line(self, path: Path, line_in_text: int = 1) -> int:
        """The line of what stands at a path; within a `|` block, of a line of its text."""
        return self.begins(path) + (line_in_text if self.is_block(path) else 0)

    def begins(self, path: Path) -> int:
        """The line in which what stands at a path begins; of a `|` block, that of the `|`."""
        return node_at(self.written, path).mark.line

    def is_block(self, path: Path) -> bool:
        """Whether a `|` block stands at a path."""
        node = node_at(self.written, path)
        return isinstance(node, Scalar) and node.block


class Hit(NamedTuple):
    """A place where a rule is broken; `line_in_text` is within the value at the path."""

    path: Path
    message: str
    line_in_text: int = 1


Hits = Iterator[Hit]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        id: `HW` and three digits, never given again once a rule is gone.
        title: what is found, in a few words.
        reason: what goes wrong where it is left.
        mend: what to write instead.
        find: gives the places, in any order.
    """

    id: str
    title: str
    reason: str
    mend: str
    find: Callable[[Subject], Hits]


def path_of(place: Place, *below: str) -> Path:
    """The key path of an input, processor or output; none of their steps holds a dot."""
    return (*place.path.split("."), *below)
