"""What the transform `OpenLineageLifecycleSmt` saw of records on their way: the fields of topics."""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from headwater.capture.fields import Field, SchemaOf, TopicSchema

_DEEPEST: Final = 32
"""The transform tells 12 levels; whoever else writes into its topic may tell more than can be kept on disk."""


class Evidence:
    """The schemas of topics: as a registry has them, else as they were seen on the way."""

    def __init__(self, registered: SchemaOf, seen: Mapping[str, TopicSchema]) -> None:
        self._registered = registered
        self.seen = dict(seen)
        """By topic."""

    def schema_of(self, topic: str) -> TopicSchema | None:
        """The topic's schema, as far as it is known."""
        return self._registered(topic) or self.seen.get(topic)

    def take(self, value: bytes | None) -> set[str]:
        """Take an event of the transform; gives the topics of which it says anything new."""
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
