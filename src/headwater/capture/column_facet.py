"""A statement's columns as a facet of the official client's classes."""

from collections.abc import Iterable, Mapping
from typing import Any

from openlineage.client.facet_v2 import column_lineage_dataset


def column_facet(lineage: Mapping[str, Any]) -> column_lineage_dataset.ColumnLineageDatasetFacet | None:
    """The facet from a result of `sql_lineage`, for an event of our own.

    None if it has no columns, or names a dataset as a whole, which the standard cannot express: without a facet,
    readers derive the output from all inputs.
    """
    entries = [*lineage["dataset"], *(each for field in lineage["fields"].values() for each in field["inputFields"])]
    if not lineage["fields"] or not all("field" in each for each in entries):
        return None
    return column_lineage_dataset.ColumnLineageDatasetFacet(
        fields={
            column: column_lineage_dataset.Fields(inputFields=_input_fields(field["inputFields"]))
            for column, field in lineage["fields"].items()
        },
        dataset=_input_fields(lineage["dataset"]),
    )


def _input_fields(input_fields: Iterable[Mapping[str, Any]]) -> list[column_lineage_dataset.InputField]:
    return [
        column_lineage_dataset.InputField(
            **{
                **each,
                "transformations": [column_lineage_dataset.Transformation(**step) for step in each["transformations"]],
            }
        )
        for each in input_fields
    ]
