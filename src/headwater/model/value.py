"""Immutable dataclasses, of which every event creates dozens."""

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

ValueT = TypeVar("ValueT")


@dataclass_transform(frozen_default=True)
def value(kind: type[ValueT]) -> type[ValueT]:
    """A class decorator: a dataclass with slots that only the type checker treats as frozen.

    Frozen at run time, creation would take three times as long (1.4 and 0.4 µs with four members).
    """
    return dataclass(slots=True, unsafe_hash=True)(kind)
