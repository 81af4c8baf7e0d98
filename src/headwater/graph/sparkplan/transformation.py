"""How an input column reaches an output column, in OpenLineage's words."""

from enum import StrEnum
from typing import Generic, Literal, NamedTuple, TypeVar

D = TypeVar("D")


class Subtype(StrEnum):
    """The subtypes of both types; the direct ones go from weakest to strongest.

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
    """One way an input column takes part in an output.

    `masking` is true where the value cannot be read back from the output: hashes, `mask`, counts.
    """

    subtype: Subtype
    masking: bool = False

    @property
    def type(self) -> Literal["DIRECT", "INDIRECT"]:
        """DIRECT where the output's value is made from the input's, INDIRECT where it only has influence."""
        return "DIRECT" if self.subtype in DIRECT else "INDIRECT"


class ColumnInput(NamedTuple, Generic[D]):
    """A column of an input dataset, and one way it takes part; a column that does so in two ways stands there twice."""

    dataset: D
    column: str
    transformation: Transformation
