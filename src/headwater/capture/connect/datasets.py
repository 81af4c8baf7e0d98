"""The dataset on the other side of a topic, under the name that other writers give it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from headwater.capture.connect.records import Properties
from headwater.model.names import DatasetId


class Catalog(NamedTuple):
    """A table's catalog, and the table's name there."""

    type: str
    name: str
    table: str
    uri: str | None
    warehouse: str | None


class ExternalDataset(NamedTuple):
    """An external dataset that a connector copies to or from a topic."""

    id: DatasetId
    type: str = "TABLE"
    symlinks: tuple[DatasetId, ...] = ()
    catalog: Catalog | None = None


DatasetsByTopic = Mapping[str, Sequence[ExternalDataset]]
"""External datasets by topic."""
DatasetFinder = Callable[[Properties, Sequence[str]], DatasetsByTopic]
"""Finds the external datasets of each topic, by a connector's properties and the observed topics."""


def for_all_topics(topics: Iterable[str], found: Sequence[ExternalDataset]) -> DatasetsByTopic:
    """The same datasets for each of the topics."""
    return {topic: found for topic in topics}
