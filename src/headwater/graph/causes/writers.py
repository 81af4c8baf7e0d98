"""Finds the runs that wrote what was read, as far as the events prove it.

If reader and writer both report the version, the version decides. Otherwise it is the latest run of each writing job
that had completed before the reader began, and for a stream the one that was running then. Failed attempts in between
are included: the reader lacks what they should have written. So are the runs that wrote since the reader's previous
read (`headwater.graph.causes.meanwhile`).
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import attrgetter
from typing import Final, NamedTuple

from headwater.graph.causes.attempts import not_superseded, replaced_us
from headwater.graph.causes.history import History
from headwater.graph.causes.meanwhile import wrote_meanwhile
from headwater.graph.causes.record import NOTHING_REPORTED, Record, RunSummary, last_ended
from headwater.graph.causes.visit import BASELINE, Window, Writer
from headwater.graph.walk import reachable
from headwater.model.names import DatasetId, JobId

_MOST_HOPS: Final = 200
"""Most hops from a dataset to its sources."""
_MOST_SIBLINGS: Final = 20
"""Most successful siblings of the last writer; the rest of the budget is for runs further upstream."""


def read_at_us(history: History, run: RunSummary) -> int:
    """When a run read its inputs: at its start; a stream reads continuously."""
    return run.last_us if history.is_stream(run.job) else run.started_us


class Read(NamedTuple):
    """A reading run, when it read, and the window of changes that are news to it."""

    reader: RunSummary
    at_us: int
    news: Window | None
    earlier: Sequence[Record] = ()
    """Its baseline runs, newest first."""
    is_of_meanwhile: bool = False
    """It wrote between two reads itself: of what it read, only the newest writers are looked at."""


class WhoWrote(NamedTuple):
    """The runs that wrote a dataset as it was read; `is_cut`: more wrote it since the previous read."""

    writers: tuple[Writer, ...]
    is_cut: bool = False


def who_wrote(
    history: History, name: DatasetId, versions: frozenset[str], jobs: Sequence[JobId], read: Read
) -> WhoWrote:
    """The runs of these jobs that wrote the dataset as it was read, in these versions if any, or should have."""
    reader = read.reader
    runs = [run for job in jobs for run in history.runs_of(job, reader.last_us) if run.run_id != reader.run_id]
    before = [run for run in runs if name in run.writes]
    version_writer = by_version(history, name, versions, before)
    found = [] if version_writer is None else [Writer(version_writer, "version")]
    for job in jobs:
        own = [run for run in history.runs_of(job, read.at_us) if run.run_id != reader.run_id]
        if version_writer is not None:
            found += _attempts(own, version_writer, read)
        else:
            found += by_clock(history, job, own, [run for run in own if name in run.writes], read)
    found = [*_not_replaced(history, name, found, read)]
    since = _new_to(history, name, version_writer, before, read)
    if since is None:
        return WhoWrote(tuple(found))
    known = {reader.run_id, *(writer.run.run_id for writer in found)}
    in_part = read.is_of_meanwhile
    meanwhile = [wrote_meanwhile(history, job, name, since, known, only_newest=in_part) for job in jobs]
    found += (Writer(run, "meanwhile") for each in meanwhile for run in each.runs)
    return WhoWrote(tuple(found), is_cut=any(each.is_cut for each in meanwhile))


def _not_replaced(history: History, name: DatasetId, found: Iterable[Writer], read: Read) -> Iterator[Writer]:
    """Without failed attempts that another job replaced before all of the reader's baseline runs."""
    reads = [read_at_us(history, each.summary) for each in read.earlier]
    for writer in found:
        run = writer.run
        since_us = replaced_us(history, name, run.job, run.end_us, read.at_us) if writer.by == "attempt" else None
        if since_us is None:
            yield writer
        elif len(reads) < BASELINE or reads[-1] < since_us:
            yield writer._replace(was_before=any(at_us >= since_us for at_us in reads[:1]))


