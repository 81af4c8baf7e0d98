"""Root cause of a wrong output: what changed in the runs that made it and in those that fed them."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Final, NamedTuple

from headwater.errors import NotFoundError
from headwater.graph.causes.attempts import failed_siblings
from headwater.graph.causes.columns import columns_behind
from headwater.graph.causes.finding import RowFigures
from headwater.graph.causes.history import ColumnsOf
from headwater.graph.causes.rank import Cause, causes
from headwater.graph.causes.record import RunSummary
from headwater.graph.causes.trail import Start, Trail
from headwater.graph.causes.visit import By, Feed, Handover, Link, Visit, Writer
from headwater.graph.causes.writers import read_through
from headwater.model.digest import as_text
from headwater.model.names import ColumnId, DatasetId, JobId, without_column
from headwater.model.words import so_many
from headwater.service.background import result_in_slices
from headwater.service.http.answers import iso
from headwater.service.knowledge.history import KnownHistory
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.shapes import causes as shapes
from headwater.service.views.names import name_of

_HOW: Final[Mapping[By, str]] = {
    "version": "both report the same version",
    "named": "the report of the handover names this run",
    "time": "no version reported by both: the latest run that had ended before",
    "meanwhile": "it ended after the reader's previous run had read; the reader may have read from it, too",
    "stream": "it was running at that time",
    "attempt": "it failed before, and no later run of the job had superseded it",
    "part": "it is a part of that run",
    "whole": "it failed before the job's run that was to be a part of it began",
}
_BESIDE: Final[Mapping[By, str]] = {
    "part": "a job whose run is a part of this one",
    "whole": "a job whose run is missing: the run that it was to be a part of failed before",
}

_RUNS_NAMED: Final = 3


class Question(NamedTuple):
    """What is wrong: the output of a job's last run, a dataset or a column; optionally a run, and how far to search."""

    node: DatasetId | JobId | ColumnId
    run_id: str | None
    max_hops: int
    asked_us: int = 0
    """The time of the question, microseconds since 1970; silence and overdue runs are measured by it."""
    sees: Callable[[str], bool] | None = None
    """Which namespaces a refusal may speak of; None: all."""


async def root_cause(knowledge: Knowledge, question: Question) -> shapes.RootCause:
    """Walk upstream from the output along the runs that fed it, and rank the findings; works in time slices.

    Raises:
        NotFoundError: the run is not known, or did not write the dataset.
    """
    with closing(KnownHistory(knowledge, question.asked_us)) as history:
        return await _root_cause(knowledge, history, question)


async def _root_cause(knowledge: Knowledge, history: KnownHistory, question: Question) -> shapes.RootCause:
    starts = _starts(knowledge, history, question)
    if not starts:
        return _unwritten(question)
    is_of_job = isinstance(question.node, JobId) and history.has_run(question.node)
    outputs = None if is_of_job else frozenset(_written_for(history, question.node))
    start = Start(starts, outputs, _columns(history, question), is_awaited=question.run_id is None)
    found = await result_in_slices(causes(history, start, question.max_hops))
    return shapes.RootCause(
        nodeId=question.node.node_id,
        column=question.node.column if isinstance(question.node, ColumnId) else None,
        run=_run(starts[0]),
        summary=_summary(found.ranked, found.trail),
        findings=[_finding(rank, cause) for rank, cause in enumerate(found.ranked, 1)],
        lookedAt=[_looked_at(visit) for visit in found.trail.visits],
        isCut=found.trail.is_cut,
    )


def _columns(history: KnownHistory, question: Question) -> ColumnsOf | None:
    node = question.node
    if not isinstance(node, ColumnId):
        return None
    requested = {node.dataset: frozenset({node.column})}
    return requested if _is_written(history, node.dataset) else columns_behind(history, requested)


