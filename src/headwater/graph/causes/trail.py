"""From a run upwards: for each dataset it read, the run that wrote just that, as far as the events prove it.

Where reader and writer both tell the version, the version decides. Else it is the latest run of each writing job that
had completed before the reader began, and for a stream the one that was running then. Attempts that failed in between
are followed too: what they should have written is what the reader lacks.
"""

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, NamedTuple

from headwater.graph.causes.attempts import not_made_good
from headwater.graph.causes.history import ColumnsOf, History
from headwater.graph.causes.record import SILENT, End, Outline, Record
from headwater.graph.causes.wholes import failed_whole
from headwater.graph.structs import Nesting
from headwater.graph.walk import reachable
from headwater.model.events import Direction
from headwater.model.names import DatasetId, JobId

By = Literal["version", "named", "time", "stream", "attempt", "part", "whole"]
"""The version on both sides; named by who tells that data was handed over; the latest that had ended; running
meanwhile; failed, and not made good; a part of the run; what the missing run of a job was to be a part of, which failed
before."""

MAX_RUNS: Final = 200
"""Runs that one walk looks at."""
_MOST_BESIDE: Final = 20
"""Runs that went well beside the one that wrote last: what lies further up is to be looked at, too."""
BASELINE: Final = 10
"""Earlier runs of a job that a run is compared with."""


class Start(NamedTuple):
    """Where a walk begins: the runs that made what is wrong."""

    runs: Sequence[Outline]
    outputs: frozenset[DatasetId] | None
    """Of what they wrote, what is wrong; None: all."""
    columns: ColumnsOf | None
    """The columns of these that are wrong; None: all."""
    is_awaited: bool
    """Whether a newer run may be missing: nobody asked about these very runs."""


class Writer(NamedTuple):
    """A run that wrote what was read, or should have."""

    run: Outline
    by: By


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
    news: "Window"
    """When something must have changed to be news for the output."""
    parts: Parts | None = None
    """Of what the run read and wrote, what matters; None: all does."""
    handed: tuple[Handed, ...] = ()
    awaited_us: int | None = None
    """By when a newer run of its job should have been; None: it is no matter whether there was one."""

    @property
    def run(self) -> Outline:
        """The run itself."""
        return self.record.outline

    @property
    def hops(self) -> int:
        """How many datasets lie between it and the output."""
        return len(self.path)

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


class Window(NamedTuple):
    """From after one time up to another, in microseconds since 1970."""

    after_us: int
    """The job had run then already, or who read from it had."""
    until_us: int
    """Whoever read from it had read by then."""

    def has(self, time_us: int) -> bool:
        """Whether the time lies in it."""
        return self.after_us < time_us <= self.until_us


class _Next(NamedTuple):
    """A run to be looked at, how it was come to, the columns that matter of what it wrote, and what would be news."""

    run: Outline
    path: tuple[Link, ...]
    outputs: frozenset[DatasetId] | None
    """Of what it wrote, what matters; None: all."""
    wanted: ColumnsOf | None
    news: Window
    was_read: bool = False
    """Whether somebody on the way had run before, so that something can be no news."""
    awaited_us: int | None = None
    """By when a newer run should have been."""

    @property
    def is_of_missing(self) -> bool:
        """Whether it was to have a part that is missing."""
        return bool(self.path) and self.path[-1].by == "whole"

    def also_for(self, source: DatasetId | JobId, columns: ColumnsOf | None) -> "_Next":
        """This run to be looked at also for that output, or these columns of it; for all of it where that is a job."""
        if isinstance(source, JobId):
            return self._replace(outputs=None, wanted=None)
        outputs = None if self.outputs is None else self.outputs | {source}
        if self.wanted is None or columns is None:
            return self._replace(outputs=outputs, wanted=None)
        known = self.wanted.get(source, frozenset())
        return self._replace(outputs=outputs, wanted={**self.wanted, source: known | columns[source]})


