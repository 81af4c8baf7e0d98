"""The runs that may have reported a change between two graphs, by the jobs and datasets concerned."""

from collections.abc import Iterable, Iterator, Mapping

from headwater.graph.diff.compare import Change
from headwater.graph.lineage import Graph
from headwater.model.names import ColumnId, DatasetId, JobId


def runs_that_may_report(
    graph: Graph, members: Mapping[DatasetId, Iterable[DatasetId]], changes: Iterable[Change]
) -> set[str]:
    """The ids of these runs in one of the two graphs; `members` are all names of a dataset."""
    ends = {(type(end), end) for change in changes for end in change.element.ends}
    found: set[str] = set()
    for _, end in ends:
        match end:
            case JobId():
                found.update(_of_job(graph, end))
            case ColumnId(dataset=name) | (DatasetId() as name):
                found.update(run_id for member in members[name] for run_id in _of_dataset(graph, member))
    return found


def _of_job(graph: Graph, job_id: JobId) -> Iterator[str]:
    job = graph.jobs.get(job_id)
    if job is not None:
        yield from job.runs
        yield from job.children
        yield from (run_id for run_id in job.named if run_id in graph.runs)  # it may tell that it is another's
        reporters = (reporters_of for side in (job.reported, job.feeds, job.fed_by) for reporters_of in side.values())
        yield from (reporter for reporters_of in reporters for reporter in reporters_of if isinstance(reporter, str))


def _of_dataset(graph: Graph, name: DatasetId) -> Iterator[str]:
    dataset = graph.datasets.get(name)
    for job in (dataset.readers | dataset.writers) if dataset is not None else ():
        for run_id in _of_job(graph, job):
            run = graph.runs.get(run_id)
            if run is not None and (
                ("input", name) in run.observed or ("output", name) in run.observed or name in run.evidence
            ):
                yield run_id
