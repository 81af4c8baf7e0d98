"""The datasets that connectors read and write, by example configurations from their documentation."""

from typing import NamedTuple

import pytest

from headwater.capture.connect.classes import deciding_properties, external_datasets, kind_of, why_unknown
from headwater.capture.connect.lifecycle import Lifecycles
from headwater.capture.connect.records import Configured
from headwater.model.names import DatasetId


class Case(NamedTuple):
    name: str
    properties: dict[str, str]
    topic: str
    kind: str
    datasets: list[DatasetId]


CASES = [
    Case(
        "Confluent S3",
        {
            "connector.class": "io.confluent.connect.s3.S3SinkConnector",
            "topics": "orders",
            "s3.bucket.name": "archive",
            "s3.region": "eu-central-1",
            "topics.dir": "raw",
            "format.class": "io.confluent.connect.s3.format.avro.AvroFormat",
            "flush.size": "1000",
            "storage.class": "io.confluent.connect.s3.storage.S3Storage",
        },
        "orders",
        "sink",
        [DatasetId("s3://archive", "raw/orders")],
    ),
    Case(
        "Aiven S3",
        {
            "connector.class": "io.aiven.kafka.connect.s3.AivenKafkaConnectS3SinkConnector",
            "topics": "orders",
            "aws.s3.bucket.name": "archive",
            "aws.s3.prefix": "bids/",
            "file.name.template": "{{topic}}/{{timestamp:unit=yyyy}}/{{partition}}-{{start_offset}}.gz",
        },
        "orders",
        "sink",
        [DatasetId("s3://archive", "bids/orders")],
    ),
    Case(
        "archive of the lab",
        {
            "connector.class": "headwater.lab.archive.ArchiveSinkConnector",
            "topics": "orders",
            "s3.bucket.name": "archive",
            "s3.prefix": "/raw/",
            "s3.endpoint": "http://127.0.0.1:9000",
        },
        "orders",
        "sink",
        [DatasetId("s3://archive", "raw/orders")],
    ),
    Case(
        "Iceberg of Apache, Glue",
        {
            "connector.class": "org.apache.iceberg.connect.IcebergSinkConnector",
            "topics": "orders",
            "iceberg.tables": "sales.orders",
            "iceberg.catalog": "lake",
            "iceberg.catalog.catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog",
            "iceberg.catalog.warehouse": "s3://lake/warehouse",
            "iceberg.control.topic": "control-iceberg",
        },
        "orders",
        "sink",
        [DatasetId("s3://lake", "warehouse/sales.db/orders")],
    ),
    Case(
        "Iceberg of Tabular, Hadoop, two tables",
        {
            "connector.class": "io.tabular.iceberg.connect.IcebergSinkConnector",
            "topics": "events",
            "iceberg.tables": "db.created, db.deleted",
            "iceberg.tables.route-field": "type",
            "iceberg.catalog.type": "hadoop",
            "iceberg.catalog.warehouse": "file:///data/lake",
        },
        "events",
        "sink",
        [DatasetId("file", "/data/lake/db/created"), DatasetId("file", "/data/lake/db/deleted")],
    ),
    Case(
        "Iceberg, REST: where a table lies is known to the catalog alone",
        {
            "connector.class": "org.apache.iceberg.connect.IcebergSinkConnector",
            "topics": "events",
            "iceberg.tables": "db.events",
            "iceberg.catalog.type": "rest",
            "iceberg.catalog.uri": "https://catalog",
            "iceberg.catalog.warehouse": "main",
        },
        "events",
        "sink",
        [],
    ),
    Case(
        "JDBC source",
        {
            "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
            "connection.url": "jdbc:postgresql://db:5432/shop?password=hunter2",
            "mode": "incrementing",
            "topic.prefix": "pg-",
            "table.whitelist": "orders",
        },
        "pg-orders",
        "source",
        [DatasetId("postgres://db:5432", "shop.public.orders")],
    ),
    Case(
        "JDBC source with a query",
        {
            "connector.class": "io.aiven.connect.jdbc.JdbcSourceConnector",
            "connection.url": "jdbc:mysql://db/shop",
            "topic.prefix": "joined",
            "query": "SELECT * FROM orders o JOIN customers c ON o.customer = c.id",
        },
        "joined",
        "source",
        [DatasetId("mysql://db:3306", "shop.orders"), DatasetId("mysql://db:3306", "shop.customers")],
    ),
    Case(
        "JDBC sink",
        {
            "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
            "topics": "orders",
            "connection.url": "jdbc:postgresql://db/shop",
            "table.name.format": "kafka_${topic}",
            "insert.mode": "upsert",
        },
        "orders",
        "sink",
        [DatasetId("postgres://db:5432", "shop.public.kafka_orders")],
    ),
    Case(
        "JDBC sink of Debezium",
        {
            "connector.class": "io.debezium.connector.jdbc.JdbcSinkConnector",
            "topics": "shop.public.orders",
            "connection.url": "jdbc:postgresql://db/copy",
        },
        "shop.public.orders",
        "sink",
        [DatasetId("postgres://db:5432", "copy.public.shop_public_orders")],
    ),
    Case(
        "Debezium Postgres",
        {
            "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
            "database.hostname": "db",
            "database.port": "5433",
            "database.user": "repl",
            "database.password": "hunter2",
            "database.dbname": "shop",
            "topic.prefix": "cdc",
            "table.include.list": "public.orders",
        },
        "cdc.public.orders",
        "source",
        [DatasetId("postgres://db:5433", "shop.public.orders")],
    ),
    Case(
        "Debezium Postgres, its own topic of transactions",
        {
            "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
            "database.hostname": "db",
            "database.dbname": "shop",
            "topic.prefix": "cdc",
        },
        "cdc.transaction",
        "source",
        [],
    ),
    Case(
        "Debezium MySQL",
        {
            "connector.class": "io.debezium.connector.mysql.MySqlConnector",
            "database.hostname": "db",
            "topic.prefix": "cdc",
            "database.include.list": "shop",
        },
        "cdc.shop.orders",
        "source",
        [DatasetId("mysql://db:3306", "shop.orders")],
    ),
    Case(
        "Debezium MariaDB",
        {
            "connector.class": "io.debezium.connector.mariadb.MariaDbConnector",
            "database.hostname": "db",
            "topic.prefix": "cdc",
        },
        "cdc.shop.orders",
        "source",
        [DatasetId("mariadb://db:3306", "shop.orders")],
    ),
    Case(
        "Debezium SQL Server",
        {
            "connector.class": "io.debezium.connector.sqlserver.SqlServerConnector",
            "database.hostname": "db",
            "database.names": "shop,stock",
            "topic.prefix": "cdc",
        },
        "cdc.stock.dbo.Items",
        "source",
        [DatasetId("mssql://db:1433", "stock.dbo.Items")],
    ),
    Case(
        "Debezium SQL Server, an instance of several",
        {
            "connector.class": "io.debezium.connector.sqlserver.SqlServerConnector",
            "database.hostname": "db",
            "database.instance": "west",
            "database.names": "shop",
            "topic.prefix": "cdc",
        },
        "cdc.shop.dbo.Items",
        "source",
        [DatasetId("mssql://db/west", "shop.dbo.Items")],
    ),
    Case(
        "Debezium SQL Server, schema changes of a database",
        {
            "connector.class": "io.debezium.connector.sqlserver.SqlServerConnector",
            "database.hostname": "db",
            "database.names": "shop",
            "topic.prefix": "cdc",
        },
        "cdc",
        "source",
        [],
    ),
    Case(
        "Debezium Oracle",
        {
            "connector.class": "io.debezium.connector.oracle.OracleConnector",
            "database.hostname": "db",
            "database.dbname": "ORCL",
            "topic.prefix": "cdc",
        },
        "cdc.SALES.ORDERS",
        "source",
        [DatasetId("oracle://db:1521", "ORCL.SALES.ORDERS")],
    ),
    Case(
        "Debezium Oracle, a pluggable database",
        {
            "connector.class": "io.debezium.connector.oracle.OracleConnector",
            "database.hostname": "db",
            "database.dbname": "CDB",
            "database.pdb.name": "SHOP",
            "topic.prefix": "cdc",
        },
        "cdc.SALES.ORDERS",
        "source",
        [DatasetId("oracle://db:1521", "SHOP.SALES.ORDERS")],
    ),
    Case(
        "Debezium MongoDB",
        {
            "connector.class": "io.debezium.connector.mongodb.MongoDbConnector",
            "mongodb.connection.string": "mongodb://ann:hunter2@m1:27017,m2:27017/?replicaSet=rs0",
            "topic.prefix": "cdc",
        },
        "cdc.shop.orders.lines",
        "source",
        [DatasetId("mongodb://m1:27017", "shop.orders.lines")],
    ),
    Case(
        "Elasticsearch",
        {
            "connector.class": "io.confluent.connect.elasticsearch.ElasticsearchSinkConnector",
            "topics": "Orders",
            "connection.url": "http://ann:hunter2@es1:9200,http://es2:9200",
        },
        "Orders",
        "sink",
        [DatasetId("elasticsearch://es1:9200", "orders")],
    ),
    Case(
        "BigQuery",
        {
            "connector.class": "com.wepay.kafka.connect.bigquery.BigQuerySinkConnector",
            "topics": "shop.orders",
            "project": "acme",
            "defaultDataset": "raw",
            "sanitizeTopics": "true",
            "keyfile": "hunter2",
        },
        "shop.orders",
        "sink",
        [DatasetId("bigquery", "acme.raw.shop_orders")],
    ),
    Case(
        "MongoDB sink",
        {
            "connector.class": "com.mongodb.kafka.connect.MongoSinkConnector",
            "topics": "orders",
            "connection.uri": "mongodb://ann:hunter2@m1:27017,m2:27017/?replicaSet=rs0",
            "database": "shop",
        },
        "orders",
        "sink",
        [DatasetId("mongodb://m1:27017", "shop.orders")],
    ),
    Case(
        "MongoDB source",
        {
            "connector.class": "com.mongodb.kafka.connect.MongoSourceConnector",
            "connection.uri": "mongodb+srv://cluster.example",
            "topic.prefix": "mongo",
            "database": "shop",
        },
        "mongo.shop.orders",
        "source",
        [DatasetId("mongodb://cluster.example:27017", "shop.orders")],
    ),
    Case(
        "FileStream",
        {"connector.class": "FileStreamSource", "file": "/var/log/app.log", "topic": "logs"},
        "logs",
        "source",
        [DatasetId("file", "/var/log/app.log")],
    ),
    Case(
        "MirrorMaker 2",
        {
            "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
            "source.cluster.alias": "west",
            "source.cluster.bootstrap.servers": "west-1:9092,west-2:9092",
            "target.cluster.alias": "east",
            "topics": ".*",
        },
        "west.orders",
        "source",
        [DatasetId("kafka://west-1:9092", "orders")],
    ),
    Case(
        "MirrorMaker 2, names kept",
        {
            "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
            "source.cluster.alias": "west",
            "source.cluster.bootstrap.servers": "west-1:9092",
            "replication.policy.class": "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
        },
        "orders",
        "source",
        [DatasetId("kafka://west-1:9092", "orders")],
    ),
    Case("an unknown sink", {"connector.class": "com.example.Sink", "topics": "orders"}, "orders", "sink", []),
    Case("an unknown source", {"connector.class": "com.example.Source"}, "orders", "source", []),
    Case(
        "a JDBC sink without an address",
        {"connector.class": "io.aiven.connect.jdbc.JdbcSinkConnector"},
        "t",
        "sink",
        [],
    ),
]


