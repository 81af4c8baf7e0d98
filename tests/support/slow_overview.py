"""Reference overview, computed from every job and dataset; the incrementally updated answers must equal it."""

from collections.abc import Iterator
from functools import reduce
from itertools import pairwise
from typing import Any

from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from headwater.service.http.answers import iso
from headwater.service.knowledge.knowledge import Knowledge

EDGES_US = [0, 1_700_000_000_000_000, 1_779_000_000_000_000, 1_800_000_000_000_000, 2_000_000_000_000_000]


def slow_overview(knowledge: Knowledge) -> dict[str, Any]:
    """Counts, order of jobs, namespaces with their times and counts, and how many nodes were known when."""
    graph = knowledge.graph
    jobs = [job for job in graph.jobs if knowledge.is_job(job)]
    datasets = sorted(graph.shown_datasets())
    newest_first = sorted(jobs, key=lambda job: (-knowledge.activity(job).seen.last_us, job))
    spans = _namespaces(knowledge)
    return {
        "counts": [
            len(jobs),
            len([*graph.runs]),
            len(datasets),
            sum(len(knowledge.columns(name)) for name in datasets),
            sum(len(graph.reads(job)) + len(graph.writes(job)) for job in jobs),
            sum(len(graph.column_edges_into(name)) for name in datasets),
        ],
        "jobs": newest_first,
        "namespaces": {name: (iso(seen.first_us), iso(seen.last_us)) for name, seen in spans.items()},
        "in": {
            namespace: [
                [name for name in datasets if name.namespace == namespace],
                [job for job in newest_first if job.namespace == namespace],
            ]
            for namespace in spans
        },
        "known by": [
            *_known_by([knowledge.activity(job).seen.first_us for job in jobs]),
            *_known_by([knowledge.seen(name).first_us for name in datasets]),
        ],
    }


def _namespaces(knowledge: Knowledge) -> dict[str, Seen]:
    seen: dict[str, list[Seen]] = {"default": [Seen(0, 0)]}
    for namespace, when in (*_of_jobs(knowledge), *_of_datasets(knowledge)):
        seen.setdefault(namespace, []).append(when)
    return {namespace: reduce(Seen.union, seen[namespace]) for namespace in sorted(seen)}


def _of_jobs(knowledge: Knowledge) -> Iterator[tuple[str, Seen]]:
    for name, job in knowledge.graph.jobs.items():
        if job.is_known:
            assert isinstance(name, JobId)
            yield name.namespace, knowledge.activity(name).seen


def _of_datasets(knowledge: Knowledge) -> Iterator[tuple[str, Seen]]:
    for name, dataset in knowledge.graph.datasets.items():
        if dataset.is_known:
            members: list[DatasetId] = [*knowledge.graph.identities.members(name)]
            yield from ((member.namespace, dataset.seen) for member in members if member.is_complete)


def _known_by(times_us: list[int]) -> list[int]:
    return [sum(1 for time_us in times_us if time_us < end) for _, end in pairwise(EDGES_US)]
