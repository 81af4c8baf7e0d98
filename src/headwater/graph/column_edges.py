"""Column edges by the facet that reports them, encoded as integers: 16 bytes an edge, where objects would take 300."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Generic, NamedTuple, TypeVar

from headwater.graph.columns import ColumnEdge, JobUse, Kind, edges_into, job_uses, legacy_transformations
from headwater.model.names import DatasetId
from headwater.model.spelling import normal

ContentReader = Callable[[bytes], Mapping[str, Any]]
"""Reads a facet or declaration by its digest."""
ValueT = TypeVar("ValueT")

WHOLE: Final = -1
"""Stands in place of a column number: every column of the dataset."""
PER_EDGE: Final = 4
"""Integers per edge."""
_NOTHING: Final = array("i")
"""Shared by all facets that have no such entries."""


class Numbered(Generic[ValueT]):
    """Values numbered 0, 1, 2 … in order of arrival: dictionary encoding."""

    def __init__(self) -> None:
        self.by_number: list[ValueT] = []
        self._numbers: dict[ValueT, int] = {}

    def number(self, value: ValueT) -> int:
        """The number of the value, assigned on first use."""
        number = self._numbers.get(value)
        return self._added(value) if number is None else number

    def _added(self, value: ValueT) -> int:
        number = self._numbers[value] = len(self.by_number)
        self.by_number.append(value)
        return number


class NumberedColumns(Numbered[str]):
    """Column names with ids, also looked up ignoring case: engines differ on whether case counts."""

    def __init__(self) -> None:
        super().__init__()
        self._with_capitals: dict[str, list[int]] = {}
        """Ids of names with upper-case letters, by their lower-case form."""

    def in_any_case(self, column: str) -> Iterator[int]:
        """The ids of all names that equal this one when case is ignored."""
        plain = column.lower()
        if plain in self._numbers:
            yield self._numbers[plain]
        yield from self._with_capitals.get(plain, ())

    def _added(self, value: str) -> int:
        number = super()._added(value)
        plain = value.lower()
        if plain != value:
            self._with_capitals.setdefault(plain, []).append(number)
        return number


class Transformation(NamedTuple):
    """The transformation between two columns."""

    kind: Kind
    subtype: str
    masking: bool
    description: str


class LegacyTransformation(NamedTuple):
    """The description and type of a column in the form that preceded `transformations`; either may be empty."""

    description: str
    type: str


class ColumnEdges:
    """The column edges that facets report, read lazily.

    A facet is read when its edges are first requested. `fed_by` needs all facets read; `read_some` reads ahead in small
    batches so that no caller has to wait for many.
    """

    def __init__(self, content: ContentReader) -> None:
        self.datasets: Numbered[DatasetId] = Numbered()
        self.columns = NumberedColumns()
        self.nested: set[int] = set()
        """Ids of nested columns that edges start at."""
        self.transformations: Numbered[Transformation] = Numbered()
        self._legacy_forms: Numbered[LegacyTransformation] = Numbered()
        self._legacy: dict[bytes, array[int]] = {}
        """By facet digest: pairs of column id and legacy id, for the columns that have one."""
        self._job_uses: dict[bytes, tuple[JobUse, ...]] = {}
        self._content = content
        self._unread: dict[tuple[DatasetId, bytes], None] = {}
        self._edges: dict[tuple[DatasetId, bytes], array[int]] = {}
        self._fed_by: dict[DatasetId, set[DatasetId]] = {}
        self.newly_read: dict[DatasetId, None] = {}
        """Targets of facets read or reported since the caller last emptied this; a work queue."""

    def note(self, target: DatasetId, digest: bytes) -> None:
        """Register a facet that reports columns of the target; reporting it again queues the target again."""
        if (target, digest) in self._edges:
            self.newly_read[target] = None
        else:
            self._unread[target, digest] = None

    def read_some(self, at_most: int) -> bool:
        """Read a few facets, newest first. Returns whether more are left."""
        for _ in range(min(at_most, len(self._unread))):
            # From the end: taking from the front of a dict scans past all that was removed there.
            target, digest = self._unread.popitem()[0]
            try:
                self._read(target, digest)
            finally:
                self.note(target, digest)  # stays queued if the read failed
        return bool(self._unread)

    def read_all(self) -> None:
        """Read all remaining facets."""
        while self._unread:
            self.read_some(len(self._unread))

    def fed_by(self, source: DatasetId) -> Iterable[DatasetId]:
        """The datasets that columns of the source flow into, under any spelling; reads all remaining facets."""
        self.read_all()
        return self.known_to_be_fed_by(source)

    def known_to_be_fed_by(self, source: DatasetId) -> Iterable[DatasetId]:
        """As `fed_by`, for the facets read so far."""
        return self._fed_by.get(normal(source), ())

    def numbers(self, target: DatasetId, digest: bytes) -> "array[int]":
        """The edges of a facet, four integers each: target column, source dataset, source column, transformation.

        In the facet's order. The array is shared: do not change it.
        """
        if (target, digest) not in self._edges:
            self._read(target, digest)
        return self._edges[target, digest]

    def quads(self, target: DatasetId, digest: bytes) -> Iterator[tuple[int, int, int, int]]:
        """Each edge as four integers; see `numbers`."""
        numbers = iter(self.numbers(target, digest))
        return zip(numbers, numbers, numbers, numbers, strict=True)

    def sources(self, target: DatasetId, digest: bytes) -> Iterator[DatasetId]:
        """The distinct source datasets of a facet's edges."""
        return map(self.datasets.by_number.__getitem__, {*self.numbers(target, digest)[1::PER_EDGE]})

    def edges(self, target: DatasetId, digest: bytes) -> Iterator[ColumnEdge]:
        """Each edge as an object, in the facet's order."""
        datasets, transformations = self.datasets.by_number, self.transformations.by_number
        for into, source, out_of, how in self.quads(target, digest):
            yield ColumnEdge(self._column(into), datasets[source], self._column(out_of), *transformations[how])

    def legacy_transformations(self, digest: bytes) -> dict[str, LegacyTransformation]:
        """By column, the legacy description and type in the columnLineage facet with this digest."""
        if digest not in self._legacy:
            self._legacy[digest] = self._read_legacy(self._content(digest))
        numbers = iter(self._legacy[digest])
        columns, forms = self.columns.by_number, self._legacy_forms.by_number
        return {columns[column]: forms[transformation] for column, transformation in zip(numbers, numbers, strict=True)}

    def job_uses(self, digest: bytes) -> tuple[JobUse, ...]:
        """The uses by jobs themselves in the `lineage` facet with this digest."""
        if digest not in self._job_uses:
            self._job_uses[digest] = tuple(job_uses(self._content(digest)))
        return self._job_uses[digest]

    def _read_legacy(self, facet: Mapping[str, Any]) -> "array[int]":
        numbers: array[int] = array("i")
        for column, transformation in legacy_transformations(facet):
            numbers.append(self.columns.number(column))
            numbers.append(self._legacy_forms.number(LegacyTransformation(*transformation)))
        return numbers or _NOTHING

    def _column(self, number: int) -> str | None:
        return None if number == WHOLE else self.columns.by_number[number]

    def _read(self, target: DatasetId, digest: bytes) -> None:
        numbers: array[int] = array("i")
        column, dataset, how = self.columns.number, self.datasets.number, self.transformations.number
        facet = self._content(digest)
        if digest not in self._legacy:
            self._legacy[digest] = self._read_legacy(facet)
        for into, source, out_of, kind, subtype, masking, description in edges_into(target, facet):
            numbers.append(WHOLE if into is None else column(into))
            numbers.append(dataset(source))
            numbers.append(WHOLE if out_of is None else column(out_of))
            if out_of is not None and "." in out_of:
                self.nested.add(numbers[-1])
            numbers.append(how(Transformation(kind, subtype, masking, description)))
        self._edges[target, digest] = numbers
        self._unread.pop((target, digest), None)
        self.newly_read[target] = None
        for number in {*numbers[1::PER_EDGE]}:
            source = normal(self.datasets.by_number[number])
            self._fed_by.setdefault(source, set()).add(target)
