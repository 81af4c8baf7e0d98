"""Tables that connectors read or write."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from headwater.capture.connect.datasets import Catalog, DatasetsByTopic, ExternalDataset, for_all_topics
from headwater.capture.connect.java_regex import matches
from headwater.capture.connect.records import Properties, listed, literals_of
from headwater.model.catalogs import catalog_kind
from headwater.model.names import DatasetId
from headwater.model.naming import file_dataset, warehouse_table
from headwater.model.naming_jdbc import jdbc_dataset, parts_of, quoted


def iceberg(properties: Properties, topics: Sequence[str]) -> DatasetsByTopic:
    """The listed tables, each for all topics."""
    tables = [name.strip() for name in properties.get("iceberg.tables", "").split(",") if name.strip()]
    return for_all_topics(topics, [dataset for table in tables if (dataset := _iceberg_table(properties, table))])


def _iceberg_table(properties: Properties, table: str) -> ExternalDataset | None:
    settings = {
        name.removeprefix("iceberg.catalog."): value
        for name, value in properties.items()
        if name.startswith("iceberg.catalog.")
    }
    kind = catalog_kind(settings.get("type") or settings.get("catalog-impl") or "hive")
    warehouse = settings.get("warehouse")
    catalog = Catalog(kind, properties.get("iceberg.catalog", "iceberg"), table, settings.get("uri"), warehouse)
    if warehouse is None or "/" not in warehouse or kind == "rest":  # an identifier that only the catalog can resolve
        return None
    *namespace, name = table.split(".")
    folder = f"{'.'.join(namespace)}.db" if kind in ("glue", "hive") and namespace else "/".join(namespace)
    location = "/".join(part for part in (warehouse.rstrip("/"), folder, name) if part)
    # The first name is the one of Spark pipelines, the second that of openlineage-spark.
    links = (warehouse_table(warehouse, f"{catalog.name}.{table}"), warehouse_table(warehouse, table))
    return ExternalDataset(file_dataset(location), "TABLE", links, catalog)


def jdbc_source(properties: Properties, topics: Sequence[str]) -> DatasetsByTopic:
    """The table of each topic, or those of the query.

    The topic has the table's bare name as in the database. Other properties may give its schema.

    Source: `TableMonitorThread`, `GenericDatabaseDialect.tableIds` of the connectors of Confluent and Aiven
    """
    url, prefix = properties.get("connection.url", ""), properties.get("topic.prefix", "")
    if query := properties.get("query"):
        return for_all_topics(topics, [ExternalDataset(jdbc_dataset(url, table)) for table in _tables_of(query, url)])
    tables = {topic: topic.removeprefix(prefix) for topic in topics if topic.startswith(prefix) and topic != prefix}
    return {
        topic: [
            ExternalDataset(jdbc_dataset(url, quoted(*qualifiers, table)))
            for qualifiers in _qualifiers(properties, table)
        ]
        for topic, table in tables.items()
    }


def reads_unnamed(properties: Properties) -> bool:
    """Whether a source's query reads something that it does not name, as through a table function."""
    from headwater.observe.queries import read_query  # imported here, as in `_tables_of`

    return not read_query(properties.get("query", ""), properties.get("connection.url", "")).names_all_sources


def _qualifiers(properties: Properties, table: str) -> list[list[str]]:
    """The schemas, or databases and schemas, that tables of this name are read from.

    `[]` as an item stands for the database's default schema; the list is empty if the schema is unknown.
    """
    if expressions := listed(properties.get("table.include.list")):
        return _qualifiers_by_expressions(expressions, table) or []
    wholes = [_whole(name) for name in listed(properties.get("table.whitelist"))]
    within = [parts[:-1] for parts in wholes if parts[-1] == table]
    if within and all(within):
        return within
    is_database = re.match(r"jdbc:(mysql|mariadb):", properties.get("connection.url", "")) is not None
    pattern = properties.get("catalog.pattern" if is_database else "schema.pattern", "")
    if "%" in pattern:
        return []
    return [[pattern.replace("\\_", "_")] if pattern else []]


def jdbc_source_topics(properties: Properties) -> list[str]:
    """The topics of the tables that are listed by name, as the connector names them."""
    lists = (literals_of(properties.get(name)) for name in ("table.whitelist", "table.include.list"))
    return [f"{properties.get('topic.prefix', '')}{_whole(name)[-1]}" for names in lists for name in names]


def jdbc_sink(properties: Properties, topics: Sequence[str]) -> DatasetsByTopic:
    """The table of each topic, by a template."""
    return _by_topic(properties, topics, is_quoted=properties.get("quote.sql.identifiers", "always").lower() != "never")


