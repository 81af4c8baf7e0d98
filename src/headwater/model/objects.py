"""Lists of objects in facets that no view has validated: readable items are used, others skipped."""

from collections.abc import Iterator, Mapping
from typing import Any


def objects(value: object) -> Iterator[Mapping[str, Any]]:
    """Each JSON object in a list, in order; nothing where `value` is no list.

    >>> list(objects([{"name": "id"}, "no object", None]))
    [{'name': 'id'}]
    """
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield item


def text(mapping: Mapping[str, Any], key: str) -> str:
    """The text of a member; empty where it is none."""
    value = mapping.get(key)
    return value if isinstance(value, str) else ""
