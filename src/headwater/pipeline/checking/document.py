"""YAML text → a tree of nodes with their positions.

Scalars follow the core schema of YAML 1.2: `yes`, `no`, `on` and `off` are text, so that `on:` can be a key. Tags,
several documents, duplicate keys and non-scalar keys are refused: no pipeline needs them, and each is a trap.

Source: YAML 1.2.2, section 10.3.2, https://yaml.org/spec/1.2.2/#1032-tag-resolution
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from headwater.pipeline.checking.problems import Mark, Path, Problem

_DEEPEST = 32
_MOST_NODES = 20_000  # also limits the expansion of nested aliases
_LONGEST_TEXT = 1_000_000

_NULL = re.compile(r"|~|null|Null|NULL")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_INT = re.compile(r"[-+]?[0-9]{1,19}", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]{1,3})?", re.ASCII)

PlainValue = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value as written.

    Attributes:
        plain: whether it has no quotes, so that it may be a number, a boolean or null.
        block: whether it is a `|` block, whose text starts on the line after the mark.
    """

    text: str
    mark: Mark
    plain: bool = True
    block: bool = False

    @property
    def value(self) -> PlainValue:
        """The value of the text in YAML's core schema."""
        if not self.plain:
            return self.text
        if _NULL.fullmatch(self.text):
            return None
        if _BOOL.fullmatch(self.text):
            return self.text.lower() == "true"
        if _INT.fullmatch(self.text):
            return int(self.text)
        return float(self.text) if _FLOAT.fullmatch(self.text) else self.text


@dataclass(frozen=True, slots=True)
class Items:
    """A YAML list: its items as nodes, in order, and its position."""

    nodes: tuple["Node", ...]
    mark: Mark


@dataclass(frozen=True, slots=True)
class Fields:
    """A YAML mapping: its values as nodes by their unique keys, and the position of each key."""

    nodes: dict[str, "Node"]
    keys: dict[str, Mark]
    mark: Mark


Node = Scalar | Items | Fields


def read_document(text: str) -> tuple[Node, tuple[Problem, ...]]:
    """Read one YAML document.

    Returns:
        The root (an empty scalar for an empty document), and the problems of the YAML itself.
    """
    builder = _Builder(text)
    try:
        return builder.document(), tuple(builder.problems)
    except _Unreadable as unreadable:
        return Scalar("", Mark(1, 1)), (*builder.problems, unreadable.problem)


def node_at(root: Node, path: Path) -> Node:
    """The node at a path, or the deepest existing one on it."""
    node = root
    for step in path:
        match node:
            case Fields(nodes) if step in nodes:
                node = nodes[step]
            case Items(nodes) if step.isdecimal() and int(step) < len(nodes):
                node = nodes[int(step)]
            case _:
                return node
    return node


def scalars(node: Node, path: Path = ()) -> Iterator[tuple[Path, Scalar]]:
    """Every scalar under a node with its path, in the file's order."""
    match node:
        case Scalar():
            yield path, node
        case Items(nodes):
            for index, item in enumerate(nodes):
                yield from scalars(item, (*path, str(index)))
        case Fields(nodes):
            for key, value in nodes.items():
                yield from scalars(value, (*path, key))


class _Unreadable(Exception):
    def __init__(self, problem: Problem) -> None:
        self.problem = problem


