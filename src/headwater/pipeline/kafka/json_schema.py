"""Versions of a JSON Schema as columns: one set that can read the records of every version.

Source: https://json-schema.org/draft/2020-12/json-schema-core and -validation, as far as they name types
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from headwater.errors import IncompatibleSchemaError, InvalidInputError
from headwater.pipeline.kafka.registry import Version
from headwater.pipeline.tables import quoted_column

_TYPES: Final = {"string": "STRING", "integer": "BIGINT", "number": "DOUBLE", "boolean": "BOOLEAN"}
_ANYTHING: Final = "STRING"
"""The type of values without a single type, which are kept as JSON text."""


def columns_of(versions: Sequence[Version]) -> str:
    """The columns of all versions with their types, as in SQL; a field that only some versions have is null elsewhere.

    Raises:
        IncompatibleSchemaError: a field changed its type.
        InvalidInputError: the subject's schema is not an object.
    """
    found: dict[str, tuple[str, Version]] = {}
    for version in versions:
        for name, kind in _columns(version).items():
            known, before = found.get(name, (kind, version))
            if known != kind:
                raise IncompatibleSchemaError(
                    f"{version.subject}: version {version.number} cannot follow version {before.number}:"
                    f" TYPE_MISMATCH at /properties/{name} ({known} is now {kind})"
                )
            found[name] = (kind, version)
    return ", ".join(f"{quoted_column(name)} {kind}" for name, (kind, _) in found.items())


def _columns(version: Version) -> Mapping[str, str]:
    schema = json.loads(version.schema)
    if not (isinstance(schema, dict) and schema.get("type") == "object" and schema.get("properties")):
        raise InvalidInputError(f"{version.subject} version {version.number}: expected a JSON Schema of an object")
    return {name: _type(property_) for name, property_ in schema["properties"].items()}


def _type(schema: Any) -> str:  # noqa: ANN401  (JSON)
    """The SQL type; a union with null is just the other type, since every column is nullable."""
    if not isinstance(schema, dict):
        return _ANYTHING
    for key in ("oneOf", "anyOf"):
        choices = [choice for choice in schema.get(key, ()) if choice != {"type": "null"}]
        if choices:
            return _type(choices[0]) if len(choices) == 1 else _ANYTHING
    kinds = schema.get("type")
    named = [kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if kind != "null"]
    match named:
        case ["object"] if schema.get("properties"):
            fields = (f"{quoted_column(name)}: {_type(field)}" for name, field in schema["properties"].items())
            return f"STRUCT<{', '.join(fields)}>"
        case ["array"]:
            return f"ARRAY<{_type(schema.get('items'))}>"
        case [str(kind)]:
            return _TYPES.get(kind, _ANYTHING)
        case _:
            return _ANYTHING
