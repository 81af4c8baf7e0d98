"""Which datasets a connector reads and writes, by its class: one table, `_CLASSES`, and a function for each kind.

A function gets the connector's properties and the topics that were observed, and gives for each topic what lies on the
other side of it, named as whoever writes there names it. What the properties do not say is not guessed: an unknown
class, or a property that is missing, gives the topics alone.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple
from urllib.parse import urlsplit

from headwater.capture.connect.chain import renames_topics, routed_topic
from headwater.capture.connect.commits import ICEBERG_SINKS
from headwater.capture.connect.records import Properties, listed
from headwater.errors import InvalidNameError
from headwater.model.catalogs import catalog_kind
from headwater.model.names import DatasetId
from headwater.model.naming import file_dataset, kafka_dataset, warehouse_table
from headwater.model.naming_jdbc import jdbc_dataset

Kind = Literal["source", "sink"]


class Catalog(NamedTuple):
    """The catalog that knows a table, and by which name."""

    type: str
    name: str
    table: str
    uri: str | None
    warehouse: str | None


class Place(NamedTuple):
    """A dataset on the other side of a topic."""

    id: DatasetId
    type: str = "TABLE"
    symlinks: tuple[DatasetId, ...] = ()
    catalog: Catalog | None = None


Places = Mapping[str, Sequence[Place]]
"""By topic."""
_Finder = Callable[[Properties, Sequence[str]], Places]


class ConnectorClass(NamedTuple):
    """What is known of a connector class."""

    kind: Kind
    find: _Finder
    properties: tuple[str, ...]
    """Those that decide where data goes; a change of one begins another run."""
    is_by_topic: bool = True
    """Whether the topics' names say where it reads: not behind a transform that may have renamed them."""


def kind_of(properties: Properties) -> Kind:
    """Whether it writes into topics, or reads them; only sinks must name their topics."""
    known = _CLASSES.get(properties.get("connector.class", ""))
    if known is not None:
        return known.kind
    return "sink" if "topics" in properties or "topics.regex" in properties else "source"


def places(properties: Properties, topics: Sequence[str]) -> Places:
    """What lies on the other side of each topic; nothing for one of which that is not known."""
    known = _CLASSES.get(properties.get("connector.class", ""))
    if known is None:
        return {}
    if known.kind == "source":
        is_hidden = known.is_by_topic and not properties.get("query") and renames_topics(properties)
        return {} if is_hidden else _found(known, properties, topics)
    routed = {topic: name for topic in topics if (name := routed_topic(properties, topic)) is not None}
    found = _found(known, properties, [*routed.values()])
    return {topic: found[name] for topic, name in routed.items() if name in found}


def fields_written(properties: Properties) -> frozenset[str] | None:
    """The fields that a sink writes of each record; None where that is all of them."""
    fields = listed(properties.get("fields.whitelist"))
    is_jdbc = properties.get("connector.class", "").endswith("jdbc.JdbcSinkConnector")
    return frozenset((*fields, *listed(properties.get("pk.fields")))) if is_jdbc and fields else None


def _found(known: ConnectorClass, properties: Properties, topics: Sequence[str]) -> Places:
    try:
        return known.find(properties, topics)
    except (InvalidNameError, ValueError):  # an address that is none
        return {}


def deciding_properties() -> frozenset[str]:
    """The properties of any class that decide where data goes."""
    return frozenset(name for known in _CLASSES.values() for name in known.properties)


# Files and objects


def _file(properties: Properties, topics: Sequence[str]) -> Places:
    path = properties.get("file", "")
    return _all(topics, [Place(file_dataset(path), "FILE")] if path.startswith("/") else [])


def _confluent_s3(properties: Properties, topics: Sequence[str]) -> Places:
    folder = properties.get("topics.dir", "topics").strip("/")
    bucket = properties.get("s3.bucket.name")
    return {topic: _object_store("s3", bucket, f"{folder}/{topic}".lstrip("/")) for topic in topics}


