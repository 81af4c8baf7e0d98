"""Iceberg's metadata columns are no columns of a table, though engines that read them list them among its columns.

Spark asks for `_file` and `_pos` when it rewrites rows (MERGE, UPDATE, DELETE), and its agent tells a schema with them
of the table that is read, and one without of the table that is written. Taken as told, the table would lose a column
and get it back with every commit. Column lineage stays as told: a result may well be made from the name of a file.

A pure function of one event, so that facts are. `docs/mending.md` says the same to users.

Source: Iceberg table specification, "Reserved Field IDs"
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from headwater.model.events import DatasetRef, Facets, RunEvent
from headwater.model.facets.own import MetadataColumnsFacet
from headwater.model.slim import own_facet

METADATA_COLUMNS: Final = frozenset(
    {"_file", "_pos", "_deleted", "_spec_id", "_partition", "_row_id", "_last_updated_sequence_number"}
)
"""No table may have a column of that name."""

_EVIDENCE: Final = (("storage", "storageLayer"), ("catalog", "framework"))


def without_metadata_columns(event: RunEvent) -> RunEvent:
    """The event as if its Iceberg tables had been told without them; a facet of ours says which were left out."""
    if not any("schema" in each.facets and _is_iceberg(each.facets) for each in (*event.inputs, *event.outputs)):
        return event
    return replace(event, inputs=tuple(map(_without, event.inputs)), outputs=tuple(map(_without, event.outputs)))


def _is_iceberg(facets: Facets) -> bool:
    for facet, member in _EVIDENCE:  # asked of each dataset of each event, of which most have neither
        if (told := facets.get(facet)) is not None:
            engine = told.get(member)
            if isinstance(engine, str) and engine.lower() == "iceberg":
                return True
    return False


def _without(dataset: DatasetRef) -> DatasetRef:
    schema = dataset.facets.get("schema", {})
    hidden = {*_hidden(schema)} if _is_iceberg(dataset.facets) else set()
    if not hidden:
        return dataset
    kept = [each for each in schema["fields"] if not _is_hidden(each)]
    left_out = own_facet("headwater_metadata_columns", columns=sorted(hidden))
    told = {"schema": {**schema, "fields": kept}, MetadataColumnsFacet.key: left_out}
    return replace(dataset, facets={**dataset.facets, **told})


def _hidden(schema: Mapping[str, Any]) -> Iterator[str]:
    fields = schema.get("fields")
    return (each["name"] for each in (fields if isinstance(fields, list) else ()) if _is_hidden(each))


def _is_hidden(field: object) -> bool:
    return isinstance(field, dict) and isinstance(name := field.get("name"), str) and name in METADATA_COLUMNS
