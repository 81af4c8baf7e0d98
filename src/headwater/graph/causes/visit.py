"""A run that was looked at on the way up: how it was come to, what fed it, and what it is compared with."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from headwater.graph.causes.history import ColumnsOf
from headwater.graph.causes.record import End, Outline, Record
from headwater.graph.structs import Nesting
from headwater.model.events import Direction
from headwater.model.names import DatasetId, JobId

By = Literal["version", "named", "time", "meanwhile", "stream", "attempt", "part", "whole"]
"""The version on both sides; named by who tells that data was handed over; the latest that had ended; one that ended
since the reader's run before had read; running then; failed, and not made good; a part of the run; what the missing run
of a job was to be a part of, which failed before."""

BASELINE: Final = 10
"""Earlier runs of a job that a run is compared with."""


class Writer(NamedTuple):
    """A run that wrote what was read, or should have."""

    run: Outline
    by: By
    was_before: bool = False
    """Of one that failed: another job has written since, and the reader's run before had read of that."""


class Feed(NamedTuple):
    """A dataset that a run read, the versions it told, and who wrote it; no jobs: nobody is known to write it."""

    dataset: DatasetId
    versions: frozenset[str]
    jobs: tuple[JobId, ...]
    writers: tuple[Writer, ...]
    at_us: int
    """When it was read."""
    is_made: bool = False
    """Whether it is made from others without a job."""
    is_cut: bool = False
    """Whether more runs wrote it since the reader's run before had read than are looked at."""


class Handed(NamedTuple):
    """A job that a run took data from without a dataset between, and the runs of it that gave it, or should have.

    Or a job that has a part in what the run did, with its part of the run; or one whose run is missing, with the run
    that it was to be a part of.
    """

    job: JobId
    writers: tuple[Writer, ...]
    at_us: int
    """When it was taken, had been done, or was awaited."""


class Link(NamedTuple):
    """One step up: this run read the dataset, that run wrote it; a job as source handed the data over itself."""

    reader: str
    source: DatasetId | JobId
    writer: str
    by: By


class Parts(NamedTuple):
    """What a run wrote that matters, and what it says it read for just that."""

    written: AbstractSet[DatasetId]
    read: AbstractSet[DatasetId]


class Window(NamedTuple):
    """From after one time up to another, in microseconds since 1970."""

    after_us: int
    """The job had run then already, or who read from it had."""
    until_us: int
    """Whoever read from it had read by then."""

    def has(self, time_us: int) -> bool:
        """Whether the time lies in it."""
        return self.after_us < time_us <= self.until_us


@dataclass(frozen=True, slots=True)
class Visit:
    """A run that was looked at, how it was come to, and what it is compared with."""

    record: Record
    path: tuple[Link, ...]
    feeds: tuple[Feed, ...]
    earlier: tuple[Record, ...]
    """Runs of the same job before it that had completed, of a stream those that had ended; newest first."""
    columns: ColumnsOf | None
    """The columns that matter, by dataset; None: all do."""
    news: Window
    """When something must have changed to be news for the output."""
    parts: Parts | None = None
    """Of what the run read and wrote, what matters; None: all does."""
    handed: tuple[Handed, ...] = ()
    awaited_us: int | None = None
    """By when a newer run of its job should have been; None: it is no matter whether there was one."""
    was_before: bool = False
    """It failed, and those who read from it had got on without it before already."""

    @property
    def run(self) -> Outline:
        """The run itself."""
        return self.record.outline

    @property
    def hops(self) -> int:
        """How many datasets lie between it and the output."""
        return len(self.path)

    def is_news(self, since: Record) -> bool:
        """Whether what is so since that run of the job was not yet so when whoever reads from it had read before."""
        return since is self.record or self.news.has(since.outline.started_us)

    @property
    def is_of_meanwhile(self) -> bool:
        """Whether it is looked at for what somebody on the way read anew, though others wrote after it."""
        return any(link.by == "meanwhile" for link in self.path)

    @property
    def fed_by(self) -> Iterator[tuple[DatasetId | JobId, Writer, int]]:
        """Each run that fed it, through what, and when that was read."""
        for feed in self.feeds:
            yield from ((feed.dataset, writer, feed.at_us) for writer in feed.writers)
        for giver in self.handed:
            yield from ((giver.job, writer, giver.at_us) for writer in giver.writers)

    def concerns(self, direction: Direction, name: DatasetId) -> bool:
        """Whether what is wrong may hang on this dataset among those that the run read and wrote."""
        return self.parts is None or name in (self.parts.read if direction == "input" else self.parts.written)

    def sides(self, direction: Direction) -> Iterator[tuple[DatasetId, End]]:
        """What the run told of those on one side."""
        return ((name, end) for name, end in self.record.sides(direction) if self.concerns(direction, name))

    def matters(self, name: DatasetId, column: str) -> bool:
        """Whether what is wrong may come from this column."""
        return self.columns is None or name not in self.columns or Nesting(self.columns[name]).touches(column)