def _starts(knowledge: Knowledge, history: KnownHistory, question: Question) -> Sequence[RunSummary]:
    """The runs to begin with, newest first.

    The requested one and its failed siblings; the runs that wrote the sources of a view, or the inputs of a job that
    never ran; or the parts of a silent run.
    """
    if question.run_id is not None:
        return _run_of(knowledge, history, question, question.run_id)
    if isinstance(question.node, JobId) and history.has_run(question.node):
        return history.runs_of(question.node)[:1] or _parts_of_newest(knowledge, history, question.node)
    latest = [run for name in _written_for(history, question.node) if (run := _latest(history, name)) is not None]
    siblings = (failed for run in latest for failed in failed_siblings(run, history.runs_of(run.job)))
    return sorted({*latest, *siblings}, key=lambda run: (run.started_us, run.run_id), reverse=True)


def _parts_of_newest(knowledge: Knowledge, history: KnownHistory, job: JobId) -> Sequence[RunSummary]:
    """The known parts of the newest run of a job without events of its own, newest first."""
    newest = next(iter(knowledge.activity(job).runs), None)
    return [] if newest is None else history.parts(newest)[::-1]


def _written_for(history: KnownHistory, node: DatasetId | JobId | ColumnId) -> Iterable[DatasetId]:
    """The dataset or, if no run wrote it, its sources through any number of views and declared jobs.

    For a job that never ran, the datasets that it reads.
    """
    if isinstance(node, JobId):
        return read_through(history, history.read_by(node))
    name = without_column(node)
    return [name] if _is_written(history, name) else read_through(history, [name])


def _is_written(history: KnownHistory, name: DatasetId) -> bool:
    """Whether a job that writes it has ever run."""
    return any(map(history.has_run, history.writers(name)))


def _run_of(knowledge: Knowledge, history: KnownHistory, question: Question, run_id: str) -> Sequence[RunSummary]:
    """The run in question; for a job's run without events of its own, its parts."""
    requested = knowledge.run(run_id)
    if isinstance(question.node, JobId) and requested.job != question.node:
        raise NotFoundError(f"Run '{run_id}' is not a run of job '{question.node.name}'.")
    run = history.summary(requested.run_id)
    if run is None:
        if isinstance(question.node, JobId) and (parts := history.parts(requested.run_id)):
            return parts[::-1]
        raise NotFoundError(f"Run '{run_id}' has no events of its own; request one of its child runs.")
    if isinstance(question.node, JobId):
        return [run]
    names = _written_for(history, question.node)
    if not any(name in run.writes or _may_have_written(history, run, name) for name in names):
        dataset = without_column(question.node).name
        wrote = {run for name in names for run in _writers(history, name)}
        raise NotFoundError(f"Run '{run_id}' did not write dataset '{dataset}'{_writers_text(wrote, question.sees)}.")
    return [run]


def _writers_text(wrote: Collection[RunSummary], sees: Callable[[str], bool] | None) -> str:
    """The end of a sentence: which runs did write it, of those that it may speak of."""
    seen = [run for run in wrote if sees is None or sees(run.job.namespace)]
    newest = sorted(seen, key=lambda run: (run.started_us, run.run_id), reverse=True)[:_RUNS_NAMED]
    if newest:
        return f"; the newest that did: {', '.join(run.run_id for run in newest)}"
    return "" if wrote else ", nor did any other run"


def _may_have_written(history: KnownHistory, run: RunSummary, name: DatasetId) -> bool:
    """A run that failed may not have reported its outputs; then the job's other runs show them."""
    return run.has_failed and run.job in history.writers(name)


def _writers(history: KnownHistory, name: DatasetId) -> list[RunSummary]:
    """The runs that wrote it, or failed to."""
    runs = (run for job in history.writers(name) for run in history.runs_of(job))
    return [run for run in runs if name in run.writes or _may_have_written(history, run, name)]


def _latest(history: KnownHistory, name: DatasetId) -> RunSummary | None:
    """The newest run that wrote it, or failed to."""
    wrote = _writers(history, name)
    return max(wrote, key=lambda run: (run.started_us, run.run_id), default=None)


def _unwritten(question: Question) -> shapes.RootCause:
    return shapes.RootCause(
        nodeId=question.node.node_id,
        column=question.node.column if isinstance(question.node, ColumnId) else None,
        run=None,
        summary="no known run wrote it, so there is nothing to examine",
        findings=[],
        lookedAt=[],
        isCut=False,
    )


