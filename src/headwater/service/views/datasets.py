"""Datasets: columns, newest facets, versions."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final
from uuid import UUID

import orjson

from headwater.errors import NotFoundError, UnavailableError
from headwater.graph.mending import Mended, counted_in_text, listed_metadata, mended_names, read_as_folder
from headwater.model.addresses import url_or_none
from headwater.model.events import DatasetEvent, DatasetRef, JobEvent
from headwater.model.extract import contents_of
from headwater.model.facets.about import DatasetTagsFacet, DocumentationFacet
from headwater.model.facets.counts import COUNTED, counts_as_text
from headwater.model.facets.dataset import DatasetTypeFacet, DataSourceFacet, LifecycleStateChangeFacet
from headwater.model.facets.own import DeclaredFacet, FolderReadsFacet, MetadataColumnsFacet
from headwater.model.names import DatasetId
from headwater.service.http.answers import iso
from headwater.service.knowledge.activity import known_run
from headwater.service.knowledge.knowledge import SCHEMA, Knowledge
from headwater.service.knowledge.lifecycle import is_dropped, lifecycle_state
from headwater.service.knowledge.versions import DatasetVersion, content_uuid, current_version, shape_uuid
from headwater.service.shapes import marquez as shapes
from headwater.service.tallies.tally import DEFAULT_SOURCE
from headwater.service.views.columns import column_sources
from headwater.service.views.names import facets_of, mended_shape, name_of, other_names, stored_facets
from headwater.service.views.runs import run_shapes
from headwater.service.views.tags import tagged, tags_of
from headwater.store.entries import as_today

_STREAM: Final = "STREAM"
_TABLE: Final = "DB_TABLE"
"""Marquez has these two types and calls a topic a table too; `datasetType` is more precise."""


_READ_FOR_THE_CORE: Final = frozenset(
    {
        SCHEMA,
        *(
            kind.key
            for kind in (
                DeclaredFacet,
                DatasetTypeFacet,
                DataSourceFacet,
                LifecycleStateChangeFacet,
                DocumentationFacet,
            )
        ),
    }
)
OF_DATASET_CORE: Final = _READ_FOR_THE_CORE | {DatasetTagsFacet.key}
"""The facets used in the members of a dataset in every answer."""


def dataset_shapes(knowledge: Knowledge, names: Sequence[DatasetId]) -> list[shapes.Dataset]:
    """The datasets, in order, each under the name in the request."""
    facets = stored_facets(knowledge, (_digests(knowledge, name) for name in names))
    return [_dataset(knowledge, name, facets_of_dataset) for name, facets_of_dataset in zip(names, facets, strict=True)]


def _dataset(knowledge: Knowledge, name: DatasetId, facets: shapes.Facets) -> shapes.Dataset:
    digests = _digests(knowledge, name)
    return shapes.Dataset(
        **dataset_core(knowledge, name),
        **column_sources(knowledge, name),
        currentVersion=current_version(knowledge, name),
        deleted=is_dropped(knowledge, name, digests),
        facets=facets,
        mended=[mended_shape(each) for each in _mended(knowledge, name, digests)],
    )


def dataset_core(knowledge: Knowledge, name: DatasetId) -> shapes.DatasetCore:
    """The members that every answer about a dataset has."""
    digests = knowledge.graph.digests_among(name, _READ_FOR_THE_CORE)
    seen = knowledge.seen(name)
    declared = knowledge.facets.view(DeclaredFacet, digests)
    kind = knowledge.facets.view(DatasetTypeFacet, digests)
    core = shapes.DatasetCore(
        id=name_of(name),
        type=_STREAM if kind is not None and kind.dataset_type == _STREAM else _TABLE,
        name=name.name,
        physicalName=(declared and declared.physical_name) or knowledge.graph.shown(name).name,
        createdAt=iso(seen.first_us),
        updatedAt=iso(seen.last_us),
        namespace=name.namespace,
        sourceName=_source_name(knowledge, digests),
        fields=tagged(knowledge, name, knowledge.facets.fields(digests.get(SCHEMA))),
        tags=tags_of(knowledge, name),
        lastModifiedAt=None,
        lastLifecycleState=lifecycle_state(knowledge, name, digests),
        description=_description(knowledge, digests),
        symlinks=other_names(knowledge, name),
    )
    if core["type"] == _STREAM:
        core["schemaLocation"] = url_or_none(None if declared is None else declared.schema_location)
    if kind is not None:
        core["datasetType"] = kind.dataset_type
    return core


def description_of(knowledge: Knowledge, name: DatasetId) -> str | None:
    """The newest description of a dataset, even a deleted one; None if there is none."""
    return _description(knowledge, knowledge.graph.digests_among(name, {DocumentationFacet.key}))


def _mended(knowledge: Knowledge, name: DatasetId, digests: Mapping[str, bytes]) -> Iterator[Mended]:
    yield from mended_names(name, knowledge.graph.identities)
    listed = knowledge.facets.view(MetadataColumnsFacet, digests)
    if listed is not None and listed.columns:
        yield listed_metadata(listed.columns)
    read = knowledge.facets.view(FolderReadsFacet, digests)
    for folder in read.folders if read is not None else ():
        yield read_as_folder(DatasetId(folder.namespace, folder.name), folder.named)
    for facet in sorted(COUNTED & digests.keys()):
        if counts := [*counts_as_text(knowledge.store.content(digests[facet]))]:
            yield counted_in_text(facet, name, counts)


def _digests(knowledge: Knowledge, name: DatasetId) -> dict[str, bytes]:
    return knowledge.graph.digests_of(name)


def _source_name(knowledge: Knowledge, digests: Mapping[str, bytes]) -> str:
    source = knowledge.facets.view(DataSourceFacet, digests)
    return (source and source.name) or DEFAULT_SOURCE


def _description(knowledge: Knowledge, digests: Mapping[str, bytes]) -> str | None:
    documentation = knowledge.facets.view(DocumentationFacet, digests)
    return None if documentation is None else documentation.description


def version_shapes(
    knowledge: Knowledge, name: DatasetId, versions: Sequence[DatasetVersion], limit: int, offset: int
) -> shapes.DatasetVersions:
    """A page of versions, newest first; `versions` are given oldest first."""
    page = list(islice(reversed(versions), offset, offset + limit))
    return shapes.DatasetVersions(versions=_versions(knowledge, name, page), totalCount=len(versions))


def version_shape(
    knowledge: Knowledge, name: DatasetId, versions: Sequence[DatasetVersion], uuid: str
) -> shapes.DatasetVersion:
    """The newest version with that UUID; `versions` are given oldest first.

    Raises:
        NotFoundError: it never had one.
    """
    for version in reversed(versions):
        if str(shape_uuid(knowledge.graph, name, version.shape)) == uuid.lower():
            return _versions(knowledge, name, [version])[0]
    raise NotFoundError(f"Dataset version '{uuid}' not found.")


def _versions(knowledge: Knowledge, name: DatasetId, versions: Sequence[DatasetVersion]) -> list[shapes.DatasetVersion]:
    writers = {writer for version in versions if (writer := _writer(version)) is not None}
    # The store may be ahead of the graph by an event that will be learned in a moment.
    known = [run for run_id in sorted(writers) if (run := known_run(knowledge.graph, run_id)) is not None]
    runs = {run["id"]: run for run in run_shapes(knowledge, known)}
    core = dataset_core(knowledge, name)
    uuids = (shape_uuid(knowledge.graph, name, version.shape) for version in versions)
    return [_version(knowledge, core, version, uuid, runs) for version, uuid in zip(versions, uuids, strict=True)]


def _version(
    knowledge: Knowledge,
    core: shapes.DatasetCore,
    version: DatasetVersion,
    uuid: UUID,
    runs: Mapping[str, shapes.Run],
) -> shapes.DatasetVersion:
    bodies = _facets_then(knowledge, version)
    schema = version.shape.schema
    shape_of_version = shapes.DatasetVersion(
        id=core["id"],
        type=core["type"],
        name=core["name"],
        physicalName=core["physicalName"],
        createdAt=iso(version.since_us),
        version=str(uuid),
        namespace=core["namespace"],
        sourceName=core["sourceName"],
        fields=tagged(knowledge, DatasetId(core["namespace"], core["name"]), knowledge.facets.fields(schema)),
        tags=core["tags"],
        currentSchemaVersion=str(content_uuid("schema version", None if schema is None else schema.hex())),
        lifecycleState=None if core["lastLifecycleState"] is None else _lifecycle_then(bodies),
        description=core["description"],
        createdByRun=runs.get(_writer(version) or ""),
        facets=facets_of(bodies),
    )
    if "schemaLocation" in core:
        shape_of_version["schemaLocation"] = core["schemaLocation"]
    return shape_of_version


def _lifecycle_then(facets: Mapping[str, bytes]) -> str:
    """The lifecycle change, by the facets that the run which made the version reported."""
    key = LifecycleStateChangeFacet.key
    read = LifecycleStateChangeFacet.readable({key: orjson.loads(facets[key])}) if key in facets else None
    return "" if read is None else read.lifecycle_state_change


def _writer(version: DatasetVersion) -> str | None:
    """The run that wrote the version, if a run that wrote it reported it first."""
    run_id, direction, _ = version.reported_by or (None, None, None)
    return run_id if direction == "output" else None


def _facets_then(knowledge: Knowledge, version: DatasetVersion) -> dict[str, bytes]:
    """The facets of a version: those that define it, and others by its reporter, for a run as of its last event."""
    digests = {part: digest for part, digest in version.shape._asdict().items() if digest is not None}
    bodies = knowledge.store.bodies(list(digests.values()))
    shape = {part: bodies[digest] for part, digest in digests.items()}
    if version.reported_by is None:
        return _declared_with(knowledge, version) | shape
    reported = knowledge.store.dataset_facets(*version.reported_by)
    return reported | {part: body for part, body in shape.items() if part in reported}


def _declared_with(knowledge: Knowledge, version: DatasetVersion) -> dict[str, bytes]:
    """The facets in the event without a run that reported the version; none if it cannot be read.

    It is read from the log: facts keep only what the last such event says.
    """
    named: tuple[DatasetRef, ...] = ()
    digest, name = version.declared_by or (b"", None)
    with suppress(UnavailableError):  # it may be in a segment
        for logged in knowledge.store.with_digests([digest]).values():
            match as_today(logged.event_type, logged.raw):
                case DatasetEvent(dataset=ref):
                    named = (ref,)
                case JobEvent(inputs=inputs, outputs=outputs):
                    named = (*inputs, *outputs)
    return {facet: content.body for ref in named if ref.id == name for facet, content, _ in contents_of(ref.facets)}
