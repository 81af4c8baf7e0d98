"""Column lineage of an output's frame as the dataset facet `columnLineage`."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping

from openlineage.client.facet_v2 import column_lineage_dataset

from headwater.graph.sparkplan.lineage import PlanLineage
from headwater.graph.sparkplan.transformation import ColumnInput
from headwater.model.names import ColumnId, DatasetId

log = logging.getLogger(__name__)

Facet = column_lineage_dataset.ColumnLineageDatasetFacet


def facet_of(lineage: PlanLineage[DatasetId]) -> Facet:
    """The facet: direct and conditional inputs by column, what decides the rows under `dataset`."""
    return column_facet(lineage.columns, lineage.dataset)


def column_facet(
    columns: Mapping[str, Iterable[ColumnInput[DatasetId]]], dataset: Iterable[ColumnInput[DatasetId]]
) -> Facet:
    """The facet of these columns, and of what decides the rows."""
    return Facet(
        fields={
            name: column_lineage_dataset.Fields(inputFields=_input_fields(inputs)) for name, inputs in columns.items()
        },
        dataset=_input_fields(dataset),
    )


def log_gaps(lineage: PlanLineage[DatasetId]) -> int:
    """Log every operator that column lineage did not see through; returns how many there were."""
    for gap in lineage.gaps:
        log.warning("column lineage has a gap", extra={"operator": gap.kind, "columns": len(gap.columns)})
    return len(lineage.gaps)


def _input_fields(inputs: Iterable[ColumnInput[DatasetId]]) -> list[column_lineage_dataset.InputField]:
    """One entry a column, with all the ways in which it takes part; sorted, so that equal plans give equal facets."""
    ways: defaultdict[ColumnId, set[tuple[str, str, bool]]] = defaultdict(set)
    for one in inputs:
        how = one.transformation
        ways[ColumnId(one.dataset, one.column)].add((how.type, str(how.subtype), how.masking))
    return [
        column_lineage_dataset.InputField(
            namespace=column.dataset.namespace,
            name=column.dataset.name,
            field=column.column,
            transformations=[
                column_lineage_dataset.Transformation(type=kind, subtype=subtype, description="", masking=masking)
                for kind, subtype, masking in sorted(ways[column])
            ],
        )
        for column in sorted(ways)
    ]
