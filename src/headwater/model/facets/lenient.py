"""Lenient validation of facets: unreadable members are dropped without affecting the rest."""

import json
from typing import Annotated, Any

from pydantic import Strict
from pydantic_core import CoreConfig, SchemaValidator, core_schema

Exact = Annotated[str, Strict()]
"""Text that identifies the rest, such as a column's name, or decides it, such as a test's status.

No other type is converted to it, and an object with another type in its place is unreadable, even if it is optional.
"""


def as_text(value: object) -> object:
    """A scalar as JSON text; anything else unchanged, including null.

    >>> [as_text(value) for value in ("a", 3600, 1.5, True, None)]
    ['a', '3600', '1.5', 'true', None]
    """
    return json.dumps(value) if isinstance(value, int | float) else value


def scalar_text(value: object) -> str | None:
    """A scalar as JSON text; None for anything else."""
    scalar = as_text(value)
    return scalar if isinstance(scalar, str) else None


def lenient_validator(schema: Any) -> SchemaValidator:  # noqa: ANN401  pydantic's schemas are mappings in mappings
    """A validator that reduces a JSON object to one that the model with this schema accepts, if that is possible.

    Unreadable list items, mapping values and optional members are dropped, and scalars are converted to text where a
    string is expected.
    """
    return SchemaValidator(_lenient(schema))


def _lenient(schema: Any) -> Any:  # noqa: ANN401  as above
    """The lenient form of a schema, or of a part of one, with plain objects in place of models."""
    if isinstance(schema, list):
        return [*map(_lenient, schema)]
    if not isinstance(schema, dict):
        return schema
    match schema:
        case {"type": "model", "schema": {"fields": fields}}:
            members = {field.get("validation_alias", name): _member(field) for name, field in fields.items()}
            config = CoreConfig(strict=True, extra_fields_behavior="allow")
            return core_schema.typed_dict_schema(members, config=config, ref=schema.get("ref"))
        case {"type": "typed-dict-field", "schema": inner, "required": False}:
            return core_schema.typed_dict_field(_left_out(inner), required=False)
        case {"type": "str"} if not _is_exact(schema):
            return core_schema.no_info_before_validator_function(as_text, core_schema.str_schema())
        case {"type": "list", "items_schema": items}:
            return core_schema.list_schema(_left_out(items))
        case {"type": "dict", "values_schema": values}:
            return core_schema.dict_schema(_lenient(schema.get("keys_schema")), _left_out(values))
    return {key: _lenient(value) for key, value in schema.items() if key != "cls"}


def _member(field: Any) -> core_schema.TypedDictField:  # noqa: ANN401  as above
    """A member, dropped if it is unreadable and optional."""
    match field["schema"]:
        case {"type": "default", "schema": {"type": "nullable", "schema": inner} as schema} if _is_exact(inner):
            return core_schema.typed_dict_field(schema, required=False)
        case {"type": "default", "schema": schema}:
            return core_schema.typed_dict_field(_left_out(schema), required=False)
        case schema:
            return core_schema.typed_dict_field(_lenient(schema), required=True)


def _left_out(schema: Any) -> Any:  # noqa: ANN401  as above
    """The lenient form of a part that is dropped if unreadable."""
    return core_schema.with_default_schema(_lenient(schema), on_error="omit")


def _is_exact(schema: Any) -> bool:  # noqa: ANN401  as above
    return schema.get("type") == "str" and schema.get("strict") is True
