"""A facet as far as it can be read: what cannot be counts as not told, and takes nothing else with it."""

import json
from typing import Annotated, Any

from pydantic import Strict
from pydantic_core import CoreConfig, SchemaValidator, core_schema

Exact = Annotated[str, Strict()]
"""Text that says what the rest is about, such as a column's name, or has the last word, such as a test's status.

Nothing else may stand for it, and what has anything else in its place cannot be read, though it need not have it.
"""


def as_text(value: object) -> object:
    """A scalar as JSON writes it; anything else as it came, null as well.

    >>> [as_text(value) for value in ("a", 3600, 1.5, True, None)]
    ['a', '3600', '1.5', 'true', None]
    """
    return json.dumps(value) if isinstance(value, int | float) else value


def sieve(schema: Any) -> SchemaValidator:  # noqa: ANN401  pydantic's schemas are mappings in mappings
    """Makes of a JSON object one that the model with this schema reads, if there is any.

    Items of lists, values of mappings and optional members that cannot be read are left out, and a scalar is taken as
    text where a string is expected.
    """
    return SchemaValidator(_forgiving(schema))


def _forgiving(schema: Any) -> Any:  # noqa: ANN401  as above
    """The schema, or a part of one, of the JSON that the sieve lets through: it has objects where models were."""
    if isinstance(schema, list):
        return [*map(_forgiving, schema)]
    if not isinstance(schema, dict):
        return schema
    match schema:
        case {"type": "model", "schema": {"fields": fields}}:
            members = {field.get("validation_alias", name): _member(field) for name, field in fields.items()}
            config = CoreConfig(strict=True, extra_fields_behavior="allow")
            return core_schema.typed_dict_schema(members, config=config, ref=schema.get("ref"))
        case {"type": "typed-dict-field", "schema": told, "required": False}:
            return core_schema.typed_dict_field(_left_out(told), required=False)
        case {"type": "str"} if not _is_exact(schema):
            return core_schema.no_info_before_validator_function(as_text, core_schema.str_schema())
        case {"type": "list", "items_schema": items}:
            return core_schema.list_schema(_left_out(items))
        case {"type": "dict", "values_schema": values}:
            return core_schema.dict_schema(_forgiving(schema.get("keys_schema")), _left_out(values))
    return {key: _forgiving(value) for key, value in schema.items() if key != "cls"}


def _member(field: Any) -> core_schema.TypedDictField:  # noqa: ANN401  as above
    """A member, which is left out if it cannot be read and need not be there."""
    match field["schema"]:
        case {"type": "default", "schema": {"type": "nullable", "schema": told} as schema} if _is_exact(told):
            return core_schema.typed_dict_field(schema, required=False)
        case {"type": "default", "schema": schema}:
            return core_schema.typed_dict_field(_left_out(schema), required=False)
        case schema:
            return core_schema.typed_dict_field(_forgiving(schema), required=True)


def _left_out(schema: Any) -> Any:  # noqa: ANN401  as above
    """The same of what is left out where it cannot be read."""
    return core_schema.with_default_schema(_forgiving(schema), on_error="omit")


def _is_exact(schema: Any) -> bool:  # noqa: ANN401  as above
    return schema.get("type") == "str" and schema.get("strict") is True
