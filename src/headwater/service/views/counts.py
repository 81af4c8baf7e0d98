"""Sizes of the graph, and what is in quarantine."""

from collections.abc import Mapping
from itertools import islice

from headwater.graph.counts import unplaced
from headwater.model.names import DatasetId
from headwater.service.http.answers import iso
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.shapes import overview as shapes_overview
from headwater.service.views.names import names_of


def summary(knowledge: Knowledge, verdicts: Mapping[str, int], refused: int) -> shapes_overview.Summary:
    """Sizes of the graph, and events by verdict."""
    jobs, datasets = knowledge.job_tallies, knowledge.dataset_tallies
    return shapes_overview.Summary(
        jobs=jobs.shown,
        runs=knowledge.count_runs(),
        datasets=datasets.shown,
        columns=datasets.columns,
        edges=jobs.edges,
        columnEdges=datasets.column_edges,
        quarantined=sum(1 for _ in unplaced(knowledge.graph)),
        events=shapes_overview.EventCounts(
            stored=sum(verdicts.values()),
            verified=verdicts.get("ok", 0),
            unsigned=verdicts.get("unsigned", 0),
            unknownKey=verdicts.get("unknown-key", 0),
            tampered=verdicts.get("tampered", 0),
            malformed=verdicts.get("malformed", 0),
            refused=refused,
        ),
    )


def quarantine(knowledge: Knowledge, limit: int, offset: int) -> shapes_overview.Quarantine:
    """A page of the datasets without a full name that no evidence resolves, latest first."""
    quarantined = list(unplaced(knowledge.graph))
    newest_first = sorted(
        quarantined, key=lambda each: (-each.seen.last_us, each.subject, each.namespace, each.name, each.direction)
    )
    return shapes_overview.Quarantine(
        quarantine=[
            shapes_overview.QuarantinedName(
                subject=each.subject,
                direction=each.direction,
                namespace=each.namespace,
                name=each.name,
                firstSeen=iso(each.seen.first_us),
                lastSeen=iso(each.seen.last_us),
                candidates=names_of(knowledge.graph.identities.claimants(DatasetId(each.namespace, each.name))),
            )
            for each in islice(newest_first, offset, offset + limit)
        ],
        totalCount=len(quarantined),
    )
