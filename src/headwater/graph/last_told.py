"""Jobs and datasets of which their own runs alone tell: until when these did, and what they had told by some time.

Of any other (declared ones, those of several names, those told of by others) only a look at what there was can tell.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from headwater.graph.lineage import Graph
from headwater.graph.records import Dataset, Job, Run
from headwater.model.events import Direction
from headwater.model.facts import Seen
from headwater.model.names import DatasetId, JobId

_READ: Final[Direction] = "input"
_WRITTEN: Final[Direction] = "output"


def job_last_told_us(graph: Graph, name: JobId) -> int | None:
    """When anything was told last of a known job, microseconds since 1970: since then it is what it is now.

    None where others tell of it than its own runs, or the parts of its runs where these are silent.
    """
    job = graph.jobs[name]
    if job.declared_over is not None or job.declaration is not None or job.told or job.feeds or job.fed_by:
        return None
    if job.children and not _are_silent(graph, name, job):
        return None
    if not all(_has_one_name(graph, end) for end in chain(job.reads, job.writes)):
        return None
    runs = (times.seen.last_us for run_id in _tellers(job) if (times := graph.runs[run_id].times) is not None)
    return max(chain(runs, (facet.stamp.time_us for facet in job.facets.values())), default=None)


def job_seen_until(graph: Graph, name: JobId, until_us: int) -> Seen | None:
    """When such a job was heard of by then; None: it was not. What runs told that spoke across then is left out."""
    return _union(
        times.seen
        for run_id in _tellers(graph.jobs[name])
        if (times := graph.runs[run_id].times) is not None and times.seen.last_us <= until_us
    )


def dataset_last_told_us(graph: Graph, name: DatasetId) -> int | None:
    """As of a job, of a dataset that is shown by this name."""
    dataset = graph.datasets.get(name)
    if dataset is None or dataset.observed is None or dataset.declared or dataset.declared_over is not None:
        return None
    if not all(_has_one_name(graph, each) for each in (name, *_sources(graph, dataset, name))):
        return None
    return max((dataset.observed.last_us, *(stamp.time_us for stamp, _ in dataset.facets.values())))


def dataset_seen_until(graph: Graph, name: DatasetId, until_us: int) -> Seen | None:
    """As of a job."""
    dataset = graph.datasets[name]
    told = [
        seen
        for jobs, way in ((dataset.readers, _READ), (dataset.writers, _WRITTEN))
        for job in jobs
        for seen in _touched(graph, graph.jobs[job], (way, name), until_us)
    ]
    for run_id in graph.runs_telling_of(name) if dataset.evidence else ():
        if _spoke_by(graph.runs[run_id], until_us):
            told += graph.runs[run_id].evidence[name].values()
    return _union(told)


def _touched(graph: Graph, job: Job, end: tuple[Direction, DatasetId], until_us: int) -> Iterator[Seen]:
    """When a job's runs read or wrote a dataset, by then, or others told that they do."""
    for run_id in job.runs:
        run = graph.runs[run_id]
        if (seen := run.observed.get(end)) is not None and _spoke_by(run, until_us):
            yield seen
    for teller, seen in job.told[end].items() if end in job.told else ():
        if isinstance(teller, str) and _spoke_by(graph.runs[teller], until_us):
            yield seen


def _spoke_by(run: Run, until_us: int) -> bool:
    return run.times is None or run.times.seen.last_us <= until_us


def _tellers(job: Job) -> set[str]:
    return job.children or job.runs


def _are_silent(graph: Graph, name: JobId, job: Job) -> bool:
    """Whether the job's runs say nothing themselves, and those that name them agree on whose they are."""
    if job.runs:
        return False
    children = (of_job for run_id in job.children if (of_job := graph.runs[run_id].of_job) is not None)
    wholes = {
        whole.run_id
        for of_job in children
        for whole in (of_job.parent, of_job.root)
        if whole is not None and whole.job == name
    }
    return not any(run_id in graph.runs or len(graph.child_runs[run_id]) > 1 for run_id in wholes)


def _sources(graph: Graph, dataset: Dataset, name: DatasetId) -> Iterator[DatasetId]:
    for _, digest in dataset.evidence:
        yield from graph.column_edges.sources(name, digest)


def _has_one_name(graph: Graph, name: DatasetId) -> bool:
    return name.is_complete and graph.identities.is_alone(name)


def _union(times: Iterable[Seen]) -> Seen | None:
    known = [*times]
    return Seen(min(each.first_us for each in known), max(each.last_us for each in known)) if known else None