S3 = {"connector.class": "io.confluent.connect.s3.S3SinkConnector", "topics": "orders", "s3.bucket.name": "archive"}
JDBC_SOURCE = {
    "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
    "connection.url": "jdbc:postgresql://db/shop",
    "topic.prefix": "pg-",
}
JDBC_SINK = {
    "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
    "topics": "Orders",
    "connection.url": "jdbc:postgresql://db/shop",
}
DEBEZIUM_JDBC = {**JDBC_SINK, "connector.class": "io.debezium.connector.jdbc.JdbcSinkConnector"}
DEBEZIUM_POSTGRES = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "database.hostname": "db",
    "database.dbname": "shop",
    "topic.prefix": "cdc",
}
MYSQL = {"connection.url": "jdbc:mysql://db/shop"}
ORACLE = {"connection.url": "jdbc:oracle:thin:@db:1521/ORCL"}


def in_postgres(*names: str) -> list[DatasetId]:
    return [DatasetId("postgres://db:5432", name) for name in names]


AIVEN_JDBC = {
    "connector.class": "io.aiven.connect.jdbc.JdbcSinkConnector",
    "topics": "orders,bids",
    "connection.url": "jdbc:postgresql://db/shop",
}
DEBEZIUM = {
    "connector.class": "io.debezium.connector.mysql.MySqlConnector",
    "database.hostname": "db",
}
MONGODB_SINK = {
    "connector.class": "com.mongodb.kafka.connect.MongoSinkConnector",
    "topics": "orders",
    "connection.uri": "mongodb://m:27017",
    "database": "shop",
}
MONGODB_SOURCE = {
    "connector.class": "com.mongodb.kafka.connect.MongoSourceConnector",
    "connection.uri": "mongodb://m:27017",
}
ELASTICSEARCH = {
    "connector.class": "io.confluent.connect.elasticsearch.ElasticsearchSinkConnector",
    "topics": "Orders",
    "connection.url": "http://e:9200",
}
MIRROR = {
    "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
    "source.cluster.alias": "west",
    "source.cluster.bootstrap.servers": "w:9092",
}
BIGQUERY = {
    "connector.class": "com.wepay.kafka.connect.bigquery.BigQuerySinkConnector",
    "topics": "orders",
    "project": "acme",
    "defaultDataset": "raw",
}
ROUTED = {"transforms": "r", "transforms.r.type": "org.apache.kafka.connect.transforms.RegexRouter"}
BOTH = ("shop.public.bids", "shop.sales.Orders")
SETTINGS: list[tuple[dict[str, str], str, list[DatasetId]]] = [
    ({**S3, "topics.dir": ""}, "orders", [DatasetId("s3://archive", "orders")]),
    (
        {**JDBC_SOURCE, "table.whitelist": "public.bids, sales.orders"},
        "pg-orders",
        [DatasetId("postgres://db:5432", "shop.sales.orders")],
    ),
    ({**JDBC_SOURCE, "schema.pattern": "sales"}, "pg-orders", in_postgres("shop.sales.orders")),
    ({**JDBC_SOURCE, "schema.pattern": "sales\\_eu"}, "pg-orders", in_postgres("shop.sales_eu.orders")),
    ({**JDBC_SOURCE, "schema.pattern": "sales%"}, "pg-orders", []),
    (
        {**JDBC_SOURCE, "schema.pattern": "sales", "table.whitelist": "orders"},
        "pg-orders",
        in_postgres("shop.sales.orders"),
    ),
    (
        {**JDBC_SOURCE, "table.whitelist": 'a.orders, "b"."orders", c.bids'},
        "pg-orders",
        in_postgres("shop.a.orders", "shop.b.orders"),
    ),
    ({**JDBC_SOURCE, "table.include.list": "shop\\.sales\\.o.*"}, "pg-orders", in_postgres("shop.sales.orders")),
    ({**JDBC_SOURCE, "table.include.list": "sales.*\\.orders"}, "pg-orders", []),
    (
        {**JDBC_SOURCE, "table.include.list": "sales\\.orders, sales\\.bids, eu\\.bids"},
        "pg-bids",
        in_postgres("shop.sales.bids", "shop.eu.bids"),
    ),
    ({**JDBC_SOURCE, "table.whitelist": "sales.Order items"}, "pg-Order items", in_postgres("shop.sales.Order items")),
    ({**JDBC_SOURCE, "table.include.list": "sales\\.\\p{Lower}+, eu\\.orders"}, "pg-orders", []),
    ({**JDBC_SOURCE, **MYSQL, "catalog.pattern": "app"}, "pg-orders", [DatasetId("mysql://db:3306", "app.orders")]),
    (JDBC_SOURCE, "pg-Orders", in_postgres("shop.public.Orders")),
    ({**JDBC_SOURCE, **ORACLE}, "pg-ORDERS", [DatasetId("oracle://db:1521", "ORCL.ORDERS")]),
    ({**JDBC_SOURCE, "query": 'SELECT * FROM Bids, sales."Orders"'}, "pg-", in_postgres(*BOTH)),
    ({**JDBC_SOURCE, "query": "SELECT * FROM bids, unnest(ARRAY[1])"}, "pg-", in_postgres("shop.public.bids")),
    (
        {**JDBC_SOURCE, **MYSQL, "query": "SELECT `id` FROM `Bids`"},
        "pg-",
        [DatasetId("mysql://db:3306", "shop.Bids")],
    ),
    (JDBC_SINK, "Orders", in_postgres("shop.public.Orders")),
    ({**JDBC_SINK, "table.name.format": "Sales.${topic}"}, "Orders", in_postgres("shop.Sales.Orders")),
    ({**JDBC_SINK, "quote.sql.identifiers": "NEVER"}, "Orders", in_postgres("shop.public.orders")),
    ({**JDBC_SINK, **ORACLE}, "orders", [DatasetId("oracle://db:1521", "ORCL.orders")]),
    (
        {**JDBC_SINK, **ORACLE, "quote.sql.identifiers": "never"},
        "orders",
        [DatasetId("oracle://db:1521", "ORCL.ORDERS")],
    ),
    (DEBEZIUM_JDBC, "Orders", in_postgres("shop.public.orders")),
    ({**DEBEZIUM_JDBC, "quote.identifiers": "true"}, "Orders", in_postgres("shop.public.Orders")),
    ({**DEBEZIUM_JDBC, "collection.naming.strategy": "com.example.Own"}, "Orders", []),
    ({**DEBEZIUM_JDBC, "table.naming.strategy": "com.example.Own"}, "Orders", []),
    (
        {
            **DEBEZIUM_JDBC,
            "table.naming.strategy": "io.debezium.connector.jdbc.naming.DefaultTableNamingStrategy",
            "table.name.format": "raw_${topic}",
        },
        "Orders",
        in_postgres("shop.public.raw_orders"),
    ),
    (DEBEZIUM_POSTGRES, "cdc.public.Orders", in_postgres("shop.public.Orders")),
    (DEBEZIUM_POSTGRES, "public.Orders", []),
    ({**DEBEZIUM_POSTGRES, "database.dbname": ""}, "cdc.public.Orders", []),
    ({**AIVEN_JDBC, "topics.to.tables.mapping": "bids:Bids"}, "bids", in_postgres("shop.public.Bids")),
    ({**AIVEN_JDBC, "sql.quote.identifiers": "false"}, "Bids", in_postgres("shop.public.bids")),
    ({**JDBC_SOURCE, **ROUTED, "transforms.r.regex": "pg-o.*", "transforms.r.replacement": "pg-x"}, "pg-x", []),
    (
        {
            **JDBC_SOURCE,
            **ROUTED,
            "transforms": "mask,r",
            "transforms.mask.type": "org.apache.kafka.connect.transforms.MaskField$Value",
            "transforms.r.regex": "pg-o.*",
            "transforms.r.replacement": "pg-x",
        },
        "pg-x",
        [],
    ),
    (
        {**S3, "transforms": "t", "transforms.t.type": "org.apache.kafka.connect.transforms.TimestampRouter"},
        "orders",
        [],
    ),
    (
        {**AIVEN_JDBC, "topics.to.tables.mapping": "orders:sales.orders"},
        "orders",
        [DatasetId("postgres://db:5432", "shop.sales.orders")],
    ),
    ({**AIVEN_JDBC, "table.name.normalize": "true"}, "orders", []),
    (
        {
            "connector.class": "io.debezium.connector.jdbc.JdbcSinkConnector",
            "topics": "s.shop.orders",
            "connection.url": "jdbc:postgresql://db/shop",
            "collection.name.format": "${source.schema}_${source.table}",
        },
        "s.shop.orders",
        [],
    ),
    (
        {**DEBEZIUM, "database.server.name": "old"},
        "old.shop.orders",
        [DatasetId("mysql://db:3306", "shop.orders")],
    ),
    (
        {**DEBEZIUM, "topic.prefix": "a.b", "topic.delimiter": "-"},
        "a.b-shop-orders",
        [DatasetId("mysql://db:3306", "shop.orders")],
    ),
    ({**DEBEZIUM, "topic.prefix": "a", "topic.naming.strategy": "com.example.Own"}, "a.shop.orders", []),
    (
        {
            **DEBEZIUM,
            "topic.prefix": "a",
            "transforms": "r",
            "transforms.r.type": "io.debezium.transforms.outbox.EventRouter",
        },
        "a.shop.orders",
        [],
    ),
    (
        {**MONGODB_SINK, "collection": "all", "topic.override.orders.collection": "mine"},
        "orders",
        [DatasetId("mongodb://m:27017", "shop.mine")],
    ),
    (
        {
            **MONGODB_SINK,
            "namespace.mapper": "com.mongodb.kafka.connect.sink.namespace.mapping.FieldPathNamespaceMapper",
        },
        "orders",
        [],
    ),
    (
        {**MONGODB_SOURCE, "topic.prefix": "m", "topic.suffix": "s", "topic.separator": "-"},
        "m-shop-orders-s",
        [DatasetId("mongodb://m:27017", "shop.orders")],
    ),
    ({**MONGODB_SOURCE, "topic.prefix": "m"}, "shop.orders", []),
    ({**MONGODB_SOURCE, "topic.namespace.map": '{"shop.orders": "a.b"}'}, "a.b", []),
    (
        {**ELASTICSEARCH, "data.stream.type": "LOGS", "data.stream.dataset": "shop"},
        "Orders",
        [DatasetId("elasticsearch://e:9200", "logs-shop-orders")],
    ),
    ({**ELASTICSEARCH, "external.resource.usage": "INDEX"}, "Orders", []),
    (
        {**MIRROR, "replication.policy.separator": "_"},
        "west_orders",
        [DatasetId("kafka://w:9092", "orders")],
    ),
    ({**MIRROR, "replication.policy.class": "com.example.Own"}, "west.orders", []),
    (
        {**BIGQUERY, "topic2TableMap": "bids:b, shop.orders:sales_orders", "sanitizeTopics": "true"},
        "shop.orders",
        [DatasetId("bigquery", "acme.raw.sales_orders")],
    ),
    (
        {**BIGQUERY, "topic2TableMap": "bids:b", "sanitizeTopics": "true"},
        "shop-orders",
        [DatasetId("bigquery", "acme.raw.shop-orders")],
    ),
    ({**BIGQUERY, "defaultDataset": ""}, "orders", []),
    ({**BIGQUERY, "sanitizeTopics": "true"}, "2024-x", [DatasetId("bigquery", "acme.raw._2024_x")]),
    (
        {**BIGQUERY, **ROUTED, "transforms.r.regex": "(.*)-(.*)", "transforms.r.replacement": "$1:$2"},
        "shop-orders",
        [DatasetId("bigquery", "acme.shop.orders")],
    ),
]
"""Settings that change where data goes, by the connectors' documentation."""


