"""Failed runs of a job that no later run superseded; and whether another job writes instead."""

from collections.abc import Iterator, Sequence

from headwater.graph.causes.history import History, writes_of
from headwater.graph.causes.record import RunSummary
from headwater.model.names import DatasetId, JobId


def not_superseded(ended: Sequence[RunSummary], in_run: str | None) -> Iterator[RunSummary]:
    """The failed runs among a job's ended runs (passed newest first) that no later run superseded.

    Runs may be concurrent, as those of a mapped task: a run that began before another failed is no retry of it. Nor is
    a run in another parent run, until all runs of the failed one's parent have ended. For a reader in the same parent
    run (`in_run`) only runs of that parent count.
    """
    for run in ended:
        if run.has_failed and not _is_superseded(run, ended, in_run):
            yield run


def may_be_retry(run: RunSummary, failed: RunSummary) -> bool:
    """Whether a run of the same job began when another had failed, or later.

    A run known by its failure alone began and failed at one time: of several at the same time, none is a retry.
    """
    if run.run_id == failed.run_id or (run.has_failed and run.end_us <= failed.started_us):
        return False
    return run.started_us >= failed.end_us


def replaced_us(history: History, name: DatasetId, job: JobId, since_us: int, until_us: int) -> int | None:
    """When another job first completed a write of the dataset in that interval (open at its start); None: none did."""
    runs = (run for run in writes_of(history, name, until_us) if run.job != job)
    done = (run.end_us for run in runs if run.has_completed_by(until_us))
    return min((end_us for end_us in done if end_us > since_us), default=None)


def failed_siblings(run: RunSummary, runs: Sequence[RunSummary]) -> Iterator[RunSummary]:
    """The failed runs of the same job and parent run; `runs` are the job's, newest first."""
    if run.parent_run is not None:
        ended = [each for each in runs if each.ended_us is not None and each.parent_run == run.parent_run]
        yield from (failed for failed in not_superseded(ended, run.parent_run) if failed != run)


def _is_superseded(failed: RunSummary, ended: Sequence[RunSummary], in_run: str | None) -> bool:
    since = [run for run in ended if may_be_retry(run, failed)]
    if failed.parent_run is None or any(run.parent_run == failed.parent_run for run in since):
        return bool(since)
    if not since or failed.parent_run == in_run:
        return False
    done_us = max(run.end_us for run in ended if run.parent_run == failed.parent_run)
    return since[0].started_us >= done_us
