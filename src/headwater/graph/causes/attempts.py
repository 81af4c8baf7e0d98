"""Runs of a job that failed, and that no later run of it made good; and whether another job writes in its place."""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from headwater.graph.causes.history import History
from headwater.graph.causes.record import Outline
from headwater.model.names import DatasetId, JobId


def not_made_good(ended: Sequence[Outline], in_run: str | None) -> Iterator[Outline]:
    """Of runs of a job that have ended, given newest first, those that failed, for which no other was begun since.

    Several may run side by side, as those of a mapped task do: one that began before another failed is no new attempt
    at what that one did, and neither is one that is a part of another run, before all these are done. To whoever is a
    part of the same run as they are (`in_run`) these alone matter, whatever other runs did since.
    """
    for run in ended:
        if run.has_failed and not _is_made_good(run, ended, in_run):
            yield run


def replaced_us(history: History, name: DatasetId, job: JobId, since_us: int, until_us: int) -> int | None:
    """When another job first completed a write of the dataset after one time and by another; None: none did."""
    others = [other for other in history.writers(name) if other != job]
    runs = (run for other in others for run in history.runs_of(other) if name in run.writes)
    done = (run.ended_us for run in runs if run.state == "COMPLETED" and run.ended_us is not None)
    return min((end for end in done if since_us < end <= until_us), default=None)


def failed_beside(run: Outline, runs: Sequence[Outline]) -> Iterator[Outline]:
    """Of the runs of its job, given newest first, those that failed beside it, as parts of the same run."""
    if run.parent_run is not None:
        ended = [each for each in runs if each.ended_us is not None and each.parent_run == run.parent_run]
        yield from (failed for failed in not_made_good(ended, run.parent_run) if failed != run)


def _is_made_good(failed: Outline, ended: Sequence[Outline], in_run: str | None) -> bool:
    since = [run for run in takewhile(lambda run: run.started_us >= _end_us(failed), ended) if run is not failed]
    if failed.parent_run is None or any(run.parent_run == failed.parent_run for run in since):
        return bool(since)
    if not since or failed.parent_run == in_run:
        return False
    done_us = max(_end_us(run) for run in ended if run.parent_run == failed.parent_run)
    return since[0].started_us >= done_us


def _end_us(run: Outline) -> int:
    return run.last_us if run.ended_us is None else run.ended_us
