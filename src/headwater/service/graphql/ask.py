"""The state of one query: its objects, and their limit."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any, Final

from graphql import GraphQLError

from headwater.model.merging import Seen, widened
from headwater.model.names import DatasetId
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.knowledge.versions import DatasetVersion, dataset_versions
from headwater.service.shapes import marquez as shapes
from headwater.service.views.namespaces import namespaces
from headwater.service.views.sources import all_sources

MAX_OBJECTS: Final = 10_000
"""Limit on objects per query: types refer to each other, so a short query can reach everything many times."""
ALL: Final = 2**31
"""As the limit of a list: all of it."""
TOO_MANY: Final = "the query reaches more than"
"""The start of the error message for that."""


class Node:
    """An object, whose members are computed only when a query asks for one."""

    def __init__(self, identity: Any, make: Callable[[], Mapping[str, Any]]) -> None:  # noqa: ANN401  one kind a type
        self.id = identity
        self._make = make

    @cached_property
    def shape(self) -> Mapping[str, Any]:
        """Its members by their names in the schema."""
        return self._make()


@dataclass
class Ask:
    """The state of a query."""

    knowledge: Knowledge
    reached: int = field(default=0, init=False)
    _versions: dict[DatasetId, Sequence[DatasetVersion]] = field(default_factory=dict, init=False)
    _columns: dict[DatasetId, Mapping[str, Seen]] = field(default_factory=dict, init=False)

    def node(self, identity: Any, make: Callable[[], Mapping[str, Any]]) -> Node:  # noqa: ANN401  as `Node`
        """An object that the query reaches.

        Raises:
            GraphQLError: it reached too many before.
        """
        self.reached += 1
        if self.reached > MAX_OBJECTS:
            raise GraphQLError(f"{TOO_MANY} {MAX_OBJECTS:,} objects: request less at a time")
        return Node(identity, make)

    def versions(self, name: DatasetId) -> Sequence[DatasetVersion]:
        """The versions of a dataset, newest first, cached per query: a table has one for each commit."""
        if name not in self._versions:
            self._versions[name] = [*dataset_versions(self.knowledge, name)][::-1]
        return self._versions[name]

    def columns(self, name: DatasetId) -> Mapping[str, Seen]:
        """The columns that a dataset ever had: when the first version with each came, and the last to change it.

        A version changes a column that the one before it has not, or has with another type or description.
        """
        if name not in self._columns:
            self._columns[name] = self._times_of_columns(reversed(self.versions(name)))
        return self._columns[name]

    def _times_of_columns(self, oldest_first: Iterable[DatasetVersion]) -> Mapping[str, Seen]:
        times: dict[str, Seen] = {}
        before: Mapping[str, shapes.Field] = {}
        for schema, versions in groupby(oldest_first, key=lambda version: version.shape.schema):
            since_us = next(versions).since_us
            now = {column["name"]: column for column in self.knowledge.facets.fields(schema)}
            for name, column in now.items():
                if column != before.get(name):
                    times[name] = widened(times.get(name), Seen(since_us, since_us))
            before = now
        return times

    @cached_property
    def sources(self) -> Mapping[str, shapes.Source]:
        """The sources by name, cached per query."""
        return all_sources(self.knowledge)

    @cached_property
    def namespaces_by_owner(self) -> Mapping[str, Sequence[shapes.Namespace]]:
        """The namespaces of each owner by name, cached per query."""
        owned: dict[str, list[shapes.Namespace]] = defaultdict(list)
        for each in namespaces(self.knowledge, ALL, 0)["namespaces"]:
            owned[each["ownerName"]].append(each)
        return owned
