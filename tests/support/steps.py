"""Runs generators that work in steps to their end."""

from collections.abc import Generator
from typing import TypeVar

ThingT = TypeVar("ThingT")


def outcome(steps: Generator[object, None, ThingT]) -> ThingT:
    """The generator's return value."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: ThingT = end.value
            return result
