"""Runs that failed."""

from collections.abc import Iterator
from typing import Final

from headwater.graph.causes.finding import Finding
from headwater.graph.causes.history import History
from headwater.graph.causes.meanwhile import share_left
from headwater.graph.causes.record import EventRef, Record
from headwater.graph.causes.visit import WAS_BEFORE, Visit
from headwater.graph.causes.words import clipped
from headwater.model.facets.run import ErrorMessageFacet, SparkExceptionFacet

_FAILED: Final = 0.9
_ABORTED: Final = 0.8
_FOLLOWED: Final = 0.5
"""Factor on the weight if later runs followed before the read."""


def failed_runs(visit: Visit, history: History) -> Iterator[Finding]:
    """The run itself failed or was aborted."""
    run = visit.run
    if not run.has_failed:
        return
    error = _error(visit.record)
    why = f": {clipped(error[0])}" if error else ""
    what = "failed" if run.state == "FAILED" else "was aborted"
    is_followed = bool(visit.path) and visit.path[-1].by == "meanwhile"
    then = f", and {_later(visit, history)}" if is_followed else ""
    events = [event for event in (visit.record.last, error and error[1]) if event is not None]
    yield Finding(
        "failed-run",
        _weight(visit, is_followed=is_followed) * share_left(visit, history),
        f"a run of {visit.called(run.job)} {what}{then}{why}",
        run.job,
        visit,
        run.end_us,
        (run.run_id,),
        tuple(dict.fromkeys(events)),
        was_before=visit.was_before,
    )


def _later(visit: Visit, history: History) -> str:
    """What became of the job's later runs by the time of the read."""
    run, until_us = visit.run, visit.news.until_us
    later = (each for each in history.runs_of(run.job, until_us) if each.started_us >= run.end_us and each != run)
    has_success = any(each.has_completed_by(until_us) for each in later)
    return "later ones succeeded" if has_success else "so did later ones"


def _weight(visit: Visit, *, is_followed: bool) -> float:
    weight = _FAILED if visit.run.state == "FAILED" else _ABORTED
    return weight * (_FOLLOWED if is_followed else 1) * (WAS_BEFORE if visit.was_before else 1)


def _error(record: Record) -> tuple[str, EventRef] | None:
    """The error that the run reported, and the event; Spark's agent has its own facet for it."""
    for facet in (record.view(ErrorMessageFacet), record.view(SparkExceptionFacet)):
        if facet is not None:
            return facet.view.message, facet.event
    return None
