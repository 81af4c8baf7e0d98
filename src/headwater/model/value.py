"""Values: dataclasses that nobody changes, of which every event makes dozens."""

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

ValueT = TypeVar("ValueT")


@dataclass_transform(frozen_default=True)
def value(kind: type[ValueT]) -> type[ValueT]:
    """Make the class a frozen dataclass with slots, frozen by the type checker and not again at run time.

    Where Python itself is to refuse changes, to make one takes three times as long (1.4 and 0.4 µs with four members).
    """
    return dataclass(slots=True, unsafe_hash=True)(kind)
