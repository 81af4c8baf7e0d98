"""The interface to the store of past runs that the walk to a root cause uses."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from headwater.graph.causes.record import (
    DeclaredSchemaChange,
    FailedCheck,
    LifecycleChange,
    Record,
    ReportedSchemaChange,
    RunSummary,
)
from headwater.graph.flow import Value
from headwater.model.facts import ParentRun
from headwater.model.names import DatasetId, JobId
from headwater.model.times import AFTER_ALL_US

ColumnsOf = Mapping[DatasetId, frozenset[str]]
"""Columns by dataset."""


class History(Protocol):
    """Runs and what they reported; datasets by their shown names."""

    def runs_of(self, job: JobId, until_us: int = AFTER_ALL_US) -> Sequence[RunSummary]:
        """The runs of a job that began by then and have events, newest first; only the newest if there are many."""

    def ended_in(self, job: JobId, after_us: int, until_us: int, *, has_failed: bool) -> Iterator[RunSummary]:
        """The runs of a job that ended in that interval (exclusive, inclusive) and have events, latest start first.

        Either the failed or the successful ones; only the newest if there are very many.
        """

    def begun_since(self, job: JobId, at_us: int) -> Iterator[RunSummary]:
        """The runs of a job that began then or later and have events, earliest start first."""

    def begun_between(self, job: JobId, after_us: int, until_us: int) -> Sequence[str]:
        """The ids of the runs of a job that began in that interval (exclusive, inclusive), latest start first.

        There may be very many; none is read.
        """

    def summary(self, run_id: str) -> RunSummary | None:
        """The run, or None if it has no events of its own."""

    def record(self, run_id: str) -> Record:
        """A run that was returned as a summary, with its facets."""

    def record_then(self, run_id: str, until_us: int) -> Record:
        """A run as reported by that time, with its state then; it had begun."""

    def writers(self, name: DatasetId) -> Sequence[JobId]:
        """The jobs that write a dataset, by name."""

    def readers(self, name: DatasetId) -> Sequence[JobId]:
        """The jobs that read a dataset, by name."""

    def givers(self, job: JobId) -> Sequence[JobId]:
        """The jobs that hand data to a job without a dataset between, by name."""

    def named_givers(self, run_id: str) -> Mapping[JobId, Sequence[RunSummary]]:
        """The runs reported to hand data to a run, by job; only those with events, newest first."""

    def made_from(self, name: DatasetId) -> Sequence[DatasetId]:
        """The sources of a dataset that is made without a run, such as a view: its readers read these.

        Includes the inputs of jobs that are declared to write it and never ran, such as a dashboard's query.
        """

    def made_by(self, run_id: str, name: DatasetId) -> AbstractSet[DatasetId] | None:
        """The sources that a run reports for a dataset; None: it reports none, so all its inputs count."""

    def values_made_by(self, run_id: str, name: DatasetId) -> Mapping[str, frozenset[Value]] | None:
        """By column of the dataset, what a run reports its values are taken from; None: it reports no columns."""

    def parts(self, run_id: str) -> Sequence[RunSummary]:
        """The descendant runs of a run, oldest first.

        Of each job the newest that has events, and those that failed and were not superseded.
        """

    def parents(self, run_id: str) -> Sequence[ParentRun]:
        """The ancestor runs of a run, nearest first, without those that have no events."""

    def versions_written(self, run_ids: Sequence[str], name: DatasetId) -> Mapping[str, frozenset[str]]:
        """For each run, the versions of the dataset that it reports as written; runs without any may be missing."""

    def sources(self, name: DatasetId, columns: frozenset[str]) -> ColumnsOf | None:
        """The source columns of these columns, direct or indirect; None where they are not reported."""

    def declared_schema_changes(self, name: DatasetId) -> Sequence[DeclaredSchemaChange]:
        """The changes of a dataset's declared schema, as from a registry, oldest first."""

    def declared_lifecycle_changes(self, name: DatasetId) -> Sequence[LifecycleChange]:
        """The dataset's lifecycle changes that were last declared without a run, in no order."""

    def has_only_changed_places(self, name: DatasetId, dropped_us: int) -> bool:
        """Whether the drop only removed one of the dataset's names, and it remained under another."""

    def reported_schema_changes(self, run_id: str) -> Sequence[ReportedSchemaChange]:
        """The changes of its inputs' and outputs' columns that a run reported while it ran, in no order."""

    def failed_checks_while_running(self, run_id: str) -> Sequence[FailedCheck]:
        """The failed expectations that a run reported while it ran, oldest first."""

    def is_stream(self, job: JobId) -> bool:
        """Whether the job runs continuously."""

    def silence_us(self, job: JobId) -> int:
        """The longest time that a running stream may be silent."""

    def asked_us(self) -> int:
        """The time of the question; events may be later, where a producer's clock is ahead."""


def writes_of(history: History, name: DatasetId, until_us: int) -> Iterator[RunSummary]:
    """The runs that wrote a dataset and began by then, by the jobs that write it now; of each job only the newest."""
    return (run for job in history.writers(name) for run in history.runs_of(job, until_us) if name in run.writes)


def runs_before(history: History, run: RunSummary) -> Iterator[RunSummary]:
    """The runs of the same job that began before this one, newest first."""
    return (each for each in history.runs_of(run.job, run.started_us) if each.began < run.began)
