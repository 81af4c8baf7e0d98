"""The last changes of jobs and datasets that only their own runs report, and their reports by some time.

A mere repetition is no change. For all others (declared ones, those with several names, those that others report) the
records do not suffice.
"""

from collections.abc import Callable, Collection, Iterator
from itertools import chain
from typing import Final

from headwater.graph.lineage import Graph
from headwater.graph.records import Dataset, Job, Run, settled_us
from headwater.model.events import Direction
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId

_READ: Final[Direction] = "input"
_WRITTEN: Final[Direction] = "output"


def job_last_change_us(graph: Graph, name: JobId, first_us: int, facets: Collection[str]) -> int | None:
    """When a known job last changed, in microseconds since 1970: a new job, a new edge, or new content of these facets.

    `first_us` is when the job first appeared. None where others than its own runs report it, or than its runs' children
    where these have no events.
    """
    job = graph.jobs[name]
    if job.is_reported_by_others:
        return None
    if job.children and not are_silent(graph, job):
        return None
    if not all(_has_one_name(graph, end) for end in chain(job.reads, job.writes)):
        return None
    edges = (edge.seen.first_us for edge in chain(job.reads.values(), job.writes.values()))
    since = (settled_us(job, facet) for facet in facets if facet in job.facets)
    return max(chain((first_us,), edges, since)) if _reporting_runs(job) else None


def job_seen_until(graph: Graph, name: JobId, until_us: int) -> Seen | None:
    """The times at which such a job was reported up to then, without runs with events on both sides; None: never."""
    runs = graph.runs
    of_runs = [times.seen for run_id in _reporting_runs(graph.jobs[name]) if (times := runs[run_id].times) is not None]
    return Seen.over([seen for seen in of_runs if seen.last_us <= until_us])


def dataset_last_change_us(graph: Graph, name: DatasetId, facets: Collection[str]) -> int | None:
    """When a dataset last changed, microseconds since 1970: it appeared, or one of these facets or its columns changed.

    `name` is its shown name. None if it was ever declared, no run touched it, or it or a source of its columns does not
    have exactly one name, a complete one.
    """
    dataset = graph.datasets.get(name)
    if dataset is None or dataset.observed is None or dataset.was_declared:
        return None
    if not all(_has_one_name(graph, each) for each in (name, *_sources(graph, dataset, name))):
        return None
    evidence = (edge.seen.first_us for edge in dataset.evidence.values())
    since = (settled_us(dataset, facet) for facet in facets if facet in dataset.facets)
    return max(chain((dataset.observed.first_us,), evidence, since))


def dataset_seen_until(graph: Graph, name: DatasetId, until_us: int) -> Seen | None:
    """The first and last time up to then that runs touched such a dataset or reported its columns; None: none did.

    Runs with events on both sides are left out.
    """
    dataset = graph.datasets[name]
    times = [
        seen
        for jobs, direction in ((dataset.readers, _READ), (dataset.writers, _WRITTEN))
        for job in jobs
        for seen in _touched(graph, graph.jobs[job], (direction, name), until_us)
    ]
    for run_id in graph.runs_reporting(name) if dataset.evidence else ():
        if _spoke_by(graph.runs[run_id], until_us):
            times += (seen for _, seen in graph.runs[run_id].evidence[name])
    return Seen.over(times)


def dataset_last_reported_us(
    graph: Graph, name: DatasetId, until_us: int, last_run: Callable[[JobId], str | None]
) -> int | None:
    """When such a dataset was last reported by then, if the last run of each of its jobs touched it at its end.

    `last_run` gives the run with the last event by then among those that report a job. None: that does not suffice.
    """
    dataset = graph.datasets[name]
    last_us = 0
    for jobs, direction in ((dataset.readers, _READ), (dataset.writers, _WRITTEN)):
        for job, known in ((job, graph.jobs[job]) for job in jobs):
            if known.reported or known.declaration is not None:
                return None
            edge = (known.reads if direction == _READ else known.writes).get(name)
            if edge is None or edge.seen.first_us > until_us:
                continue
            if (run_id := last_run(job)) is None:
                return None
            run = graph.runs[run_id]
            seen = run.observed.get((direction, name))
            if seen is None or run.times is None or seen.last_us != run.times.seen.last_us:
                return None
            last_us = max(last_us, seen.last_us)
    writing = set[str]().union(*(graph.jobs[job].runs for job in dataset.writers if dataset.evidence))
    is_reported_by_writers = not dataset.evidence or writing.issuperset(graph.runs_reporting(name))
    return last_us if last_us and is_reported_by_writers else None


def jobs_reported_by(run: Run) -> Iterator[tuple[JobId, int]]:
    """The jobs that a run reports, its own and its parents', each with the run's last time.

    Microseconds since 1970. Empty for a run without events.
    """
    if run.times is not None and run.of_job is not None:
        for job in (run.of_job.job, *(parent.job for parent in run.of_job.parts_of)):
            yield job, run.times.seen.last_us


def datasets_reported_by(run: Run) -> Iterator[tuple[DatasetId, int]]:
    """The datasets that a run reports, each with the time it did so last, microseconds since 1970.

    A dataset may be repeated.
    """
    for (_, name), seen in run.observed.items():
        yield name, seen.last_us
    for name, evidence in run.evidence.items():
        yield name, max(seen.last_us for _, seen in evidence)
    for flow, seen in run.extras.flows.items() if run.extras is not None else ():
        yield from ((end, seen.last_us) for end in flow if isinstance(end, DatasetId))


def are_silent(graph: Graph, job: Job) -> bool:
    """Whether the job's runs have no events, and their children agree on their job."""
    return not job.runs and not any(run_id in graph.runs or len(graph.child_runs[run_id]) > 1 for run_id in job.named)


def _touched(graph: Graph, job: Job, end: tuple[Direction, DatasetId], until_us: int) -> Iterator[Seen]:
    """When a job's runs read or wrote a dataset by then, or others reported that they did."""
    for run_id in job.runs:
        run = graph.runs[run_id]
        if (seen := run.observed.get(end)) is not None and _spoke_by(run, until_us):
            yield seen
    for reporter, seen in job.reported[end].items() if end in job.reported else ():
        if isinstance(reporter, str) and _spoke_by(graph.runs[reporter], until_us):
            yield seen


def _spoke_by(run: Run, until_us: int) -> bool:
    return run.times is None or run.times.seen.last_us <= until_us


def _reporting_runs(job: Job) -> set[str]:
    return job.children or job.runs


def _sources(graph: Graph, dataset: Dataset, name: DatasetId) -> Iterator[DatasetId]:
    for _, digest in dataset.evidence:
        yield from graph.column_edges.sources(name, digest)


def _has_one_name(graph: Graph, name: DatasetId) -> bool:
    return name.is_complete and graph.identities.is_alone(name)
