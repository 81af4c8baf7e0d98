"""Java collections and fields, through py4j."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from py4j.java_gateway import get_field

Java = Any
"""An object in the JVM."""


def items(collection: Java) -> Iterator[Java]:
    """The elements of a Java collection; py4j's own iteration asks twice as often."""
    iterator = collection.iterator()
    while iterator.hasNext():
        yield iterator.next()


def field(owner: Java, name: str) -> Java:
    """A public field of a Java object; py4j takes what stands behind the dot for a method."""
    return get_field(owner, name)


def kind_of(value: Java) -> str:
    """The class without its package."""
    return str(value.getClass().getSimpleName())


def optional(value: Java) -> Java | None:
    """What a Java Optional holds."""
    return value.get() if value.isPresent() else None