def _new_to(
    history: History, name: DatasetId, version_writer: RunSummary | None, wrote: Sequence[RunSummary], read: Read
) -> Window | None:
    """The window in which data that is new to the reader was written: since its last run that read the dataset.

    None: there was no such run. If both reads have known versions, the window runs from the one write to the other.
    """
    if read.news is not None and history.is_stream(read.reader.job) and not read.earlier:
        return Window(read.news.after_us, read.at_us)
    last = next((each for each in read.earlier if name in read_through(history, each.summary.reads)), None)
    if last is None:
        return None
    since_us = read_at_us(history, last.summary)
    if version_writer is None:
        return Window(since_us, read.at_us)
    versions = last.ends.get(("input", name), NOTHING_REPORTED).versions_at_first
    former = by_version(history, name, versions, wrote)
    return Window(since_us if former is None else former.end_us, version_writer.end_us)


def read_through(history: History, names: Iterable[DatasetId]) -> set[DatasetId]:
    """The datasets, and everything that they are derived from without a job."""
    return {*reachable(names, history.made_from, _MOST_HOPS)}


def by_version(
    history: History, name: DatasetId, versions: frozenset[str], runs: Sequence[RunSummary]
) -> RunSummary | None:
    """The run that wrote the version: the first to report it, completed ones first: a failed one may have read it."""
    if not versions:
        return None
    written = history.versions_written([run.run_id for run in runs], name)
    wrote = [run for run in runs if written.get(run.run_id, frozenset()) & versions]
    return min(wrote, key=lambda run: (run.state != "COMPLETED", run.last_us, run.run_id), default=None)


def by_clock(
    history: History, job: JobId, own: Sequence[RunSummary], wrote: Sequence[RunSummary], read: Read
) -> Iterator[Writer]:
    """The run of the job that fed a reader at that time, its siblings that did, and failed attempts."""
    found = by_time(history, job, wrote, read.at_us)
    if found is not None:
        yield found
        if found.by == "time":
            yield from (Writer(run, "time") for run in islice(_siblings(found.run, wrote, read.at_us), _MOST_SIBLINGS))
    yield from _attempts(own, None if found is None else found.run, read)


def _siblings(run: RunSummary, wrote: Sequence[RunSummary], at_us: int) -> Iterator[RunSummary]:
    """The completed siblings of a run (same job and parent): each run of a mapped task writes a part."""
    for each in wrote if run.parent_run is not None else ():
        is_done = each.has_completed_by(at_us) and each.end_us > run.started_us
        if is_done and each.parent_run == run.parent_run and each != run:
            yield each


def by_time(history: History, job: JobId, wrote: Sequence[RunSummary], at_us: int) -> Writer | None:
    """The latest run that had ended by then; for a stream the one running then, or the last, however it ended."""
    is_stream = history.is_stream(job)
    if is_stream:
        meanwhile = [run for run in wrote if run.started_us <= at_us and not run.has_ended_by(at_us)]
        if meanwhile:
            return Writer(max(meanwhile, key=attrgetter("began")), "stream")
    done = (run for run in wrote if (run.has_ended_by(at_us) if is_stream else run.has_completed_by(at_us)))
    last = last_ended(done)
    return None if last is None else Writer(last, "time")


def _attempts(runs: Sequence[RunSummary], fed: RunSummary | None, read: Read) -> Iterator[Writer]:
    """The job's attempts that failed before the read, were not superseded by then, and are not what fed it.

    For a running stream, only failures since the reader's previous read.
    """
    tried = [run for run in runs if run.has_ended_by(read.at_us)]
    is_running = fed is not None and not fed.has_ended_by(read.at_us)
    for failed in not_superseded(tried, read.reader.parent_run):
        is_news = read.news is not None and read.news.has(failed.end_us)
        if failed != fed and (not is_running or is_news):
            yield Writer(failed, "attempt")
