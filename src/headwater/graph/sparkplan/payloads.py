"""The fields of a topic's records, where a stream parses them: `from_json`, `from_avro` and the like over `value`.

To its other readers a topic has the columns of its payload, not Kafka's `key` and `value`. So the bytes of its records,
and the struct that is made of them, are inputs with names of their own here; a field of that struct is the field of the
topic, as it is. What is used in any other way is shown as `value`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from headwater.graph.sparkplan.inputs import IDENTITY, TRANSFORMATION, Inputs, Source, merged
from headwater.graph.sparkplan.transformation import Transformation

VALUE: Final = "value"
BYTES: Final = "\0bytes"
"""The column of a topic that is its records as they are."""

_STRUCT: Final = "\0struct"
"""The column of a topic that is its records, parsed."""

Entry = Mapping[str, Any]


def is_topic(relation: Entry) -> bool:
    """Whether a relation of a plan is a stream's topics."""
    return relation.get("sourceName") == "kafka"


def parsed(operands: Sequence[Inputs]) -> Inputs:
    """What a function makes that parses its first operand; a schema and options may follow."""
    origins = _origins(operands[0], BYTES)
    return merged(operands).through(TRANSFORMATION) if origins is None else _columns(origins, _STRUCT, TRANSFORMATION)


def field_of(struct: Inputs, call: Entry, text: Sequence[Entry]) -> Inputs:
    """A field of a struct; `text` is the struct as written."""
    origins, name = _origins(struct, _STRUCT), _name(call, text[0])
    if struct.fields is not None:
        return struct.fields[call["ordinal"]]
    return struct.through(TRANSFORMATION) if origins is None or name is None else _columns(origins, name, IDENTITY)


def shown(column: str) -> str:
    """What the column of a topic is called outside."""
    return VALUE if column in (BYTES, _STRUCT) else column


def _origins(inputs: Inputs, column: str) -> frozenset[int] | None:
    """Of which topics an operand is this column; None where anything else is in it, or aggregates or hides it."""
    found = [(use, sources) for use, sources in inputs.items() if sources]
    is_it = all(
        use in (IDENTITY, TRANSFORMATION) and all(source.column == column for source in sources)
        for use, sources in found
    )
    return frozenset(source.origin for _, sources in found for source in sources) if found and is_it else None


def _columns(origins: frozenset[int], column: str, use: Transformation) -> Inputs:
    return Inputs({use: frozenset(Source(origin, column) for origin in origins)})


def _name(call: Entry, struct: Entry) -> str | None:
    """The field's name as the struct's type has it; who asks for it may write it in another case, or not at all."""
    kind = struct.get("dataType", struct.get("schema"))
    fields = kind.get("fields") if isinstance(kind, dict) else None
    name = fields[call["ordinal"]]["name"] if fields else call.get("name")
    return name if isinstance(name, str) else None
