"""What is read of facets part by part, as it came."""

from collections.abc import Iterator, Mapping
from typing import Any


def objects(value: object) -> Iterator[Mapping[str, Any]]:
    """The objects of a list; none where it is no list, and what is no object is passed over."""
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield item
