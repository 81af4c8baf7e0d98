"""Finds whether a facet names sources of data, and which of them lack a namespace."""

from collections.abc import Iterator, Mapping
from typing import Any


def names_sources(facet: Mapping[str, Any]) -> bool:
    """Whether a `lineage` or `columnLineage` facet, or an entry of one, names sources.

    An empty list of `inputs` counts: it reports that there are no sources. Without it and without
    fields, the facet reports nothing.

    Source: OpenLineage, proposals/explicit_lineage_facet/ExplicitLineageGuide.md, "Provide at least one of inputs or
    fields"
    """
    if facet.get("_deleted") is True:
        return False
    if isinstance(facet.get("inputs"), list) or facet.get("dataset"):
        return True
    fields = facet.get("fields")
    return isinstance(fields, dict) and any(isinstance(entry, dict) for entry in fields.values())


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
