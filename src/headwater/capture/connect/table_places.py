"""Tables that connectors read or write."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from headwater.capture.connect.places import Catalog, Finder, Place, Places, all_at
from headwater.capture.connect.records import Properties, listed
from headwater.model.catalogs import catalog_kind
from headwater.model.names import DatasetId
from headwater.model.naming import file_dataset, warehouse_table
from headwater.model.naming_jdbc import jdbc_dataset


def iceberg(properties: Properties, topics: Sequence[str]) -> Places:
    """The tables that are listed, each for all topics."""
    tables = [name.strip() for name in properties.get("iceberg.tables", "").split(",") if name.strip()]
    return all_at(topics, [place for table in tables if (place := _iceberg_table(properties, table))])


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


def jdbc_source(properties: Properties, topics: Sequence[str]) -> Places:
    """The table of each topic, or those of the query."""
    url, prefix = properties.get("connection.url", ""), properties.get("topic.prefix", "")
    if query := properties.get("query"):
        return all_at(topics, [Place(jdbc_dataset(url, table)) for table in _tables_of(query)])
    # The topic has the table's bare name: which schema it is in, the list of tables may say.
    named = listed(properties.get("table.whitelist") or properties.get("table.include.list"))
    whole = {name.rpartition(".")[2]: name for name in named}
    tables = {topic: topic.removeprefix(prefix) for topic in topics if topic.startswith(prefix)}
    return {topic: [Place(jdbc_dataset(url, whole.get(table, table)))] for topic, table in tables.items()}


def jdbc_sink(properties: Properties, topics: Sequence[str]) -> Places:
    """The table of each topic, by a template."""
    template = properties.get("table.name.format", "${topic}")
    return _filled(properties.get("connection.url", ""), template, {topic: topic for topic in topics})


def aiven_jdbc_sink(properties: Properties, topics: Sequence[str]) -> Places:
    """The table of each topic, by a map of them or a template."""
    if properties.get("table.name.normalize") == "true":
        return {}
    mapped = _pairs(properties.get("topics.to.tables.mapping"))
    url = properties.get("connection.url", "")
    named = {topic: [Place(jdbc_dataset(url, mapped[topic]))] for topic in topics if topic in mapped}
    return {**jdbc_sink(properties, topics), **named}


def debezium_jdbc_sink(properties: Properties, topics: Sequence[str]) -> Places:
    """The table of each topic, by a template."""
    template = properties.get("collection.name.format") or properties.get("table.name.format") or "${topic}"
    return _filled(properties.get("connection.url", ""), template, {topic: topic.replace(".", "_") for topic in topics})


def _filled(url: str, template: str, topics: Mapping[str, str]) -> Places:
    """The tables that a template names, by topic; none where it needs more of a record than its topic."""
    tables = {topic: template.replace("${topic}", name) for topic, name in topics.items()}
    return {topic: [Place(jdbc_dataset(url, table))] for topic, table in tables.items() if "${" not in table}


_NAMED_BY_TABLE: Final = ("", "SchemaTopicNamingStrategy", "DefaultTopicNamingStrategy")
"""Debezium's strategies by which a topic has the names of a table and of what it is in."""


def debezium(dialect: str, port: int) -> Finder:
    """Finds the table of each topic, in a database whose server listens there unless the properties say otherwise."""

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


def bigquery(properties: Properties, topics: Sequence[str]) -> Places:
    """The table of each topic, by a map of them, which is all that counts then, or by what the topic is called.

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
            found[topic] = [Place(DatasetId("bigquery", f"{project}.{dataset}.{named}"))]
    return found


def _sanitized(table: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9_]", "_", table)
    return f"_{plain}" if plain[:1].isdigit() else plain


def _pairs(text: str | None) -> dict[str, str]:
    """What a property maps, as `FROM:TO,FROM:TO`."""
    pairs = (pair.partition(":") for pair in listed(text))
    return {name.strip(): value.strip() for name, colon, value in pairs if colon}


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
