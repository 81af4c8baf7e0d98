"""Merges several outputs of a run to the same dataset into one."""

from collections.abc import Sequence
from typing import TypeVar

import attrs
from openlineage.client.facet_v2 import output_statistics_output_dataset, schema_dataset

from headwater.observe.described import Described
from headwater.observe.spark.columns import Facet, united
from headwater.observe.spark.executions import Moved
from headwater.observe.spark.tally import sum_of, written_facet

T = TypeVar("T")

_Statistics = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet
_Schema = schema_dataset.SchemaDatasetFacet


def merged_output(writes: Sequence[Described]) -> Described:
    """The dataset with the rows and column lineage of all writes; of other facets the last one.

    If one write has no column lineage, the result has none: that of the others would omit its inputs.
    """
    if len(writes) == 1:
        return writes[0]
    last = writes[-1]
    facets = {key: facet for write in writes for key, facet in write.facets.items()}
    columns = _each(Facet, [write.facets.get("columnLineage") for write in writes])
    if len(columns) == len(writes):
        facets["columnLineage"] = united(columns)
    else:
        facets.pop("columnLineage", None)
    if schemas := _each(_Schema, [write.facets.get("schema") for write in writes]):
        facets["schema"] = _all_fields(schemas)
    statistics = _each(_Statistics, [write.written.get("outputStatistics") for write in writes])
    total = sum_of(Moved(one.rowCount, one.size, one.fileCount) for one in statistics)
    return Described(
        last.id,
        facets,
        last.read,
        {**last.written, **({"outputStatistics": written_facet(total)} if statistics else {})},
    )


def _each(kind: type[T], facets: Sequence[object]) -> list[T]:
    return [facet for facet in facets if isinstance(facet, kind)]


def _all_fields(schemas: Sequence[_Schema]) -> _Schema:
    """The union of fields, each as last given, in order of first appearance."""
    fields = {field.name: field for schema in schemas for field in schema.fields or []}
    return _Schema(
        fields=[
            attrs.evolve(field, ordinal_position=position) for position, field in enumerate(fields.values(), start=1)
        ]
    )
