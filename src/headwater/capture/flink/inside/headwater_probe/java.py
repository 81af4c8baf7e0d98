"""Java collections and fields, through py4j."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from py4j.java_gateway import get_field

Java = Any
"""An object in the JVM."""


def items(collection: Java) -> Iterator[Java]:
    """The elements of a Java collection, with half the JVM calls of py4j's own iteration."""
    iterator = collection.iterator()
    while iterator.hasNext():
        yield iterator.next()


def field(owner: Java, name: str) -> Java:
    """A public field of a Java object; with a dot py4j would look for a method."""
    return get_field(owner, name)


def kind_of(value: Java) -> str:
    """The class without its package."""
    return str(value.getClass().getSimpleName())


def optional(value: Java) -> Java | None:
    """The value of a Java Optional, or None."""
    return value.get() if value.isPresent() else None