def _summary(ranked: tuple[Cause, ...], trail: Trail) -> str:
    runs = len(trail.visits)
    jobs = len({visit.run.job for visit in trail.visits})
    up = max(visit.hops for visit in trail.visits)
    looked = f"{so_many(runs, 'run')} of {so_many(jobs, 'job')}, up to {so_many(up, 'step')} upstream"
    if ranked:
        return f"{ranked[0].finding.words} (of {len(ranked):,} found in {looked})"
    compared = sum(bool(visit.earlier) for visit in trail.visits)
    only = " (of very many between two reads, the newest and a sample)" if _is_cut(trail) else ""
    return f"nothing found in {looked}{only}; {compared:,} of these had earlier runs to compare with"


def _is_cut(trail: Trail) -> bool:
    """Whether more runs wrote an input between two reads than were examined."""
    return any(feed.is_cut for visit in trail.visits for feed in visit.feeds)


def _finding(rank: int, cause: Cause) -> shapes.CauseFinding:
    finding = cause.finding
    return shapes.CauseFinding(
        rank=rank,
        kind=finding.kind,
        score=cause.score,
        words=finding.words,
        nodeId=finding.node_id,
        at=iso(finding.at_us),
        distance=finding.hops,
        consequence=cause.is_consequence,
        runs=list(dict.fromkeys(finding.runs)),
        events=[
            shapes.EventEvidence(logIndex=event.log_index, digest=as_text(event.digest))
            for event in dict.fromkeys(finding.events)
        ],
        path=[_link(link) for link in finding.visit.path],
        rows=None if finding.rows is None else _rows(finding.rows),
    )


def _rows(rows: RowFigures) -> shapes.UnusualRows:
    return shapes.UnusualRows(count=rows.rows, usual=rows.usual, robustZ=None if rows.z is None else round(rows.z, 1))


def _looked_at(visit: Visit) -> shapes.RunLookedAt:
    return shapes.RunLookedAt(
        run=_run(visit.run),
        distance=visit.hops,
        comparedWith=len(visit.earlier),
        inputs=[
            *(_input(visit, feed.dataset, sorted(feed.versions), feed.writers, _words(feed)) for feed in visit.feeds),
            *(_input(visit, giver.job, [], giver.writers, _words_of_handover(giver)) for giver in visit.handovers),
        ],
    )


def _input(
    visit: Visit, source: DatasetId | JobId, versions: list[str], writers: Sequence[Writer], words: str
) -> shapes.InputLookedAt:
    links = [_link(Link(visit.run.run_id, source, writer.run.run_id, writer.by)) for writer in writers]
    return shapes.InputLookedAt(dataset=source.node_id, versions=versions, writers=links, words=words)


def _words(feed: Feed) -> str:
    if feed.is_derived and not feed.writers:
        subject = "no run wrote it" if feed.jobs else "no job writes it"
        return f"{subject}: it is made from others, which are examined as if they had been read"
    if not feed.jobs:
        return "no known job writes it: the graph has nothing upstream of it"
    if not feed.writers:
        return "no known run had written it before"
    if feed.versions and all(writer.by != "version" for writer in feed.writers):
        return "no run reports having written the version that was read"
    if feed.is_cut:
        examined = "the newest are examined, and of the others a sample"
        return f"written by known runs; of those since the reader's previous run, {examined}"
    return "written by known runs"


def _words_of_handover(giver: Handover) -> str:
    reasons = (_BESIDE.get(writer.by) for writer in giver.writers)
    return next(filter(None, reasons), "a job that hands over data directly, without a dataset")


def _link(link: Link) -> shapes.CauseLink:
    return shapes.CauseLink(
        reader=link.reader, dataset=link.source.node_id, writer=link.writer, by=link.by, words=_HOW[link.by]
    )


def _run(run: RunSummary) -> shapes.CauseRun:
    return shapes.CauseRun(
        id=run.run_id,
        job=name_of(run.job),
        state=run.state,
        startedAt=iso(run.started_us),
        endedAt=None if run.ended_us is None else iso(run.ended_us),
    )
