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


class Place(NamedTuple):
    """An external dataset that a connector copies to or from a topic."""

    id: DatasetId
    type: str = "TABLE"
    symlinks: tuple[DatasetId, ...] = ()
    catalog: Catalog | None = None


Places = Mapping[str, Sequence[Place]]
"""Places by topic."""
Finder = Callable[[Properties, Sequence[str]], Places]
"""Finds the places of each topic, by a connector's properties and the observed topics."""


def all_at(topics: Iterable[str], found: Sequence[Place]) -> Places:
    """The same places for each of the topics."""
    return {topic: found for topic in topics}
