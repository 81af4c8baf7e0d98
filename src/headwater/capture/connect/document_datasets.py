"""Document indexes and collections that connectors read or write."""

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from headwater.capture.connect.datasets import DatasetsByTopic, ExternalDataset
from headwater.capture.connect.records import Properties, listed
from headwater.model.names import DatasetId


def elasticsearch(properties: Properties, topics: Sequence[str]) -> DatasetsByTopic:
    """The index or data stream of each topic."""
    first = urlsplit(next(iter(listed(properties.get("connection.url"))), ""))
    if not first.hostname:
        return {}
    if properties.get("external.resource.usage", "DISABLED").upper() != "DISABLED":
        return {}
    namespace, name = f"elasticsearch://{first.hostname}:{first.port or 9200}", "${topic}"
    if (kind := properties.get("data.stream.type", "NONE")).upper() != "NONE":
        of, within = properties.get("data.stream.dataset", ""), properties.get("data.stream.namespace", "${topic}")
        name = f"{kind}-{of}-{within}"
    names = {topic: name.replace("${topic}", topic).lower() for topic in topics}
    return {topic: [ExternalDataset(DatasetId(namespace, index), "INDEX")] for topic, index in names.items()}


def mongodb_sink(properties: Properties, topics: Sequence[str]) -> DatasetsByTopic:
    """The collection of each topic."""
    namespace = mongodb_server(properties.get("connection.uri", ""))
    if not namespace or not properties.get("namespace.mapper", _MONGODB_MAPPER).endswith(_MONGODB_MAPPER):
        return {}
    found: dict[str, list[ExternalDataset]] = {}
    for topic in topics:
        own = f"topic.override.{topic}."
        database = properties.get(f"{own}database") or properties.get("database")
        collection = properties.get(f"{own}collection") or properties.get("collection") or topic
        if database:
            found[topic] = [ExternalDataset(DatasetId(namespace, f"{database}.{collection}"), "COLLECTION")]
    return found


_MONGODB_MAPPER: Final = "DefaultNamespaceMapper"
"""The mapper that takes database and collection from settings, not from fields of a record."""


def mongodb_source(properties: Properties, topics: Sequence[str]) -> DatasetsByTopic:
    """The collection of each topic."""
    namespace = mongodb_server(properties.get("connection.uri", ""))
    separator = properties.get("topic.separator", ".")
    lead, tail = properties.get("topic.prefix", ""), properties.get("topic.suffix", "")
    lead, tail = lead and f"{lead}{separator}", tail and f"{separator}{tail}"
    found: dict[str, list[ExternalDataset]] = {}
    if not namespace or properties.get("topic.namespace.map") or properties.get("topic.mapper"):
        return found
    for topic in topics:
        parts = topic.removeprefix(lead).removesuffix(tail).split(separator, 1)
        if len(parts) == 2 and topic.startswith(lead) and topic.endswith(tail):
            found[topic] = [ExternalDataset(DatasetId(namespace, ".".join(parts)), "COLLECTION")]
    return found


def mongodb_server(uri: str) -> str:
    """The namespace of a connection string's first host; empty if it is none."""
    hosts = re.fullmatch(r"mongodb(?:\+srv)?://(?:[^@/]*@)?(?P<hosts>[^/?@]+).*", uri)
    if hosts is None:
        return ""
    first = hosts["hosts"].split(",")[0].lower()
    return f"mongodb://{first if ':' in first else f'{first}:27017'}"
