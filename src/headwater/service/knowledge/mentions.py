"""Whom the facts of an event are about: what a listener may want to look at again, and what must be counted anew."""

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
    Edit,
    Ending,
    EngineCatalog,
    Fact,
    JobFacet,
    JobFlow,
    Observation,
    ObservedFacet,
    Quarantined,
    Renaming,
    RunFacet,
    RunOfJob,
    RunTelling,
    Telling,
    UseEvidence,
)
from headwater.model.names import DatasetId, JobId


@dataclass(slots=True)
class Mentions:
    """Names as the facts give them; a run's job and a dataset's shown name are for the graph to say."""

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
        Telling,
        RunFacet,
        RunTelling,
        Quarantined,
        Ending,
        CatalogEntry,
        ControlFlow,
        ChainLink,
        EngineCatalog,
        UseEvidence,
    }
)
"""Other facts of the same event name what they are about; nodes are looked at when somebody asks; and what an engine
is set up for may be about any of its names."""


def mentions(facts: Iterable[Fact]) -> Mentions:
    """Collect whom the facts are about."""
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
