"""Which names are one dataset, and why."""

from collections.abc import Mapping
from typing import Final

from headwater.graph.identity import Link, Reason
from headwater.model.names import DatasetId
from headwater.service.http.answers import iso
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.shapes import evidence as shapes
from headwater.service.views.names import name_of

_FACET: Final[Mapping[Reason, str]] = {
    "symlinks": "symlinks",
    "rename": "lifecycleStateChange",
    "catalog": "catalog",
    "catalog name": "catalog",
}
"""The facet that gives each kind of evidence."""


def identity(knowledge: Knowledge, name: DatasetId, other: DatasetId | None) -> shapes.Identity:
    """The names of a dataset and the evidence; with `other`, also the shortest path of evidence between the two."""
    identities, shown = knowledge.graph.identities, knowledge.graph.shown(name)
    path = None if other is None else identities.path(name, other)
    return shapes.Identity(
        shown=name_of(shown),
        names=[
            shapes.NameOfDataset(
                namespace=member.namespace,
                name=member.name,
                isShown=member == shown,
                runs=knowledge.graph.count_runs_naming(member),
            )
            for member in knowledge.graph.members(name)
        ],
        evidence=[_evidence(knowledge, link) for link in identities.links(name)],
        path=None if path is None else [_evidence(knowledge, link) for link in path],
    )


def _evidence(knowledge: Knowledge, link: Link) -> shapes.NameEvidence:
    return shapes.NameEvidence(
        name=name_of(link.name),
        other=name_of(link.other),
        reason=link.reason,
        firstSeen=None if link.seen is None else iso(link.seen.first_us),
        lastSeen=None if link.seen is None else iso(link.seen.last_us),
        runs=_count_reporting_runs(knowledge, link),
    )


def _count_reporting_runs(knowledge: Knowledge, link: Link) -> int:
    """The number of runs that reported the facet that a link was read from, on a dataset with one of the names."""
    facet = _FACET.get(link.reason)
    if facet is None:
        return 0
    run_ids: set[str] = set()
    for name, other in ((link.name, link.other), (link.other, link.name)):
        runs = knowledge.graph.runs_naming(name)
        for row in knowledge.store.reported_facets(runs, name, [facet]) if runs else ():
            if facet == "catalog" or _names(knowledge.store.content(row.content), other):
                run_ids.add(row.run_id)
    return len(run_ids)


def _names(facet: Mapping[str, object], other: DatasetId) -> bool:
    identifiers = facet.get("identifiers")
    named = identifiers if isinstance(identifiers, list) else [facet.get("previousIdentifier")]
    return any(isinstance(each, dict) and (each.get("namespace"), each.get("name")) == other for each in named)