def _aiven_s3(properties: Properties, topics: Sequence[str]) -> Places:
    bucket = properties.get("aws.s3.bucket.name") or properties.get("aws_s3_bucket")
    prefix = properties.get("aws.s3.prefix") or properties.get("aws_s3_prefix") or ""
    template = prefix + properties.get("file.name.template", "")
    return {topic: _object_store("s3", bucket, _folder(template, topic)) for topic in topics}


def _lab_archive(properties: Properties, topics: Sequence[str]) -> Places:
    folder = properties.get("s3.prefix", "topics").strip("/")
    bucket = properties.get("s3.bucket.name")
    return {topic: _object_store("s3", bucket, f"{folder}/{topic}".lstrip("/")) for topic in topics}


def _confluent_gcs(properties: Properties, topics: Sequence[str]) -> Places:
    folder = properties.get("topics.dir", "topics").strip("/")
    bucket = properties.get("gcs.bucket.name")
    return {topic: _object_store("gs", bucket, f"{folder}/{topic}".lstrip("/")) for topic in topics}


def _object_store(scheme: str, bucket: str | None, path: str) -> list[Place]:
    return [Place(file_dataset(f"{scheme}://{bucket}/{path}"), "FILE")] if bucket else []


def _folder(template: str, topic: str) -> str:
    """The part of a template of object names that is the same for all records of a topic, cut at a slash."""
    filled = re.sub(r"\{\{\s*topic\s*\}\}", lambda _: topic, template)
    fixed, variable, _ = filled.partition("{{")
    return fixed.rpartition("/")[0] if variable or not fixed.endswith("/") else fixed


# Tables


def _iceberg(properties: Properties, topics: Sequence[str]) -> Places:
    tables = [name.strip() for name in properties.get("iceberg.tables", "").split(",") if name.strip()]
    return _all(topics, [place for table in tables if (place := _iceberg_table(properties, table))])


def _iceberg_table(properties: Properties, table: str) -> Place | None:
    said = {
        name.removeprefix("iceberg.catalog."): value
        for name, value in properties.items()
        if name.startswith("iceberg.catalog.")
    }
    kind = catalog_kind(said.get("type") or said.get("catalog-impl") or "hive")
    warehouse = said.get("warehouse")
    catalog = Catalog(kind, properties.get("iceberg.catalog", "iceberg"), table, said.get("uri"), warehouse)
    if warehouse is None or "/" not in warehouse or kind == "rest":  # a word that only the catalog knows
        return None
    *namespace, name = table.split(".")
    folder = f"{'.'.join(namespace)}.db" if kind in ("glue", "hive") and namespace else "/".join(namespace)
    location = "/".join(part for part in (warehouse.rstrip("/"), folder, name) if part)
    # As Spark's pipelines call it first, and as openlineage-spark does.
    links = (warehouse_table(warehouse, f"{catalog.name}.{table}"), warehouse_table(warehouse, table))
    return Place(file_dataset(location), "TABLE", links, catalog)


def _jdbc_source(properties: Properties, topics: Sequence[str]) -> Places:
    url, prefix = properties.get("connection.url", ""), properties.get("topic.prefix", "")
    if query := properties.get("query"):
        return _all(topics, [Place(jdbc_dataset(url, table)) for table in _tables_of(query)])
    # The topic has the table's bare name: which schema it is in, the list of tables may say.
    named = listed(properties.get("table.whitelist") or properties.get("table.include.list"))
    whole = {name.rpartition(".")[2]: name for name in named}
    tables = {topic: topic.removeprefix(prefix) for topic in topics if topic.startswith(prefix)}
    return {topic: [Place(jdbc_dataset(url, whole.get(table, table)))] for topic, table in tables.items()}


def _jdbc_sink(properties: Properties, topics: Sequence[str]) -> Places:
    template = properties.get("table.name.format", "${topic}")
    return _filled(properties.get("connection.url", ""), template, {topic: topic for topic in topics})


def _aiven_jdbc_sink(properties: Properties, topics: Sequence[str]) -> Places:
    if properties.get("table.name.normalize") == "true":
        return {}
    mapped = dict(pair.split(":", 1) for pair in listed(properties.get("topics.to.tables.mapping")) if ":" in pair)
    url = properties.get("connection.url", "")
    named = {topic: [Place(jdbc_dataset(url, mapped[topic]))] for topic in topics if topic in mapped}
    return {**_jdbc_sink(properties, topics), **named}


