"""What the walk to a root cause asks of whoever keeps the past."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from headwater.graph.causes.record import DoneToAll, FailedCheck, Outline, Record, Retold, SchemaNews
from headwater.model.facts import ParentRun
from headwater.model.names import DatasetId, JobId

ColumnsOf = Mapping[DatasetId, frozenset[str]]
"""Columns by dataset."""


class History(Protocol):
    """Runs and what they told; datasets go by their shown names."""

    def runs_of(self, job: JobId) -> Sequence[Outline]:
        """The runs of a job that spoke themselves, newest first; of many the newest only."""

    def ended_in(self, job: JobId, after_us: int, until_us: int, *, has_failed: bool) -> Iterator[Outline]:
        """The runs of a job that spoke themselves and ended after one time and by another, latest begun first.

        Either those that failed or those that went well; where very many ran then, the newest of these only.
        """

    def begun_since(self, job: JobId, at_us: int) -> Iterator[Outline]:
        """The runs of a job that spoke themselves and began then or later, the first of them first."""

    def record(self, run_id: str) -> Record:
        """A run that `runs_of` told of, with its facets."""

    def record_then(self, run_id: str, until_us: int) -> Record:
        """What a run had told by a time, and how it stood then; it had begun."""

    def writers(self, name: DatasetId) -> Sequence[JobId]:
        """The jobs that write a dataset, by name."""

    def readers(self, name: DatasetId) -> Sequence[JobId]:
        """The jobs that read a dataset, by name."""

    def givers(self, job: JobId) -> Sequence[JobId]:
        """The jobs that a job takes data from without a dataset between, by name."""

    def named_givers(self, run_id: str) -> Mapping[JobId, Sequence[Outline]]:
        """The runs that are named to have handed data to a run, by their jobs; of those that spoke the newest first."""

    def made_from(self, name: DatasetId) -> Sequence[DatasetId]:
        """What a dataset is made from without a run, such as a view: who reads it reads these.

        Also what jobs read that are declared to write it and that never ran, as a dashboard's query.
        """

    def made_by(self, run_id: str, name: DatasetId) -> AbstractSet[DatasetId] | None:
        """What a run says it made a dataset from; None where it says nothing: from all that it read."""

    def parts(self, run_id: str) -> Sequence[Outline]:
        """The runs that are parts of a run, also through others, oldest first.

        Of each job the newest that spoke, and those that failed and were not made good.
        """

    def wholes(self, run_id: str) -> Sequence[ParentRun]:
        """The runs that a run is a part of, nearest first; those that told nothing themselves are left out."""

    def versions_written(self, run_ids: Sequence[str], name: DatasetId) -> Mapping[str, frozenset[str]]:
        """For each run the versions of the dataset that it says it wrote; runs that say none may be left out."""

    def sources(self, name: DatasetId, columns: frozenset[str]) -> ColumnsOf | None:
        """The columns that these columns of a dataset are made from, also by choice; None where nobody tells."""

    def declared_anew(self, name: DatasetId) -> Sequence[SchemaNews]:
        """How a dataset's declared schema changed, as a registry tells it, oldest first."""

    def declared_done(self, name: DatasetId) -> Sequence[DoneToAll]:
        """What was done to a dataset as a whole, as it was declared last without a run, in no order."""

    def has_only_changed_places(self, name: DatasetId, dropped_us: int) -> bool:
        """Whether what was dropped then had only one of the dataset's names, and the dataset stood by another."""

    def retold(self, run_id: str) -> Sequence[Retold]:
        """How the columns of what a run read and wrote changed while it ran, by what it told, in no order."""

    def failed_meanwhile(self, run_id: str) -> Sequence[FailedCheck]:
        """The expectations that a run told to be missed while it went on, oldest first."""

    def is_stream(self, job: JobId) -> bool:
        """Whether the job runs on and on."""

    def silence_us(self, job: JobId) -> int:
        """How long a running stream may say nothing."""

    def asked_us(self) -> int:
        """When it is asked what was the cause; that of the newest event of all, where a producer's clock is ahead."""