class Trail(NamedTuple):
    """The runs that were looked at, nearest first; `is_cut`: there were more of them, or they went further up."""

    visits: tuple[Visit, ...]
    is_cut: bool


def trail(history: History, start: Start, max_hops: int) -> Generator[None, None, Trail]:
    """Everything that fed these outputs of the runs, by the shortest way.

    Each run stands there once. A step is a run that was looked at, be it anew as more of what it wrote matters.
    """
    nexts = {run.run_id: _first(history, start, run) for run in start.runs}
    queue = deque(nexts)
    visits: dict[str, Visit] = {}
    is_cut = False
    while queue:
        here = nexts[queue.popleft()]
        run, path = here.run, here.path
        if len(visits) == MAX_RUNS and run.run_id not in visits:
            return Trail(tuple(visits.values()), is_cut=True)
        visit = visits[run.run_id] = _visit(history, here)
        yield
        was_read = here.was_read or bool(visit.earlier)
        jobs = {run.job, *(visits[link.reader].run.job for link in path)}
        for source, writer, at_us in visit.fed_by:
            if writer.run.job in jobs:
                continue  # a job's own earlier runs are what it is compared with, not what lies above it
            wrote, wanted = writer.run.run_id, _narrowed(visit.columns, source)
            if (known := nexts.get(wrote)) is not None:
                nexts[wrote] = known.also_for(source, wanted)
                if nexts[wrote] != known and wrote in visits:
                    queue.append(wrote)
                continue
            if len(path) == max_hops:
                is_cut = True
                continue
            link = Link(run.run_id, source, wrote, writer.by)
            is_awaited = writer.by == "whole"  # it ran since, perhaps
            news = visit.news._replace(until_us=at_us if is_awaited else min(visit.news.until_us, at_us))
            only = None if isinstance(source, JobId) else frozenset({source})
            nexts[wrote] = _Next(writer.run, (*path, link), only, wanted, news, was_read)
            queue.append(wrote)
    return Trail(tuple(visits.values()), is_cut)


def _first(history: History, start: Start, run: Outline) -> _Next:
    awaited_us = history.asked_us() if start.is_awaited else None
    news = Window(run.started_us, run.last_us)
    return _Next(run, (), start.outputs, start.columns, news, awaited_us=awaited_us)


def _narrowed(columns: ColumnsOf | None, source: DatasetId | JobId) -> ColumnsOf | None:
    if columns is None or isinstance(source, JobId) or source not in columns:
        return None
    return {source: columns[source]}


def _visit(history: History, here: _Next) -> Visit:
    run, path, outputs, wanted, news, was_read, awaited_us = here
    record = history.record(run.run_id)
    if history.is_stream(run.job) and news.until_us < run.last_us:
        record = history.record_then(run.run_id, news.until_us)  # what it told since, nobody had read
    columns = _with_sources(history, wanted)
    known = news if was_read else None
    earlier = tuple(history.record(each.run_id) for each in _earlier(history, run, known))
    if earlier and not history.is_stream(run.job):
        news = known = news._replace(after_us=min(news.after_us, earlier[0].outline.started_us))
    read, parts = read_through(history, run.reads), None if outputs is None else _parts(history, run, outputs)
    if parts is not None:
        read &= parts.read
    feeds = tuple(_feeds(history, record, read, None if wanted is None else columns, known))
    handed = () if parts is not None else tuple(_handed(history, record, known))
    beside = (*handed, *_made_of(history, here), *_unbegun(history, here, feeds))
    # Where nobody tells what feeds the columns, all that was read matters, but of what was written still only these.
    mattering = wanted if columns is None else columns
    return Visit(record, path, feeds, earlier, mattering, news, parts, beside, awaited_us)