@pytest.mark.parametrize(("properties", "topic", "expected"), SETTINGS)
def test_settings_decide_where_data_goes_or_make_it_unknown(
    properties: dict[str, str], topic: str, expected: list[DatasetId]
) -> None:
    assert [place.id for place in external_datasets(properties, [topic]).get(topic, ())] == expected


@pytest.mark.parametrize(
    ("properties", "topic"),
    [*((case.properties, case.topic) for case in CASES), *((properties, topic) for properties, topic, _ in SETTINGS)],
)
def test_the_stored_part_of_a_configuration_gives_the_same_datasets_as_the_whole(
    properties: dict[str, str], topic: str
) -> None:
    lifecycles = Lifecycles("kafka-connect", deciding_properties())

    lifecycles.apply(Configured("c", 1, properties))

    stored = lifecycles.connectors["c"].properties or {}
    assert external_datasets(stored, [topic]) == external_datasets(properties, [topic])


ICEBERG = next(case.properties for case in CASES if case.name == "Iceberg of Apache, Glue")
TO_ANOTHER_NAME = {**ROUTED, "transforms.r.regex": ".*"}
OF_REGION = {
    "transforms": "i",
    "transforms.i.type": "org.apache.kafka.connect.transforms.InsertField$Value",
    "transforms.i.static.field": "region",
    "transforms.i.static.value": "${env:REGION}",
}


