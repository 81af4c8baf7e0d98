"""Runs for a nominal time that their job had passed, such as a backfill that writes an old partition again."""

from collections.abc import Iterator, Sequence
from typing import Final

from headwater.graph.causes.finding import Finding, shown_by
from headwater.graph.causes.history import History
from headwater.graph.causes.meanwhile import share_left
from headwater.graph.causes.record import Record
from headwater.graph.causes.visit import Visit
from headwater.graph.causes.words import span
from headwater.model.times import time_at

_RERUN: Final = 0.5
_SOMETIMES: Final = 0.5
"""Factor on the weight if an earlier run did the same."""
_OFTEN: Final = 2
"""So many earlier runs that did the same: then the job often does."""
_FEWEST: Final = 3
"""Earlier runs with a nominal time that show in which order the job usually runs."""


def reruns(visit: Visit, history: History) -> Iterator[Finding]:
    """The run wrote for a nominal time that earlier runs of its job had reached or passed."""
    run = visit.run
    in_order = [each for each in (visit.record, *visit.earlier) if each.nominal_us is not None]
    if run.state != "COMPLETED" or len(in_order) <= _FEWEST or in_order[0] is not visit.record:
        return
    went_back = [_goes_back(each, in_order[place:]) for place, each in enumerate(in_order, 1)]
    if not went_back[0] or sum(went_back[1:]) >= _OFTEN:
        return
    nominal = time_at(visit.record.nominal_us or 0).isoformat(timespec="seconds").replace("+00:00", "Z")
    yield Finding(
        "rerun",
        _RERUN * (_SOMETIMES if any(went_back[1:]) else 1) * share_left(visit, history),
        f"{visit.called(run.job)} ran again for {nominal}, {_before(visit, in_order)}",
        run.job,
        visit,
        run.started_us,
        (run.run_id, in_order[1].summary.run_id),
        shown_by(visit.record.first),
        what="ran twice" if _twin(in_order) is not None else "rerun",
    )


def _before(visit: Visit, in_order: Sequence[Record]) -> str:
    twin = _twin(in_order)
    if twin is None:
        return "which earlier runs had already passed"
    return f"for which it had run {span(visit.run.started_us - twin.summary.started_us)} before"


def _twin(in_order: Sequence[Record]) -> Record | None:
    """The run before this one, if it was for the same time."""
    now, before = in_order[:2]
    return before if before.nominal_us == now.nominal_us else None


def _goes_back(record: Record, earlier: Sequence[Record]) -> bool:
    """Whether an earlier run, other than a sibling, was for the same time or a later one."""
    parent, nominal_us = record.summary.parent_run, record.nominal_us
    others = (each for each in earlier if parent is None or each.summary.parent_run != parent)
    return any((each.nominal_us or 0) >= (nominal_us or 0) for each in others)
