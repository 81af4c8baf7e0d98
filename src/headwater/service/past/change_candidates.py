"""The jobs and datasets that may differ between a time and now; a comparison can skip all others."""

from collections.abc import Generator, Iterable, Iterator
from typing import Final

from headwater.graph.diff.compare import Among
from headwater.graph.past.cut import CutGraph
from headwater.graph.past.last_changes import (
    dataset_last_change_us,
    datasets_reported_by,
    job_last_change_us,
    jobs_reported_by,
)
from headwater.graph.records import Run
from headwater.model.flow_facts import Flow
from headwater.model.names import DatasetId, JobId
from headwater.service.background import groups
from headwater.service.knowledge.knowledge import Knowledge

_MANY: Final = 128
"""Nodes or runs examined per step: a millisecond's work."""


def changed_since(now: Knowledge, until_us: int) -> Generator[None, None, Among]:
    """Nodes that runs changed after that time, and all nodes that others than their own runs mention; found in steps.

    Not included: nodes that were folded again for that time, and edits over the API.
    """
    jobs, datasets = yield from _mentioned_by_runs(now, until_us)
    graph = now.graph
    for some_jobs in groups([*jobs], _MANY):
        jobs.difference_update([job for job in some_jobs if not _has_job_news(now, job, until_us)])
        yield
    for some_names in groups([*datasets], _MANY):
        datasets.difference_update([name for name in some_names if not _has_news(now, name, until_us)])
        yield
    jobs.update([job for job, known in graph.jobs.items() if known.is_reported_by_others])
    yield
    datasets.update([name for name, known in graph.datasets.items() if known.was_declared])
    return Among(jobs, datasets)


def parted_or_joined(cut: CutGraph) -> Generator[None, None, Among]:
    """The datasets whose names were joined or split since, under all names, and the jobs that use them; in steps."""
    jobs, datasets = set[JobId](), set[DatasetId]()
    for names in groups({*cut.identities.joined(), *cut.now.identities.joined()}, _MANY):
        for then, now in ((cut.identities.members(name), cut.now.identities.members(name)) for name in names):
            if {*then} != {*now}:
                datasets.update(then, now)
        yield
    for graph in (cut, cut.now):
        known = (dataset for name in datasets if (dataset := graph.datasets.get(name)) is not None)
        jobs.update(*(dataset.readers | dataset.writers for dataset in known))
        yield
    return Among(jobs, datasets)


def _mentioned_by_runs(now: Knowledge, until_us: int) -> Generator[None, None, tuple[set[JobId], set[DatasetId]]]:
    """The nodes mentioned by runs with events after that time."""
    jobs, datasets = set[JobId](), set[DatasetId]()
    for run_ids in groups([*now.run_intervals.after(until_us)], _MANY):
        for run in map(now.graph.runs.__getitem__, run_ids):
            jobs.update(job for job, _ in jobs_reported_by(run))
            jobs.update(_jobs_in_flows(run))
            datasets.update(name for name, _ in datasets_reported_by(run))
        yield
    return jobs, datasets


def _jobs_in_flows(run: Run) -> Iterator[JobId]:
    flows: Iterable[Flow] = () if run.extras is None else run.extras.flows
    return (end for flow in flows for end in flow if isinstance(end, JobId))


def _has_job_news(now: Knowledge, job: JobId, until_us: int) -> bool:
    """Whether anything but the job's times may have changed after that time."""
    tally, known = now.job_tallies.get(job), now.graph.jobs.get(job)
    if tally is None or known is None:
        return True
    new_us = job_last_change_us(now.graph, job, tally.seen.first_us, known.facets)
    return new_us is None or new_us > until_us


def _has_news(now: Knowledge, name: DatasetId, until_us: int) -> bool:
    known = now.graph.datasets.get(name)
    if known is None:
        return True
    new_us = dataset_last_change_us(now.graph, name, known.facets)
    return new_us is None or new_us > until_us
