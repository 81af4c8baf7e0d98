"""What an operator hands to the one above it."""

from dataclasses import dataclass

from headwater.graph.sparkplan.inputs import NOTHING, Inputs


@dataclass(frozen=True, slots=True)
class Scope:
    """An operator's output: the inputs of each column in order, and what decides which rows there are."""

    columns: tuple[Inputs, ...] = ()
    rows: Inputs = NOTHING
