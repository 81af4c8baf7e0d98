"""Jobs that write a dataset for the first time, beside those that wrote it before: a manual write, a renamed job."""

from collections.abc import Iterator
from operator import attrgetter
from typing import Final

from headwater.graph.causes.finding import Finding, shown_by
from headwater.graph.causes.history import History, writes_of
from headwater.graph.causes.record import NOTHING_REPORTED, RunSummary
from headwater.graph.causes.visit import BASELINE, Visit
from headwater.model.names import DatasetId
from headwater.model.times import BEFORE_ALL_US

_NEW: Final = 0.6
_SOMETIMES: Final = 0.5
"""Factor on the weight if one of the writes before was also a job's first."""
_OFTEN: Final = 2
"""So many such writes among those before: then this is how the dataset is written."""


def new_writers(visit: Visit, history: History) -> Iterator[Finding]:
    """The run wrote a dataset that its job had not written before, though others had, since the reader's last run."""
    run = visit.run
    if run.has_failed or (visit.path and not visit.news.has(run.end_us)):
        return
    for name in sorted(name for name in run.writes if visit.concerns("output", name) and _has_data(visit, name)):
        if not _is_first(history, name, run):
            continue
        before = _written_before(history, name, run)
        new = sum(_is_first(history, name, each) for each in before[:BASELINE] if each is not before[-1])
        if not before or new >= _OFTEN:
            continue
        other = visit.called(before[0].job)
        yield Finding(
            "new-writer",
            _NEW * (_SOMETIMES if new else 1),
            f"{visit.called(name)}: {visit.called(run.job)} wrote it, and had not before; {other} had",
            name,
            visit,
            run.started_us,
            (run.run_id, before[0].run_id),
            shown_by(visit.record.last),
        )


def _has_data(visit: Visit, name: DatasetId) -> bool:
    """Whether the run may have written rows: not if it reports that it only created, altered, renamed or emptied it."""
    end = visit.record.ends.get(("output", name), NOTHING_REPORTED)
    return end.rows is not None or end.lifecycle_change is None or end.lifecycle_change[0] == "OVERWRITE"


def _written_before(history: History, name: DatasetId, run: RunSummary) -> list[RunSummary]:
    """The runs of other jobs that wrote the dataset and began before this one, newest first."""
    by_others = (
        each for each in writes_of(history, name, run.started_us) if each.job != run.job and each.state == "COMPLETED"
    )
    return sorted((each for each in by_others if each.began < run.began), key=attrgetter("began"), reverse=True)


def _is_first(history: History, name: DatasetId, run: RunSummary) -> bool:
    """Whether no run of its job had written the dataset when it began."""
    earlier = history.ended_in(run.job, BEFORE_ALL_US, run.started_us, has_failed=False)
    return not any(name in each.writes for each in earlier)
