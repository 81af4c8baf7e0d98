"""The nodes that the facts of an event mention: what listeners may reload, and what must be counted again."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from headwater.model.facts import (
    Alias,
    CatalogEntry,
    ChainLink,
    ColumnEvidence,
    Content,
    ControlFlow,
    Declaration,
    DeclaredTimes,
    Deletion,
    Edit,
    Ending,
    EngineCatalog,
    FacetReport,
    Fact,
    JobFacet,
    JobFlow,
    Observation,
    ObservedFacet,
    Quarantined,
    Renaming,
    RunFacet,
    RunFacetReport,
    RunOfJob,
    UseEvidence,
)
from headwater.model.names import DatasetId, JobId


@dataclass(slots=True)
class Mentions:
    """Names as the facts give them; the graph resolves a run's job and a dataset's shown name."""

    runs: set[str] = field(default_factory=set)
    jobs: set[JobId] = field(default_factory=set)
    declared_jobs: set[JobId] = field(default_factory=set)
    datasets: set[DatasetId] = field(default_factory=set)
    declared_datasets: set[DatasetId] = field(default_factory=set)
    aliases: set[tuple[DatasetId, DatasetId]] = field(default_factory=set)


_NAME_NOBODY: Final[frozenset[type[Fact]]] = frozenset(
    {
        Content,
        ObservedFacet,
        FacetReport,
        RunFacet,
        RunFacetReport,
        Quarantined,
        Ending,
        CatalogEntry,
        ControlFlow,
        ChainLink,
        Deletion,
        EngineCatalog,
        UseEvidence,
    }
)
"""Facts to skip: other facts of the same event name the same nodes, chain links are read on demand, and an engine's
catalog may concern any of its names."""


def mentions(facts: Iterable[Fact]) -> Mentions:
    """Collect the names that the facts mention."""
    found = Mentions()
    for fact in facts:
        if type(fact) in _NAME_NOBODY:  # most of them
            continue
        match fact:
            case Observation(dataset=name) | ColumnEvidence(target=name) | DeclaredTimes(node=DatasetId() as name):
                found.datasets.add(name)
            case JobFacet(job=job):
                found.jobs.add(job)
            case Declaration(node=DatasetId() as name):
                found.datasets.add(name)
                found.declared_datasets.add(name)
            case JobFlow(source=source, target=target):
                found.jobs.update(end for end in (source, target) if isinstance(end, JobId))
                found.datasets.update(end for end in (source, target) if isinstance(end, DatasetId))
            case Declaration(node=JobId() as job):
                found.declared_jobs.add(job)
            case RunOfJob(run_id=run_id):
                found.runs.add(run_id)
            case Edit(target=("dataset", namespace, name_in_it) | ("field", namespace, name_in_it, _)):
                found.datasets.add(DatasetId(namespace, name_in_it))
            case Edit(target=("job", namespace, name_in_it)):
                found.jobs.add(JobId(namespace, name_in_it))
            case Alias(name=name, alias=alias) | Renaming(name=name, former=alias):
                found.aliases.add((name, alias))
    return found
