"""The places that a walk may reach, and the edges that start at them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from headwater.graph.column_edges import WHOLE, NumberedColumns
from headwater.graph.structs import lies_in, structs_of
from headwater.model.names import ColumnId, DatasetId, JobId, called, namesakes

Kind = Literal["column", "dataset", "job"]


class Place:
    """A column, dataset or job in a walk: one object for each within a walk, compared by identity."""

    __slots__ = ("called", "column", "distance", "kind", "order", "owner")

    def __init__(self, kind: Kind, owner: DatasetId | JobId, column: str = "") -> None:
        self.kind = kind
        self.owner = owner
        """The job or dataset; for a column its dataset."""
        self.called = owner.name
        """The owner's name for a sentence; with its namespace where another one that was reached has that name."""
        self.column = column
        self.order = (kind, *owner, column)
        self.distance = 0
        """In jobs from the start."""

    @property
    def name(self) -> ColumnId | DatasetId | JobId:
        """The id of the column, dataset or job."""
        return ColumnId(DatasetId(*self.owner), self.column) if self.kind == "column" else self.owner

    @property
    def node_id(self) -> str:
        """The node id, as in the API."""
        return self.name.node_id


def tell_apart(places: Iterable[Place]) -> None:
    """Call places by namespace and name where several jobs, or several datasets, have one name."""
    every = [*places]
    alike = namesakes(place.owner for place in every)
    for place in every:
        place.called = called(place.owner, alike)


class ReachedPlaces:
    """The places of one dataset that the walk has reached."""

    def __init__(self, fronts: Sequence[Place], columns: NumberedColumns, is_in_schema: Callable[[str], bool]) -> None:
        self.first = fronts[0]
        self._whole = [place for place in fronts if place.kind == "dataset"]
        self._is_in_schema = is_in_schema
        self._columns: dict[str, list[Place]] = {}
        self._inside: dict[str, list[Place]] = {}
        """Structs around the reached columns, both in lower case."""
        for place in fronts:
            if place.kind == "column":
                plain = place.column.lower()
                self._columns.setdefault(plain, []).append(place)
                for outer in structs_of(plain):
                    self._inside.setdefault(outer, []).append(place)
        names = (*self._columns, *self._inside)
        self.numbers = None if self._whole else {WHOLE, *(each for name in names for each in columns.in_any_case(name))}
        """Column ids at which relevant edges may start, except nested columns; None: any column."""

    def origins(self, source_column: str | None) -> list[Place]:
        """The reached places from which an edge starts that reads this column, a struct around it or a field in it.

        None reads all columns. Case is ignored unless the schema has both spellings.
        """
        if self._whole or source_column is None:
            return self._whole or [self.first]
        plain = source_column.lower()
        near = self._columns.get(plain, [])
        if "." in plain or plain in self._inside:  # rare
            outer = [place for name in structs_of(plain) for place in self._columns.get(name, ())]
            near = [*near, *outer, *self._inside.get(plain, ())]
        return [place for place in near if overlap(place.column, source_column) or self._may_be(place, source_column)]

    def _may_be(self, place: Place, source_column: str) -> bool:
        """Whether a column read in another case may be the place's."""
        return not (self._is_in_schema(source_column) and self._is_in_schema(place.column))


def overlap(one: str, other: str) -> bool:
    """Whether two columns are the same, or one is nested in the other."""
    return one == other or lies_in(one, other) or lies_in(other, one)
