"""Fields of a Protobuf schema: those of the first message, which is the default type of a record.

Source: Protocol Buffers, language guides of proto2, proto3 and editions; Updating A Message Type
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from headwater.capture.fields import Field, FieldBudget

if TYPE_CHECKING:
    from proto_schema_parser import ast

_KNOWN: Final = {"google.protobuf.Timestamp": "timestamp", "google.type.Date": "date"}
"""Types bundled with every compiler, so that no registry has them; other such types are shown by their full name."""

_ALIKE: Final = (
    {"int32", "uint32", "int64", "uint64", "bool", "enum"},
    {"sint32", "sint64"},
    {"string", "bytes"},
    {"fixed32", "sfixed32"},
    {"fixed64", "sfixed64"},
)
"""Groups of mutually readable types; a number that is too large is truncated, as by a cast."""

_REPEATED_OR_NOT: Final = {"string", "bytes", "struct"}
"""Types of which a reader of a single value takes the last of repeated ones; packed numbers cannot be read so."""


def fields(text: str, referenced: Mapping[str, str]) -> tuple[Field, ...]:
    """The fields of the first message, including those of a `oneof`; none if there is no message."""
    reader = _Reader()
    for other in referenced.values():
        reader.learn(_parsed(other))
    first = reader.learn(_parsed(text))
    return () if first is None else reader.nested(first, ())


def breaks(before: str, after: str) -> bool:
    """Whether a reader compiled with the old type cannot read the new one."""
    old, new = _of_one(before), _of_one(after)
    is_alike = old == new or any({old, new} <= alike for alike in _ALIKE)
    is_relabelled = (old == before) != (new == after)
    return not is_alike or (is_relabelled and not {old, new} <= _REPEATED_OR_NOT)


def _of_one(type_: str) -> str:
    """The element type of a repeated field."""
    return type_.removeprefix("array<").removesuffix(">") if type_.startswith("array<") else type_


def _parsed(text: str) -> "ast.File":
    """The syntax tree.

    Raises:
        ValueError: the text is not valid Protobuf.
    """
    # Imported here: the parser's tables take 29 MB, which a watcher without Protobuf schemas saves.
    from antlr4.error.ErrorListener import ErrorListener
    from proto_schema_parser.parser import Parser

    class _Strict(ErrorListener):  # type: ignore[misc]  # antlr4 has no types
        def syntaxError(self, _recognizer: Any, _symbol: Any, line: int, column: int, *_: Any) -> None:  # noqa: ANN401
            raise ValueError(f"not Protobuf: line {line}, column {column}")

    def strictly(recognizer: Any) -> None:  # noqa: ANN401  a lexer or a parser of ANTLR's
        recognizer.removeErrorListeners()
        recognizer.addErrorListener(_Strict())

    return Parser(setup_lexer=strictly, setup_parser=strictly).parse(text)


class _Reader:
    """Messages and enums of files, by their full names."""

    def __init__(self) -> None:
        self._messages: dict[str, Any] = {}
        self._enums: set[str] = set()
        self._budget = FieldBudget()

    def learn(self, file: "ast.File") -> str | None:
        """Register all declarations of a file; returns the full name of its first message."""
        from proto_schema_parser import ast

        package = next((each.name for each in file.file_elements if isinstance(each, ast.Package)), "")
        named = [*self._declared(file.file_elements, package)]
        return named[0] if named else None

    def _declared(self, elements: list[Any], scope: str) -> Iterator[str]:
        from proto_schema_parser import ast

        for each in elements:
            if isinstance(each, ast.Enum):
                self._enums.add(_within(scope, each.name))
            elif isinstance(each, ast.Message | ast.Group):
                name = _within(scope, each.name)
                self._messages[name] = each
                yield name
                yield from self._declared(each.elements, name)
            elif isinstance(each, ast.OneOf):
                yield from self._declared(each.elements, scope)

    def nested(self, message: str, within: tuple[str, ...]) -> tuple[Field, ...]:
        """The fields of a message; recursive messages are not expanded again."""
        if message in within or message not in self._messages:
            return ()
        members = self._budget.taken([*self._members(self._messages[message].elements)])
        return tuple(self._field(each, message, (*within, message)) for each in members)

    def _members(self, elements: list[Any]) -> Iterator[Any]:
        from proto_schema_parser import ast

        for each in elements:
            if isinstance(each, ast.OneOf):
                yield from self._members(each.elements)
            elif isinstance(each, ast.Field | ast.Group | ast.MapField):
                yield each

    def _field(self, member: Any, scope: str, within: tuple[str, ...]) -> Field:  # noqa: ANN401
        from proto_schema_parser import ast

        if isinstance(member, ast.Group):  # its field has the name in lower case
            fields = self.nested(_within(scope, member.name), within)
            return Field(member.name.lower(), _several("struct", member.cardinality), fields)
        if isinstance(member, ast.MapField):
            name, kind = self._resolved(member.value_type, scope)
            return Field(member.name, f"map<{member.key_type},{kind}>", self.nested(name, within))
        name, kind = self._resolved(member.type, scope)
        return Field(member.name, _several(kind, member.cardinality), self.nested(name, within))

    def _resolved(self, written: str, scope: str) -> tuple[str, str]:
        """The full name of a type, and its displayed name; resolved from the innermost scope outwards."""
        steps = [] if written.startswith(".") else scope.split(".")
        for end in range(len(steps), -1, -1):
            name = _within(".".join(steps[:end]), written.removeprefix("."))
            if name in self._messages:
                return name, "struct"
            if name in self._enums:
                return name, "enum"
        name = written.removeprefix(".")
        return name, _KNOWN.get(name, name)


def _within(scope: str, name: str) -> str:
    return f"{scope}.{name}" if scope else name


def _several(kind: str, cardinality: object) -> str:
    return f"array<{kind}>" if cardinality == "REPEATED" else kind
