"""The nodes of a graph that facts touch: asked before facts are added, as they may move away from nodes, and after."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from headwater.graph.lineage import Graph
from headwater.model.facts import SHAPE_PARTS, Declaration, FacetReport, Fact
from headwater.model.names import DatasetId, JobId
from headwater.service.knowledge.mentions import Mentions


class Touched(NamedTuple):
    """Nodes touched by facts, datasets by their shown names."""

    jobs: frozenset[JobId]
    datasets: frozenset[DatasetId]
    run: str | None


def touched_by(graph: Graph, mentions: Mentions) -> Touched:
    """The nodes that facts with these mentions touch in the graph as it is now."""
    jobs = mentions.jobs | mentions.declared_jobs
    datasets = mentions.datasets.union(*mentions.aliases)
    for run_id in mentions.runs:
        jobs.update(_jobs_of(graph, run_id))
        datasets.update(*graph.renamed_by(run_id))
    for job in (graph.jobs[name] for name in mentions.declared_jobs if name in graph.jobs):
        datasets.update(job.reads, job.writes)
    for end in (end for name in mentions.declared_jobs for end in graph.declared_ends(name)):
        (jobs if isinstance(end, JobId) else datasets).add(end)  # type: ignore[arg-type]
    for name in mentions.declared_datasets:
        declared = graph.datasets[name].declared.get(name) if name in graph.datasets else None
        jobs.update(maker.job for maker in (declared.makers if declared is not None else ()))
    shown = frozenset(name for name in map(graph.shown, datasets) if name.is_complete)
    return Touched(frozenset(jobs), shown, next(iter(mentions.runs), None))


def _jobs_of(graph: Graph, run_id: str) -> Iterator[JobId]:
    """The jobs of a run, its parent and its root, by the run's own events and by those of runs that name them."""
    yield from graph.child_runs.get(run_id, ())
    run = graph.runs.get(run_id)
    if run is not None and run.of_job is not None:
        yield run.of_job.job
        for parent in run.of_job.parts_of:
            yield from graph.child_runs[parent.run_id]


def misnamed_parts(graph: Graph, run_ids: Iterable[str]) -> set[str]:
    """Runs that name one of these as their parent or root with another job than it has, or while it has none."""
    parts: set[str] = set()
    for run_id in run_ids:
        if claims := graph.child_runs.get(run_id):
            own = graph.job_of(run_id)
            parts.update(*(runs for job, runs in claims.items() if job != own))
    return parts


def jobs_of(graph: Graph, run_ids: Iterable[str]) -> set[JobId]:
    """The jobs of these runs."""
    return {job for run_id in run_ids if (job := graph.job_of(run_id)) is not None}


def reshaped_by(graph: Graph, facts: Iterable[Fact]) -> set[DatasetId]:
    """Datasets for which the facts may change which version a run has met; called before the facts are added.

    A repetition of the newest version changes none.
    """
    reshaped: set[DatasetId] = set()
    for fact in facts:  # comparing types takes a fifth of the time of `match`
        if type(fact) is FacetReport:
            if fact.name in SHAPE_PARTS and _may_reshape(graph, fact):
                reshaped.add(fact.dataset)
        elif type(fact) is Declaration and isinstance(fact.node, DatasetId):
            reshaped.add(fact.node)
    return reshaped


def _may_reshape(graph: Graph, fact: FacetReport) -> bool:
    newest = graph.facets_of(fact.dataset).get(fact.name)
    # The same stamp: a past may already have what it learns, through the graph of now.
    return newest is None or newest.content != fact.content or fact.first <= newest.stamp


def unused_of(graph: Graph, mentions: Mentions) -> list[DatasetId]:
    """The mentioned names that were not used before."""
    return [name for name in mentions.datasets.union(*mentions.aliases) if not graph.identities.knows(name)]


def hidden_of(graph: Graph, touched: Touched) -> list[DatasetId]:
    """The touched datasets that are hidden."""
    return [name for name in touched.datasets if graph.hides(name)]
