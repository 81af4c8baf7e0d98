"""The targets of an analysed plan."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from headwater.capture.spark.reading import (
    catalog_table,
    followed_path,
    option,
    struct_of,
    table_name,
    topics_named,
    v2_table,
)
from headwater.model.naming import file_dataset, path_dataset
from headwater.model.naming_jdbc import jdbc_dataset
from headwater.observe.described import Described, files, table_of
from headwater.observe.local_url import local_url
from headwater.observe.queries import is_of_database
from headwater.observe.spark.jvm import Java, private
from headwater.observe.spark.relations import items
from headwater.observe.spark.schema import schema_facet
from headwater.observe.spark.snapshots import MAIN

_STREAM_SINKS_WITHOUT_DATASET: Final = (
    "ForeachBatchSink",
    "ConsoleTable$",
    "MemorySink",
    "NoopTable$",
    "ForeachWriterTable",
)


@dataclass(slots=True)
class Write:
    """One target of a plan.

    Attributes:
        label: the target's name for people: `lake.sales.orders`, or a path.
        plan: the command that writes it.
        dataset: None if the target has no name, or does not exist, as when creating the table failed.
        table: the Iceberg table, if it is one.
        branch: the branch of an Iceberg table that is written.
        is_part: whether this may be the inner execution of another command, which is reported later.
    """

    label: str
    plan: Java
    dataset: Described | None
    table: Java | None = None
    branch: str = MAIN
    is_part: bool = False


def writes_of(plan: Java, session: Java) -> list[Write]:
    """The targets of an analysed plan: none for a query, several for a statement with several INSERTs."""
    kind = plan.productPrefix()
    if kind == "Union":
        return [write for child in items(plan.children()) for write in writes_of(child, session)]
    rule = _RULES.get(kind)
    write = None if rule is None else rule(plan, session)
    if write is None:
        return []
    if write.dataset is not None and "schema" not in write.dataset.facets:
        schema = _schema(plan, kind)
        if schema is not None:
            write.dataset.facets["schema"] = schema_facet(struct_of(schema))
    return [write]


def query_of(plan: Java) -> Java:
    """The plan that holds the relations: some commands keep their query where a walk over leaves does not reach."""
    return plan.query() if plan.productPrefix() in _QUERY_INSIDE else plan


def sink_of(stream: Java, session: Java) -> Write | None:
    """The target of a streaming query; None if it has no name, or each micro-batch has its own."""
    sink = stream.sink()
    kind = sink.getClass().getSimpleName()
    if kind in _STREAM_SINKS_WITHOUT_DATASET:
        return None
    if kind == "FileStreamSink":
        folder = path_dataset(followed_path(sink.toString()) or "")
        return Write(folder.name, stream, files(folder, None))
    if kind == "KafkaTable":
        options = private(stream, "extraOptions")
        servers, topic = option(options, "kafka.bootstrap.servers"), option(options, "topic")
        return Write(topic, stream, topics_named(servers, topic)[0]) if servers and topic else None
    return _of_table(sink, stream, session)


def _of_table(table: Java, plan: Java, session: Java) -> Write:
    dataset = v2_table(table, session)
    if dataset is not None:
        dataset.facets["schema"] = schema_facet(struct_of(table.schema()))
    kind = table.getClass().getSimpleName()
    if kind not in ("SparkTable", "StagedSparkTable"):
        return Write(table.name(), plan, dataset)
    branch = table.branch() or MAIN
    return Write(table.name(), plan, dataset, table.table(), branch, is_part=kind == "StagedSparkTable")


def _into_table(plan: Java, session: Java) -> Write:
    return _of_table(plan.table().table(), plan, session)


def _rewrite(plan: Java, session: Java) -> Write:
    return _of_table(plan.originalTable().table(), plan, session)


def _delete(plan: Java, session: Java) -> Write:
    return _of_table(plan.table().collectLeaves().head().table(), plan, session)


def _create(plan: Java, session: Java) -> Write:
    """A table as in its catalog after the command; without a dataset if that failed."""
    target = plan.name()
    catalog, identifier = target.catalog(), target.identifier()
    label = f"{catalog.name()}.{'.'.join(identifier.namespace())}.{identifier.name()}"
    if not catalog.tableExists(identifier):
        return Write(label, plan, None)
    found = _of_table(catalog.loadTable(identifier), plan, session)
    return Write(label, plan, found.dataset, found.table)


def _into_files(plan: Java, session: Java) -> Write:
    in_catalog = plan.catalogTable()
    if in_catalog.isDefined():
        table = in_catalog.get()
        return Write(table_name(table.identifier()), plan, catalog_table(table, session), is_part=True)
    folder = path_dataset(plan.outputPath().toString())
    return Write(folder.name, plan, files(folder, plan.fileFormat().toString().lower()), is_part=True)


def _create_in_spark(plan: Java, session: Java) -> Write:
    table = plan.table() if plan.productPrefix() == "CreateDataSourceTableAsSelectCommand" else plan.tableDesc()
    return _in_spark(table.identifier(), plan, session)


def _in_spark(identifier: Java, plan: Java, session: Java) -> Write:
    catalog, label = session.sessionState().catalog(), table_name(identifier)
    if not catalog.tableExists(identifier):
        return Write(label, plan, None, is_part=True)
    return Write(label, plan, catalog_table(catalog.getTableMetadata(identifier), session), is_part=True)


def _into_hive(plan: Java, session: Java) -> Write:
    return _in_spark(plan.table().identifier(), plan, session)


def _into_folder(plan: Java, _: Java) -> Write | None:
    location = plan.storage().locationUri()
    if not location.isDefined():
        return None
    folder = file_dataset(location.get().toString())
    return Write(folder.name, plan, files(folder, None))


def _into_source(plan: Java, _: Java) -> Write | None:
    """`save()` to a target given by options: a database, Kafka, or a path."""
    options = plan.options()
    url, table = option(options, "url"), option(options, "dbtable")
    if url and table:
        is_named = is_of_database(table, url)
        return Write(table, plan, table_of(jdbc_dataset(local_url(url), table)) if is_named else None)
    servers, topic = option(options, "kafka.bootstrap.servers"), option(options, "topic")
    if servers and topic:
        return Write(topic, plan, topics_named(servers, topic)[0])
    path = option(options, "path")
    if path is None:
        return None
    folder = path_dataset(path)
    return Write(folder.name, plan, files(folder, None))


def _schema(plan: Java, kind: str) -> Java | None:
    return plan.query().schema() if kind not in ("DeleteFromTable",) else None


_RULES: Mapping[str, Callable[[Java, Java], Write | None]] = {
    **dict.fromkeys(("AppendData", "OverwriteByExpression", "OverwritePartitionsDynamic"), _into_table),
    **dict.fromkeys(("ReplaceData", "WriteDelta"), _rewrite),
    **dict.fromkeys(("CreateTableAsSelect", "ReplaceTableAsSelect"), _create),
    **dict.fromkeys(
        ("CreateDataSourceTableAsSelectCommand", "CreateHiveTableAsSelectCommand", "SaveAsV1TableCommand"),
        _create_in_spark,
    ),
    **dict.fromkeys(("InsertIntoDataSourceDirCommand", "InsertIntoHiveDirCommand"), _into_folder),
    "DeleteFromTable": _delete,
    "InsertIntoHadoopFsRelationCommand": _into_files,
    "InsertIntoHiveTable": _into_hive,
    "SaveIntoDataSourceCommand": _into_source,
}

WHOLE: Final = frozenset(
    {
        "CreateTableAsSelect",
        "ReplaceTableAsSelect",
        "SaveAsV1TableCommand",
        "CreateDataSourceTableAsSelectCommand",
        "CreateHiveTableAsSelectCommand",
        "InsertIntoDataSourceDirCommand",
    }
)
"""Commands whose writing is done by an inner execution."""

_QUERY_INSIDE: Final = WHOLE | {
    "InsertIntoHiveDirCommand",
    "SaveIntoDataSourceCommand",
}
