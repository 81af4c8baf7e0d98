"""The datasets that a connector reads and writes, by its class: one table, `_CLASSES`, of functions for each kind.

A function takes the connector's properties and the observed topics, and returns for each topic the dataset on its other
side, under the name that other writers give it. Nothing is guessed: for an unknown class, or if a property is missing
or filled in by a config provider, only the topics are reported.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from headwater.capture.connect import debezium, document_datasets, file_datasets, table_datasets
from headwater.capture.connect.chain import hides_topics, renames_topics, routed_topic, routers, routers_left_open
from headwater.capture.connect.commits import ICEBERG_SINKS
from headwater.capture.connect.datasets import DatasetFinder, DatasetsByTopic, ExternalDataset
from headwater.capture.connect.records import Properties, is_left_open, listed
from headwater.errors import InvalidNameError
from headwater.model.naming import kafka_dataset

Kind = Literal["source", "sink"]
_DEAD_LETTERS: Final = "errors.deadletterqueue.topic.name"


class ConnectorClass(NamedTuple):
    """How a connector class is read."""

    kind: Kind
    find: DatasetFinder
    properties: tuple[str, ...]
    """Properties that decide where data goes; a change starts a new run. No dataset is known if one is left open."""
    address: str = ""
    """One more, of which only a part gets into a name: whether it is left open is checked in that name."""
    others: tuple[str, ...] = ()
    """Further properties whose change starts a new run, but that are part of no name."""
    is_by_topic: bool = True
    """Whether datasets derive from topic names, which is not possible if a transform may have renamed the topics."""
    listed_topics: Callable[[Properties], Sequence[str]] = lambda _: ()
    """The topics, before any transform, of the datasets that the properties list by name."""


def kind_of(properties: Properties) -> Kind:
    """Source or sink; only sinks must name their topics."""
    known = _CLASSES.get(properties.get("connector.class", ""))
    if known is not None:
        return known.kind
    return "sink" if "topics" in properties or "topics.regex" in properties else "source"


def external_datasets(properties: Properties, topics: Sequence[str]) -> DatasetsByTopic:
    """The datasets on the other side of each topic; topics with unknown datasets are left out."""
    known = _CLASSES.get(properties.get("connector.class", ""))
    if known is None or any(is_left_open(properties.get(name)) for name in known.properties):
        return {}
    if known.kind == "source":
        is_hidden = known.is_by_topic and not properties.get("query") and renames_topics(properties)
        return _found_by_list(known, properties, topics) if is_hidden else _found(known, properties, topics)
    if not known.is_by_topic:
        return _found(known, properties, topics)
    routed = {topic: name for topic in topics if (name := routed_topic(properties, topic)) is not None}
    found = _found(known, properties, [*routed.values()])
    return {topic: found[name] for topic, name in routed.items() if name in found}


def _found_by_list(known: ConnectorClass, properties: Properties, topics: Sequence[str]) -> DatasetsByTopic:
    """Of a source whose topics are renamed: the datasets that it lists by name, where its transforms send them."""
    listed_topics = known.listed_topics(properties)
    found: dict[str, list[ExternalDataset]] = {}
    for topic, datasets in _found(known, properties, listed_topics).items():
        routed = routed_topic(properties, topic)
        if routed is not None and routed in topics:
            found.setdefault(routed, []).extend(datasets)
    return found


def dead_letter_topic(properties: Properties) -> str | None:
    """The topic for records that a sink cannot process, created when its tasks start; None if it has none.

    Source: KIP-298, "Error Handling in Connect"
    """
    topic = properties.get(_DEAD_LETTERS, "")
    return topic if topic and not is_left_open(topic) and kind_of(properties) == "sink" else None


def why_unknown(properties: Properties, topics: Sequence[str], found: DatasetsByTopic) -> str | None:
    """Why datasets of a connector of a known class cannot be found, by the names of its properties; None if all are.

    The reason does not depend on the topics: a connector's first topic may be one of heartbeats, without a dataset.
    """
    known = _CLASSES.get(properties.get("connector.class", ""))
    if known is None or not topics:
        return None
    has_query = "query" in known.properties and bool(properties.get("query"))
    if any(found.values()):
        is_partly_known = has_query and table_datasets.reads_unnamed(properties)
        return "query reads something that it does not name" if is_partly_known else None
    names = [name for name in (*known.properties, known.address) if is_left_open(properties.get(name))]
    names += routers_left_open(properties) if known.kind == "sink" and known.is_by_topic else []
    if names:
        return f"a config provider supplies {', '.join(names)}"
    if has_query:
        return "no table can be read from query"
    if known.is_by_topic and _is_hidden(known, properties):
        return f"the topics may have been renamed by {', '.join(routers(properties))}"
    return None


def _is_hidden(known: ConnectorClass, properties: Properties) -> bool:
    """Whether transforms hide which topic is of which dataset."""
    if known.kind == "sink" or not renames_topics(properties):
        return hides_topics(properties)
    return all(routed_topic(properties, topic) is None for topic in known.listed_topics(properties))


def fields_written(properties: Properties) -> frozenset[str] | None:
    """The fields that a sink writes of each record; None for all of them."""
    fields = listed(properties.get("fields.whitelist"))
    is_jdbc = properties.get("connector.class", "").endswith("jdbc.JdbcSinkConnector")
    return frozenset((*fields, *listed(properties.get("pk.fields")))) if is_jdbc and fields else None


def _found(known: ConnectorClass, properties: Properties, topics: Sequence[str]) -> DatasetsByTopic:
    try:
        found = known.find(properties, topics)
    except (InvalidNameError, ValueError):  # an invalid address
        return {}
    return {topic: each for topic, each in found.items() if not any("${" in "/".join(one.id) for one in each)}


def deciding_properties() -> frozenset[str]:
    """The properties of any class that decide where data goes."""
    classes = _CLASSES.values()
    of_classes = (name for each in classes for name in (*each.properties, *each.others, each.address) if name)
    return frozenset((*of_classes, _DEAD_LETTERS))


def _mirror(properties: Properties, topics: Sequence[str]) -> DatasetsByTopic:
    servers = properties.get("source.cluster.bootstrap.servers", "")
    policy = properties.get("replication.policy.class", "DefaultReplicationPolicy").rpartition(".")[2]
    if policy == "IdentityReplicationPolicy":
        return {topic: [ExternalDataset(kafka_dataset(servers, topic), "TOPIC")] for topic in topics}
    alias = properties.get("source.cluster.alias", "") + properties.get("replication.policy.separator", ".")
    renamed = [topic for topic in topics if topic.startswith(alias)] if policy == "DefaultReplicationPolicy" else []
    return {topic: [ExternalDataset(kafka_dataset(servers, topic.removeprefix(alias)), "TOPIC")] for topic in renamed}


_S3_BUCKET: Final = ("s3.bucket.name", "topics.dir")
_AIVEN_S3: Final = ("aws.s3.bucket.name", "aws_s3_bucket", "aws.s3.prefix", "aws_s3_prefix", "file.name.template")
_ICEBERG: Final = (
    "iceberg.tables",
    "iceberg.catalog",
    "iceberg.catalog.catalog-impl",
    "iceberg.catalog.type",
    "iceberg.catalog.warehouse",
)
_JDBC_SOURCE: Final = (
    "topic.prefix",
    "table.whitelist",
    "table.include.list",
    "catalog.pattern",
    "schema.pattern",
    "query",
)
_JDBC_SINK: Final = (
    "table.name.format",
    "collection.name.format",
    "collection.naming.strategy",
    "table.naming.strategy",
    "quote.sql.identifiers",
    "quote.identifiers",
)
_JDBC_FIELDS: Final = ("fields.whitelist", "pk.fields")
_JDBC_AIVEN_SINK: Final = (*_JDBC_SINK, "sql.quote.identifiers", "table.name.normalize", "topics.to.tables.mapping")
_DEBEZIUM_TOPICS: Final = ("topic.prefix", "topic.delimiter", "topic.naming.strategy")
_DEBEZIUM: Final = (
    "database.hostname",
    "database.port",
    "database.instance",
    "database.dbname",
    "database.pdb.name",
    "database.names",
    "database.server.name",
    *_DEBEZIUM_TOPICS,
)
_ELASTICSEARCH: Final = (
    "data.stream.type",
    "data.stream.dataset",
    "data.stream.namespace",
    "external.resource.usage",
)
_MONGODB_SINK: Final = ("database", "collection", "namespace.mapper")
_MONGODB_SOURCE: Final = (
    "topic.prefix",
    "topic.suffix",
    "topic.separator",
    "topic.namespace.map",
    "topic.mapper",
)
_MIRROR: Final = (
    "source.cluster.alias",
    "replication.policy.class",
    "replication.policy.separator",
)

_FILE_SOURCE: Final = ConnectorClass("source", file_datasets.file, ("file",), others=("topic",), is_by_topic=False)
_FILE_SINK: Final = ConnectorClass("sink", file_datasets.file, ("file",), is_by_topic=False)
_JDBC_FROM: Final = ConnectorClass(
    "source",
    table_datasets.jdbc_source,
    _JDBC_SOURCE,
    "connection.url",
    listed_topics=table_datasets.jdbc_source_topics,
)
_JDBC_TO: Final = ConnectorClass("sink", table_datasets.jdbc_sink, _JDBC_SINK, "connection.url", _JDBC_FIELDS)
_ICEBERG_TO: Final = ConnectorClass(
    "sink",
    table_datasets.iceberg,
    _ICEBERG,
    others=("iceberg.catalog.uri", "iceberg.control.topic"),
    is_by_topic=False,
)
_AIVEN_S3_TO: Final = ConnectorClass("sink", file_datasets.aiven_s3, _AIVEN_S3)


def _debezium(kind: debezium.Database) -> ConnectorClass:
    return ConnectorClass(
        "source",
        debezium.tables_in(kind),
        _DEBEZIUM,
        others=("table.include.list",),
        listed_topics=debezium.listed_topics,
    )


_CLASSES: Final[Mapping[str, ConnectorClass]] = {
    "FileStreamSource": _FILE_SOURCE,
    "FileStreamSink": _FILE_SINK,
    "org.apache.kafka.connect.file.FileStreamSourceConnector": _FILE_SOURCE,
    "org.apache.kafka.connect.file.FileStreamSinkConnector": _FILE_SINK,
    "io.confluent.connect.s3.S3SinkConnector": ConnectorClass("sink", file_datasets.confluent_s3, _S3_BUCKET),
    "io.confluent.connect.gcs.GcsSinkConnector": ConnectorClass(
        "sink", file_datasets.confluent_gcs, ("gcs.bucket.name", "topics.dir")
    ),
    "headwater.lab.archive.ArchiveSinkConnector": ConnectorClass(
        "sink", file_datasets.lab_archive, ("s3.bucket.name", "s3.prefix")
    ),
    "io.aiven.kafka.connect.s3.AivenKafkaConnectS3SinkConnector": _AIVEN_S3_TO,
    "io.aiven.kafka.connect.s3.S3SinkConnector": _AIVEN_S3_TO,
    **dict.fromkeys(ICEBERG_SINKS, _ICEBERG_TO),
    "io.confluent.connect.jdbc.JdbcSourceConnector": _JDBC_FROM,
    "io.confluent.connect.jdbc.JdbcSinkConnector": _JDBC_TO,
    "io.aiven.connect.jdbc.JdbcSourceConnector": _JDBC_FROM,
    "io.aiven.connect.jdbc.JdbcSinkConnector": ConnectorClass(
        "sink", table_datasets.aiven_jdbc_sink, _JDBC_AIVEN_SINK, "connection.url", _JDBC_FIELDS
    ),
    "io.debezium.connector.jdbc.JdbcSinkConnector": ConnectorClass(
        "sink", table_datasets.debezium_jdbc_sink, _JDBC_SINK, "connection.url", _JDBC_FIELDS
    ),
    "io.debezium.connector.postgresql.PostgresConnector": _debezium(debezium.POSTGRES),
    "io.debezium.connector.mysql.MySqlConnector": _debezium(debezium.MYSQL),
    "io.debezium.connector.mariadb.MariaDbConnector": _debezium(debezium.MARIADB),
    "io.debezium.connector.sqlserver.SqlServerConnector": _debezium(debezium.SQL_SERVER),
    "io.debezium.connector.oracle.OracleConnector": _debezium(debezium.ORACLE),
    "io.debezium.connector.mongodb.MongoDbConnector": ConnectorClass(
        "source",
        debezium.collections,
        _DEBEZIUM_TOPICS,
        "mongodb.connection.string",
        ("collection.include.list",),
        listed_topics=debezium.listed_topics,
    ),
    "io.confluent.connect.elasticsearch.ElasticsearchSinkConnector": ConnectorClass(
        "sink", document_datasets.elasticsearch, _ELASTICSEARCH, "connection.url"
    ),
    "com.wepay.kafka.connect.bigquery.BigQuerySinkConnector": ConnectorClass(
        "sink", table_datasets.bigquery, ("project", "defaultDataset", "topic2TableMap", "sanitizeTopics")
    ),
    "com.mongodb.kafka.connect.MongoSinkConnector": ConnectorClass(
        "sink", document_datasets.mongodb_sink, _MONGODB_SINK, "connection.uri"
    ),
    "com.mongodb.kafka.connect.MongoSourceConnector": ConnectorClass(
        "source", document_datasets.mongodb_source, _MONGODB_SOURCE, "connection.uri", ("database", "collection")
    ),
    "org.apache.kafka.connect.mirror.MirrorSourceConnector": ConnectorClass(
        "source", _mirror, _MIRROR, "source.cluster.bootstrap.servers"
    ),
}
"""Connector classes by their name in configurations; for a new one, add an entry here and a case in its test."""
