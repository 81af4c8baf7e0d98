"""Which columns are restricted: those with the tag RESTRICTED, added over the API or reported in a `tags` facet."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from headwater.model.facts import Edit, Fact, ObservedFacet, Stamped
from headwater.model.names import DatasetId, JobId
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.knowledge.touched import Touched

TAG: Final = "restricted"
"""Compared without case; over the API, column tags are upper case."""
_FACET: Final = "tags"


class _Report(NamedTuple):
    """A `tags` facet of a dataset, and the run that reported it."""

    stamped: Stamped
    run_id: str


class Restricted:
    """The names of restricted columns, as of now: a read of the past shows no more than one of today.

    A column is restricted while the newest report of any reporter says so: a job whose runs touch its dataset, a
    declaration, or people. So no reporter can lift another's restriction; each can withdraw its own.
    """

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._reports: dict[DatasetId, dict[str, Stamped]] = defaultdict(dict)
        """The newest `tags` facet by exact dataset name and run."""
        self._newest: dict[DatasetId, dict[JobId | None, _Report]] = defaultdict(dict)
        """The newest of these by the job that the run belongs to."""
        self._restricted: dict[DatasetId, frozenset[str]] = {}
        """The columns restricted now, for datasets with any."""
        self._in: dict[bytes, frozenset[str]] = {}
        """The restricted columns by facet digest."""
        self.names: frozenset[str] = frozenset()

    def load(self) -> None:
        """Initialise from the graph."""
        for run_id, name, report in self._knowledge.store.all_reported(_FACET):
            self._note(run_id, name, report)
            self._count(run_id, name)
        for name in {*self._knowledge.graph.datasets, *self._reports}:
            self._look_at(name)
        self._look()

    def learned(self, facts: Sequence[Fact], touched: Touched) -> None:
        """Update from an event or edit, after the graph learned it."""
        names = {*self._knowledge.graph.members_of_all(touched.datasets)}
        for fact in facts:
            if isinstance(fact, ObservedFacet) and fact.name == _FACET and fact.is_of_dataset:
                self._note(fact.run_id, fact.dataset, fact.stamped)
        names.update(self._placed(touched.run))
        if any([self._look_at(name) for name in names]) or any(
            isinstance(fact, Edit) and fact.target[0] == "field" for fact in facts
        ):
            self._look()

    def _note(self, run_id: str, name: DatasetId, report: Stamped) -> None:
        reports = self._reports[name]
        reports[run_id] = max(reports.get(run_id, report), report)

    def _placed(self, run_id: str | None) -> set[DatasetId]:
        """Count a run's reports for the job that it belongs to now; returns the names that they are about."""
        run = None if run_id is None else self._knowledge.graph.runs.get(run_id)
        if run_id is None or run is None:
            return set()
        names = {name for _, name in run.observed if run_id in self._reports.get(name, ())}
        for name in names:
            self._withdraw(run_id, name)
            self._count(run_id, name)
        return names

    def _withdraw(self, run_id: str, name: DatasetId) -> None:
        """Find the newest reports again of jobs that the run does not belong to any more."""
        job_of, newest, reports = self._knowledge.graph.job_of, self._newest[name], self._reports[name]
        for former in [job for job, each in newest.items() if each.run_id == run_id and job != job_of(run_id)]:
            del newest[former]
            for other in [other for other in reports if job_of(other) == former]:
                self._count(other, name)

    def _count(self, run_id: str, name: DatasetId) -> None:
        job, newest = self._knowledge.graph.job_of(run_id), self._newest[name]
        report = _Report(self._reports[name][run_id], run_id)
        newest[job] = max(newest.get(job, report), report)

    def _look_at(self, name: DatasetId) -> bool:
        """Update what is restricted of a dataset, under this very name; returns whether that changed."""
        known = self._knowledge.graph.datasets.get(name)
        declared = () if known is None else (each.facets.get(_FACET) for each in known.declared.values())
        reports = (*(each.stamped for each in self._newest.get(name, {}).values()), *filter(None, declared))
        columns = frozenset[str]().union(*(self._restricted_in(each.content) for each in reports))
        before = self._restricted.pop(name, frozenset())
        if columns:
            self._restricted[name] = columns
        return columns != before

    def _restricted_in(self, digest: bytes) -> frozenset[str]:
        if digest not in self._in:
            self._in[digest] = frozenset(_in_facet(self._knowledge.store.content(digest)))
        return self._in[digest]

    def _look(self) -> None:
        edits = self._knowledge.graph.edits
        tagged = {
            target[3] for target in edits.targets("field") if any(tag.casefold() == TAG for tag in edits.tags(target))
        }
        columns = tagged.union(*self._restricted.values())
        self.names = frozenset(name for column in columns for name in (column, _last_step(column)))


def _last_step(column: str) -> str:
    """The name of a nested column within its parent: `ssn` of `person.ssn`."""
    return column.rpartition(".")[2] or column


def _in_facet(facet: Mapping[str, Any]) -> Iterator[str]:
    """The columns that a `tags` facet restricts.

    Source: https://openlineage.io/spec/facets/1-0-0/TagsDatasetFacet.json
    """
    tags = facet.get("tags")
    for tag in tags if isinstance(tags, list) else ():
        match tag:
            case {"key": str(key), "field": str(column)} if column and key.casefold() == TAG:
                if str(tag.get("value", "true")).casefold() != "false":
                    yield column
