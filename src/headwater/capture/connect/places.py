"""What lies on the other side of a topic, named as whoever writes there names it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from headwater.capture.connect.records import Properties
from headwater.model.names import DatasetId


class Catalog(NamedTuple):
    """The catalog that knows a table, and by which name."""

    type: str
    name: str
    table: str
    uri: str | None
    warehouse: str | None


class Place(NamedTuple):
    """A dataset on the other side of a topic."""

    id: DatasetId
    type: str = "TABLE"
    symlinks: tuple[DatasetId, ...] = ()
    catalog: Catalog | None = None


Places = Mapping[str, Sequence[Place]]
"""By topic."""
Finder = Callable[[Properties, Sequence[str]], Places]
"""Gives, by a connector's properties and the topics that were observed, what lies on the other side of each topic."""


def all_at(topics: Iterable[str], found: Sequence[Place]) -> Places:
    """The same places for each of the topics."""
    return {topic: found for topic in topics}
