"""Updates of a connector's run as OpenLineage events."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from headwater.capture.connect.chain import Column, columns_before, columns_behind
from headwater.capture.connect.classes import dead_letter_topic, fields_written, kind_of, left_open, places
from headwater.capture.connect.connectors import Commit, RunUpdate
from headwater.capture.connect.places import Place, Places
from headwater.capture.fields import SchemaOf, TopicSchema, types
from headwater.capture.topics import topic_dataset
from headwater.capture.traces import kinds, without_values
from headwater.model.names import DatasetId, JobId
from headwater.model.naming import kafka_dataset
from headwater.model.producer import VERSION
from headwater.model.slim import (
    Described,
    Facet,
    Facets,
    dataset_type,
    dataset_version,
    facet,
    own_facet,
    run_event,
    said,
)

CONNECTORS: Final = kinds(
    r"java\.io\.IOException", r"org\.apache\.kafka\.connect\.errors\.(?:Connect|NotFound|AlreadyExists)Exception"
)
"""Exceptions of connectors whose messages are reported."""


class ClusterContext(NamedTuple):
    """Properties that all events of a cluster's connectors share."""

    namespace: str
    """The namespace of the jobs."""
    bootstrap: str
    """The bootstrap servers of the topics' Kafka."""
    schema_of: SchemaOf
    heartbeat_s: int
    version: str | None = None
    """The version of Kafka Connect."""


def event_of(told: RunUpdate, around: ClusterContext) -> bytes:
    """The unsigned event; the same update gives the same bytes."""
    topics = [topic_dataset(around.bootstrap, topic, around.schema_of(topic)) for topic in told.topics]
    beyond = places(told.properties, told.topics)
    others = [_place(place, told.commits) for place in _distinct(beyond)]
    if kind_of(told.properties) == "sink":
        _add_columns(others, beyond, told, around)
        read, written = topics, [*others, *_dead_letters(told, around)]
    else:
        _add_sources(topics, beyond, told, around)
        read, written = others, topics
    return run_event(
        told.state,
        datetime.fromtimestamp(told.time_ms / 1000, UTC),
        told.run_id,
        JobId(around.namespace, told.connector),
        run_facets={**_run_facets(told, around), **_gaps(left_open(told.properties, beyond) if told.topics else [])},
        job_facets={"jobType": _job_type(around.heartbeat_s)},
        inputs=read,
        outputs=written,
    )


def _dead_letters(told: RunUpdate, around: ClusterContext) -> list[Described]:
    topic = dead_letter_topic(told.properties) if told.topics else None
    return [] if topic is None else [topic_dataset(around.bootstrap, topic, around.schema_of(topic))]


def _job_type(heartbeat_s: int) -> Facet:
    return facet(
        "2-0-4/JobTypeJobFacet",
        processingType="STREAMING",
        integration="KAFKA_CONNECT",
        jobType="CONNECTOR",
        emissionPattern={"eventTrigger": "PERIODIC", "eventContentMode": "COMPLETE", "windowDuration": heartbeat_s},
    )


def _run_facets(told: RunUpdate, around: ClusterContext) -> Facets:
    facets = {
        "headwater_connect": own_facet(
            "headwater_connect",
            connector=told.connector,
            connectorClass=told.properties.get("connector.class"),
            kind=kind_of(told.properties),
            state=told.condition,
            tasks=[_task(number, told) for number in told.tasks],
            plannedTasks=told.planned_tasks,
            isInferred=told.is_inferred or None,
        ),
        "headwater_run": own_facet(
            "headwater_run",
            errorCount=sum(task.state == "FAILED" for task in told.tasks.values()),
            durationMs=told.time_ms - told.started_ms,
            stopReason=told.stop_reason,
            isInferred=told.is_inferred or None,
        ),
    }
    if told.commits:
        commits = [_commit(table, commit) for table, commit in told.commits.items()]
        facets["headwater_iceberg_commits"] = own_facet("headwater_iceberg_commits", commits=commits)
    if around.version is not None:
        facets["processing_engine"] = facet(
            "1-1-1/ProcessingEngineRunFacet",
            version=around.version,
            name="kafka-connect",
            openlineageAdapterVersion=VERSION,
        )
    if told.state == "FAIL":
        trace = without_values(told.trace or "", CONNECTORS)
        message = told.stop_reason if told.is_inferred and told.stop_reason else trace.message
        facets["errorMessage"] = facet(
            "1-0-1/ErrorMessageRunFacet",
            message=message,
            programmingLanguage="JAVA",
            stackTrace=trace.text or None,
        )
    elif told.takes_back:
        facets["errorMessage"] = facet(
            "1-0-1/ErrorMessageRunFacet",
            message="withdrawn: the connector has reported again",
            programmingLanguage="JAVA",
            _deleted=True,
        )
    return facets


def _gaps(unknown: Sequence[str]) -> Facets:
    if not unknown:
        return {}
    words = f"the datasets other than topics are unknown: a config provider supplies {', '.join(unknown)}"
    errors = [{"errorMessage": words}]
    return {"extractionError": facet("1-1-2/ExtractionErrorRunFacet", totalTasks=1, failedTasks=1, errors=errors)}