def _debezium_jdbc_sink(properties: Properties, topics: Sequence[str]) -> Places:
    template = properties.get("collection.name.format") or properties.get("table.name.format") or "${topic}"
    return _filled(properties.get("connection.url", ""), template, {topic: topic.replace(".", "_") for topic in topics})


def _filled(url: str, template: str, topics: Mapping[str, str]) -> Places:
    """The tables that a template names, by topic; none where it needs more of a record than its topic."""
    tables = {topic: template.replace("${topic}", name) for topic, name in topics.items()}
    return {topic: [Place(jdbc_dataset(url, table))] for topic, table in tables.items() if "${" not in table}


_NAMED_BY_TABLE: Final = ("", "SchemaTopicNamingStrategy", "DefaultTopicNamingStrategy")
"""Debezium's strategies by which a topic has the names of a table and of what it is in."""


def _debezium(dialect: str, port: int) -> _Finder:
    def find(properties: Properties, topics: Sequence[str]) -> Places:
        prefix = properties.get("topic.prefix") or properties.get("database.server.name") or ""
        host = f"{properties.get('database.hostname', '')}:{properties.get('database.port', port)}"
        delimiter = properties.get("topic.delimiter", ".")
        found: dict[str, list[Place]] = {}
        if properties.get("topic.naming.strategy", "").rpartition(".")[2] not in _NAMED_BY_TABLE:
            return found
        for topic in topics:
            parts = topic.removeprefix(f"{prefix}{delimiter}").split(delimiter)
            if len(parts) != 2 or not topic.startswith(f"{prefix}{delimiter}"):
                continue  # its topics of transactions and of schema changes
            database = parts[0] if dialect == "mysql" else properties.get("database.dbname", "")
            table = parts[1] if dialect == "mysql" else ".".join(parts)
            if database:
                found[topic] = [Place(jdbc_dataset(f"jdbc:{dialect}://{host}/{database}", table))]
        return found

    return find


def _bigquery(properties: Properties, topics: Sequence[str]) -> Places:
    project, dataset = properties.get("project"), properties.get("defaultDataset")
    renamed = dict(pair.split("=", 1) for pair in listed(properties.get("topic2TableMap")) if "=" in pair)
    if not project or not dataset:
        return {}
    is_sanitized = properties.get("sanitizeTopics", "false") == "true"
    found = {}
    for topic in topics:
        table = renamed.get(topic) or (re.sub(r"[^A-Za-z0-9_]", "_", topic) if is_sanitized else topic)
        found[topic] = [Place(DatasetId("bigquery", f"{project}.{dataset}.{table}"))]
    return found


# Documents


def _elasticsearch(properties: Properties, topics: Sequence[str]) -> Places:
    first = urlsplit(next(iter(listed(properties.get("connection.url"))), ""))
    if not first.hostname:
        return {}
    if properties.get("external.resource.usage", "DISABLED").upper() != "DISABLED":
        return {}
    namespace, name = f"elasticsearch://{first.hostname}:{first.port or 9200}", "${topic}"
    if (kind := properties.get("data.stream.type", "NONE")).upper() != "NONE":
        of, within = properties.get("data.stream.dataset", ""), properties.get("data.stream.namespace", "${topic}")
        name = f"{kind}-{of}-{within}"
    names = {topic: name.replace("${topic}", topic).lower() for topic in topics}
    return {topic: [Place(DatasetId(namespace, index), "INDEX")] for topic, index in names.items()}


def _mongodb_sink(properties: Properties, topics: Sequence[str]) -> Places:
    namespace = _mongodb(properties)
    if not namespace or not properties.get("namespace.mapper", _MONGODB_MAPPER).endswith(_MONGODB_MAPPER):
        return {}
    found: dict[str, list[Place]] = {}
    for topic in topics:
        own = f"topic.override.{topic}."
        database = properties.get(f"{own}database") or properties.get("database")
        collection = properties.get(f"{own}collection") or properties.get("collection") or topic
        if database:
            found[topic] = [Place(DatasetId(namespace, f"{database}.{collection}"), "COLLECTION")]
    return found


