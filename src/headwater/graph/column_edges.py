"""Column edges by the facet that tells of them, kept as numbers: 16 bytes an edge, where objects would take 300."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Generic, NamedTuple, TypeVar

from headwater.graph.columns import ColumnEdge, JobUse, Kind, edges_into, job_uses, said_of_columns
from headwater.model.names import DatasetId
from headwater.model.spelling import normal

ContentReader = Callable[[bytes], Mapping[str, Any]]
"""The facet or declaration with a digest."""
ThingT = TypeVar("ThingT")

WHOLE: Final = -1
"""In the place of a column: every column of the dataset."""
PER_EDGE: Final = 4
"""Numbers that an edge is kept as."""
_NOTHING: Final = array("i")
"""One for all facets that say nothing."""


class Numbered(Generic[ThingT]):
    """Things and the numbers that stand for them: 0, 1, 2 … as they come."""

    def __init__(self) -> None:
        self.things: list[ThingT] = []
        self._numbers: dict[ThingT, int] = {}

    def number(self, thing: ThingT) -> int:
        """The number of the thing, which is new where the thing is."""
        number = self._numbers.get(thing)
        return self._added(thing) if number is None else number

    def _added(self, thing: ThingT) -> int:
        number = self._numbers[thing] = len(self.things)
        self.things.append(thing)
        return number


class NumberedColumns(Numbered[str]):
    """Names of columns; engines differ on whether case counts in them."""

    def __init__(self) -> None:
        """None yet."""
        super().__init__()
        self._with_capitals: dict[str, list[int]] = {}
        """By their lower-case form."""

    def in_any_case(self, column: str) -> Iterator[int]:
        """The numbers of the names that differ from this one in case at most, and of itself where it has one."""
        plain = column.lower()
        if plain in self._numbers:
            yield self._numbers[plain]
        yield from self._with_capitals.get(plain, ())

    def _added(self, thing: str) -> int:
        number = super()._added(thing)
        plain = thing.lower()
        if plain != thing:
            self._with_capitals.setdefault(plain, []).append(number)
        return number


class How(NamedTuple):
    """What was done on the way from column to column."""

    kind: Kind
    subtype: str
    masking: bool
    description: str


class Said(NamedTuple):
    """How a column came to be, as it was told before `transformations` came; either may be empty."""

    description: str
    type: str


class ColumnEdges:
    """What facets tell about the columns of their targets.

    A facet is read when its edges are first asked for, or when somebody asks what a dataset feeds: for that all must
    have been read. `read_some` reads ahead, so that nobody has to wait for many.
    """

    def __init__(self, content: ContentReader) -> None:
        self.datasets: Numbered[DatasetId] = Numbered()
        self.columns = NumberedColumns()
        self.nested: set[int] = set()
        """Columns inside others that edges start at."""
        self.hows: Numbered[How] = Numbered()
        self._sayings: Numbered[Said] = Numbered()
        self._said: dict[bytes, array[int]] = {}
        """By facet: a column, and what is said of it, for each column of which something is."""
        self._job_uses: dict[bytes, tuple[JobUse, ...]] = {}
        self._content = content
        self._unread: dict[tuple[DatasetId, bytes], None] = {}
        self._told: dict[tuple[DatasetId, bytes], array[int]] = {}
        self._fed_by: dict[DatasetId, set[DatasetId]] = {}
        self.newly_read: dict[DatasetId, None] = {}
        """Targets of facets that were read or noted since somebody last took them out of here."""

    def note(self, target: DatasetId, digest: bytes) -> None:
        """There is a facet, with this digest, that tells of the target's columns, be it again or for longer."""
        if (target, digest) in self._told:
            self.newly_read[target] = None
        else:
            self._unread[target, digest] = None

    def read_some(self, at_most: int) -> bool:
        """Read a few facets, those that came last first; says whether more are left."""
        for _ in range(min(at_most, len(self._unread))):
            # Not from the front: a dict walks past all that was taken out there, each time.
            target, digest = self._unread.popitem()[0]
            try:
                self._read(target, digest)
            finally:
                self.note(target, digest)  # where it could not be read
        return bool(self._unread)

    def read_all(self) -> None:
        """Read all facets that are left."""
        while self._unread:
            self.read_some(len(self._unread))

    def fed_by(self, source: DatasetId) -> Iterable[DatasetId]:
        """The datasets into which columns of the source flow, as facets ever said, in whatever spelling."""
        self.read_all()
        return self.known_to_be_fed_by(source)

    def known_to_be_fed_by(self, source: DatasetId) -> Iterable[DatasetId]:
        """The datasets into which columns of the source flow, as far as facets have been read, in whatever spelling."""
        return self._fed_by.get(normal(source), ())

    def numbers(self, target: DatasetId, digest: bytes) -> "array[int]":
        """The edges as numbers, four each: target column, source dataset, source column, what was done.

        They are in the facet's order, and not to be changed.
        """
        if (target, digest) not in self._told:
            self._read(target, digest)
        return self._told[target, digest]

    def quads(self, target: DatasetId, digest: bytes) -> Iterator[tuple[int, int, int, int]]:
        """Each edge as numbers, as they are in `numbers`."""
        numbers = iter(self.numbers(target, digest))
        return zip(numbers, numbers, numbers, numbers, strict=True)

    def sources(self, target: DatasetId, digest: bytes) -> Iterator[DatasetId]:
        """Each dataset that the facet says the target is made from, once."""
        return map(self.datasets.things.__getitem__, {*self.numbers(target, digest)[1::PER_EDGE]})

    def edges(self, target: DatasetId, digest: bytes) -> Iterator[ColumnEdge]:
        """Each edge, in the facet's order."""
        datasets, hows = self.datasets.things, self.hows.things
        for into, source, out_of, how in self.quads(target, digest):
            yield ColumnEdge(self._column(into), datasets[source], self._column(out_of), *hows[how])

    def said(self, digest: bytes) -> dict[str, Said]:
        """What the columnLineage facet with this digest says of columns in words."""
        if digest not in self._said:
            self._said[digest] = self._read_said(self._content(digest))
        numbers = iter(self._said[digest])
        columns, sayings = self.columns.things, self._sayings.things
        return {columns[column]: sayings[said] for column, said in zip(numbers, numbers, strict=True)}

    def job_uses(self, digest: bytes) -> tuple[JobUse, ...]:
        """What jobs use themselves by the `lineage` facet with this digest."""
        if digest not in self._job_uses:
            self._job_uses[digest] = tuple(job_uses(self._content(digest)))
        return self._job_uses[digest]

    def _read_said(self, facet: Mapping[str, Any]) -> "array[int]":
        numbers: array[int] = array("i")
        for column, said in said_of_columns(facet):
            numbers.append(self.columns.number(column))
            numbers.append(self._sayings.number(Said(*said)))
        return numbers or _NOTHING

    def _column(self, number: int) -> str | None:
        return None if number == WHOLE else self.columns.things[number]

    def _read(self, target: DatasetId, digest: bytes) -> None:
        numbers: array[int] = array("i")
        column, dataset, how = self.columns.number, self.datasets.number, self.hows.number
        facet = self._content(digest)
        if digest not in self._said:
            self._said[digest] = self._read_said(facet)
        for into, source, out_of, kind, subtype, masking, description in edges_into(target, facet):
            numbers.append(WHOLE if into is None else column(into))
            numbers.append(dataset(source))
            numbers.append(WHOLE if out_of is None else column(out_of))
            if out_of is not None and "." in out_of:
                self.nested.add(numbers[-1])
            numbers.append(how(How(kind, subtype, masking, description)))
        self._told[target, digest] = numbers
        self._unread.pop((target, digest), None)
        self.newly_read[target] = None
        for number in {*numbers[1::PER_EDGE]}:
            source = normal(self.datasets.things[number])
            self._fed_by.setdefault(source, set()).add(target)
