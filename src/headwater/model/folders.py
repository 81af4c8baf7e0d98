"""Column sources that name single files although the event lists their folder as input.

Spark's agent lists a folder as a query's input (`/data/in`), but may name the files or partitions in it as sources of a
column (`/data/in/part-0001.csv`, `/data/in/day=1`), names that no other event uses. Such a source is replaced by the
folder: the deepest one that the event lists in that namespace and whose path contains it, unless the event lists the
file itself too.

A pure function of one event, as all corrections are, so that facts stay pure. `docs/mending.md` documents it for users.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import orjson

from headwater.model.events import DatasetRef, RunEvent, undeleted
from headwater.model.facet_texts import FacetTexts, sorted_json
from headwater.model.facets.own import FolderReadsFacet
from headwater.model.names import DatasetId
from headwater.model.slim import own_facet

_STORES: Final = ("file", "s3", "gs:", "gcs:", "hdfs:", "abfs", "wasb", "dbfs")
"""Prefixes of namespaces in which names are paths."""
_LINEAGE: Final = "columnLineage"


class _Folder(NamedTuple):
    id: DatasetId
    beginning: str
    """The prefix of all paths in it; empty for an entire bucket."""


def with_folders(event: RunEvent) -> RunEvent:
    """The event with sources replaced by the folders that it lists; a facet of ours records which."""
    if not any(_LINEAGE in each.facets for each in event.outputs):
        return event
    folders = [_folder(each.id) for each in event.inputs if each.id.namespace.startswith(_STORES)]
    if not any(_may_name(folders, each) for each in event.outputs):
        return event
    listed = {(each.id.namespace, _path(each.id.name)) for each in (*event.inputs, *event.outputs)}
    whose = _Whose(folders, listed)
    return replace(event, outputs=tuple(_mended(each, whose) for each in event.outputs))


def _folder(name: DatasetId) -> _Folder:
    path = _path(name.name)
    return _Folder(name, f"{path}/" if path else "")


def _path(name: str) -> str:
    return name.strip("/")


def _may_name(folders: Sequence[_Folder], output: DatasetRef) -> bool:
    """Whether a facet may name something in one of the folders: a text search, since parsing takes much longer."""
    if _LINEAGE not in output.facets:
        return False
    if not isinstance(output.facets, FacetTexts):
        return bool(folders)
    body = output.facets.texts[_LINEAGE].body
    for folder in folders:
        beginning = orjson.dumps(folder.beginning)[1:-1]
        if b'"name":"' + beginning in body or b'"name":"/' + beginning in body:
            return True
    return False


class _Whose:
    """Finds the folder, among those the event lists, that contains a name."""

    def __init__(self, folders: Sequence[_Folder], listed: set[tuple[str, str]]) -> None:
        self._deepest_first = sorted(folders, key=lambda each: -len(each.beginning))
        self._listed = listed
        self.replaced: dict[DatasetId, set[str]] = {}
        """By folder, the names replaced by it in the current output."""

    def source(self, field: Any) -> Any:  # noqa: ANN401  any JSON
        """An input field with its folder in place of the file."""
        match field:
            case {"namespace": str(namespace), "name": str(name)} if (namespace, _path(name)) not in self._listed:
                path = _path(name)
                for folder in self._deepest_first:
                    if folder.id.namespace == namespace and path.startswith(folder.beginning):
                        self.replaced.setdefault(folder.id, set()).add(name)
                        return {**field, "name": folder.id.name}
        return field


def _mended(output: DatasetRef, whose: _Whose) -> DatasetRef:
    facet = undeleted(output.facets, _LINEAGE)
    if facet is None:
        return output
    whose.replaced = {}
    meant = {**facet, **_lists(facet, "dataset", whose)}
    if isinstance(fields := facet.get("fields"), dict):
        meant["fields"] = {column: _field(entry, whose) for column, entry in fields.items()}
    if not whose.replaced:
        return output
    folders = [{**folder._asdict(), "named": len(names)} for folder, names in sorted(whose.replaced.items())]
    mended = {_LINEAGE: meant, FolderReadsFacet.key: own_facet("headwater_folder_reads", folders=folders)}
    return replace(output, facets={**output.facets, **mended})


def _field(entry: Any, whose: _Whose) -> Any:  # noqa: ANN401  any JSON
    return {**entry, **_lists(entry, "inputFields", whose)} if isinstance(entry, dict) else entry


def _lists(holder: Mapping[str, Any], member: str, whose: _Whose) -> dict[str, Any]:
    sources = holder.get(member)
    return {member: [*_once(map(whose.source, sources))]} if isinstance(sources, list) else {}


def _once(sources: Iterator[Any]) -> Iterator[Any]:
    """Without duplicates: a column comes from all files of a folder alike."""
    seen: set[bytes] = set()
    for source in sources:
        text = sorted_json(source)
        if text not in seen:
            seen.add(text)
            yield source
