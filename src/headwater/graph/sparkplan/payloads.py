"""The fields of a topic's records, if a stream parses them: `from_json`, `from_avro` and the like over `value`.

In lineage, a topic's columns are the fields of its payload, not Kafka's `key` and `value`. So the bytes of its records,
and the struct that is parsed from them, have internal column names here, and a field of that struct is an identity of
the topic's field. Any other use of the bytes or the struct is reported as `value`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from headwater.graph.sparkplan.inputs import IDENTITY, TRANSFORMATION, Inputs, Source, merged
from headwater.graph.sparkplan.transformation import Transformation

VALUE: Final = "value"
BYTES: Final = "\0bytes"
"""Internal column name: the raw bytes of a topic's records."""

_STRUCT: Final = "\0struct"
"""Internal column name: a topic's records, parsed."""

Entry = Mapping[str, Any]


def is_topic(relation: Entry) -> bool:
    """Whether a relation is a streaming read of Kafka topics."""
    return relation.get("sourceName") == "kafka"


def parsed(operands: Sequence[Inputs]) -> Inputs:
    """The inputs of a parsing function: its first operand is the bytes; a schema and options may follow."""
    origins = _origins(operands[0], BYTES)
    return merged(operands).through(TRANSFORMATION) if origins is None else _columns(origins, _STRUCT, TRANSFORMATION)


def field_of(struct: Inputs, call: Entry, expression: Sequence[Entry]) -> Inputs:
    """The inputs of a field of a struct; `expression` is the struct's."""
    origins, name = _origins(struct, _STRUCT), _name(call, expression[0])
    if struct.fields is not None:
        return struct.fields[call["ordinal"]]
    return struct.through(TRANSFORMATION) if origins is None or name is None else _columns(origins, name, IDENTITY)


def public_column(column: str) -> str:
    """The reported name of a topic's column."""
    return VALUE if column in (BYTES, _STRUCT) else column


def _origins(inputs: Inputs, column: str) -> frozenset[int] | None:
    """The topics of which the operand is this column; None if it has other inputs, or aggregates or masks it."""
    found = [(use, sources) for use, sources in inputs.items() if sources]
    is_column = all(
        use in (IDENTITY, TRANSFORMATION) and all(source.column == column for source in sources)
        for use, sources in found
    )
    return frozenset(source.origin for _, sources in found for source in sources) if found and is_column else None


def _columns(origins: frozenset[int], column: str, use: Transformation) -> Inputs:
    return Inputs({use: frozenset(Source(origin, column) for origin in origins)})


def _name(call: Entry, struct: Entry) -> str | None:
    """The field's name in the struct's type; the expression's own may be missing, or differ in case."""
    kind = struct.get("dataType", struct.get("schema"))
    fields = kind.get("fields") if isinstance(kind, dict) else None
    name = fields[call["ordinal"]]["name"] if fields else call.get("name")
    return name if isinstance(name, str) else None
