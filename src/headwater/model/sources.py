"""Finds whether a facet names sources of data, and which of them lack a namespace."""

from collections.abc import Iterator, Mapping
from typing import Any


def names_sources(facet: Mapping[str, Any]) -> bool:
    """Whether a `lineage` or `columnLineage` facet, or an entry of one, names sources.

    An empty list of `inputs` counts: it reports that there are no sources. Without it and without fields that have one,
    the facet reports nothing.

    Source: OpenLineage, proposals/explicit_lineage_facet/ExplicitLineageGuide.md, "Provide at least one of inputs or
    fields"
    """
    if facet.get("_deleted") is True:
        return False
    of_dataset, fields = facet.get("dataset"), facet.get("fields")
    if isinstance(facet.get("inputs"), list) or (of_dataset and isinstance(of_dataset, list)):
        return True
    return isinstance(fields, dict) and any(map(_lists_sources, fields.values()))


def _lists_sources(entry: object) -> bool:
    """Whether the entry of a field has the list that either facet requires, even an empty one."""
    return isinstance(entry, dict) and any(isinstance(entry.get(name), list) for name in ("inputFields", "inputs"))


def nameless_in(value: Any) -> Iterator[str]:  # noqa: ANN401  any JSON
    """The names of sources without a namespace in such a facet."""
    match value:
        case {"namespace": "", "name": str(name)} if name and not names_sources(value):
            yield from (name,) if value.get("type", "DATASET") == "DATASET" else ()
        case dict():
            for each in value.values():
                yield from nameless_in(each)
        case list():
            for each in value:
                yield from nameless_in(each)
