"""Nodes that may have changed since a time although no event since mentions them."""

from collections.abc import Iterator
from itertools import chain

from headwater.graph.past.cut import CutGraph
from headwater.graph.past.last_changes import jobs_reported_by
from headwater.model.names import DatasetId, JobId
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.past.unchanged import Unchanged


class IndirectChanges:
    """Finds jobs and datasets that may differ between then and now, without an event since that mentions them."""

    def __init__(self, cut: CutGraph, now: Knowledge, unchanged: Unchanged) -> None:
        self._cut = cut
        self._now = now
        self._unchanged = unchanged

    def jobs(self) -> Iterator[JobId]:
        """The jobs that may have changed.

        Jobs whose datasets have several names, or whose runs are named by others, are recognised by their tallies.
        """
        yield from self._cut.again.jobs
        runs = (self._now.graph.runs.get(run_id) for run_id in self._cut.again.runs)  # may belong to another job now
        yield from (job for run in runs if run is not None for job, _ in jobs_reported_by(run))
        wholes = (self._cut.again.child_runs, self._cut.again.runs, self._now.graph.misnamed)
        yield from (job for run_id in chain(*wholes) for job in self._now.graph.child_runs.get(run_id, ()))
        yield from (JobId(*names) for kind, *names in self._unchanged.edited if kind == "job")
        for name in self._names():
            if (dataset := self._now.graph.datasets.get(name)) is not None:
                yield from dataset.readers | dataset.writers

    def datasets(self) -> Iterator[DatasetId]:
        """The datasets that may have changed, or have had other shown names."""
        yield from self._cut.identities.joined()
        yield from self._now.graph.identities.joined()
        yield from self.datasets_but_joined()

    def datasets_but_joined(self) -> Iterator[DatasetId]:
        """The same, without those that are included only because they have, or had, several names."""
        yield from self._cut.again.datasets
        yield from map(self._cut.shown, self._cut.identities.loose)  # others may have joined them since
        for name in self._names():
            yield name
            yield self._cut.shown(name)
            yield self._now.graph.shown(name)
            yield from map(self._now.graph.shown, self._cut.column_edges.known_to_be_fed_by(name))

    def _names(self) -> Iterator[DatasetId]:
        """Names of datasets that had other names and were folded again, and of datasets edited since."""
        yield from (name for name in self._cut.again.datasets if not self._cut.is_alone_as_then(name))
        yield from (DatasetId(*names) for kind, *names in self._unchanged.edited if kind == "dataset")
