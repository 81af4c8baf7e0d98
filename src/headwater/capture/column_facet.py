"""A statement's columns as a facet of the official client's classes."""

from collections.abc import Iterable, Mapping
from typing import Any

from openlineage.client.facet_v2 import column_lineage_dataset


def column_facet(lineage: Mapping[str, Any]) -> column_lineage_dataset.ColumnLineageDatasetFacet:
    """A facet that `sql_lineage` makes, for an event of our own."""
    return column_lineage_dataset.ColumnLineageDatasetFacet(
        fields={
            column: column_lineage_dataset.Fields(inputFields=_input_fields(made["inputFields"]))
            for column, made in lineage["fields"].items()
        },
        dataset=_input_fields(lineage["dataset"]),
    )


def _input_fields(told: Iterable[Mapping[str, Any]]) -> list[column_lineage_dataset.InputField]:
    return [
        column_lineage_dataset.InputField(
            **{
                **each,
                "transformations": [column_lineage_dataset.Transformation(**step) for step in each["transformations"]],
            }
        )
        for each in told
    ]
