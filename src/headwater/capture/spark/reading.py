"""The relations of a plan as datasets."""

import json
import os
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from openlineage.client.facet_v2 import dataset_type_dataset
from pyspark.sql.types import StructType

from headwater.graph.sparkplan.leaves import Leaf
from headwater.model.catalogs import catalog_kind
from headwater.model.names import DatasetId
from headwater.model.naming import file_dataset, kafka_dataset, path_dataset, warehouse_table
from headwater.model.naming_jdbc import jdbc_dataset
from headwater.observe.described import Described, files, source_facet, table_of
from headwater.observe.local_url import local_url
from headwater.observe.queries import is_of_database, read_query
from headwater.observe.spark.iceberg import IcebergCatalog, iceberg_dataset, symlinks, version_facet
from headwater.observe.spark.jvm import Java, private
from headwater.observe.spark.relations import Relation, items, leaves_of
from headwater.observe.spark.schema import schema_facet

_MANY_PATHS: Final = 10
"""A relation with more paths than this is reported as the folder that holds them all."""

_FILES: Final = "files"
"""The namespace of a name that stands for all files of a relation, which have one set of columns."""

_METADATA_COLUMN: Final = "__metadata_col"
"""Spark's mark of metadata columns, such as `_metadata` and Iceberg's `_file`."""

_MADE_UP: Final = frozenset({"LocalRelation", "LogicalRDD", "Range"})
"""Relations that read no dataset; RDDs that do read are in `Read.unseen`."""

_FOLLOWED_FILES: Final = re.compile(r"File(?:Stream)?(?:Source|Sink)\[(?P<path>.*)\]")
_TOPICS: Final = re.compile(r"strategy=Subscribe\[(?P<topics>[^\]]*)\]")
_READING_RDD: Final = re.compile(r"File\w*RDD|HadoopRDD|DataSourceRDD|KafkaSourceRDD|JDBCRDD|CheckpointRDD")
_KAFKA_SERVERS: Final = "kafka.bootstrap.servers"


@dataclass(slots=True)
class Read:
    """The inputs of a plan.

    Attributes:
        datasets: the datasets by the relation's source.
        rewritten: by source, tables that a row-level command reads only to rewrite them.
        source_by_key: the source of a relation, by the expression id of its first column.
        unknown: relations with unknown datasets.
        unseen: the expression ids of the first columns of RDDs that read something themselves.
        about: sources of a table's metadata, such as its files or its history, which have none of its columns.
    """

    datasets: dict[str, list[Described]] = field(default_factory=dict)
    rewritten: dict[str, Described] = field(default_factory=dict)
    source_by_key: dict[int, str] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    unseen: frozenset[int] = frozenset()
    about: set[str] = field(default_factory=set)

    def take(self, relation: Relation, session: Java) -> None:
        """Add a relation; if it reads no dataset, such as generated rows, only its key."""
        if relation.source.startswith("table:") and _is_rewritten(relation.leaf):
            self._take_rewritten(relation, session)
            return
        self.source_by_key[relation.key] = relation.source
        if relation.source in self.datasets or relation.source.startswith("range:"):
            return
        found = described(relation, session)
        if not (found or _is_made_up(relation.source)) or _reads_unnamed(relation.source):
            self.unknown.append(relation.leaf.productPrefix())
        self.datasets[relation.source] = found
        if relation.source.startswith("table:") and _told_of(relation.leaf.table()) is not None:
            self.about.add(relation.source)
        if len(found) == 1:
            if "schema" not in found[0].facets and not _is_topic(found[0]) and relation.source not in self.about:
                found[0].facets["schema"] = schema_facet(_own_columns(relation.leaf))
            if relation.version is not None:
                found[0].facets["version"] = version_facet(relation.version)

    def _take_rewritten(self, relation: Relation, session: Java) -> None:
        source = f"rewritten {relation.source}"
        self.source_by_key[relation.key] = source
        table = v2_table(relation.leaf.table().table(), session)
        if table is not None:
            self.rewritten[source] = table

    def dataset_of(self, leaf: Leaf) -> DatasetId | None:
        """The dataset whose columns a leaf of the plan's JSON has, or a name for several (see `members`)."""
        source = self.source_by_key.get(leaf.key) if leaf.key is not None else None
        if source in self.rewritten:
            return self.rewritten[source].id
        if source is None or source in self.about or _computes(source):
            return None
        found = self.datasets.get(source, [])
        if len(found) > 1 and source.startswith("files:"):
            return DatasetId(_FILES, source)
        return found[0].id if len(found) == 1 else None

    def members(self, dataset: DatasetId) -> list[DatasetId]:
        """The datasets behind a group name made by `dataset_of`; otherwise the dataset itself."""
        if dataset.namespace != _FILES:
            return [dataset]
        return [one.id for one in self.datasets.get(dataset.name, [])]

    def knows(self, leaf: Leaf) -> bool:
        """Whether a leaf's inputs, or that it has none, are known."""
        return leaf.key in self.source_by_key

    def hides(self, leaf: Leaf) -> bool:
        """Whether a leaf reads something, but its columns are not those of a single dataset."""
        source = self.source_by_key.get(leaf.key) if leaf.key is not None else None
        if source is None:
            return leaf.key in self.unseen or leaf.kind not in _MADE_UP
        return not _is_made_up(source) and self.dataset_of(leaf) is None

    def behind(self, leaf: Leaf) -> list[DatasetId]:
        """The datasets that a leaf may stand for, except one that is only rewritten."""
        return [one.id for one in self.datasets.get(self.source_by_key.get(leaf.key or 0, ""), [])]

    def distinct(self) -> list[Described]:
        """Every dataset once; one whose data and metadata are both read, as described for its data."""
        last = sorted(self.datasets, key=lambda source: source not in self.about)
        return list({one.id: one for source in last for one in self.datasets[source]}.values())


