"""Whether a facet names sources of data, and which of them lack a namespace."""

from collections.abc import Iterator, Mapping
from typing import Any


def tells_sources(told: Mapping[str, Any]) -> bool:
    """Whether a `lineage` or `columnLineage` facet, or an entry of one, names sources.

    An empty list of `inputs` counts: it says that there are no sources. Neither that nor a field says nothing.

    Source: OpenLineage, proposals/explicit_lineage_facet/ExplicitLineageGuide.md, "Provide at least one of inputs or
    fields"
    """
    if told.get("_deleted") is True:
        return False
    if isinstance(told.get("inputs"), list) or told.get("dataset"):
        return True
    fields = told.get("fields")
    return isinstance(fields, dict) and any(isinstance(entry, dict) for entry in fields.values())


def nameless_in(told: Any) -> Iterator[str]:  # noqa: ANN401  any JSON
    """The names of sources without a namespace in such a facet."""
    match told:
        case {"namespace": "", "name": str(name)} if name and not tells_sources(told):
            yield from (name,) if told.get("type", "DATASET") == "DATASET" else ()
        case dict():
            for value in told.values():
                yield from nameless_in(value)
        case list():
            for value in told:
                yield from nameless_in(value)
