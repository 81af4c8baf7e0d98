"""Which topics a connector's properties name, and which of those that it has had to do with they leave to it."""

import re
from collections.abc import Mapping

from headwater.capture.connect.chain import routed_topic
from headwater.capture.connect.records import Properties, listed


def left_out(properties: Properties, before: Properties, topics: Mapping[str, bool]) -> set[str]:
    """Those of the topics that the properties plainly exclude; each topic with whether it was left out before.

    A sink has no topics but those that it names. Of any other connector, those are excluded that the properties of
    before had named, and these do not: what a source writes need not be named at all.
    """
    unnamed = {topic for topic in topics if _names(properties, topic) is False}
    if _is_sink(properties):
        return unnamed
    return {topic for topic in unnamed if topics[topic] or _names(before, topic)}


def _is_sink(properties: Properties) -> bool:
    """Whether the class is called one; Connect asks every sink to name its topics."""
    return "Sink" in properties.get("connector.class", "").rpartition(".")[2]


def _names(properties: Properties, topic: str) -> bool | None:
    """Whether they name the topic: in a list, by a pattern or a prefix, or alone; None if that cannot be known."""
    alone, prefix = properties.get("topic"), properties.get("topic.prefix")
    routed = routed_topic(properties, alone) if alone else None
    if topic in listed(properties.get("topics")) or (prefix and topic.startswith(prefix)) or topic == routed:
        return True
    if alone and routed is None:
        return None
    return _matches(properties.get("topics.regex"), topic)


def _matches(pattern: str | None, topic: str) -> bool | None:
    try:
        return pattern is not None and re.fullmatch(pattern, topic) is not None
    except re.error:  # Java's are a little different
        return None
