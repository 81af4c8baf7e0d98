"""From a run upwards: for each dataset it read, the run that wrote exactly that (`headwater.graph.causes.writers`)."""

from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from heapq import heappop, heappush
from itertools import count
from typing import Final, NamedTuple

from headwater.graph.causes.attempts import not_superseded
from headwater.graph.causes.columns import columns_above
from headwater.graph.causes.history import ColumnsOf, History, runs_before
from headwater.graph.causes.lateness import is_due
from headwater.graph.causes.parent_runs import failed_parent
from headwater.graph.causes.record import NOTHING_REPORTED, Record, RunSummary
from headwater.graph.causes.visit import BASELINE, Feed, Handover, Link, Parts, Visit, Window, Writer
from headwater.graph.causes.writers import Read, by_clock, read_at_us, read_through, who_wrote
from headwater.model.names import DatasetId, JobId, namesakes

MAX_RUNS: Final = 200
"""The most runs that one walk visits."""


class Start(NamedTuple):
    """The start of a walk: the runs that produced wrong data."""

    runs: Sequence[RunSummary]
    outputs: frozenset[DatasetId] | None
    """The wrong ones of their outputs; None: all."""
    columns: ColumnsOf | None
    """The wrong columns of these; None: all."""
    is_awaited: bool
    """Whether a newer run may be missing: the question is not about these very runs."""


class _Next(NamedTuple):
    """A run to visit, how it was reached, which columns of its outputs matter, and the window of relevant changes."""

    run: RunSummary
    path: tuple[Link, ...]
    outputs: frozenset[DatasetId] | None
    """The outputs that matter; None: all."""
    wanted: ColumnsOf | None
    news: Window
    was_read: bool = False
    """Whether a reader on the path had run before, so that some changes are old news."""
    awaited_us: int | None = None
    """By when a newer run was expected."""
    turn: int = 0
    """The number of the run that wrote a dataset between two reads that it is, or is upstream of; 0: none."""
    was_before: bool = False
    """It failed, and its reader had already run without it before."""

    @property
    def is_of_missing(self) -> bool:
        """Whether the missing run should have been a part of it."""
        return bool(self.path) and self.path[-1].by == "whole"

    def also_for(self, other: "_Next") -> "_Next":
        """This run, to be visited also for what matters by another path that leads here: outputs, columns, changes."""
        both = self._replace(
            awaited_us=other.awaited_us if self.awaited_us is None else self.awaited_us,
            news=self.news.union(other.news),
            was_read=self.was_read and other.was_read,
            was_before=self.was_before and other.was_before,
        )
        known = self.wanted
        outputs = None if self.outputs is None or other.outputs is None else self.outputs | other.outputs
        if outputs is None or known is None or other.wanted is None:
            return both._replace(outputs=outputs, wanted=None)
        also = {name: known.get(name, frozenset()) | columns for name, columns in other.wanted.items()}
        return both._replace(outputs=outputs, wanted={**known, **also})


class Trail(NamedTuple):
    """The visited runs, nearest first; `is_cut`: there were more, or further up."""

    visits: tuple[Visit, ...]
    is_cut: bool


def trail(history: History, start: Start, max_hops: int) -> Generator[None, None, Trail]:
    """Everything that fed these outputs of the runs, by the shortest path.

    Each run is listed once. Yields after each visit, including a repeated visit because more of a run's output matters.
    """
    walk = _Walk(history, start, max_hops)
    while (here := walk.next()) is not None:
        if len(walk.visits) == MAX_RUNS and here.run.run_id not in walk.visits:
            walk.is_cut = True
            break
        walk.visit(here)
        yield
    visits = sorted(walk.visits.values(), key=lambda visit: visit.hops)
    alike = namesakes(_mentioned(visits))
    return Trail(tuple(replace(visit, alike=alike) for visit in visits), walk.is_cut)


def _mentioned(visits: Iterable[Visit]) -> Iterator[DatasetId | JobId]:
    """The datasets and jobs that findings may name."""
    for visit in visits:
        for record in (visit.record, *visit.earlier):
            yield record.summary.job
            yield from record.summary.reads
            yield from record.summary.writes
        for feed in visit.feeds:
            yield feed.dataset
            yield from feed.jobs
        yield from (giver.job for giver in visit.handovers)