SHORT = {"transforms.r.regex": r"([^.]+)\.([^.]+)\.([^.]+)", "transforms.r.replacement": "$3"}
"""Leaves only the table's name of a topic of Debezium."""
BY_FIELD = {
    "transforms": "u",
    "transforms.u.type": "io.debezium.transforms.ExtractNewRecordState",
    "transforms.u.route.by.field": "region",
}
OWN_TRANSFORM = {"transforms": "own", "transforms.own.type": "com.example.Own"}


@pytest.mark.parametrize(
    ("properties", "topic", "unknown_settings"),
    [
        ({**S3, "topics.dir": "${env:STAGE}/raw"}, "orders", ["topics.dir"]),
        ({**S3, "s3.bucket.name": "${file:/opt/c.properties:bucket}"}, "orders", ["s3.bucket.name"]),
        ({**BIGQUERY, "project": "${env:GCP}"}, "orders", ["project"]),
        ({**BIGQUERY, "sanitizeTopics": "${env:S}"}, "orders", ["sanitizeTopics"]),
        ({**MONGODB_SINK, "database": "${secrets:shop/db}"}, "orders", ["database"]),
        ({**ICEBERG, "iceberg.tables": "${env:DB}.orders"}, "orders", ["iceberg.tables"]),
        ({**ICEBERG, "iceberg.catalog.warehouse": "s3://lake/${env:WH}"}, "orders", ["iceberg.catalog.warehouse"]),
        ({**JDBC_SOURCE, "table.whitelist": "${env:SCHEMA}.orders"}, "pg-orders", ["table.whitelist"]),
        ({**JDBC_SOURCE, "connection.url": "jdbc:postgresql://${env:PG}:5432/shop"}, "pg-orders", ["connection.url"]),
        (
            {**JDBC_SOURCE, "connection.url": "jdbc:postgresql://db/shop?currentSchema=${env:S}"},
            "pg-orders",
            ["connection.url"],
        ),
        ({**JDBC_SINK, "table.name.format": "${env:S}.${topic}"}, "Orders", ["table.name.format"]),
        ({**ELASTICSEARCH, "connection.url": "https://${env:ES}:9200"}, "Orders", ["connection.url"]),
        ({**MONGODB_SOURCE, "connection.uri": "mongodb://${env:M}"}, "shop.orders", ["connection.uri"]),
        (
            {**MIRROR, "source.cluster.bootstrap.servers": "${env:EU}:9092"},
            "west.orders",
            ["source.cluster.bootstrap.servers"],
        ),
        ({**S3, **TO_ANOTHER_NAME, "transforms.r.replacement": "${env:T}"}, "orders", ["transforms.r.replacement"]),
        ({**S3, "transforms": "${env:T}"}, "orders", ["transforms"]),
        (
            {**S3, **TO_ANOTHER_NAME, **OF_REGION, "transforms": "r,i", "transforms.r.replacement": "${env:T}"},
            "orders",
            ["transforms.r.replacement"],
        ),
        (
            {**S3, "transforms": "own", "transforms.own.type": "com.example.Own", "transforms.own.to": "${env:T}"},
            "orders",
            ["transforms.own.to"],
        ),
    ],
)
def test_a_dataset_named_by_a_config_provider_is_unknown(
    properties: dict[str, str], topic: str, unknown_settings: list[str]
) -> None:
    datasets = external_datasets(properties, [topic])

    assert datasets.get(topic, []) == []
    assert why_unknown(properties, [topic], datasets) == f"a config provider supplies {', '.join(unknown_settings)}"
    assert why_unknown(properties, [], {}) is None


