"""Removes Iceberg's metadata columns, which engines that read them list among a table's columns.

Spark reads `_file` and `_pos` when it rewrites rows (MERGE, UPDATE, DELETE); its agent then reports a schema with them
for the table read, and one without for the table written. Taken literally, the table would lose columns and regain them
with every commit. Column lineage is left alone: a result may well be made from the name of a file.

A pure function of one event, as all corrections are, so that facts stay pure. `docs/mending.md` documents it for users.

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
"""Names that Iceberg reserves: no table may have such a column."""

_EVIDENCE: Final = (("storage", "storageLayer"), ("catalog", "framework"))


def without_metadata_columns(event: RunEvent) -> RunEvent:
    """The event without metadata columns of Iceberg tables; a facet of ours lists what was removed."""
    if not any("schema" in each.facets and _is_iceberg(each.facets) for each in (*event.inputs, *event.outputs)):
        return event
    return replace(event, inputs=tuple(map(_without, event.inputs)), outputs=tuple(map(_without, event.outputs)))


def _is_iceberg(facets: Facets) -> bool:
    for facet, member in _EVIDENCE:  # called for each dataset of each event, most of which have neither
        if (details := facets.get(facet)) is not None:
            engine = details.get(member)
            if isinstance(engine, str) and engine.lower() == "iceberg":
                return True
    return False


def _without(dataset: DatasetRef) -> DatasetRef:
    schema = dataset.facets.get("schema", {})
    hidden = {*_hidden(schema)} if _is_iceberg(dataset.facets) else set()
    if not hidden:
        return dataset
    remaining = [each for each in schema["fields"] if not _is_hidden(each)]
    left_out = own_facet("headwater_metadata_columns", columns=sorted(hidden))
    replaced = {"schema": {**schema, "fields": remaining}, MetadataColumnsFacet.key: left_out}
    return replace(dataset, facets={**dataset.facets, **replaced})


def _hidden(schema: Mapping[str, Any]) -> Iterator[str]:
    fields = schema.get("fields")
    return (each["name"] for each in (fields if isinstance(fields, list) else ()) if _is_hidden(each))


def _is_hidden(field: object) -> bool:
    return isinstance(field, dict) and isinstance(name := field.get("name"), str) and name in METADATA_COLUMNS
