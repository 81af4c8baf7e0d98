"""The use that an output makes of an input column, in OpenLineage's terms."""

from enum import StrEnum
from typing import Generic, Literal, NamedTuple, TypeVar

D = TypeVar("D")


class Subtype(StrEnum):
    """The subtypes of both types; the direct ones from weakest to strongest.

    Source: OpenLineage, Column Level Lineage Dataset Facet, "Transformation Type",
    https://openlineage.io/docs/spec/facets/dataset-facets/column_lineage_facet
    """

    IDENTITY = "IDENTITY"
    TRANSFORMATION = "TRANSFORMATION"
    AGGREGATION = "AGGREGATION"
    JOIN = "JOIN"
    GROUP_BY = "GROUP_BY"
    FILTER = "FILTER"
    SORT = "SORT"
    WINDOW = "WINDOW"
    CONDITIONAL = "CONDITIONAL"


DIRECT = frozenset({Subtype.IDENTITY, Subtype.TRANSFORMATION, Subtype.AGGREGATION})


class Transformation(NamedTuple):
    """One use of an input column by an output.

    `masking` is true if the value cannot be recovered from the output: hashes, `mask`, counts.
    """

    subtype: Subtype
    masking: bool = False

    @property
    def type(self) -> Literal["DIRECT", "INDIRECT"]:
        """DIRECT if the output's value is computed from the input's, INDIRECT if it only depends on it."""
        return "DIRECT" if self.subtype in DIRECT else "INDIRECT"


class ColumnInput(NamedTuple, Generic[D]):
    """A column of an input dataset with one transformation; a column that is used in two ways has two of these."""

    dataset: D
    column: str
    transformation: Transformation
