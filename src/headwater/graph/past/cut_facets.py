"""Facets as they were at a time: if all later reports have the same content, no older one is loaded."""

from collections.abc import Callable, Collection, Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from typing import NamedTuple, Protocol

from headwater.graph.lineage import Graph
from headwater.graph.past.lazy import PartlyLoaded
from headwater.graph.past.refolded import CutIdentities, Refolded
from headwater.graph.records import Dataset, Job, settled_us
from headwater.model.facts import SHAPE_PARTS, Stamped
from headwater.model.names import DatasetId, JobId


class _SimpleRecord(NamedTuple):
    """A current dataset, and those of its facets that are folded again."""

    dataset: Dataset
    again: Mapping[str, Stamped]


class Older(Protocol):
    """Loads reports from before then that were superseded since."""

    def job_facets(self, job: JobId, names: set[str]) -> Mapping[str, Stamped]:
        """The newest by then of the job's facets with these names; those not reported by then are left out."""

    def dataset_facets(self, name: DatasetId, names: set[str]) -> Mapping[str, Stamped]:
        """As `job_facets`, for a dataset's facets that runs reported under this exact name."""


class CutFacets(Graph):
    """Facet digests as of a time, from the current graph and the part that is folded again."""

    def __init__(self, now: Graph, until_us: int, older: Older) -> None:
        super().__init__(now.content, now.column_edges)
        self.now = now
        self._until_us = until_us
        self._older = older
        self.again = Refolded(now.content, now.column_edges)
        self.semantic_digests = now.semantic_digests
        self.identities: CutIdentities = CutIdentities(now.identities, self._is_named)
        self.again.identities = self.identities

    def is_alone_as_then(self, name: DatasetId) -> bool:
        """Whether the name is complete, and is and was its dataset's only name."""
        return self.identities.is_alone_in_both(name)

    def are_alone_as_then(self, names: Collection[DatasetId]) -> bool:
        """Whether this holds for each of the names."""
        return self.identities.are_alone_in_both(names)

    def digests_of(self, name: DatasetId) -> dict[str, bytes]:
        """As in `Graph`."""
        record = self._simple_record(name)
        if record is None or not all(map(partial(self._is_unchanged, record), record.dataset.facets)):
            return super().digests_of(name)
        return {facet: stamped.content for facet, stamped in record.dataset.facets.items()}

    def digests_among(self, name: DatasetId, facets: AbstractSet[str]) -> dict[str, bytes]:
        """As in `Graph`."""
        record = self._simple_record(name)
        if record is None:
            return super().digests_among(name, facets)
        known = facets & record.dataset.facets.keys()
        if not all(self._is_unchanged(record, facet) for facet in known):
            return super().digests_among(name, facets)
        return {facet: record.dataset.facets[facet].content for facet in known}

    def digest_of(self, name: DatasetId, facet: str) -> bytes | None:
        """As in `Graph`."""
        record = self._simple_record(name)
        if record is not None and facet not in record.dataset.facets:
            return None
        if record is None or not self._is_unchanged(record, facet):
            return super().digest_of(name, facet)
        return record.dataset.facets[facet].content

    def is_settled_since(self, name: DatasetId, facet: str, time_us: int) -> bool:
        """As in `Graph`."""
        record, again = self._simple_record(name), self.again.datasets.get(name)
        if record is None or record.dataset.was_declared or (again is not None and again.was_declared):
            return False
        return facet in record.dataset.facets and _is_unchanged_since(time_us, record.dataset, record.again, facet)

    def job_digests(self, job: JobId) -> dict[str, bytes]:
        """As in `Graph`."""
        known = self.now.jobs.get(job)
        if known is None or not all(map(partial(self._is_job_unchanged, job), known.facets)):
            return super().job_digests(job)
        return {name: stamped.content for name, stamped in known.facets.items()}

    def job_digest(self, job: JobId, facet: str) -> bytes | None:
        """As in `Graph`."""
        known = self.now.jobs.get(job)
        if known is not None and facet not in known.facets:
            return None
        if known is None or not self._is_job_unchanged(job, facet):
            return super().job_digest(job, facet)
        return known.facets[facet].content

    def are_facets_alike(self, name: DatasetId, facets: AbstractSet[str]) -> bool:
        """Whether each of these facets of a dataset is unchanged since then; False for one with several names."""
        record = self._simple_record(name)
        if record is None or record.dataset.declared:
            return False
        again = self.again.datasets.get(name)
        if not self._is_named(name) and (again is None or again.observed is None):
            return False  # it was known then only as a source of others
        return all(self._is_unchanged(record, facet) for facet in facets & record.dataset.facets.keys())

    def is_shape_as_then(self, name: DatasetId) -> bool:
        """For a dataset that is folded again: whether every version known as of then is among the current ones.

        True if what is folded again agrees with every report from then on.
        """
        record, again = self._simple_record(name), self.again.datasets[name]
        if record is None or again.observed is None or again.declared_over or record.dataset.declared_over:
            return False
        known = record.dataset.facets.keys() & set(SHAPE_PARTS)
        return all(_is_unchanged_since(again.observed.first_us, record.dataset, record.again, part) for part in known)

    def are_job_facets_alike(self, name: JobId, facets: AbstractSet[str]) -> bool:
        """Whether each of these facets of the job is unchanged since then."""
        known = self.now.jobs.get(name)
        return known is not None and all(self._is_job_unchanged(name, facet) for facet in facets & known.facets.keys())

    def _simple_record(self, name: DatasetId) -> _SimpleRecord | None:
        """The current record of a dataset with one name, then and now, that only runs report."""
        dataset, again = self.now.datasets.get(name), self.again.datasets.get(name)
        if dataset is None or not self.is_alone_as_then(name):
            return None
        if again is not None and (again.declared or dataset.declared):
            return None
        return _SimpleRecord(dataset, {} if again is None else again.facets)

    def _is_unchanged(self, record: _SimpleRecord, facet: str) -> bool:
        """Whether a facet is unchanged since then."""
        return _is_unchanged_since(self._until_us, record.dataset, record.again, facet)

    def _is_job_unchanged(self, name: JobId, facet: str) -> bool:
        again = self.again.jobs.get(name)
        return _is_unchanged_since(self._until_us, self.now.jobs[name], {} if again is None else again.facets, facet)

    def _is_named(self, name: DatasetId) -> bool:
        """Whether an unchanged run used the name by then."""
        dataset = self.now.datasets.get(name)
        return dataset is not None and dataset.observed is not None and dataset.observed.first_us <= self._until_us

    def _job_facets(self, name: JobId) -> PartlyLoaded[Stamped]:
        known, again = self.now.jobs.get(name), self.again.jobs.get(name)
        return self._facets(known, again, partial(self._older.job_facets, name))

    def _dataset_facets(self, name: DatasetId) -> PartlyLoaded[Stamped]:
        known, again = self.now.datasets.get(name), self.again.datasets.get(name)
        return self._facets(known, again, partial(self._older.dataset_facets, name))

    def _facets(
        self,
        known: Job | Dataset | None,
        again: Job | Dataset | None,
        older: Callable[[set[str]], Mapping[str, Stamped]],
    ) -> PartlyLoaded[Stamped]:
        """The facets as of then: known ones from `now`, others loaded on demand."""
        facets, facets_again = ({} if each is None else each.facets for each in (known, again))

        def as_then() -> tuple[dict[str, Stamped], set[str]]:
            then = {facet: stamped for facet, stamped in facets.items() if stamped.stamp.time_us <= self._until_us}
            return then, {*facets, *facets_again} - then.keys()

        def loaded(names: set[str]) -> dict[str, Stamped]:
            newest = {**older(names)}
            for facet in names & facets_again.keys():
                newest[facet] = max(newest.get(facet, facets_again[facet]), facets_again[facet])
            return newest

        return PartlyLoaded(as_then, loaded)


def _is_unchanged_since(time_us: int, now: Job | Dataset, again: Mapping[str, Stamped], facet: str) -> bool:
    """Whether every report of a facet since then has the same content, including those folded again."""
    last = now.facets[facet]
    if facet in again and again[facet].content != last.content:
        return False
    return settled_us(now, facet) <= time_us
