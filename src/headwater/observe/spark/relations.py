"""The sources that the relations of a plan read, from the JVM: as a text that is equal for equal sources in any plan.

    files:PATH…       the root paths of a file relation, one a line
    table:NAME        a catalog's table, with the catalog
    jdbc:URL…         a database, and on the next line a table or a query
    topics:…          topics of Kafka up to where a batch reads them, as Spark describes it
    stream:SOURCE     a stream of files, as Spark describes it
    range:ID          generated rows

The same text identifies a relation in the analysed plan, which gives lineage, and its scan in the executed plan, which
counts rows.
"""

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, replace

from headwater.observe.spark.jvm import Java

MadeAfterStart = Callable[[Java], bool]
"""Whether a snapshot of an Iceberg table was made after the run began to read, by this run or by others."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A leaf of an analysed plan.

    Attributes:
        key: the expression id of its first column, as in the plan's JSON.
        source: the text of its source, see above.
        version: a table's version, if its format has versions.
        leaf: the operator in the JVM.
    """

    key: int
    source: str
    version: str | None = None
    leaf: Java = None


def relations(plan: Java, made_since: MadeAfterStart, known: Container[int] = ()) -> Iterator[Relation]:
    """The leaves of an analysed plan and its subqueries that read a source, except those with `known` keys.

    A table's version is the newest that was not made after the run began.
    """
    for leaf in leaves_of(plan):
        columns = leaf.output()
        if columns.isEmpty() or (key := columns.head().exprId().id()) in known:
            continue
        found = _relation(leaf, key, made_since)
        if found is not None:
            yield replace(found, leaf=leaf)


def _relation(leaf: Java, key: int, made_since: MadeAfterStart) -> Relation | None:
    """The relation of a leaf of an analysed plan; None if it reads no external source."""
    match leaf.productPrefix():
        case "LogicalRelation":
            source = _base_relation_source(leaf.relation())
            return None if source is None else Relation(key, source)
        case "DataSourceV2Relation":
            table = leaf.table()
            return Relation(key, f"table:{table.name()}", _version(table, made_since))
        case "DataSourceV2ScanRelation":
            return Relation(key, f"table:{leaf.table().name()}")
        case "StreamingRelationV2" if leaf.catalog().isDefined():
            return Relation(key, f"table:{leaf.table().name()}")
        case "StreamingRelationV2" | "StreamingRelation":
            return Relation(key, f"stream:{leaf.sourceName()}")
        case "Range":
            return Relation(key, f"range:{key}")
        case _:
            return None


def scan_source(leaf: Java, class_name: str) -> str | None:
    """The source that a leaf of an executed plan reads; None if it reads no external source."""
    match class_name:
        case "FileSourceScanExec" | "RowDataSourceScanExec":
            return _base_relation_source(leaf.relation())
        case "BatchScanExec":
            return f"table:{leaf.table().name()}"
        case "RangeExec":
            return f"range:{leaf.output().head().exprId().id()}"
        case _:
            return None


def _base_relation_source(relation: Java) -> str | None:
    match relation.getClass().getSimpleName():
        case "HadoopFsRelation":
            paths: str = relation.location().rootPaths().mkString("\n")
            return f"files:{paths}"
        case "KafkaRelation":
            return f"topics:{relation.toString()}"
        case "JDBCRelation":
            options = relation.jdbcOptions()
            return f"jdbc:{options.url()}\n{options.tableOrQuery()}"
        case _:
            return None


def _version(table: Java, made_since: MadeAfterStart) -> str | None:
    if table.getClass().getName() != "org.apache.iceberg.spark.source.SparkTable":
        return None
    chosen = table.snapshotId()
    if chosen is not None:
        return str(chosen)
    snapshot = table.table().currentSnapshot()
    while snapshot is not None and made_since(snapshot):
        parent = snapshot.parentId()
        snapshot = None if parent is None else table.table().snapshot(parent)
    return None if snapshot is None else str(snapshot.snapshotId())


def leaves_of(plan: Java) -> Iterator[Java]:
    """The leaves of a plan in the JVM and of its subqueries."""
    yield from items(plan.collectLeaves())
    for subquery in items(plan.subqueriesAll()):
        yield from items(subquery.collectLeaves())


def items(sequence: Java) -> Iterator[Java]:
    """The elements of a Scala `Seq`."""
    for number in range(sequence.length()):
        yield sequence.apply(number)