class _Walk:
    """The state of a walk: what was visited, and the queue.

    What had been written when it was read comes first. Runs that wrote between two reads come after that, round robin:
    for each dataset the first such run with what lies upstream of it, then for each the second. So none starves the
    others.
    """

    def __init__(self, history: History, start: Start, max_hops: int) -> None:
        self._history = history
        self._max_hops = max_hops
        self._nexts = {run.run_id: _first(history, start, run) for run in start.runs}
        self._queue = deque(self._nexts)
        self._later: list[tuple[int, int, _Next]] = []
        self._places = count()
        self.visits: dict[str, Visit] = {}
        self.is_cut = False

    def next(self) -> "_Next | None":
        """The next run to visit; None: all were visited."""
        while not self._queue and self._later:
            *_, later = heappop(self._later)
            self._enqueue(later)
        return self._nexts[self._queue.popleft()] if self._queue else None

    def visit(self, here: "_Next") -> None:
        """Visit the run, and queue what fed it."""
        visit = self.visits[here.run.run_id] = _visit(self._history, here)
        jobs = {here.run.job, *(self.visits[link.reader].run.job for link in here.path)}
        turns: Counter[DatasetId | JobId] = Counter()
        for source, writer, at_us in visit.fed_by:
            if writer.run.job in jobs:
                continue  # a job's own earlier runs are its baseline, not upstream of it
            turns[source] += writer.by == "meanwhile"
            turn = here.turn + (turns[source] if writer.by == "meanwhile" else 0)
            above = _upstream(visit, here, source, writer, at_us)._replace(turn=turn)
            if turn == 0 or writer.run.run_id in self._nexts:
                self._enqueue(above)
            else:
                heappush(self._later, (turn, next(self._places), above))

    def _enqueue(self, above: "_Next") -> None:
        """Queue a run, or queue it again if more of its output matters now."""
        run_id = above.run.run_id
        known = self._nexts.get(run_id)
        if known is None:
            if len(above.path) > self._max_hops:
                self.is_cut = True
                return
            self._nexts[run_id] = above
            self._queue.append(run_id)
            return
        self._nexts[run_id] = known.also_for(above)
        if self._nexts[run_id] != known and run_id in self.visits:
            self._queue.append(run_id)


def _upstream(visit: Visit, here: "_Next", source: DatasetId | JobId, writer: Writer, at_us: int) -> "_Next":
    """The next visit: the run that wrote what was read, for that output."""
    is_later = writer.by == "whole" or (visit.is_due and at_us == visit.awaited_us)  # it may have run since
    return _Next(
        writer.run,
        (*here.path, Link(here.run.run_id, source, writer.run.run_id, writer.by)),
        None if isinstance(source, JobId) else frozenset({source}),
        _narrowed(visit.columns, source),
        visit.news._replace(until_us=at_us if is_later else min(visit.news.until_us, at_us)),
        here.was_read or bool(visit.earlier),
        awaited_us=visit.awaited_us if visit.is_due else None,
        was_before=writer.was_before,
    )


def _first(history: History, start: Start, run: RunSummary) -> _Next:
    awaited_us = history.asked_us() if start.is_awaited else None
    news = Window(run.started_us, run.last_us)
    return _Next(run, (), start.outputs, start.columns, news, awaited_us=awaited_us)


def _narrowed(columns: ColumnsOf | None, source: DatasetId | JobId) -> ColumnsOf | None:
    if columns is None or isinstance(source, JobId) or source not in columns:
        return None
    return {source: columns[source]}


def _visit(history: History, here: _Next) -> Visit:
    run, path, outputs, wanted, news, was_read, awaited_us, _, was_before = here
    if history.is_stream(run.job) and news.until_us < run.last_us:
        at_us = news.until_us  # what it read and reported later is not in the data that was read
        record = history.record_then(run.run_id, at_us)
    else:
        record, at_us = history.record(run.run_id), read_at_us(history, run)
        if path and _reads_on(history, run, news.until_us):
            at_us = news.until_us
    columns = None if wanted is None else columns_above(history, wanted)
    known = news if was_read else None
    earlier = tuple(history.record(each.run_id) for each in _earlier(history, run, known))
    if earlier and not history.is_stream(run.job):
        news = known = news._replace(after_us=min(news.after_us, earlier[0].summary.started_us))
    names, parts = read_through(history, run.reads), None if outputs is None else _parts(history, run, outputs)
    if parts is not None:
        names &= parts.read
    read = Read(run, at_us, known, earlier, any(link.by == "meanwhile" for link in path))
    feeds = tuple(_feeds(history, record, names, None if wanted is None else columns, read))
    handovers = () if parts is not None else tuple(_handovers(history, read))
    sources = (*handovers, *_child_runs(history, here), *_missing_parts(history, here, feeds))
    # If the columns' sources are unknown, all that was read matters, but of what was written still only these.
    mattering = wanted if columns is None else columns
    visit = Visit(record, path, feeds, earlier, mattering, news, parts, sources, awaited_us, was_before)
    if here.awaited_us is None or not is_due(visit, history):
        return visit
    return replace(visit, is_due=True, missed=tuple(_missed(history, feeds, here.awaited_us)))