_MONGODB_MAPPER: Final = "DefaultNamespaceMapper"
"""The one that takes the names of the settings, not those in a record."""


def _mongodb_source(properties: Properties, topics: Sequence[str]) -> Places:
    namespace, separator = _mongodb(properties), properties.get("topic.separator", ".")
    lead, tail = properties.get("topic.prefix", ""), properties.get("topic.suffix", "")
    lead, tail = lead and f"{lead}{separator}", tail and f"{separator}{tail}"
    found: dict[str, list[Place]] = {}
    if not namespace or properties.get("topic.namespace.map") or properties.get("topic.mapper"):
        return found
    for topic in topics:
        parts = topic.removeprefix(lead).removesuffix(tail).split(separator, 1)
        if len(parts) == 2 and topic.startswith(lead) and topic.endswith(tail):
            found[topic] = [Place(DatasetId(namespace, ".".join(parts)), "COLLECTION")]
    return found


def _mongodb(properties: Properties) -> str:
    uri = properties.get("connection.uri", "")
    hosts = re.fullmatch(r"mongodb(?:\+srv)?://(?:[^@/]*@)?(?P<hosts>[^/?@]+).*", uri)
    if hosts is None:
        return ""
    first = hosts["hosts"].split(",")[0].lower()
    return f"mongodb://{first if ':' in first else f'{first}:27017'}"


# Topics


def _mirror(properties: Properties, topics: Sequence[str]) -> Places:
    servers = properties.get("source.cluster.bootstrap.servers", "")
    policy = properties.get("replication.policy.class", "DefaultReplicationPolicy").rpartition(".")[2]
    if policy == "IdentityReplicationPolicy":
        return {topic: [Place(kafka_dataset(servers, topic), "TOPIC")] for topic in topics}
    alias = properties.get("source.cluster.alias", "") + properties.get("replication.policy.separator", ".")
    renamed = [topic for topic in topics if topic.startswith(alias)] if policy == "DefaultReplicationPolicy" else []
    return {topic: [Place(kafka_dataset(servers, topic.removeprefix(alias)), "TOPIC")] for topic in renamed}


def _all(topics: Iterable[str], found: Sequence[Place]) -> Places:
    return {topic: found for topic in topics}


def _tables_of(query: str) -> list[str]:
    import sqlglot  # here, not above: few connectors have a query, and it takes 8 MB
    from sqlglot import exp

    try:
        parsed = sqlglot.parse_one(query)
    except sqlglot.errors.SqlglotError:
        return []
    named_inside = {cte.alias for cte in parsed.find_all(exp.CTE)}
    names = [".".join(part.name for part in table.parts) for table in parsed.find_all(exp.Table)]
    return [name for name in dict.fromkeys(names) if name not in named_inside]


_S3_BUCKET: Final = ("s3.bucket.name", "topics.dir")
_AIVEN_S3: Final = ("aws.s3.bucket.name", "aws_s3_bucket", "aws.s3.prefix", "aws_s3_prefix", "file.name.template")
_ICEBERG: Final = (
    "iceberg.tables",
    "iceberg.catalog",
    "iceberg.catalog.catalog-impl",
    "iceberg.catalog.type",
    "iceberg.catalog.warehouse",
    "iceberg.catalog.uri",
    "iceberg.control.topic",
)
_JDBC_SOURCE: Final = ("connection.url", "topic.prefix", "table.whitelist", "table.include.list", "query")
_JDBC_SINK: Final = (
    "connection.url",
    "table.name.format",
    "collection.name.format",
    "fields.whitelist",
    "pk.fields",
)
_JDBC_AIVEN_SINK: Final = (*_JDBC_SINK, "table.name.normalize", "topics.to.tables.mapping")
_DEBEZIUM: Final = (
    "database.hostname",
    "database.port",
    "database.dbname",
    "database.server.name",
    "topic.prefix",
    "topic.delimiter",
    "topic.naming.strategy",
    "table.include.list",
)
_ELASTICSEARCH: Final = (
    "connection.url",
    "data.stream.type",
    "data.stream.dataset",
    "data.stream.namespace",
    "external.resource.usage",
)
_MONGODB_SINK: Final = ("connection.uri", "database", "collection", "namespace.mapper")
_MONGODB_SOURCE: Final = (
    "connection.uri",
    "database",
    "collection",
    "topic.prefix",
    "topic.suffix",
    "topic.separator",
    "topic.namespace.map",
    "topic.mapper",
)
_MIRROR: Final = (
    "source.cluster.bootstrap.servers",
    "source.cluster.alias",
    "replication.policy.class",
    "replication.policy.separator",
)