def aiven_jdbc_sink(properties: Properties, topics: Sequence[str]) -> DatasetsByTopic:
    """The table of each topic, by a map of them or a template."""
    if properties.get("table.name.normalize") == "true":
        return {}
    mapped = _pairs(properties.get("topics.to.tables.mapping"))
    is_quoted = properties.get("sql.quote.identifiers", "true").lower() != "false"
    url = properties.get("connection.url", "")
    named = {topic: [_table(url, mapped[topic], is_quoted=is_quoted)] for topic in topics if topic in mapped}
    return {**_by_topic(properties, topics, is_quoted=is_quoted), **named}


def debezium_jdbc_sink(properties: Properties, topics: Sequence[str]) -> DatasetsByTopic:
    """The table of each topic, by a template."""
    strategy = properties.get("collection.naming.strategy") or properties.get("table.naming.strategy") or ""
    if strategy.rpartition(".")[2] not in _NAMED_BY_TEMPLATE:
        return {}
    template = properties.get("collection.name.format") or properties.get("table.name.format") or "${topic}"
    is_quoted = properties.get("quote.identifiers", "false").lower() == "true"
    names = {topic: topic.replace(".", "_") for topic in topics}
    return _filled(properties.get("connection.url", ""), template, names, is_quoted=is_quoted)


def _by_topic(properties: Properties, topics: Sequence[str], *, is_quoted: bool) -> DatasetsByTopic:
    template = properties.get("table.name.format", "${topic}")
    names = {topic: topic for topic in topics}
    return _filled(properties.get("connection.url", ""), template, names, is_quoted=is_quoted)


def _filled(url: str, template: str, topics: Mapping[str, str], *, is_quoted: bool) -> DatasetsByTopic:
    """The tables by topic from a name template; none if the template depends on more than the topic."""
    tables = {topic: template.replace("${topic}", name) for topic, name in topics.items()}
    return {topic: [_table(url, table, is_quoted=is_quoted)] for topic, table in tables.items() if "${" not in table}


def _table(url: str, name: str, *, is_quoted: bool) -> ExternalDataset:
    """A table as named in statements; without quotes, the database folds the name's case."""
    return ExternalDataset(jdbc_dataset(url, quoted(*parts_of(name)) if is_quoted else name))


_NAMED_BY_TEMPLATE: Final = ("", "DefaultCollectionNamingStrategy", "DefaultTableNamingStrategy")
"""Strategies of Debezium's sink that name a table by the template."""


def bigquery(properties: Properties, topics: Sequence[str]) -> DatasetsByTopic:
    """The table of each topic, by the topic-to-table map if there is one, else by the topic's name.

    A router may make the topic `DATASET:TABLE`.

    Source: `TableNameUtils`, `FieldNameSanitizer` of the connector of WePay, Confluent and Aiven
    """
    project, default = properties.get("project"), properties.get("defaultDataset")
    if not project or not default:
        return {}
    mapped = _pairs(properties.get("topic2TableMap"))
    is_sanitized = properties.get("sanitizeTopics", "false").lower() == "true"
    found = {}
    for topic in topics:
        *within, table = [mapped.get(topic, topic)] if mapped else topic.split(":")
        if len(within) <= 1:
            dataset = within[0] if within else default
            named = _sanitized(table) if is_sanitized and not mapped else table
            found[topic] = [ExternalDataset(DatasetId("bigquery", f"{project}.{dataset}.{named}"))]
    return found


def _sanitized(table: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9_]", "_", table)
    return f"_{plain}" if plain[:1].isdigit() else plain


def _pairs(text: str | None) -> dict[str, str]:
    """The pairs of a property of the form `FROM:TO,FROM:TO`."""
    pairs = (pair.partition(":") for pair in listed(text))
    return {name.strip(): value.strip() for name, colon, value in pairs if colon}


def _whole(name: str) -> list[str]:
    """The parts of a table name from a list, with or without quotes."""
    return parts_of(name) if '"' in name or "`" in name else name.split(".")


_BETWEEN_NAMES: Final = re.compile(r"\\?\.(?![*+?{])")
"""A dot, escaped or not, that separates two names in a regular expression for qualified names."""
_PLAIN: Final = re.compile(r"[A-Za-z0-9_$ -]+")


def _qualifiers_by_expressions(expressions: Sequence[str], table: str) -> list[list[str]] | None:
    """As `_qualifiers`, by regular expressions for qualified names; None if one that may match gives no schema."""
    found = []
    for expression in expressions:
        *qualifiers, name = _BETWEEN_NAMES.split(expression)
        if not qualifiers or not all(map(_PLAIN.fullmatch, qualifiers)):
            return None
        if (is_matching := matches(name, table)) is None:
            return None
        if is_matching:
            found.append(qualifiers)
    return found


def _tables_of(query: str, url: str) -> Iterable[str]:
    from headwater.observe.queries import read_query  # imported here: few connectors have a query, and it takes 8 MB

    return read_query(query, url).tables
