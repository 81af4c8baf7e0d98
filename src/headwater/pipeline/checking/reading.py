"""A node → a value of a type, driven by the type: dataclasses, Literals, tuples, mappings and the terms of `terms`.

Types are strict: the number 5 is not text, "5" is not a number. Two shorthands save a level: a dataclass whose only
required field is text may be written as that text (`filter: price > 0`), and one without required fields may be left
empty (`stdout:`).
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from os.path import normpath
from pathlib import Path as FilePath
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from headwater.observe.local_url import local_url
from headwater.pipeline.checking.credentials import shown
from headwater.pipeline.checking.document import Fields, Items, Node, Scalar
from headwater.pipeline.checking.problems import Mark, Path, Problem, nearest
from headwater.pipeline.terms import JDBC_URL, LOCATION, Term

_EXPECTED = {str: "text", bool: "true or false", int: "a whole number"}
_FOUND = {str: "", bool: "the truth value ", int: "the number ", float: "the number "}


class Invalid:
    """Stands for a value that could not be read; the problem is already reported."""


INVALID: Final = Invalid()


@dataclass(frozen=True, slots=True)
class Schema:
    """The keys of a mapping: their types, and which are required."""

    types: Mapping[str, Any]
    required: frozenset[str]

    @property
    def shorthand(self) -> str | None:
        """The field that a bare text sets; None if there is no such shorthand."""
        only = next(iter(self.required), "")
        return only if len(self.required) == 1 and _is_text(self.types[only]) else None


@cache
def schema_of(record: type) -> Schema:
    """The keys of a dataclass."""
    required = {each.name for each in fields(record) if each.default is MISSING and each.default_factory is MISSING}
    return Schema(get_type_hints(record, include_extras=True), frozenset(required))


def located(text: str, directory: FilePath) -> str:
    """A URI unchanged, or a local path made absolute against a directory."""
    return text if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:/", text) else normpath(directory / text)


class Reader:
    """Reads nodes as typed values, and collects all problems in `problems`.

    Args:
        directory: the base of local paths.
    """

    def __init__(self, directory: FilePath) -> None:
        self.problems: list[Problem] = []
        self._directory = directory

    def read(self, node: Node, expected: Any, path: Path) -> Any:  # noqa: ANN401  (the type comes in as a value)
        """The node as a value of the expected type, or INVALID."""
        arguments = get_args(expected)
        match get_origin(expected):
            case origin if origin is Annotated:
                return self._term(node, arguments[1], path)
            case origin if origin is Literal:
                return self._choice(node, arguments, path)
            case origin if origin in (Union, UnionType):  # Annotated[…] | None is a typing.Union
                return self._optional(node, arguments, path)
            case origin if origin is tuple:
                return self._items(node, arguments[0], path)
            case origin if origin is Mapping:
                return self._mapping(node, arguments[1], path)
        return self._record(node, expected, path) if is_dataclass(expected) else self._plain(node, expected, path)

    def read_fields(self, node: Fields, schema: Schema, path: Path, also: Collection[str] = ()) -> dict[str, Any]:
        """The values of the present keys, or INVALID; unknown and missing keys are reported.

        Args:
            node: the mapping.
            schema: its keys.
            path: its path in the file.
            also: further keys, which the caller reads itself.
        """
        known = [*schema.types, *also]
        for key in node.nodes.keys() - set(known):
            close = nearest(key, known) or f", expected one of {', '.join(sorted(known))}"
            self.report(node.keys[key], (*path, key), f"unknown key{close}")
        for key in schema.required - node.nodes.keys():
            self.report(node.mark, path, f"missing key {key!r}")
        types = {key: schema.types[key] for key in node.nodes if key in schema.types}
        return {key: self.read(node.nodes[key], expected, (*path, key)) for key, expected in types.items()}

    def expected(self, what: str, node: Node, path: Path, hint: str = "") -> Invalid:
        """Report that something else was expected here."""
        self.report(node.mark, path, f"expected {what}, found {_found(node, path)}{hint}")
        return INVALID

    def report(self, mark: Mark, path: Path, message: str) -> None:
        """Report a problem."""
        self.problems.append(Problem(mark, path, message))

    def _term(self, node: Node, term: Term, path: Path) -> object:
        if not isinstance(node, Scalar):
            return self.expected(term.expected, node, path)
        try:
            value = term.read(node.value)
        except ValueError:
            return self.expected(term.expected, node, path)
        if term is JDBC_URL:
            return local_url(str(value), self._directory)
        return located(str(value), self._directory) if term is LOCATION else value

    def _choice(self, node: Node, choices: tuple[str, ...], path: Path) -> object:
        if isinstance(node, Scalar) and node.value in choices:
            return node.value
        hint = nearest(node.text, choices) if isinstance(node, Scalar) else ""
        return self.expected(" or ".join(choices), node, path, hint)

    def _optional(self, node: Node, choices: tuple[Any, ...], path: Path) -> object:
        if isinstance(node, Scalar) and node.value is None:
            return None
        return self.read(node, next(choice for choice in choices if choice is not NoneType), path)

    def _items(self, node: Node, expected: object, path: Path) -> object:
        if not isinstance(node, Items):
            return self.expected("a list", node, path)
        values = tuple(self.read(item, expected, (*path, str(index))) for index, item in enumerate(node.nodes))
        return INVALID if INVALID in values else values

    def _mapping(self, node: Node, expected: object, path: Path) -> object:
        if not isinstance(node, Fields):
            return self.expected("a mapping", node, path)
        read = self._option if expected is str else self.read
        values = {key: read(value, expected, (*path, key)) for key, value in node.nodes.items()}
        return INVALID if INVALID in values.values() else values

    def _option(self, node: Node, _: object, path: Path) -> object:
        if not isinstance(node, Scalar) or node.value is None:
            return self.expected("text, a number, true or false", node, path)
        return node.text.lower() if isinstance(node.value, bool) else node.text

    def _record(self, node: Node, record: Any, path: Path) -> object:  # noqa: ANN401
        schema = schema_of(record)
        if isinstance(node, Scalar):
            if node.value is None and not schema.required:
                return record()
            if schema.shorthand and node.value is not None:
                value = self.read(node, schema.types[schema.shorthand], path)
                return INVALID if value is INVALID else record(**{schema.shorthand: value})
        if not isinstance(node, Fields):
            return self.expected(f"a mapping with {_keys(schema)}", node, path)
        values = self.read_fields(node, schema, path)
        complete = INVALID not in values.values() and schema.required <= values.keys()
        return record(**values) if complete else INVALID

    def _plain(self, node: Node, expected: type, path: Path) -> object:
        if expected is object:
            return plain(node)
        if isinstance(node, Scalar) and type(node.value) is expected:
            return node.value
        return self.expected(_EXPECTED[expected], node, path)


def plain(node: Node) -> object:
    """The node as plain values, lists and dicts."""
    match node:
        case Scalar():
            return node.value
        case Items(nodes):
            return [plain(item) for item in nodes]
        case Fields(nodes):
            return {key: plain(value) for key, value in nodes.items()}


def _is_text(expected: object) -> bool:
    return get_origin(expected) in (Annotated, Literal) and (get_args(expected) or (None,))[0] is str


def _keys(schema: Schema) -> str:
    return ", ".join(sorted(schema.required) or sorted(schema.types))


def _found(node: Node, path: Path) -> str:
    match node:
        case Items():
            return "a list"
        case Fields():
            return "a mapping"
        case Scalar(value=None):
            return "nothing"
        case Scalar(text, value=value):
            return _FOUND[type(value)] + shown(path, text)