_FILE_SOURCE: Final = ConnectorClass("source", _file, ("file", "topic"), is_by_topic=False)
_FILE_SINK: Final = ConnectorClass("sink", _file, ("file",))
_JDBC_FROM: Final = ConnectorClass("source", _jdbc_source, _JDBC_SOURCE)
_JDBC_TO: Final = ConnectorClass("sink", _jdbc_sink, _JDBC_SINK)
_ICEBERG_TO: Final = ConnectorClass("sink", _iceberg, _ICEBERG)
_AIVEN_S3_TO: Final = ConnectorClass("sink", _aiven_s3, _AIVEN_S3)

_CLASSES: Final[Mapping[str, ConnectorClass]] = {
    "FileStreamSource": _FILE_SOURCE,
    "FileStreamSink": _FILE_SINK,
    "org.apache.kafka.connect.file.FileStreamSourceConnector": _FILE_SOURCE,
    "org.apache.kafka.connect.file.FileStreamSinkConnector": _FILE_SINK,
    "io.confluent.connect.s3.S3SinkConnector": ConnectorClass("sink", _confluent_s3, _S3_BUCKET),
    "io.confluent.connect.gcs.GcsSinkConnector": ConnectorClass(
        "sink", _confluent_gcs, ("gcs.bucket.name", "topics.dir")
    ),
    "headwater.lab.archive.ArchiveSinkConnector": ConnectorClass("sink", _lab_archive, ("s3.bucket.name", "s3.prefix")),
    "io.aiven.kafka.connect.s3.AivenKafkaConnectS3SinkConnector": _AIVEN_S3_TO,
    "io.aiven.kafka.connect.s3.S3SinkConnector": _AIVEN_S3_TO,
    **dict.fromkeys(ICEBERG_SINKS, _ICEBERG_TO),
    "io.confluent.connect.jdbc.JdbcSourceConnector": _JDBC_FROM,
    "io.confluent.connect.jdbc.JdbcSinkConnector": _JDBC_TO,
    "io.aiven.connect.jdbc.JdbcSourceConnector": _JDBC_FROM,
    "io.aiven.connect.jdbc.JdbcSinkConnector": ConnectorClass("sink", _aiven_jdbc_sink, _JDBC_AIVEN_SINK),
    "io.debezium.connector.jdbc.JdbcSinkConnector": ConnectorClass("sink", _debezium_jdbc_sink, _JDBC_SINK),
    "io.debezium.connector.postgresql.PostgresConnector": ConnectorClass(
        "source", _debezium("postgresql", 5432), _DEBEZIUM
    ),
    "io.debezium.connector.mysql.MySqlConnector": ConnectorClass("source", _debezium("mysql", 3306), _DEBEZIUM),
    "io.confluent.connect.elasticsearch.ElasticsearchSinkConnector": ConnectorClass(
        "sink", _elasticsearch, _ELASTICSEARCH
    ),
    "com.wepay.kafka.connect.bigquery.BigQuerySinkConnector": ConnectorClass(
        "sink", _bigquery, ("project", "defaultDataset", "topic2TableMap", "sanitizeTopics")
    ),
    "com.mongodb.kafka.connect.MongoSinkConnector": ConnectorClass("sink", _mongodb_sink, _MONGODB_SINK),
    "com.mongodb.kafka.connect.MongoSourceConnector": ConnectorClass("source", _mongodb_source, _MONGODB_SOURCE),
    "org.apache.kafka.connect.mirror.MirrorSourceConnector": ConnectorClass("source", _mirror, _MIRROR),
}
"""Connector classes by the name that configurations give them; add one here and a case in its test."""