def described(relation: Relation, session: Java) -> list[Described]:
    """The datasets of a relation's source; none if they have no name that other engines share."""
    kind, _, what = relation.source.partition(":")
    match kind:
        case "files":
            return _files(what.split("\n"), relation.leaf, session)
        case "table":
            table = v2_table(relation.leaf.table(), session)
            return [] if table is None else [table]
        case "jdbc":
            url, _, query = what.partition("\n")
            if _is_more_than_a_name(query):
                names = read_query(_selected(query), url).tables
            else:
                names = (query,) if is_of_database(query, url) else ()
            return [table_of(jdbc_dataset(local_url(url), name)) for name in names]
        case "topics":
            return _topics(what, private(relation.leaf.relation(), "sourceOptions"))
        case "stream":
            return _followed(relation.leaf, what)
        case _:
            return []


def rows_unseen(plan: Java, seen: Iterable[str] = ()) -> frozenset[int]:
    """The keys of relations that are RDDs which read something themselves, which no plan shows.

    `seen` are the columns of rows with a known plan: those of a micro-batch.
    """
    known = list(seen)
    rows = (leaf for leaf in leaves_of(plan) if leaf.productPrefix() == "LogicalRDD")
    others = (leaf for leaf in rows if not known or [column.name() for column in items(leaf.output())] != known)
    reading = (leaf.output().head() for leaf in others if _READING_RDD.search(leaf.rdd().toDebugString()))
    return frozenset(column.exprId().id() for column in reading)


def v2_table(table: Java, session: Java) -> Described | None:
    """A table of one of Spark's catalogs; None if its kind is unknown."""
    name = table.getClass().getSimpleName()
    if (told_of := _told_of(table)) is not None:
        return iceberg_table(told_of, told_of.name(), session)
    if name in ("SparkTable", "StagedSparkTable"):
        return iceberg_table(table.table(), table.name(), session)
    if name == "JDBCTable":
        return table_of(jdbc_dataset(local_url(table.jdbcOptions().url()), table.name()))
    return None


def iceberg_table(table: Java, name: str, session: Java) -> Described:
    """An Iceberg table by its location, and by its name `catalog.schema.table` if it has one."""
    location, file_format = table.location(), table.properties().get("write.format.default")
    return iceberg_dataset(location, file_format, name, catalog_of(name.partition(".")[0], session))


def catalog_table(table: Java, session: Java) -> Described:
    """A table of Spark's own catalog, by the location of its files."""
    found = files(file_dataset(table.location().toString()), None)
    found.facets["datasetType"] = dataset_type_dataset.DatasetTypeDatasetFacet(datasetType="TABLE")
    found.facets["symlinks"] = symlinks(warehouse_name(session, table_name(table.identifier())))
    return found


def warehouse_name(session: Java, table: str) -> DatasetId:
    """The dataset name of a table of Spark's own catalog."""
    return warehouse_table(_warehouse(session), table)


def table_name(identifier: Java) -> str:
    """The name of a table of Spark's own catalog, with its schema."""
    database = identifier.database()
    return f"{database.get() if database.isDefined() else 'default'}.{identifier.table()}"


def topics_named(servers: str, topics: str) -> list[Described]:
    """The datasets of comma-separated Kafka topics."""
    names = [kafka_dataset(servers, topic.strip()) for topic in topics.split(",")]
    kind = dataset_type_dataset.DatasetTypeDatasetFacet(datasetType="TOPIC")
    return [Described(name, {"dataSource": source_facet(name), "datasetType": kind}) for name in names]


def followed_path(text: str) -> str | None:
    """The path in `FileSource[PATH]` or `FileSink[PATH]`, Spark's description of a stream's end."""
    found = _FOLLOWED_FILES.search(text)
    return found["path"] if found else None


def struct_of(schema: Java) -> StructType:
    """A JVM schema as a Python `StructType`."""
    return StructType.fromJson(json.loads(schema.json()))