def _earlier(history: History, run: Outline, news: Window | None) -> Sequence[Outline]:
    """The runs of its job that a run is compared with, newest first.

    Of a stream also those that did not end well, or were not heard of any more: it works until something stops it. None
    where it ran already when its reader had read before: it is no news how it began.
    """
    is_stream = history.is_stream(run.job)
    if is_stream and news is not None and run.started_us <= news.after_us:
        return ()
    began = run.started_us, run.run_id
    before = [each for each in history.runs_of(run.job) if (each.started_us, each.run_id) < began]
    return [each for each in before if each.state == "COMPLETED" or (is_stream and _is_over(each, run))][:BASELINE]


def _is_over(stream: Outline, run: Outline) -> bool:
    return stream.ended_us is not None or stream.last_us < run.started_us


def read_through(history: History, names: Iterable[DatasetId]) -> set[DatasetId]:
    """The datasets, and all that they are made from without a job."""
    return {*reachable(names, history.made_from, MAX_RUNS)}


def _with_sources(history: History, wanted: ColumnsOf | None) -> ColumnsOf | None:
    """The columns that matter of what the run wrote, and those of what it read that feed them, also through views."""
    if wanted is None:
        return None
    columns = dict(wanted)
    waiting = [*wanted.items()]
    while waiting:
        sources = history.sources(*waiting.pop())
        if sources is None:
            return None
        for source, fed in sources.items():
            new = fed - columns.get(source, frozenset())
            columns[source] = columns.get(source, frozenset()) | fed
            if new and history.made_from(source):
                waiting.append((source, new))
    return columns


def _parts(history: History, run: Outline, outputs: AbstractSet[DatasetId]) -> Parts | None:
    """What matters of what a run read and wrote; None: it does not say what it made these outputs from."""
    written = run.writes & outputs  # a run that failed may not have come to write any
    told = [history.made_by(run.run_id, name) for name in written]
    if not told or None in told:
        return None
    return Parts(written, read_through(history, {source for sources in told for source in sources or ()}))


def _feeds(
    history: History, record: Record, read: Iterable[DatasetId], columns: ColumnsOf | None, news: Window | None
) -> Iterator[Feed]:
    run = record.outline
    at_us = read_at_us(history, run)
    for name in sorted(read):
        if columns is not None and name not in columns:
            continue  # no column of it feeds what is wrong
        end = record.ends.get(("input", name), SILENT)
        versions = end.versions if history.is_stream(run.job) else end.versions_at_first
        jobs = tuple(history.writers(name))
        writers = tuple(_writers(history, name, versions, jobs, _Read(run, at_us, news)))
        yield Feed(name, versions, jobs, writers, at_us, bool(history.made_from(name)))


def read_at_us(history: History, run: Outline) -> int:
    """When a run read what it did: at its beginning; a stream reads as it goes."""
    return run.last_us if history.is_stream(run.job) else run.started_us


class _Read(NamedTuple):
    """A run that read, or took what was handed to it, when it did, and what would be news to it."""

    reader: Outline
    at_us: int
    news: Window | None


def _writers(
    history: History, name: DatasetId, versions: frozenset[str], jobs: Sequence[JobId], read: _Read
) -> Iterator[Writer]:
    reader = read.reader
    runs = [run for job in jobs for run in history.runs_of(job) if run.run_id != reader.run_id]
    before = [run for run in runs if name in run.writes and run.started_us <= reader.last_us]
    told = by_version(history, name, versions, before)
    if told is not None:
        yield Writer(told, "version")
    for job in jobs:
        own = [run for run in runs if run.job == job]
        if told is not None:
            yield from _attempts(own, told, read)
        else:
            yield from _by_clock(history, job, own, [run for run in own if name in run.writes], read)


def by_version(history: History, name: DatasetId, versions: frozenset[str], runs: Sequence[Outline]) -> Outline | None:
    """The run that made the version: the first to tell of it; a later one that failed may tell what it found."""
    if not versions:
        return None
    written = history.versions_written([run.run_id for run in runs], name)
    wrote = [run for run in runs if written.get(run.run_id, frozenset()) & versions]
    return min(wrote, key=lambda run: (run.state != "COMPLETED", run.last_us, run.run_id), default=None)


