"""Work that is done in steps, done at a stretch."""

from collections.abc import Generator
from typing import TypeVar

ThingT = TypeVar("ThingT")


def outcome(steps: Generator[object, None, ThingT]) -> ThingT:
    """What the steps come to in the end."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: ThingT = end.value
            return found