@pytest.mark.parametrize(
    ("properties", "topic", "expected"),
    [
        (
            {**JDBC_SOURCE, "connection.url": "jdbc:postgresql://db/shop?password=${file:/p:pw}&sslkey=${env:K}"},
            "pg-orders",
            in_postgres("shop.public.orders"),
        ),
        (
            {**DEBEZIUM_POSTGRES, "table.include.list": "${env:TABLES}"},
            "cdc.public.orders",
            in_postgres("shop.public.orders"),
        ),
        (
            {**ICEBERG, "iceberg.catalog.uri": "${env:CATALOG}"},
            "orders",
            [DatasetId("s3://lake", "warehouse/sales.db/orders")],
        ),
        ({**S3, **OF_REGION}, "orders", [DatasetId("s3://archive", "topics/orders")]),
    ],
)
def test_other_values_of_a_config_provider_hide_no_dataset(
    properties: dict[str, str], topic: str, expected: list[DatasetId]
) -> None:
    datasets = external_datasets(properties, [topic])

    assert [place.id for place in datasets[topic]] == expected
    assert why_unknown(properties, [topic], datasets) is None


def test_the_tables_of_an_iceberg_sink_are_known_behind_any_transform() -> None:
    datasets = external_datasets({**ICEBERG, **OWN_TRANSFORM}, ["orders"])

    assert [place.id.name for place in datasets["orders"]] == ["warehouse/sales.db/orders"]


