"""The observed topics of a connector that its properties exclude."""

from collections.abc import Mapping

from headwater.capture.connect.chain import routed_topic
from headwater.capture.connect.java_regex import matches
from headwater.capture.connect.records import Properties, listed


def left_out(properties: Properties, before: Properties, topics: Mapping[str, bool]) -> set[str]:
    """The topics that the properties clearly exclude; `topics` maps each to whether it was excluded before.

    A sink has only the topics that its properties name. For other connectors, a topic is excluded if the old properties
    named it and the new ones do not, since a source need not name its topics at all.
    """
    unnamed = {topic for topic in topics if _names(properties, topic) is False}
    if _is_sink(properties):
        return unnamed
    return {topic for topic in unnamed if topics[topic] or _names(before, topic)}


def _is_sink(properties: Properties) -> bool:
    """Whether the class's name says that it is a sink; Connect requires every sink to name its topics."""
    return "Sink" in properties.get("connector.class", "").rpartition(".")[2]


def _names(properties: Properties, topic: str) -> bool | None:
    """Whether the properties name the topic, in a list, by a pattern or a prefix, or alone; None if unknown."""
    alone, prefix = properties.get("topic"), properties.get("topic.prefix")
    routed = routed_topic(properties, alone) if alone else None
    if topic in listed(properties.get("topics")) or (prefix and topic.startswith(prefix)) or topic == routed:
        return True
    if alone and routed is None:
        return None
    pattern = properties.get("topics.regex")
    return False if pattern is None else matches(pattern, topic)