def _handed(history: History, record: Record, news: Window | None) -> Iterator[Handed]:
    """The jobs that handed data to a run: a run that gave it tells no version, so by the clock where none is named."""
    run = record.outline
    at_us, named = read_at_us(history, run), history.named_givers(run.run_id)
    for job in history.givers(run.job):
        if job in named:
            yield Handed(job, tuple(Writer(each, "named") for each in named[job]), at_us)
            continue
        own = [each for each in history.runs_of(job) if each.run_id != run.run_id]
        yield Handed(job, tuple(_by_clock(history, job, own, own, _Read(run, at_us, news))), at_us)


def _made_of(history: History, here: _Next) -> Iterator[Handed]:
    """The parts of a run of which all matters; of one that failed before what is missing began, those that failed."""
    if here.outputs is not None:
        return
    for part in history.parts(here.run.run_id):
        if not here.is_of_missing or part.has_failed:
            yield Handed(part.job, (Writer(part, "part"),), here.run.last_us)


def _unbegun(history: History, here: _Next, feeds: Iterable[Feed]) -> Iterator[Handed]:
    """The jobs that were to write what was read, or the output itself, as a part of a run that failed before."""
    awaited = {job: feed.at_us for feed in feeds for job in feed.jobs if job != here.run.job}
    if here.awaited_us is not None:
        awaited[here.run.job] = here.awaited_us
    for job, at_us in awaited.items():
        whole = failed_whole(history, job, at_us)
        if whole is not None:
            yield Handed(job, (Writer(whole, "whole"),), at_us)


def _by_clock(
    history: History, job: JobId, own: Sequence[Outline], wrote: Sequence[Outline], read: _Read
) -> Iterator[Writer]:
    """The run of the job that fed a reader at that time, those that did beside it, and attempts that failed."""
    found = by_time(history, job, wrote, read.at_us)
    if found is not None:
        yield found
        if found.by == "time":
            yield from (Writer(run, "time") for run in islice(_beside(found.run, wrote, read.at_us), _MOST_BESIDE))
    yield from _attempts(own, None if found is None else found.run, read)


def _beside(run: Outline, wrote: Sequence[Outline], at_us: int) -> Iterator[Outline]:
    """The runs that went well beside one, as parts of the same run: those of a mapped task each write a part."""
    for each in wrote if run.parent_run is not None else ():
        is_done = each.state == "COMPLETED" and each.ended_us is not None and run.started_us < each.ended_us <= at_us
        if is_done and each.parent_run == run.parent_run and each != run:
            yield each


def by_time(history: History, job: JobId, wrote: Sequence[Outline], at_us: int) -> Writer | None:
    """The latest run that had ended by then; a stream writes as it goes, whether it ends well or not."""
    is_stream = history.is_stream(job)
    if is_stream:
        meanwhile = [run for run in wrote if run.started_us <= at_us and (run.ended_us is None or run.ended_us > at_us)]
        if meanwhile:
            return Writer(max(meanwhile, key=lambda run: (run.started_us, run.run_id)), "stream")
    ended = [run for run in wrote if run.ended_us is not None and run.ended_us <= at_us]
    done = [run for run in ended if is_stream or run.state == "COMPLETED"]
    return Writer(max(done, key=lambda run: (run.ended_us or 0, run.run_id)), "time") if done else None


def _attempts(runs: Sequence[Outline], fed: Outline | None, read: _Read) -> Iterator[Writer]:
    """The attempts of the job that failed before the read, were not made good by then, and are not what fed it.

    A stream that runs again since is made good, unless it had not failed yet when its reader had read before.
    """
    tried = [run for run in runs if run.ended_us is not None and run.ended_us <= read.at_us]
    is_running = fed is not None and (fed.ended_us is None or fed.ended_us > read.at_us)
    for failed in not_made_good(tried, read.reader.parent_run):
        is_news = read.news is not None and read.news.has(failed.ended_us or failed.last_us)
        if failed != fed and (not is_running or is_news):
            yield Writer(failed, "attempt")
