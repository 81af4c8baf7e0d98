"""The fields of topics, as the transform `OpenLineageLifecycleSmt` observed them in passing records."""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from headwater.capture.fields import Field, SchemaOf, TopicSchema

_DEEPEST: Final = 32
"""Deeper fields are dropped. The transform reports 12 levels; another writer could exceed what the state holds."""


class Evidence:
    """The schemas of topics: from a registry, else as the transform observed them."""

    def __init__(self, registered: SchemaOf, seen: Mapping[str, TopicSchema]) -> None:
        self._registered = registered
        self.seen = dict(seen)
        """By topic."""

    def schema_of(self, topic: str) -> TopicSchema | None:
        """The topic's schema; None if unknown."""
        return self._registered(topic) or self.seen.get(topic)

    def take(self, value: bytes | None) -> set[str]:
        """Apply an event of the transform; returns the topics whose schema changed."""
        try:
            seen = dict(_topics(orjson.loads(value or b"")))
        except (orjson.JSONDecodeError, LookupError, TypeError, AttributeError):
            return set()
        new = {topic for topic, schema in seen.items() if self.seen.get(topic) != schema}
        self.seen.update(seen)
        return new


def _topics(event: Mapping[str, Any]) -> list[tuple[str, TopicSchema]]:
    datasets = [*event.get("inputs", ()), *event.get("outputs", ())]
    return [
        (dataset["name"], TopicSchema(_fields(dataset["facets"]["schema"]["fields"])))
        for dataset in datasets
        if dataset["namespace"].startswith("kafka://") and "schema" in dataset.get("facets", {})
    ]


def _fields(fields: list[Mapping[str, Any]], depth: int = 0) -> tuple[Field, ...]:
    if depth == _DEEPEST:
        return ()
    return tuple(
        Field(str(each["name"]), str(each.get("type") or ""), _fields(each.get("fields", []), depth + 1))
        for each in fields
    )
