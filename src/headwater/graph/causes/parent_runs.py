"""Runs that never began: their parent run failed before, or completed without them."""

from headwater.graph.causes.history import History
from headwater.graph.causes.record import RunSummary, last_ended
from headwater.model.names import JobId


def failed_parent(history: History, job: JobId, until_us: int) -> RunSummary | None:
    """The run that failed by then and should have contained the job's next run, at any level of nesting.

    Which jobs contain it is taken from the job's last run that had begun by then. None: there is none, or it was
    superseded.
    """
    last = next(iter(history.runs_of(job, until_us)), None)
    if last is None or history.is_stream(job):
        return None
    for parent in history.parents(last.run_id):
        latest = _latest(history, parent.job, until_us)
        if latest is None or latest.run_id == parent.run_id or latest.started_us <= last.started_us:
            continue
        if latest.has_failed:
            return latest
    return None


def completed_without(history: History, last: RunSummary, until_us: int) -> bool:
    """Whether a parent job of this run ran again and completed by then without a newer run of its job."""
    latest = (_latest(history, parent.job, until_us) for parent in history.parents(last.run_id))
    done = (run for run in latest if run is not None and run.state == "COMPLETED")
    return any(run.started_us > last.started_us for run in done)


def _latest(history: History, job: JobId, until_us: int) -> RunSummary | None:
    """The job's run that ended last by then."""
    return last_ended(run for run in history.runs_of(job, until_us) if run.has_ended_by(until_us))
