"""An operator's output, as its parent sees it."""

from dataclasses import dataclass

from headwater.graph.sparkplan.inputs import NOTHING, Inputs


@dataclass(frozen=True, slots=True)
class Scope:
    """The inputs of each output column in order, and `rows`, the inputs that decide which rows there are."""

    columns: tuple[Inputs, ...] = ()
    rows: Inputs = NOTHING