@pytest.mark.parametrize(
    ("properties", "topic", "reason"),
    [
        ({**JDBC_SOURCE, "query": "EXEC x"}, "pg-", "no table can be read from query"),
        ({**JDBC_SOURCE, "query": "SELECT * FROM orders"}, "pg-", None),
        ({**JDBC_SOURCE, "query": "SELECT * FROM orders, generate_series(1, 3)"}, "pg-", None),
        (
            {**JDBC_SOURCE, "query": "SELECT * FROM orders, dblink('', 'SELECT 1') AS o (id int)"},
            "pg-",
            "query reads something that it does not name",
        ),
        (DEBEZIUM_POSTGRES | ROUTED | SHORT, "orders", "the topics may have been renamed by transforms.r"),
        (DEBEZIUM_POSTGRES | ROUTED | SHORT | {"table.include.list": "public.orders"}, "heartbeat", None),
        (DEBEZIUM_POSTGRES, "heartbeat", None),
        (DEBEZIUM_POSTGRES | BY_FIELD, "north", "the topics may have been renamed by transforms.u"),
        ({**S3, **BY_FIELD}, "orders", "the topics may have been renamed by transforms.u"),
        ({**S3, **OWN_TRANSFORM}, "orders", "the topics may have been renamed by transforms.own"),
        ({**ICEBERG, **OWN_TRANSFORM}, "orders", None),
        ({"connector.class": "com.example.Source", **OWN_TRANSFORM}, "orders", None),
    ],
)
def test_why_no_dataset_is_known_is_reported(properties: dict[str, str], topic: str, reason: str | None) -> None:
    assert why_unknown(properties, [topic], external_datasets(properties, [topic])) == reason


