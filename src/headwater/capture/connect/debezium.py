"""What Debezium's source connectors capture: tables and collections, and which columns they mask.

A topic is named after a prefix and the table, with its schema or database, all as the database has them.

Source: Debezium, "Topic names", `table.include.list`, `column.mask…` and `column.truncate…`, in the reference of each
connector
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from headwater.capture.connect.chain import Column
from headwater.capture.connect.datasets import DatasetFinder, DatasetsByTopic, ExternalDataset
from headwater.capture.connect.document_datasets import mongodb_server
from headwater.capture.connect.java_regex import matches
from headwater.capture.connect.records import Properties, listed, literals_of
from headwater.model.names import DatasetId
from headwater.model.naming_jdbc import jdbc_dataset, quoted

_NAMED_BY_TABLE: Final = ("", "SchemaTopicNamingStrategy", "DefaultTopicNamingStrategy")
"""The strategies that put a table's name, with its schema or database, into the topic name."""
_MASKED: Final = "column.mask"
_TRUNCATED: Final = "column.truncate"
_CHANGES: Final = {
    _MASKED: re.compile(r"column\.mask\.(?:with\.\d+\.chars|hash\..+)"),
    _TRUNCATED: re.compile(r"column\.truncate\.to\.\d+\.chars"),
}
"""The names of properties that list changed columns; those for hashes contain the salt."""


class Database(NamedTuple):
    """How a kind of database is addressed, and how a topic names its tables."""

    url: str
    """With `HOST` and `DATABASE` in place of these."""
    port: int
    """The default."""
    database: tuple[str, ...] = ()
    """The properties with the database's name, the first that is set; none if topics have it."""
    name_parts: int = 2
    """Of a table's name within its database: its schema, if there are schemas, and its own name."""


POSTGRES: Final = Database("jdbc:postgresql://HOST/DATABASE", 5432, ("database.dbname",))
MYSQL: Final = Database("jdbc:mysql://HOST/DATABASE", 3306, name_parts=1)
MARIADB: Final = Database("jdbc:mariadb://HOST/DATABASE", 3306, name_parts=1)
SQL_SERVER: Final = Database("jdbc:sqlserver://HOST;databaseName=DATABASE", 1433)
ORACLE: Final = Database("jdbc:oracle:thin:@//HOST/DATABASE", 1521, ("database.pdb.name", "database.dbname"))


def tables_in(kind: Database) -> DatasetFinder:
    """A finder of the table of each topic; topics of transactions, heartbeats and schema changes have none."""

    def find(properties: Properties, topics: Sequence[str]) -> DatasetsByTopic:
        found = {}
        for topic, parts in _parts(properties, topics):
            within, table = parts[: -kind.name_parts], parts[-kind.name_parts :]
            set_by = [name for each in kind.database if (name := properties.get(each))]
            databases = set_by if kind.database else within
            if databases and len(within) == (not kind.database) and len(table) == kind.name_parts:
                url = kind.url.replace("HOST", _host(properties, kind.port)).replace("DATABASE", databases[0])
                found[topic] = [ExternalDataset(jdbc_dataset(url, quoted(*table)))]
        return found

    return find


def collections(properties: Properties, topics: Sequence[str]) -> DatasetsByTopic:
    """The collection of each topic, of MongoDB."""
    server = mongodb_server(properties.get("mongodb.connection.string", ""))
    return {
        topic: [ExternalDataset(DatasetId(server, ".".join(parts)), "COLLECTION")]
        for topic, parts in _parts(properties, topics)
        if server and len(parts) > 1
    }


def listed_topics(properties: Properties) -> list[str]:
    """The topics of the tables or collections that are listed by name, before any transform."""
    included = ("table.include.list", "table.whitelist", "collection.include.list")
    names = [name for each in included for name in literals_of(properties.get(each))]
    within = [f"{database}." for database in listed(properties.get("database.names"))]  # of SQL Server
    prefix, delimiter = _prefix(properties), _delimiter(properties)
    return [prefix + f"{database}{name}".replace(".", delimiter) for database in within or [""] for name in names]


def column_changes(properties: Properties) -> Properties:
    """The columns that are masked or truncated, as properties whose names contain no salt: that is a secret.

    `properties` may have passed through here before, as those in a watcher's state have.
    """
    lists = {
        change: [columns for each, columns in sorted(properties.items()) if each == change or name.fullmatch(each)]
        for change, name in _CHANGES.items()
    }
    return {change: ",".join(columns) for change, columns in lists.items() if columns}


def table_columns(properties: Properties, table: DatasetId, columns: Sequence[Column]) -> list[Column]:
    """The table's columns behind fields of Debezium's envelope: those in `before` and `after`; the others have none.

    `properties` include those of `column_changes`.
    """
    return [_of_table(properties, table, column) for column in columns]


def _of_table(properties: Properties, table: DatasetId, column: Column) -> Column:
    side, _, name = (column.source or "").partition(".")
    if side not in ("before", "after") or not name:
        return column._replace(source=None)
    within = ".".join(table.name.split(".")[-2:])  # its schema or database, and its own name
    whole = f"{within}.{name.partition('.')[0]}"
    is_masked, is_truncated = (_is_listed(whole, properties.get(change)) for change in (_MASKED, _TRUNCATED))
    return column._replace(
        source=name,
        is_changed=column.is_changed or is_masked or is_truncated,
        is_masked=column.is_masked or is_masked,
    )


def _is_listed(name: str, expressions: str | None) -> bool:
    return any(matches(each, name, any_case=True) for each in listed(expressions))


def _parts(properties: Properties, topics: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The parts of a table's name in a topic, for each topic that has one."""
    prefix = _prefix(properties)
    if properties.get("topic.naming.strategy", "").rpartition(".")[2] not in _NAMED_BY_TABLE:
        return
    for topic in topics:
        if topic.startswith(prefix):
            yield topic, topic.removeprefix(prefix).split(_delimiter(properties))


def _prefix(properties: Properties) -> str:
    return (properties.get("topic.prefix") or properties.get("database.server.name") or "") + _delimiter(properties)


def _delimiter(properties: Properties) -> str:
    return properties.get("topic.delimiter", ".")


def _host(properties: Properties, port: int) -> str:
    name, instance = properties.get("database.hostname", ""), properties.get("database.instance")
    server = f"{name}\\{instance}" if instance else name
    if instance and "database.port" not in properties:
        return server
    return f"{server}:{properties.get('database.port', port)}"