def _reads_on(history: History, run: RunSummary, until_us: int) -> bool:
    """Whether a stream was running after its last event, when its reader read: it reads while it reports nothing."""
    is_running = history.is_stream(run.job) and run.state == "RUNNING"
    return is_running and run.last_us < until_us <= run.last_us + history.silence_us(run.job)


def _missed(history: History, feeds: Iterable[Feed], until_us: int) -> Iterator[Feed]:
    """The runs that failed since a run read what they write, by the time when the next one should have read it."""
    for feed in feeds:
        failed: list[Writer] = []
        for job in feed.jobs:
            tried = [run for run in history.runs_of(job, until_us) if run.has_ended_by(until_us)]
            since = (run for run in not_superseded(tried, None) if run.end_us > feed.at_us)
            failed += (Writer(run, "attempt") for run in since)
        if failed:
            yield feed._replace(versions=frozenset(), writers=tuple(failed), at_us=until_us)


def _earlier(history: History, run: RunSummary, news: Window | None) -> Sequence[RunSummary]:
    """The baseline of a run: earlier runs of its job, newest first.

    For a stream also runs that did not end well or fell silent: it works until something stops it. Empty for a stream
    that was already running when its reader last read: how it began is old news.
    """
    is_stream = history.is_stream(run.job)
    if is_stream and news is not None and run.started_us <= news.after_us:
        return ()
    before = runs_before(history, run)
    return [each for each in before if each.state == "COMPLETED" or (is_stream and _is_over(each, run))][:BASELINE]


def _is_over(stream: RunSummary, run: RunSummary) -> bool:
    return stream.ended_us is not None or stream.last_us < run.started_us


def _parts(history: History, run: RunSummary, outputs: AbstractSet[DatasetId]) -> Parts | None:
    """The relevant inputs and outputs of a run; None: it does not report the sources of these outputs."""
    written = run.writes & outputs  # a failed run may not have written any
    made_from = [history.made_by(run.run_id, name) for name in written]
    if not made_from or None in made_from:
        return None
    return Parts(written, read_through(history, {source for sources in made_from for source in sources or ()}))


def _feeds(
    history: History, record: Record, names: Iterable[DatasetId], columns: ColumnsOf | None, read: Read
) -> Iterator[Feed]:
    is_stream = history.is_stream(record.summary.job)
    for name in sorted(names):
        if columns is not None and name not in columns:
            continue  # none of its columns feeds the wrong data
        end = record.ends.get(("input", name), NOTHING_REPORTED)
        versions = end.versions if is_stream else end.versions_at_first
        jobs = tuple(history.writers(name))
        writers, is_cut = who_wrote(history, name, versions, jobs, read)
        yield Feed(name, versions, jobs, writers, read.at_us, bool(history.made_from(name)), is_cut)


def _handovers(history: History, read: Read) -> Iterator[Handover]:
    """The jobs that handovers data to a run: such data has no version, so by time unless a run is named."""
    run = read.reader
    named = history.named_givers(run.run_id)
    for job in history.givers(run.job):
        if job in named:
            yield Handover(job, tuple(Writer(each, "named") for each in named[job]), read.at_us)
            continue
        own = [each for each in history.runs_of(job, read.at_us) if each.run_id != run.run_id]
        yield Handover(job, tuple(by_clock(history, job, own, own, read)), read.at_us)


def _child_runs(history: History, here: _Next) -> Iterator[Handover]:
    """The child runs, if all outputs matter; of a failed parent of a missing run, only the failed ones."""
    if here.outputs is not None:
        return
    for part in history.parts(here.run.run_id):
        if not here.is_of_missing or part.has_failed:
            yield Handover(part.job, (Writer(part, "part"),), here.run.last_us)


def _missing_parts(history: History, here: _Next, feeds: Iterable[Feed]) -> Iterator[Handover]:
    """The jobs that should have written what was read, or the output itself, as part of a run that failed before."""
    awaited = {job: feed.at_us for feed in feeds for job in feed.jobs if job != here.run.job}
    if here.awaited_us is not None:
        awaited[here.run.job] = here.awaited_us
    for job, at_us in awaited.items():
        parent = failed_parent(history, job, at_us)
        if parent is not None:
            yield Handover(job, (Writer(parent, "whole"),), at_us)
