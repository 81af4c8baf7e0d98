"""Updates of a connector's run as OpenLineage events."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from headwater.capture.connect.chain import Column, columns_before, columns_behind
from headwater.capture.connect.classes import dead_letter_topic, external_datasets, fields_written, kind_of, why_unknown
from headwater.capture.connect.connectors import Commit, RunUpdate
from headwater.capture.connect.datasets import DatasetsByTopic, ExternalDataset
from headwater.capture.connect.debezium import table_columns
from headwater.capture.connect.records import CONNECTORS
from headwater.capture.fields import SchemaOf, TopicSchema, types
from headwater.capture.topics import topic_dataset
from headwater.capture.traces import without_values
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
    without_empty,
)


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


def event_of(update: RunUpdate, context: ClusterContext) -> bytes:
    """The unsigned event; the same update gives the same bytes."""
    topics = [topic_dataset(context.bootstrap, topic, context.schema_of(topic)) for topic in update.topics]
    external = external_datasets(update.properties, update.topics)
    others = [_described(dataset, update.commits) for dataset in _distinct(external)]
    if kind_of(update.properties) == "sink":
        _add_columns(others, external, update, context)
        inputs, outputs = topics, [*others, *_dead_letters(update, context)]
    else:
        _add_sources(topics, external, update, context)
        inputs, outputs = others, topics
    reason = why_unknown(update.properties, update.topics, external)
    return run_event(
        update.state,
        datetime.fromtimestamp(update.time_ms / 1000, UTC),
        update.run_id,
        JobId(context.namespace, update.connector),
        run_facets={**_run_facets(update, context), **_gap(reason)},
        job_facets={"jobType": _job_type(context.heartbeat_s)},
        inputs=inputs,
        outputs=outputs,
    )


def _dead_letters(update: RunUpdate, context: ClusterContext) -> list[Described]:
    topic = dead_letter_topic(update.properties) if update.topics else None
    return [] if topic is None else [topic_dataset(context.bootstrap, topic, context.schema_of(topic))]


def _job_type(heartbeat_s: int) -> Facet:
    return facet(
        "2-0-4/JobTypeJobFacet",
        processingType="STREAMING",
        integration="KAFKA_CONNECT",
        jobType="CONNECTOR",
        emissionPattern={"eventTrigger": "PERIODIC", "eventContentMode": "ACCUMULATIVE", "windowDuration": heartbeat_s},
    )


def _run_facets(update: RunUpdate, context: ClusterContext) -> Facets:
    facets = {
        "headwater_connect": own_facet(
            "headwater_connect",
            connector=update.connector,
            connectorClass=update.properties.get("connector.class"),
            kind=kind_of(update.properties),
            state=update.condition,
            tasks=[_task(number, update) for number in update.tasks],
            plannedTasks=update.planned_tasks,
            isInferred=update.is_inferred or None,
        ),
        "headwater_run": own_facet(
            "headwater_run",
            errorCount=sum(task.state == "FAILED" for task in update.tasks.values()),
            durationMs=update.time_ms - update.started_ms,
            stopReason=update.stop_reason,
            isInferred=update.is_inferred or None,
        ),
    }
    if update.commits:
        commits = [_commit(table, commit) for table, commit in update.commits.items()]
        facets["headwater_iceberg_commits"] = own_facet("headwater_iceberg_commits", commits=commits)
    if context.version is not None:
        facets["processing_engine"] = facet(
            "1-1-1/ProcessingEngineRunFacet",
            version=context.version,
            name="kafka-connect",
            openlineageAdapterVersion=VERSION,
        )
    if update.state == "FAIL":
        trace = without_values(update.trace or "", CONNECTORS)
        message = update.stop_reason if update.is_inferred and update.stop_reason else trace.root
        facets["errorMessage"] = facet(
            "1-0-1/ErrorMessageRunFacet",
            message=message,
            programmingLanguage="JAVA",
            stackTrace=trace.text or None,
        )
    elif update.is_retraction:
        facets["errorMessage"] = facet(
            "1-0-1/ErrorMessageRunFacet",
            message="withdrawn: the connector has reported again",
            programmingLanguage="JAVA",
            _deleted=True,
        )
    return facets


def _gap(reason: str | None) -> Facets:
    if reason is None:
        return {}
    errors = [{"errorMessage": f"the datasets other than topics are unknown: {reason}"}]
    return {"extractionError": facet("1-1-2/ExtractionErrorRunFacet", totalTasks=1, failedTasks=1, errors=errors)}


def _task(number: int, update: RunUpdate) -> dict[str, object]:
    task = update.tasks[number]
    entry: dict[str, object] = {"id": number, "state": task.state}
    if task.worker:
        entry["worker"] = task.worker
    if task.trace is not None:
        entry["message"] = without_values(task.trace, CONNECTORS).root
    return entry


def _commit(table: str, commit: Commit) -> dict[str, object]:
    return {
        "table": table,
        "snapshotId": commit.snapshot,
        "commitId": commit.id,
        "committedAt": datetime.fromtimestamp(commit.time_ms / 1000, UTC).isoformat(),
        "offsets": commit.offsets,
    }


def _distinct(external: DatasetsByTopic) -> list[ExternalDataset]:
    return [*dict.fromkeys(dataset for _, found in sorted(external.items()) for dataset in found)]


def _described(dataset: ExternalDataset, commits: Mapping[str, Commit]) -> Described:
    facets = {"datasetType": dataset_type(dataset.type)}
    if dataset.symlinks:
        links = [{"namespace": link.namespace, "name": link.name, "type": "TABLE"} for link in dataset.symlinks]
        facets["symlinks"] = facet("1-0-1/SymlinksDatasetFacet", identifiers=links)
    if dataset.catalog is not None:
        facets["catalog"] = facet(
            "1-1-0/CatalogDatasetFacet",
            framework="iceberg",
            type=dataset.catalog.type,
            name=dataset.catalog.name,
            warehouseUri=dataset.catalog.warehouse,
            source="kafka-connect",
        )
        if commit := commits.get(dataset.catalog.table):
            facets["version"] = dataset_version(commit.snapshot)
    return Described(dataset.id, facets)


_WITHOUT_FIELDS: Final = (".StringConverter", ".ByteArrayConverter")
"""Converters that give the connector each value as a whole, without fields."""

_Inputs = dict[str, list[dict[str, Any]]]
"""The input fields of each column."""


def _add_columns(
    outputs: Sequence[Described], external: DatasetsByTopic, update: RunUpdate, context: ClusterContext
) -> None:
    """Add the column lineage of a sink's outputs: the field and topic behind each column."""
    found: dict[DatasetId, _Inputs] = {each.id: {} for each in outputs}
    listed = fields_written(update.properties)
    for topic, datasets in external.items():
        columns = _known(context.schema_of(topic), update, columns_behind)
        columns = [column for column in columns if listed is None or column.name in listed]
        if _is_debezium(update) and any(
            column.name.startswith("after.") for column in columns
        ):  # only these fields are written
            columns = [column._replace(name=column.name[6:]) for column in columns if column.name.startswith("after.")]
        for dataset in datasets:
            _collect(found[dataset.id], columns, kafka_dataset(context.bootstrap, topic))
    _attach(outputs, found)


