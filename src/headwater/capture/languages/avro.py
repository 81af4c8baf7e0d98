"""Fields of an Avro schema.

Source: Apache Avro 1.12 specification, Schema Declaration and Schema Resolution
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from headwater.capture.fields import Field, FieldBudget
from headwater.graph.impact.change import fit

_NAMED: Final = ("record", "error", "enum", "fixed")
_PLAIN: Final = frozenset(
    {*_NAMED, "array", "map", "null", "boolean", "int", "long", "float", "double", "bytes", "string"}
)
_WITHIN: Final = ("type", "items", "values", "fields")


def fields(text: str, referenced: Mapping[str, str]) -> tuple[Field, ...]:
    """The fields of a record, with those of types from other subjects; none if the schema is not a record."""
    reader = _Reader()
    for other in referenced.values():
        reader.learn(json.loads(other), "")
    return reader.nested(reader.learn(json.loads(text), ""), ())


def breaks(before: str, after: str) -> bool:
    """Whether a reader of the old type cannot read the new one: any change but Avro's promotions."""
    return fit(before, after) not in ("same", "promoted")


def _in_full(name: str, namespace: str) -> str:
    return name if "." in name or not namespace else f"{namespace}.{name}"


class _Reader:
    def __init__(self) -> None:
        self._named: dict[str, Any] = {}
        self._budget = FieldBudget()

    def learn(self, schema: Any, namespace: str) -> Any:  # noqa: ANN401  any JSON
        """Register all named types in a schema, at any depth; returns the schema with full names.

        Source: Apache Avro 1.12 specification, Names
        """
        if isinstance(schema, str):
            return schema if schema in _PLAIN else _in_full(schema, namespace)
        if isinstance(schema, list):
            return [self.learn(each, namespace) for each in schema]
        if not isinstance(schema, dict):
            return schema
        known = dict(schema)
        if isinstance(schema.get("name"), str) and schema.get("type") in _NAMED:
            known["name"] = _in_full(schema["name"], schema.get("namespace") or namespace)
            namespace = known["name"].rpartition(".")[0]
            self._named[known["name"]] = known
        known |= {key: self.learn(schema[key], namespace) for key in _WITHIN if key in schema}
        return known

    def nested(self, kind: object, within: tuple[str, ...]) -> tuple[Field, ...]:
        """The fields of a record, or of records in a list or a map; recursive records are not expanded again."""
        match self._plain(kind):
            case {"type": "record", "name": str(name), "fields": [*fields]} if name not in within:
                return tuple(self._field(each, (*within, name)) for each in self._budget.taken(fields))
            case {"type": "array", "items": inner} | {"type": "map", "values": inner}:
                return self.nested(inner, within)
        return ()

    def _field(self, field: Mapping[str, Any], within: tuple[str, ...]) -> Field:
        return Field(field["name"], self._type(field["type"]), self.nested(field["type"], within))

    def _type(self, kind: object) -> str:
        match self._plain(kind):
            case {"logicalType": "decimal", **more}:
                return f"decimal({more.get('precision')},{more.get('scale', 0)})"
            case {"logicalType": str(logical)}:
                return logical
            case {"type": "array", "items": items}:
                return f"array<{self._type(items)}>"
            case {"type": "map", "values": values}:
                return f"map<string,{self._type(values)}>"
            case {"type": "record"}:
                return "struct"
            case {"type": other} | other:
                return "union" if isinstance(other, list) else str(other)
        raise AssertionError("the last case matches everything")

    def _plain(self, kind: object) -> object:
        """Resolves a name, an optional, or a nested type; a union of several types stays one."""
        if isinstance(kind, list):  # a union with null is an optional of the other type
            others = [each for each in kind if each != "null"]
            return self._plain(others[0]) if len(others) == 1 else kind
        if isinstance(kind, str):
            return self._named.get(kind) or self._named.get(kind.rpartition(".")[2], kind)
        if isinstance(kind, dict) and not isinstance(kind.get("type"), str):
            return self._plain(kind.get("type"))
        return kind
