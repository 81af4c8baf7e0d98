"""Fields of a JSON Schema.

Source: JSON Schema 2020-12, core (`$ref`, `allOf`, `anyOf`, `oneOf`, `properties`) and validation (`type`)
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

from headwater.capture.fields import Field, FieldBudget

_DEEPEST: Final = 16
"""The limit of recursion: schemas may refer to themselves."""
_ANY: Final = "any"


def fields(text: str, referenced: Mapping[str, str]) -> tuple[Field, ...]:
    """The properties of an object; none if the schema has none."""
    root = json.loads(text)
    others = {name: _in_full(json.loads(other), name) for name, other in referenced.items()}
    return _Reader(root, others).nested(root, ())


def breaks(before: str, after: str) -> bool:
    """Whether the type changed other than by widening, narrowed types included.

    A new version may widen a type, for instance from integer to number.
    """
    return not all(any(_takes(new, old) for new in _kinds(after)) for old in _kinds(before))


def _in_full(schema: Any, document: str) -> Any:  # noqa: ANN401  any JSON
    """The schema with its references to itself as references to the document of this name."""
    if isinstance(schema, list):
        return [_in_full(each, document) for each in schema]
    if not isinstance(schema, dict):
        return schema
    full = {key: _in_full(each, document) for key, each in schema.items()}
    if isinstance(reference := schema.get("$ref"), str) and reference.startswith("#"):
        full["$ref"] = document + reference
    return full


def _takes(new: str, old: str) -> bool:
    if new.startswith("array<") and old.startswith("array<"):
        return not breaks(old[6:-1], new[6:-1])
    return new in (old, _ANY) or (new, old) == ("number", "integer") or (new == "array" and old.startswith("array<"))


def _kinds(type_: str) -> Iterator[str]:
    """The alternatives of a type; the content of brackets is part of one."""
    depth, begin = 0, 0
    for index, character in enumerate(type_):
        depth += (character == "<") - (character == ">")
        if character == "|" and not depth:
            yield type_[begin:index]
            begin = index + 1
    yield type_[begin:]


class _Reader:
    def __init__(self, root: object, others: Mapping[str, object]) -> None:
        self._root = root
        self._others = others
        self._budget = FieldBudget()

    def nested(self, schema: object, within: tuple[int, ...]) -> tuple[Field, ...]:
        """The properties of an object, or of objects in an array; recursive objects are not expanded again."""
        plain = self._plain(schema)
        if id(plain) in within or len(within) > _DEEPEST:
            return ()
        properties = self._properties(plain, 0)
        if properties:
            return tuple(
                Field(name, self._type(body, 0), self.nested(body, (*within, id(plain))))
                for name, body in self._budget.taken([*properties.items()])
            )
        return self.nested(plain["items"], (*within, id(plain))) if isinstance(plain.get("items"), dict) else ()

    def _properties(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        found = schema.get("properties")
        properties = dict(found) if isinstance(found, dict) else {}
        for part in schema.get("allOf", ()) if depth < _DEEPEST else ():
            properties |= self._properties(self._plain(part), depth + 1)
        return properties

    def _type(self, schema: object, depth: int) -> str:
        plain = self._plain(schema)
        declared = plain.get("type")
        kinds = {
            str(kind)
            for kind in (declared if isinstance(declared, list) else [declared] if declared is not None else [])
        }
        for choice in self._choices(plain) if depth < _DEEPEST else ():
            kinds |= set(_kinds(self._type(choice, depth + 1)))
        if not kinds and self._properties(plain, 0):
            kinds = {"object"}
        if "array" in kinds and "items" in plain and depth < _DEEPEST:
            kinds = (kinds - {"array"}) | {f"array<{self._type(plain['items'], depth + 1)}>"}
        return "|".join(sorted(kinds - {"null"})) or ("null" if kinds else _ANY)

    @staticmethod
    def _choices(schema: Mapping[str, Any]) -> Iterator[object]:
        if "type" not in schema:
            yield from schema.get("oneOf", ())
            yield from schema.get("anyOf", ())

    def _plain(self, schema: object) -> Mapping[str, Any]:
        """Resolves a reference, a choice between null and one other schema, or a single `allOf`."""
        for _ in range(_DEEPEST):
            match schema:
                case {"$ref": str(reference)}:
                    schema = self._at(reference)
                case {"type": _}:
                    break
                case {"oneOf": [*choices]} | {"anyOf": [*choices]}:
                    others = [each for each in choices if not _is_null(each)]
                    if len(others) != 1:
                        break
                    schema = others[0]
                case {"allOf": [only], **more} if "properties" not in more:
                    schema = only
                case _:
                    break
        return schema if isinstance(schema, dict) else {}

    def _at(self, reference: str) -> object:
        document, _, pointer = reference.partition("#")
        if pointer and not pointer.startswith("/"):  # an anchor
            return None
        node = self._others.get(document) if document else self._root
        for step in unquote(pointer).split("/")[1:]:
            node = node.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(node, dict) else None
        return node


def _is_null(choice: object) -> bool:
    return isinstance(choice, dict) and choice.get("type") == "null"
