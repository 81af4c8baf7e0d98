"""Fields of a JSON Schema.

Source: JSON Schema 2020-12, core (`$ref`, `allOf`, `anyOf`, `oneOf`, `properties`) and validation (`type`)
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
        self._chosen: dict[int, set[str]] = {}
        """The types that the choices of a schema allow, each worked out once: choices may refer to each other."""

    def nested(self, schema: object, within: tuple[frozenset[int], ...]) -> tuple[Field, ...]:
        """The properties of an object, or of objects in an array; recursive objects are not expanded again."""
        parts = self._applying(schema)
        itself = frozenset(id(part) for part in parts if "properties" in part or "items" in part)
        if itself in within or len(within) > _DEEPEST:
            return ()
        if properties := _properties(parts):
            return tuple(
                Field(name, self._type(body, 0), self.nested(body, (*within, itself)))
                for name, body in self._budget.taken([*properties.items()])
            )
        items = _items(parts)
        return self.nested(items, (*within, itself)) if isinstance(items, dict) else ()

    def _type(self, schema: object, depth: int) -> str:
        parts = self._applying(schema)
        kinds = next((found for part in parts if (found := self._kinds_of(part, depth))), set[str]())
        if not kinds and _properties(parts):
            kinds = {"object"}
        if "array" in kinds and (items := _items(parts)) is not None and depth < _DEEPEST:
            kinds = (kinds - {"array"}) | {f"array<{self._type(items, depth + 1)}>"}
        return "|".join(sorted(kinds - {"null"})) or ("null" if kinds else _ANY)

    def _kinds_of(self, part: Mapping[str, Any], depth: int) -> set[str]:
        """The types that a schema itself allows; empty if it does not say."""
        declared = part.get("type")
        if declared is not None:
            return {str(kind) for kind in (declared if isinstance(declared, list) else [declared])}
        if id(part) not in self._chosen:
            kinds = self._chosen[id(part)] = set()
            for choices in _choices(part):
                if _only_choice(choices) is None:
                    kinds.update(kind for choice in choices for kind in _kinds(self._type(choice, depth + 1)))
        return self._chosen[id(part)]

    def _applying(self, schema: object) -> list[Mapping[str, Any]]:
        """The schema and those that apply with it: by reference, by `allOf`, or as the only choice beside null."""
        found: dict[int, Mapping[str, Any]] = {}
        waiting = [schema]
        for part in waiting:
            if not isinstance(part, dict) or id(part) in found:
                continue
            found[id(part)] = part
            if isinstance(reference := part.get("$ref"), str):
                waiting.append(self._at(reference))
            waiting.extend(_list(part, "allOf"))
            waiting.extend(_only_choice(choices) for choices in _choices(part))
        return [*found.values()]

    def _at(self, reference: str) -> object:
        document, _, pointer = reference.partition("#")
        if pointer and not pointer.startswith("/"):  # an anchor
            return None
        node = self._others.get(document) if document else self._root
        for step in unquote(pointer).split("/")[1:]:
            node = node.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(node, dict) else None
        return node


def _properties(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """All properties; what several schemas say of one applies together."""
    found: dict[str, Any] = {}
    for part in parts:
        properties = part.get("properties")
        for name, body in (properties if isinstance(properties, dict) else {}).items():
            found[name] = {"allOf": [found[name], body]} if name in found else body
    return found


def _items(parts: Iterable[Mapping[str, Any]]) -> object:
    """What an array contains; None if that is not said."""
    return next((part["items"] for part in parts if "items" in part), None)


def _choices(part: Mapping[str, Any]) -> list[list[object]]:
    return [] if "type" in part else [choices for each in ("oneOf", "anyOf") if (choices := _list(part, each))]


def _only_choice(choices: Sequence[object]) -> object:
    """The only choice beside null; None if there is none, or are several."""
    others = [each for each in choices if not _is_null(each)]
    return others[0] if len(others) == 1 else None


def _list(part: Mapping[str, Any], name: str) -> list[object]:
    found = part.get(name)
    return found if isinstance(found, list) else []


def _is_null(choice: object) -> bool:
    return isinstance(choice, dict) and choice.get("type") == "null"
