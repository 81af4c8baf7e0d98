"""Which datasets a dataset is made from."""

from headwater.graph.flow import sources_of
from headwater.model.names import DatasetId
from headwater.service.background import collect_in_slices
from headwater.service.http.answers import iso
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.shapes import evidence as shapes
from headwater.service.views.names import name_of


async def flow(knowledge: Knowledge, name: DatasetId, max_hops: int) -> shapes.Flow:
    """The sources of a dataset, each with its derivation, and those of all datasets within `max_hops` jobs, both ways.

    Works in time slices.
    """
    names = _neighbourhood(knowledge, name, max_hops) if max_hops else []
    return shapes.Flow(
        **_flow_into(knowledge, name), graph=await collect_in_slices(_flow_into(knowledge, each) for each in names)
    )


def _neighbourhood(knowledge: Knowledge, name: DatasetId, max_hops: int) -> list[DatasetId]:
    graph, found = knowledge.graph, knowledge.neighbourhood(name, max_hops)
    ends = (end for job in found.jobs for end in (*graph.reads(job), *graph.writes(job)))
    return sorted(filter(graph.shows, {*found.derived, *ends}))


def _flow_into(knowledge: Knowledge, name: DatasetId) -> shapes.FlowInto:
    sources = sources_of(knowledge.graph, name)
    return shapes.FlowInto(
        dataset=name_of(name),
        sources=[
            shapes.FlowSource(
                dataset=name_of(source.dataset),
                derivation=source.derivation,
                firstSeen=iso(edge.seen.first_us),
                lastSeen=iso(edge.seen.last_us),
                runs=edge.runs,
            )
            for source, edge in sorted(sources.items(), key=lambda item: item[0])
        ],
    )