def _task(number: int, told: RunUpdate) -> dict[str, object]:
    task = told.tasks[number]
    said: dict[str, object] = {"id": number, "state": task.state}
    if task.worker:
        said["worker"] = task.worker
    if task.trace:
        said["message"] = without_values(task.trace, CONNECTORS).message
    return said


def _commit(table: str, commit: Commit) -> dict[str, object]:
    return {
        "table": table,
        "snapshotId": commit.snapshot,
        "commitId": commit.id,
        "committedAt": datetime.fromtimestamp(commit.time_ms / 1000, UTC).isoformat(),
        "offsets": commit.offsets,
    }


def _distinct(beyond: Places) -> list[Place]:
    return [*dict.fromkeys(place for _, found in sorted(beyond.items()) for place in found)]


def _place(place: Place, commits: Mapping[str, Commit]) -> Described:
    facets = {"datasetType": dataset_type(place.type)}
    if place.symlinks:
        links = [{"namespace": link.namespace, "name": link.name, "type": "TABLE"} for link in place.symlinks]
        facets["symlinks"] = facet("1-0-1/SymlinksDatasetFacet", identifiers=links)
    if place.catalog is not None:
        facets["catalog"] = facet(
            "1-1-0/CatalogDatasetFacet",
            framework="iceberg",
            type=place.catalog.type,
            name=place.catalog.name,
            warehouseUri=place.catalog.warehouse,
            source="kafka-connect",
        )
        if commit := commits.get(place.catalog.table):
            facets["version"] = dataset_version(commit.snapshot)
    return Described(place.id, facets)


_WITHOUT_FIELDS: Final = (".StringConverter", ".ByteArrayConverter")
"""Converters that give the connector each value as a whole, without fields."""

_Inputs = dict[str, list[dict[str, Any]]]
"""The input fields of each column."""


def _add_columns(written: Sequence[Described], beyond: Places, told: RunUpdate, around: ClusterContext) -> None:
    """Add the column lineage of a sink's outputs: the field and topic behind each column."""
    found: dict[DatasetId, _Inputs] = {each.id: {} for each in written}
    listed = fields_written(told.properties)
    for topic, into in beyond.items():
        columns = _known(around.schema_of(topic), told, columns_behind)
        columns = [column for column in columns if listed is None or column.name in listed]
        if _is_debezium(told) and any(
            column.name.startswith("after.") for column in columns
        ):  # only these fields are written
            columns = [column._replace(name=column.name[6:]) for column in columns if column.name.startswith("after.")]
        for place in into:
            _collect(found[place.id], columns, kafka_dataset(around.bootstrap, topic))
    _attach(written, found)


def _add_sources(topics: Sequence[Described], beyond: Places, told: RunUpdate, around: ClusterContext) -> None:
    """Add the column lineage of a source's topics, if one table is behind a topic: the column behind each field."""
    found: dict[DatasetId, _Inputs] = {each.id: {} for each in topics}
    for topic, places_behind in beyond.items():
        if len(places_behind) == 1:
            columns = _known(around.schema_of(topic), told, columns_before)
            if _is_debezium(told):
                columns = [_unwrapped(column) for column in columns]
            _collect(found[kafka_dataset(around.bootstrap, topic)], columns, places_behind[0].id)
    _attach(topics, found)


def _known(schema: TopicSchema | None, told: RunUpdate, through: Any) -> Sequence[Column]:  # noqa: ANN401  either way
    if schema is None or told.properties.get("value.converter", "").endswith(_WITHOUT_FIELDS):
        return ()
    columns: Sequence[Column] | None = through(told.properties, [*types(schema.fields)])
    return columns or ()


def _is_debezium(told: RunUpdate) -> bool:
    return told.properties.get("connector.class", "").startswith("io.debezium.connector.")


def _unwrapped(column: Column) -> Column:
    """The table column of a field of Debezium's envelope: those in `before` and `after`; the others have none."""
    side, _, name = (column.source or "").partition(".")
    return column._replace(source=name if side in ("before", "after") and name else None)


def _collect(into: _Inputs, columns: Sequence[Column], source: DatasetId) -> None:
    for column in columns:
        if column.source is not None:
            kind = "TRANSFORMATION" if column.is_changed else "IDENTITY"
            step = said(type="DIRECT", subtype=kind, masking=column.is_masked)
            end = {"namespace": source.namespace, "name": source.name, "field": column.source}
            into.setdefault(column.name, []).append({**end, "transformations": [step]})


def _attach(datasets: Sequence[Described], found: Mapping[DatasetId, _Inputs]) -> None:
    for each in datasets:
        if inputs := found.get(each.id):
            columns = {column: {"inputFields": fields} for column, fields in inputs.items()}
            each.facets["columnLineage"] = facet("1-2-0/ColumnLineageDatasetFacet", fields=columns)
