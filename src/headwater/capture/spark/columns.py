"""Column lineage of what a program writes."""

from collections.abc import Sequence
from dataclasses import dataclass

from headwater.capture.spark.reading import Read
from headwater.graph.sparkplan.leaves import Attribute, Leaf
from headwater.graph.sparkplan.lineage import column_lineage
from headwater.graph.sparkplan.plan import parse_plan
from headwater.graph.sparkplan.splice import with_query
from headwater.model.names import DatasetId
from headwater.observe.described import Described
from headwater.observe.spark.columns import Facet, facet_of, gap_texts, named_as, spread
from headwater.observe.spark.jvm import Java


@dataclass(frozen=True, slots=True)
class SourceQuery:
    """The streaming query behind a micro-batch: its plan's JSON, its columns, and its inputs."""

    query: str
    output: Sequence[Attribute]
    read: Read


def add_columns(dataset: Described, plan: Java, read: Read, behind: SourceQuery | None = None) -> list[str]:
    """Add column lineage to an output; returns its gaps."""
    text = plan.toJSON()
    facet, gaps = columns_of(text if behind is None else with_query(text, behind.query, behind.output), read, behind)
    if facet is not None:
        dataset.facets["columnLineage"] = named_as(facet, dataset.facets.get("schema"))
    return gaps


def columns_of(text: str | bytes, read: Read, behind: SourceQuery | None = None) -> tuple[Facet | None, list[str]]:
    """The column lineage facet of a plan's output, if enough of it is known, and its gaps."""

    def dataset_of(leaf: Leaf) -> DatasetId | None:
        return read.dataset_of(leaf) or (None if behind is None else behind.read.dataset_of(leaf))

    def hides(leaf: Leaf) -> bool:
        return any(one.hides(leaf) for one in [one for one in reads if one.knows(leaf)] or reads)

    reads = [read] if behind is None else [read, behind.read]
    found = column_lineage(parse_plan(text), dataset_of, hides)
    gaps = gap_texts(gap for gap in found.gaps if gap.kind != "LogicalRDD")  # `Read` reports gaps by RDDs
    lineage = spread(found, lambda dataset, _: [one for read in reads for one in read.members(dataset)])
    return facet_of(lineage, lambda leaf: [name for one in reads for name in one.behind(leaf)]), gaps
