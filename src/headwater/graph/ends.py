"""The inputs and outputs of a run, and the jobs that hand it data: by its own events, and by the reports of others.

Many producers declare a job's inputs and outputs once, and then report only the start and end of its runs. Others
report flows between jobs that are not their own, and may name the exact runs.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from headwater.graph.declared import dataset_of, references
from headwater.graph.lineage import Graph
from headwater.graph.records import Reporter, RunEnd
from headwater.model.events import Direction
from headwater.model.flow_facts import Flow
from headwater.model.names import DatasetId, JobId


def reported_ends(graph: Graph, job: JobId) -> frozenset[RunEnd]:
    """The inputs and outputs that a job's declaration and others report for any of its runs, under the names they use.

    What is reported of single runs is left out.
    """
    known = graph.jobs[job]
    if known.declaration is None:
        return frozenset(known.reported_without_run)
    declared = references(graph.content(known.declaration.content))
    return frozenset(
        (*known.reported_without_run, *((direction, dataset_of(reference)) for direction, reference in declared))
    )


def ends_of(graph: Graph, run_id: str, job_ends: Collection[RunEnd]) -> Collection[RunEnd]:
    """The inputs and outputs of a run, by any reporter; `job_ends` fills in a side not reported for this run."""
    observed = graph.runs[run_id].observed
    if not job_ends and run_id not in graph.named_in_flows:
        return observed  # the common case, and there are many
    reported = {*observed, *_reported_by_others(graph, run_id)}
    return reported | {end for end in job_ends if _has_none(reported, end[0])}


def has_written(graph: Graph, run_id: str, names: Collection[RunEnd], *, is_of_job: bool) -> bool:
    """Whether a run wrote one of these; `is_of_job`: one of them is a reported output of its job."""
    observed = graph.runs[run_id].observed
    if any(end in observed for end in names):
        return True
    others = [*_reported_by_others(graph, run_id)]
    return any(end in names for end in others) or (is_of_job and _has_none({*observed, *others}, "output"))


def runs_handing_to(graph: Graph, run_id: str) -> Mapping[JobId, frozenset[str]]:
    """The runs that are named as handing data to a run without a dataset between, by job."""
    found: dict[JobId, frozenset[str]] = {}
    for reporter in {run_id, *graph.named_in_flows.get(run_id, ())}:
        for giver, _, source_run, target_run in _flows_reported_by(graph, reporter):
            if isinstance(giver, JobId) and source_run is not None and target_run == run_id:
                found[giver] = found.get(giver, frozenset()) | {source_run}
    return found


def _has_none(ends: Iterable[RunEnd], direction: Direction) -> bool:
    return all(side != direction for side, _ in ends)


def _reported_by_others(graph: Graph, run_id: str) -> Iterator[RunEnd]:
    """The inputs and outputs that others report for exactly this run."""
    for reporter in graph.named_in_flows.get(run_id, ()):
        for source, target, source_run, target_run in _flows_reported_by(graph, reporter):
            if isinstance(source, DatasetId) and target_run == run_id:
                yield "input", source
            elif isinstance(target, DatasetId) and source_run == run_id:
                yield "output", target


def _flows_reported_by(graph: Graph, reporter: Reporter) -> Iterator[Flow]:
    """The flows that a run reports, with itself and its job filled in, or that a declaration reports as written."""
    if isinstance(reporter, str):
        run = graph.runs.get(reporter)
        if run is not None and run.extras is not None and run.of_job is not None:
            yield from (flow.between(run.of_job.job, reporter) for flow in run.extras.flows)
    elif isinstance(reporter, DatasetId):
        dataset = graph.datasets.get(reporter)
        if dataset is not None and reporter in dataset.declared:
            yield from (Flow(job, reporter, run_id) for job, run_id in dataset.declared[reporter].makers)
    else:
        *_, node = reporter
        known = graph.jobs.get(node) if isinstance(node, JobId) else None
        if known is not None and known.declaration is not None:
            yield from graph.flows_reported_by(known.declaration)
