"""Which datasets a dataset is made from."""

from headwater.graph.flow import sources_of
from headwater.model.names import DatasetId
from headwater.service import shapes_evidence as shapes
from headwater.service.answers import iso
from headwater.service.knowledge import Knowledge
from headwater.service.views.names import name_of


def flow(knowledge: Knowledge, name: DatasetId) -> shapes.Flow:
    """The sources of a dataset, each with how it is known."""
    sources = sources_of(knowledge.graph, name)
    return shapes.Flow(
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
