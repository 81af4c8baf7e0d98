"""A run visited on the walk upstream: the path to it, what fed it, and its baseline."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from headwater.graph.causes.history import ColumnsOf
from headwater.graph.causes.record import End, Record, RunSummary
from headwater.graph.structs import Nesting
from headwater.model.events import Direction
from headwater.model.names import DatasetId, JobId, called

By = Literal["version", "named", "time", "meanwhile", "stream", "attempt", "part", "whole"]
"""The evidence that a run wrote what was read. `version`: both sides report it; `named`: named in a report of the
handover; `time`: the latest that had ended; `meanwhile`: ended since the reader's previous run had read; `stream`: was
running then; `attempt`: failed, and was not superseded; `part`: a child run; `whole`: the failed parent of a missing
run."""

WAS_BEFORE: Final = 0.5
"""Factor on the weight if it was already so at the reader's previous read."""
LONG_BEFORE: Final = 0.5
"""Another one, if it began before the ten runs."""
BASELINE: Final = 10
"""The number of earlier runs of a job that a run is compared with."""


class Writer(NamedTuple):
    """A run that wrote what was read, or should have."""

    run: RunSummary
    by: By
    was_before: bool = False
    """Of a failed one: another job has written since, and the reader's previous run had read that."""


class Feed(NamedTuple):
    """A dataset that a run read, the versions it reported, and its writers; no jobs: no writer is known."""

    dataset: DatasetId
    versions: frozenset[str]
    jobs: tuple[JobId, ...]
    writers: tuple[Writer, ...]
    at_us: int
    """When it was read."""
    is_derived: bool = False
    """Whether it is derived from other datasets without a job."""
    is_cut: bool = False
    """Whether more runs wrote it since the reader's previous read than are examined."""


class Handover(NamedTuple):
    """A job that hands data to a run without a dataset between, and the runs of it that did, or should have.

    Also used for the job of a child run, with that run; and for a job whose run is missing, with the parent run that
    should have contained it.
    """

    job: JobId
    writers: tuple[Writer, ...]
    at_us: int
    """When the data was taken, the child run was done, or the missing run was expected."""


class Link(NamedTuple):
    """One step up: `reader` read the dataset, `writer` wrote it; a job as source handed the data over itself."""

    reader: str
    source: DatasetId | JobId
    writer: str
    by: By


class Parts(NamedTuple):
    """The outputs of a run that matter, and the inputs that it reports for exactly those."""

    written: AbstractSet[DatasetId]
    read: AbstractSet[DatasetId]


class Window(NamedTuple):
    """A time interval (exclusive, inclusive), in microseconds since 1970."""

    after_us: int
    """The job, or a reader of it, had already run by then."""
    until_us: int
    """Its reader had read by then."""

    def has(self, time_us: int) -> bool:
        """Whether the time lies in the interval."""
        return self.after_us < time_us <= self.until_us

    def union(self, other: "Window") -> "Window":
        """From the earlier beginning to the later end."""
        return Window(min(self.after_us, other.after_us), max(self.until_us, other.until_us))


@dataclass(frozen=True, slots=True)
class Visit:
    """A visited run, the path to it, and the runs it is compared with."""

    record: Record
    path: tuple[Link, ...]
    feeds: tuple[Feed, ...]
    earlier: tuple[Record, ...]
    """The baseline: earlier runs of the same job that completed, or for a stream that ended; newest first."""
    columns: ColumnsOf | None
    """The columns that matter, by dataset; None: all do."""
    news: Window
    """The interval in which something must have changed to be news for the output."""
    parts: Parts | None = None
    """The inputs and outputs that matter; None: all do."""
    handovers: tuple[Handover, ...] = ()
    awaited_us: int | None = None
    """By when a newer run of its job was expected; None: it does not matter whether there was one."""
    was_before: bool = False
    """It failed, and its readers had already run without it before."""
    is_due: bool = False
    """Whether the awaited run is due."""
    missed: tuple[Feed, ...] = ()
    """If it is: the failed runs since this one that should have written what it would have read."""
    alike: AbstractSet[str] = frozenset()
    """The ids of the datasets on the trail, and of the jobs, that have the name of another one."""

    @property
    def run(self) -> RunSummary:
        """The run itself."""
        return self.record.summary

    @property
    def hops(self) -> int:
        """The number of datasets between it and the output."""
        return len(self.path)

    def called(self, node: DatasetId | JobId) -> str:
        """The name of a dataset or job for a sentence, with the namespace where another one has that name."""
        return called(node, self.alike)

    def is_news(self, since: Record) -> bool:
        """Whether a state that began with that run of the job was new since the reader's previous read."""
        return since is self.record or self.news.has(since.summary.started_us)

    def share_of(self, since: Record, *, is_far: bool) -> float:
        """Factor on the weight of a state that began with that run of the job; `is_far`: before the ten."""
        return 1 if self.is_news(since) else WAS_BEFORE * (LONG_BEFORE if is_far else 1)

    @property
    def is_of_meanwhile(self) -> bool:
        """Whether it is visited because it wrote between two reads, even though others wrote after it."""
        return any(link.by == "meanwhile" for link in self.path)

    @property
    def fed_by(self) -> Iterator[tuple[DatasetId | JobId, Writer, int]]:
        """Each run that fed it, or should have fed the next one, with the dataset or job between and the time."""
        for feed in (*self.feeds, *self.missed):
            yield from ((feed.dataset, writer, feed.at_us) for writer in feed.writers)
        for giver in self.handovers:
            yield from ((giver.job, writer, giver.at_us) for writer in giver.writers)

    def concerns(self, direction: Direction, name: DatasetId) -> bool:
        """Whether the cause may lie in this dataset among the run's inputs or outputs."""
        return self.parts is None or name in (self.parts.read if direction == "input" else self.parts.written)

    def sides(self, direction: Direction) -> Iterator[tuple[DatasetId, End]]:
        """The run's reports of the relevant datasets on one side."""
        return ((name, end) for name, end in self.record.sides(direction) if self.concerns(direction, name))

    def matters(self, name: DatasetId, column: str) -> bool:
        """Whether the cause may lie in this column."""
        return self.columns is None or name not in self.columns or Nesting(self.columns[name]).touches(column)
