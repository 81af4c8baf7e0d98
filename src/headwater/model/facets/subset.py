"""Which part of a dataset was read or written: a condition, which may hold further conditions."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from headwater.model.facets.view import Items, Part, View


class LocationCondition(Part):
    """The files or folders that were touched."""

    type: Literal["location"]
    locations: Items[str]


class Partition(Part):
    """A partition by the values of its dimensions."""

    dimensions: dict[str, Any]
    identifier: str | None = None


class PartitionCondition(Part):
    """The partitions that were touched."""

    type: Literal["partition"]
    partitions: Items[Partition]


class FieldExpression(Part):
    """The value of a column."""

    type: Literal["field"]
    field: str


class LiteralExpression(Part):
    """A value as it stands."""

    type: Literal["literal"]
    value: str


Expression = Annotated[FieldExpression | LiteralExpression, Field(discriminator="type")]


class CompareCondition(Part):
    """Two expressions and how they compare, for example `EQUAL`."""

    type: Literal["compare"]
    left: Expression
    right: Expression
    comparison: str


class BinaryCondition(Part):
    """Two conditions and what joins them, for example `AND`."""

    type: Literal["binary"]
    left: "Condition"
    right: "Condition"
    operator: str


Condition = Annotated[
    LocationCondition | PartitionCondition | CompareCondition | BinaryCondition, Field(discriminator="type")
]


class InputSubsetFacet(View):
    """Which part of the dataset a run read.

    Source: OpenLineage BaseSubsetDatasetFacet 1-1-0 `InputSubsetInputDatasetFacet`
    """

    key: ClassVar = "subset"
    input_condition: Condition


class OutputSubsetFacet(View):
    """Which part of the dataset a run wrote.

    Source: OpenLineage BaseSubsetDatasetFacet 1-1-0 `OutputSubsetOutputDatasetFacet`
    """

    key: ClassVar = "subset"
    output_condition: Condition