LOGICAL = {
    "transforms": "r",
    "transforms.r.type": "io.debezium.transforms.ByLogicalTableRouter",
    "transforms.r.topic.regex": r"(.*)orders_\d+",
    "transforms.r.topic.replacement": "$1orders",
}


@pytest.mark.parametrize(
    ("properties", "topic", "tables"),
    [
        (ROUTED | SHORT | {"table.include.list": "public.orders,sales.bids"}, "orders", ["public.orders"]),
        (ROUTED | SHORT | {"table.include.list": r"public\.orders"}, "orders", ["public.orders"]),
        (
            ROUTED | SHORT | {"table.include.list": "public.orders,sales.orders"},
            "orders",
            ["public.orders", "sales.orders"],
        ),
        (ROUTED | SHORT | {"table.include.list": "public.orders"}, "cdc.public.orders", []),
        (ROUTED | SHORT | {"table.include.list": r"public\..*"}, "orders", []),
        (ROUTED | SHORT | {"table.include.list": "public.orders.?"}, "orders", []),
        (ROUTED | SHORT, "orders", []),
        (ROUTED | SHORT | {"table.include.list": "public.orders", "transforms.r.predicate": "p"}, "orders", []),
        (ROUTED | {"table.include.list": "public.orders", "transforms.r.type": "com.example.Router"}, "orders", []),
        (LOGICAL | {"table.include.list": "s.orders_1,s.orders_2,s.x"}, "cdc.s.orders", ["s.orders_1", "s.orders_2"]),
        (LOGICAL | {"table.include.list": "s.orders_1,s.orders_2,s.x"}, "cdc.s.x", ["s.x"]),
        (LOGICAL, "cdc.s.orders", []),
    ],
)
def test_behind_a_router_a_topic_has_the_tables_that_the_source_lists(
    properties: dict[str, str], topic: str, tables: list[str]
) -> None:
    datasets = external_datasets({**DEBEZIUM_POSTGRES, **properties}, [topic])

    assert [place.id for place in datasets.get(topic, ())] == in_postgres(*(f"shop.{table}" for table in tables))


