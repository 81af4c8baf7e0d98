"""Runs work that is divided into steps to its end."""

from collections.abc import Generator
from typing import TypeVar

ThingT = TypeVar("ThingT")


def outcome(steps: Generator[object, None, ThingT]) -> ThingT:
    """The result of the steps."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: ThingT = end.value
            return found