def option(options: Java, key: str) -> str | None:
    """A value of a Scala map of strings."""
    found = options.get(key)
    return str(found.get()) if found.isDefined() else None


def _told_of(table: Java) -> Java | None:
    """The Iceberg table of a metadata table (`orders.files`, `orders.changes`); None for any other table."""
    match table.getClass().getSimpleName():
        case "SparkChangelogTable":
            return private(table, "table")
        case "SparkTable" if table.table().getClass().getSimpleName() != "BaseTable":
            return private(table.table(), "table")
        case _:
            return None


def _own_columns(leaf: Java) -> StructType:
    """The columns of a relation, without metadata columns."""
    return StructType([one for one in struct_of(leaf.schema()).fields if _METADATA_COLUMN not in one.metadata])


def _is_rewritten(leaf: Java) -> bool:
    return bool(leaf.table().getClass().getSimpleName() == "RowLevelOperationTable")


def _is_made_up(source: str) -> bool:
    return source.startswith(("range:", "stream:rate"))


def _computes(source: str) -> bool:
    """Whether the columns of a relation come from a database query."""
    kind, _, what = source.partition(":")
    url, _, query = what.partition("\n")
    if kind != "jdbc" or not _is_more_than_a_name(query):
        return False
    whole = query[1 : query.rindex(")")] if query.startswith("(") else _selected(query)
    return not read_query(whole, url).only_picks


def _reads_unnamed(source: str) -> bool:
    """Whether a database query reads something that it does not name, as through a table function."""
    kind, _, what = source.partition(":")
    url, _, query = what.partition("\n")
    return kind == "jdbc" and _is_more_than_a_name(query) and not read_query(_selected(query), url).names_all_sources


def _selected(table_or_query: str) -> str:
    return f"SELECT * FROM {table_or_query}"  # noqa: S608  (not run)


def _is_more_than_a_name(table_or_query: str) -> bool:
    """Whether it is a query in brackets, or a table with an alias or a join."""
    return re.search(r"[\s(]", table_or_query) is not None


def _is_topic(dataset: Described) -> bool:
    return dataset.id.namespace.startswith("kafka:")


def _files(paths: list[str], leaf: Java, session: Java) -> list[Described]:
    in_catalog = leaf.catalogTable()
    if in_catalog.isDefined():
        return [catalog_table(in_catalog.get(), session)]
    return [files(name, _format(leaf)) for name in files_named(paths)]


def files_named(paths: Iterable[str]) -> list[DatasetId]:
    """The dataset names of a relation's paths; for many paths, of their common folder on each file system.

    >>> files_named(f"s3a://lake/events/day={day}" for day in range(31))
    [DatasetId(namespace='s3://lake', name='events')]
    """
    names = [path_dataset(path) for path in paths]
    if len(names) <= _MANY_PATHS:
        return names
    by_root: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        by_root[name.namespace].append(name.name)
    return [DatasetId(root, posixpath.commonpath(inside) or "/") for root, inside in by_root.items()]


def _format(leaf: Java) -> str:
    """Spark's name of the format of a relation's files, such as `parquet`."""
    return str(leaf.relation().fileFormat().toString()).lower()


def _followed(leaf: Java, source: str) -> list[Described]:
    """The datasets that a stream reads: files or topics; none if it has no name that other engines share."""
    if leaf.productPrefix() == "StreamingRelation":
        options = leaf.dataSource().options()
        path = option(options, "path") or followed_path(source)
        return [files(path_dataset(path), str(leaf.dataSource().className()).lower())] if path else []
    options = leaf.extraOptions()
    servers, topics = options.get(_KAFKA_SERVERS), options.get("subscribe")
    return topics_named(servers, topics) if servers and topics else []


def _topics(described_as: str, options: Java) -> list[Described]:
    found, servers = _TOPICS.search(described_as), option(options, _KAFKA_SERVERS)
    return topics_named(servers, found["topics"]) if found and servers else []


def catalog_of(name: str, session: Java) -> IcebergCatalog | None:
    """The session's catalog of this name; None if there is none."""
    conf, prefix = session.conf(), f"spark.sql.catalog.{name}"
    if "/" in name or not conf.getOption(prefix).isDefined():
        return None
    kind = option_of(conf, f"{prefix}.type") or option_of(conf, f"{prefix}.catalog-impl") or "hive"
    return IcebergCatalog(catalog_kind(kind), option_of(conf, f"{prefix}.uri"), option_of(conf, f"{prefix}.warehouse"))


def option_of(conf: Java, key: str) -> str | None:
    """A setting of a session; None if it is not set."""
    found = conf.getOption(key)
    return str(found.get()) if found.isDefined() else None


def _warehouse(session: Java) -> str:
    """The warehouse path of Spark's own catalog."""
    return option_of(session.conf(), "spark.sql.warehouse.dir") or f"file:{os.getcwd()}/spark-warehouse"