def _add_sources(
    topics: Sequence[Described], external: DatasetsByTopic, update: RunUpdate, context: ClusterContext
) -> None:
    """Add the column lineage of a source's topics, if one table is behind a topic: the column behind each field."""
    found: dict[DatasetId, _Inputs] = {each.id: {} for each in topics}
    for topic, tables in external.items():
        if len(tables) == 1:
            columns = _known(context.schema_of(topic), update, columns_before)
            if _is_debezium(update):
                columns = table_columns(update.properties, tables[0].id, columns)
            _collect(found[kafka_dataset(context.bootstrap, topic)], columns, tables[0].id)
    _attach(topics, found)


def _known(schema: TopicSchema | None, update: RunUpdate, through: Any) -> Sequence[Column]:  # noqa: ANN401  either way
    if schema is None or update.properties.get("value.converter", "").endswith(_WITHOUT_FIELDS):
        return ()
    columns: Sequence[Column] | None = through(update.properties, [*types(schema.fields)])
    return columns or ()


def _is_debezium(update: RunUpdate) -> bool:
    return update.properties.get("connector.class", "").startswith("io.debezium.connector.")


def _collect(inputs: _Inputs, columns: Sequence[Column], source: DatasetId) -> None:
    for column in columns:
        if column.source is not None:
            kind = "TRANSFORMATION" if column.is_changed else "IDENTITY"
            step = without_empty(type="DIRECT", subtype=kind, masking=column.is_masked)
            end = {"namespace": source.namespace, "name": source.name, "field": column.source}
            inputs.setdefault(column.name, []).append({**end, "transformations": [step]})


def _attach(datasets: Sequence[Described], found: Mapping[DatasetId, _Inputs]) -> None:
    for each in datasets:
        if inputs := found.get(each.id):
            columns = {column: {"inputFields": fields} for column, fields in inputs.items()}
            each.facets["columnLineage"] = facet("1-2-0/ColumnLineageDatasetFacet", fields=columns)