class _Builder:
    """Builds the tree from PyYAML's events: its own composer recurses without limit and drops duplicate keys."""

    def __init__(self, text: str) -> None:
        self.problems: list[Problem] = []
        self._text = text
        starts = (found.end() for found in re.finditer(r"\r\n|\r|\n", text))
        self._line_starts = [0, *(start for start in starts if start < len(text))]
        self._events = self._parsed()
        self._anchors: dict[str, tuple[Node, int]] = {}
        self._size = 0

    def document(self) -> Node:
        if len(self._text) > _LONGEST_TEXT:
            raise _Unreadable(Problem(Mark(1, 1), (), f"expected at most {_LONGEST_TEXT:,} characters"))
        next(self._events)  # the stream's start
        if isinstance(next(self._events), yaml.StreamEndEvent):
            return Scalar("", Mark(1, 1))
        root = self._node(next(self._events), (), 0)
        next(self._events)  # the document's end
        after = next(self._events)
        if not isinstance(after, yaml.StreamEndEvent):
            raise self._unreadable(after, (), "expected one document, found a second one")
        return root

    def _parsed(self) -> Iterator[yaml.Event]:
        try:
            yield from yaml.parse(self._text, Loader=yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            found = error.problem_mark or error.context_mark
            mark = self._mark(found.index) if found else Mark(1, 1)
            what = ", ".join(part for part in (error.context, error.problem) if part)
            if found and self._text[: found.index + 1].endswith("${"):
                what += "; within [] and {}, put text with ${…} in quotes"
            raise _Unreadable(Problem(mark, (), f"not YAML: {what}")) from error
        except yaml.reader.ReaderError as error:
            what = f"character U+{int(error.character):04X} is not allowed"
            raise _Unreadable(Problem(self._mark(error.position), (), f"not YAML: {what}")) from error
        except (ValueError, OverflowError) as error:  # PyYAML passes an escape beyond U+10FFFF to chr()
            raise _Unreadable(Problem(Mark(1, 1), (), f"not YAML: {error}")) from error

    def _node(self, event: yaml.Event, path: Path, depth: int) -> Node:
        size_before, self._size = self._size, self._size + 1
        if depth > _DEEPEST or self._size > _MOST_NODES:
            raise self._unreadable(event, path[:3], f"expected at most {_DEEPEST} levels and {_MOST_NODES:,} values")
        if getattr(event, "tag", None):
            self._complain(event, path, "expected no YAML tag")
        node = self._node_of(event, path, depth)
        anchor = getattr(event, "anchor", None)
        if anchor and not isinstance(event, yaml.AliasEvent):
            self._anchors[anchor] = (node, self._size - size_before)
        return node

    def _node_of(self, event: yaml.Event, path: Path, depth: int) -> Node:
        match event:
            case yaml.ScalarEvent():
                return self._scalar(event, path)
            case yaml.SequenceStartEvent():
                return Items(tuple(self._items(path, depth)), self._mark_of(event))
            case yaml.MappingStartEvent():
                return self._fields(event, path, depth)
            case yaml.AliasEvent(anchor=anchor) if anchor in self._anchors:
                node, size = self._anchors[anchor]
                self._size += size
                return node
            case _:
                raise self._unreadable(event, path, "expected an alias of an anchor defined before it")

    def _scalar(self, event: yaml.ScalarEvent, path: Path) -> Scalar:
        mark = self._mark_of(event)
        if any("\ud800" <= character <= "\udfff" for character in event.value):
            self._complain(event, path, "expected text, found half of a surrogate pair")
        return Scalar(event.value, mark, plain=event.style is None, block=event.style == "|")

    def _items(self, path: Path, depth: int) -> Iterator[Node]:
        for index, event in enumerate(self._events):
            if isinstance(event, yaml.SequenceEndEvent):
                return
            yield self._node(event, (*path, str(index)), depth + 1)

    def _fields(self, start: yaml.Event, path: Path, depth: int) -> Fields:
        fields = Fields({}, {}, self._mark_of(start))
        for event in self._events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key = self._node(event, path, depth + 1)
            if not isinstance(key, Scalar):
                raise self._unreadable(event, path, "expected a key that is a single value")
            here = (*path, key.text)
            if key.text in fields.nodes:
                self._complain(event, here, f"duplicate key, first in line {fields.keys[key.text].line}")
            fields.keys[key.text] = self._mark_of(event)
            fields.nodes[key.text] = self._node(next(self._events), here, depth + 1)
        return fields

    def _mark(self, index: int) -> Mark:
        line = bisect_right(self._line_starts, index)
        return Mark(line, index - self._line_starts[line - 1] + 1)

    def _mark_of(self, event: yaml.Event) -> Mark:
        return self._mark(event.start_mark.index if event.start_mark else 0)

    def _complain(self, event: yaml.Event, path: Path, message: str) -> None:
        self.problems.append(Problem(self._mark_of(event), path, message))

    def _unreadable(self, event: yaml.Event, path: Path, message: str) -> _Unreadable:
        return _Unreadable(Problem(self._mark_of(event), path, message))