def test_behind_a_router_a_jdbc_source_has_its_listed_tables() -> None:
    routed = {**JDBC_SOURCE, **ROUTED, "transforms.r.regex": "pg-(.*)", "transforms.r.replacement": "$1"}

    datasets = external_datasets({**routed, "table.whitelist": "sales.orders,bids"}, ["orders", "bids", "pg-bids"])

    assert {topic: [place.id for place in each] for topic, each in datasets.items()} == {
        "orders": in_postgres("shop.sales.orders"),
        "bids": in_postgres("shop.public.bids"),
    }


def test_behind_a_router_a_listed_database_of_sql_server_is_part_of_the_name() -> None:
    properties = {
        "connector.class": "io.debezium.connector.sqlserver.SqlServerConnector",
        "database.hostname": "db",
        "database.names": "shop,stock",
        "table.include.list": "dbo.Items",
        "topic.prefix": "cdc",
        **ROUTED,
        "transforms.r.regex": r"cdc\.(stock.*)",
        "transforms.r.replacement": "$1",
    }

    datasets = external_datasets(properties, ["stock.dbo.Items", "cdc.shop.dbo.Items"])

    assert {topic: [place.id.name for place in each] for topic, each in datasets.items()} == {
        "stock.dbo.Items": ["stock.dbo.Items"],
        "cdc.shop.dbo.Items": ["shop.dbo.Items"],
    }


def test_a_routers_pattern_is_stored_completely() -> None:
    lifecycles = Lifecycles("kafka-connect", deciding_properties())
    to_another_name = {"transforms.r.regex": "raw\\.(.*?)(\\.v\\d+)?", "transforms.r.replacement": "$1"}

    lifecycles.apply(Configured("c", 1, {**S3, **ROUTED, **to_another_name}))

    datasets = external_datasets(lifecycles.connectors["c"].properties or {}, ["raw.orders"])
    assert [place.id.name for place in datasets["raw.orders"]] == ["topics/orders"]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_connector_class_has_these_datasets(case: Case) -> None:
    datasets = external_datasets(case.properties, [case.topic])

    assert kind_of(case.properties) == case.kind
    assert [place.id for place in datasets.get(case.topic, ())] == case.datasets
    assert "hunter2" not in repr(datasets)


def test_a_table_is_named_by_its_location_and_by_its_catalog_too() -> None:
    case = next(case for case in CASES if case.name == "Iceberg of Apache, Glue")

    (dataset,) = external_datasets(case.properties, ["orders"])["orders"]

    assert dataset.symlinks == (
        DatasetId("s3://lake/warehouse", "lake.sales.orders"),
        DatasetId("s3://lake/warehouse", "sales.orders"),
    )
    assert dataset.catalog is not None
    assert dataset.catalog[:3] == ("glue", "lake", "sales.orders")


def test_a_sink_sees_the_topic_as_its_transforms_name_it() -> None:
    properties = {
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "topics": "shop.orders",
        "connection.url": "jdbc:postgresql://db/shop",
        "transforms": "r",
        "transforms.r.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.r.regex": "shop\\.(.*)",
        "transforms.r.replacement": "$1",
    }

    assert [place.id.name for place in external_datasets(properties, ["shop.orders"])["shop.orders"]] == [
        "shop.public.orders"
    ]
    assert external_datasets({**properties, "transforms.r.type": "com.example.Router"}, ["shop.orders"]) == {}
