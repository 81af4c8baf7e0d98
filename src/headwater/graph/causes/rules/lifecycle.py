"""Datasets that were truncated or dropped after their reader's previous read, and not refilled."""

from collections.abc import Iterator, Mapping
from typing import Final

from headwater.graph.causes.finding import Finding
from headwater.graph.causes.history import History, writes_of
from headwater.graph.causes.record import NOTHING_REPORTED, EventRef
from headwater.graph.causes.visit import Visit
from headwater.model.facets.dataset import LifecycleState
from headwater.model.names import DatasetId

_WEIGHTS: Final[Mapping[LifecycleState, float]] = {"DROP": 0.85, "TRUNCATE": 0.8}
_MADE_ANEW: Final = 0.6
_DONE: Final[Mapping[LifecycleState, str]] = {"DROP": "dropped", "TRUNCATE": "truncated"}


def lifecycle_changes(visit: Visit, history: History) -> Iterator[Finding]:
    """The run truncated or dropped its output, unlike its previous run; or such a change of an input was declared.

    If a run has written the dataset since, that write counts instead.
    """
    yield from _by_run(visit, history)
    for feed in visit.feeds:
        for state, at_us, event in history.declared_lifecycle_changes(feed.dataset):
            if at_us > feed.at_us:
                continue
            if _is_news(visit, history, feed.dataset, state, at_us) or _is_made_anew(visit, feed.dataset, state, at_us):
                yield _finding(visit, feed.dataset, state, at_us, event, is_of_feed=True)


def _by_run(visit: Visit, history: History) -> Iterator[Finding]:
    run = visit.run
    at_us = run.end_us
    for name, end in visit.sides("output"):
        before = [each.ends.get(("output", name), NOTHING_REPORTED).lifecycle_change for each in visit.earlier[:1]]
        if end.lifecycle_change is None or run.has_failed:
            continue
        state, event = end.lifecycle_change
        is_usual = any(then is not None and then[0] == state for then in before)
        if not is_usual and _is_news(visit, history, name, state, at_us):
            yield _finding(visit, name, state, at_us, event, is_of_feed=False)


def _is_news(visit: Visit, history: History, name: DatasetId, state: LifecycleState, at_us: int) -> bool:
    until_us = visit.news.until_us
    if state not in _WEIGHTS or not visit.news.has(at_us) or _was_written(history, name, at_us, until_us):
        return False
    return state != "DROP" or not history.has_only_changed_places(name, at_us)


def _is_made_anew(visit: Visit, name: DatasetId, state: LifecycleState, at_us: int) -> bool:
    """Whether a dataset was created that the job had read before: what was in it is gone, whoever has written since."""
    read = (each.summary for each in (visit.record, *visit.earlier) if name in each.summary.reads)
    return state == "CREATE" and visit.news.has(at_us) and any(run.started_us < at_us for run in read)


def _was_written(history: History, name: DatasetId, after_us: int, until_us: int) -> bool:
    """Whether a run wrote it since; one that also truncated it does not count."""
    since = [
        run for run in writes_of(history, name, until_us) if run.has_completed_by(until_us) and run.end_us > after_us
    ]
    ends = (history.record(run.run_id).ends.get(("output", name), NOTHING_REPORTED) for run in since)
    return any(end.lifecycle_change is None or end.lifecycle_change[0] not in _WEIGHTS for end in ends)


def _finding(
    visit: Visit, name: DatasetId, state: LifecycleState, at_us: int, event: EventRef, *, is_of_feed: bool
) -> Finding:
    by = "" if is_of_feed else f" by {visit.called(visit.run.job)}"
    what = f"was {_DONE[state]}{by}, and not written since" if state in _DONE else "was created anew"
    return Finding(
        "lifecycle-change",
        _WEIGHTS.get(state, _MADE_ANEW),
        f"{visit.called(name)} {what}",
        name,
        visit,
        at_us,
        (visit.run.run_id,),
        (event,),
        is_of_feed=is_of_feed,
    )
