"""Facets as they were at a time: if all later reports have the same content, no older one is loaded."""

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from typing import NamedTuple, Protocol

from headwater.graph.lineage import Graph
from headwater.graph.past.lazy import PartlyLoaded
from headwater.graph.past.refolded import CutIdentities, Refolded
from headwater.graph.records import Dataset, Job
from headwater.model.facts import SHAPE_PARTS, Stamped
from headwater.model.names import DatasetId, JobId


class _ToldAlone(NamedTuple):
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

    def are_alone_as_then(self, names: Iterable[DatasetId]) -> bool:
        """Whether each of the names is complete, and is and was its dataset's only name."""
        return self.identities.are_alone_in_both(names)

    def digests_of(self, name: DatasetId) -> dict[str, bytes]:
        """As in `Graph`."""
        told = self._told_alone(name)
        if told is None or not all(map(partial(self._is_alike, told), told.dataset.facets)):
            return super().digests_of(name)
        return {facet: said.content for facet, said in told.dataset.facets.items()}

    def digests_among(self, name: DatasetId, facets: AbstractSet[str]) -> dict[str, bytes]:
        """As in `Graph`."""
        told = self._told_alone(name)
        if told is None:
            return super().digests_among(name, facets)
        known = facets & told.dataset.facets.keys()
        if not all(self._is_alike(told, facet) for facet in known):
            return super().digests_among(name, facets)
        return {facet: told.dataset.facets[facet].content for facet in known}

    def digest_of(self, name: DatasetId, facet: str) -> bytes | None:
        """As in `Graph`."""
        told = self._told_alone(name)
        if told is not None and facet not in told.dataset.facets:
            return None
        if told is None or not self._is_alike(told, facet):
            return super().digest_of(name, facet)
        return told.dataset.facets[facet].content

    def job_digests(self, job: JobId) -> dict[str, bytes]:
        """As in `Graph`."""
        known = self.now.jobs.get(job)
        if known is None or not all(map(partial(self._is_job_alike, job), known.facets)):
            return super().job_digests(job)
        return {name: told.content for name, told in known.facets.items()}

    def job_digest(self, job: JobId, facet: str) -> bytes | None:
        """As in `Graph`."""
        known = self.now.jobs.get(job)
        if known is not None and facet not in known.facets:
            return None
        if known is None or not self._is_job_alike(job, facet):
            return super().job_digest(job, facet)
        return known.facets[facet].content

    def are_facets_alike(self, name: DatasetId, facets: AbstractSet[str]) -> bool:
        """Whether each of these facets of a dataset is unchanged since then; False for one with several names."""
        told = self._told_alone(name)
        if told is None or told.dataset.declared:
            return False
        again = self.again.datasets.get(name)
        if not self._is_named(name) and (again is None or again.observed is None):
            return False  # it was known then only as a source of others
        return all(self._is_alike(told, facet) for facet in facets & told.dataset.facets.keys())

    def is_shape_as_then(self, name: DatasetId) -> bool:
        """For a dataset that is folded again: whether every version known as of then is among the current ones.

        True if what is folded again agrees with all that anybody reported from then on.
        """
        told, again = self._told_alone(name), self.again.datasets[name]
        if told is None or again.observed is None or again.declared_over or told.dataset.declared_over:
            return False
        known = told.dataset.facets.keys() & set(SHAPE_PARTS)
        return all(_says_the_same_since(again.observed.first_us, told.dataset, told.again, part) for part in known)

    def are_job_facets_alike(self, name: JobId, facets: AbstractSet[str]) -> bool:
        """Whether each of these facets of the job is unchanged since then."""
        known = self.now.jobs.get(name)
        return known is not None and all(self._is_job_alike(name, facet) for facet in facets & known.facets.keys())

    def _told_alone(self, name: DatasetId) -> _ToldAlone | None:
        """The current record of a dataset with one name, then and now, that only runs report."""
        dataset, again = self.now.datasets.get(name), self.again.datasets.get(name)
        if dataset is None or not self.are_alone_as_then((name,)):
            return None
        if again is not None and (again.declared or dataset.declared):
            return None
        return _ToldAlone(dataset, {} if again is None else again.facets)

    def _is_alike(self, told: _ToldAlone, facet: str) -> bool:
        """Whether a facet is unchanged since then."""
        return _says_the_same_since(self._until_us, told.dataset, told.again, facet)

    def _is_job_alike(self, name: JobId, facet: str) -> bool:
        again = self.again.jobs.get(name)
        return _says_the_same_since(self._until_us, self.now.jobs[name], {} if again is None else again.facets, facet)

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
            then = {facet: told for facet, told in facets.items() if told.stamp.time_us <= self._until_us}
            return then, {*facets, *facets_again} - then.keys()

        def told_by_then(names: set[str]) -> dict[str, Stamped]:
            told = {**older(names)}
            for facet in names & facets_again.keys():
                told[facet] = max(told.get(facet, facets_again[facet]), facets_again[facet])
            return told

        return PartlyLoaded(as_then, told_by_then)


def _says_the_same_since(time_us: int, now: Job | Dataset, told_again: Mapping[str, Stamped], facet: str) -> bool:
    """Whether every report of a facet since then has the same content, including those folded again."""
    last = now.facets[facet]
    if facet in told_again and told_again[facet].content != last.content:
        return False
    return now.unchanged_since.get(facet, last.stamp.time_us) <= time_us
