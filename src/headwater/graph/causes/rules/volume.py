"""More or fewer rows than usual, compared with the job's own earlier runs."""

import math
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from headwater.graph.causes.finding import Finding, RowFigures
from headwater.graph.causes.further_back import DAY_US, WEEK_US, Then, at_same_time
from headwater.graph.causes.history import History, runs_before
from headwater.graph.causes.meanwhile import share_left
from headwater.graph.causes.record import NOTHING_REPORTED, EventRef, Record
from headwater.graph.causes.row_counts import Judged, judged, jump, usual_among
from headwater.graph.causes.visit import Visit
from headwater.graph.causes.words import and_last
from headwater.model.events import Direction
from headwater.model.names import DatasetId
from headwater.model.words import so_many

_NOTHING: Final = 0.85
_LEAST: Final = 0.45
_MOST: Final = 0.8


class _Counts(NamedTuple):
    """What a run reported of a dataset's rows, and where its job's earlier runs reported theirs, newest first."""

    direction: Direction
    name: DatasetId
    rows: int
    event: EventRef
    runs: Sequence[tuple[int, Record]]
    days: Sequence[tuple[int, Then]]
    weeks: Sequence[tuple[int, Then]]


def volume_jumps(visit: Visit, history: History) -> Iterator[Finding]:
    """The run read or wrote far more or fewer rows than the job's earlier runs."""
    sides: tuple[Direction, ...] = ("output", "input")
    for direction in sides:
        for name, end in visit.sides(direction):
            if end.rows is None:
                continue
            counts = _counts(visit, history, direction, name, end.rows)
            found = judged(
                counts.rows,
                [rows for rows, _ in counts.runs],
                [rows for rows, _ in counts.days],
                [rows for rows, _ in counts.weeks],
            )
            if found is None or (visit.run.ended_us is None and found.jump.ratio < 1):
                continue  # one that runs may still come to as many as those that had ended
            yield _finding(visit, history, counts, found)


def _counts(
    visit: Visit, history: History, direction: Direction, name: DatasetId, reported: tuple[int, EventRef]
) -> _Counts:
    """Of a run between two reads, other days and weeks are looked at only where it differs from the runs before."""
    completed = (record for record in visit.earlier if record.summary.state == "COMPLETED")
    runs = [(rows, record) for record in completed if (rows := _rows(record, direction, name)) is not None]
    days: list[tuple[int, Then]] = []
    weeks: list[tuple[int, Then]] = []
    if not visit.is_of_meanwhile or jump(reported[0], [rows for rows, _ in runs]) is not None:
        for period_us, found in ((DAY_US, days), (WEEK_US, weeks)):
            for then in at_same_time(visit, history, period_us):
                rows = _rows(then.record, direction, name)
                if rows is not None:
                    found.append((rows, then))
    return _Counts(direction, name, *reported, runs, days, weeks)


def _rows(record: Record, direction: Direction, name: DatasetId) -> int | None:
    reported = record.ends.get((direction, name), NOTHING_REPORTED).rows
    return None if reported is None else reported[0]


def _finding(visit: Visit, history: History, counts: _Counts, found: Judged) -> Finding:
    compared = {
        "runs": [record for _, record in counts.runs],
        "days": [then.record for _, then in counts.days],
        "weeks": [then.record for _, then in counts.weeks],
        "drift": [then.record for _, then in counts.weeks],
    }[found.by]
    first = _first_so(visit, counts) if found.by == "drift" else visit.record
    more = "more" if found.jump.ratio > 1 else "fewer"
    return Finding(
        "volume-jump",
        _weight(counts.rows, found.jump.ratio) * share_left(visit, history) * visit.share_of(first, is_far=False),
        _words(visit, counts, found, is_retry=_follows_failure(visit, history)),
        counts.name,
        visit,
        first.summary.started_us,
        tuple(dict.fromkeys(each.summary.run_id for each in (first, visit.record, *compared))),
        (counts.event,),
        was_before=not visit.is_news(first),
        what=f"{visit.run.job.node_id} {counts.direction} {more}{' by weeks' if found.by == 'drift' else ''}",
        rows=RowFigures(counts.rows, found.jump.usual, found.jump.z),
    )


def _first_so(visit: Visit, counts: _Counts) -> Record:
    """The run since which the weekly counts are about as they are now."""
    first = visit.record
    for rows, then in counts.weeks:
        if not 2 * abs(rows - counts.rows) <= abs(counts.weeks[-1][0] - counts.rows):
            break
        first = then.record
    return first


def _weight(rows: int, ratio: float) -> float:
    if rows == 0:
        return _NOTHING
    doublings = abs(math.log2(ratio)) if math.isfinite(ratio) else math.inf
    return min(_MOST, _LEAST + 0.1 * doublings)


def _follows_failure(visit: Visit, history: History) -> bool:
    """Whether the job's run before this one had failed."""
    last = next(runs_before(history, visit.run), None)
    return last is not None and last.has_failed


def _words(visit: Visit, counts: _Counts, found: Judged, *, is_retry: bool) -> str:
    verb = "wrote" if counts.direction == "output" else "read"
    after = " after a run that failed" if is_retry else ""
    did = f"{visit.called(visit.run.job)} {verb} {so_many(counts.rows, 'row')}{after}"
    return f"{visit.called(counts.name)}: {did}; {_usual(counts, found, verb)}"


def _usual(counts: _Counts, found: Judged, verb: str) -> str:
    if found.by == "drift":
        backs = and_last([str(then.back) for _, then in counts.weeks])
        rows = and_last([f"{rows:,}" for rows, _ in counts.weeks])
        return f"at the same time {backs} weeks before, it {verb} {rows}"
    usual, many = usual_among(found.compared), len(found.compared)
    of_all = "" if len(usual) == many else f"{len(usual)} of "
    if found.by == "runs":
        return f"{of_all}its {many} runs before {verb} {_range(usual)}"
    return f"at the same time of {of_all}the {many} {found.by} before, it {verb} {_range(usual)}"


def _range(counts: Sequence[int]) -> str:
    least, most = min(counts), max(counts)
    return f"{least:,} to {most:,}" if least < most else f"{least:,}"
