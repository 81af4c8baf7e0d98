"""Finds whether a facet names sources of data, and which of them lack a namespace."""

from collections.abc import Iterator, Mapping
from typing import Any

from headwater.model.objects import text


def names_sources(facet: Mapping[str, Any]) -> bool:
    """Whether a `lineage` or `columnLineage` facet, or an entry of one, names sources.

    An empty list of `inputs` counts: it reports that there are no sources. Without it and without fields that have one,
    the facet reports nothing; nor does a list in which nothing can be read.

    Source: OpenLineage, proposals/explicit_lineage_facet/ExplicitLineageGuide.md, "Provide at least one of inputs or
    fields"
    """
    if facet.get("_deleted") is True:
        return False
    of_dataset, fields = facet.get("dataset"), facet.get("fields")
    if _is_list(facet.get("inputs")) or (of_dataset and _is_list(of_dataset)):
        return True
    return isinstance(fields, dict) and any(map(_lists_sources, fields.values()))


def _lists_sources(entry: object) -> bool:
    """Whether the entry of a field has the list that either facet requires, even an empty one."""
    return isinstance(entry, dict) and any(_is_list(entry.get(name)) for name in ("inputFields", "inputs"))


def _is_list(sources: object) -> bool:
    return isinstance(sources, list) and (not sources or any(map(_is_readable, sources)))


def _is_readable(source: object) -> bool:
    """Whether an item of a list may be a source: a dataset has a name, the event's own job needs none."""
    return isinstance(source, dict) and (source.get("type") == "JOB" or bool(text(source, "name")))


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
