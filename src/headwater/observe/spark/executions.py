"""What Spark's query executions read and wrote, from the metrics of their executed plans.

A listener keeps the executions of the run's session; their plans are walked later, between two outputs. The metrics are
Spark's accumulators: attempts of a task that failed do not count in them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession

from headwater.observe.spark.jvm import Java, java_class
from headwater.observe.spark.metrics import ROWS_METRIC, metrics_of
from headwater.observe.spark.relations import items, scan_source
from headwater.observe.spark.sampling import passes_over_leaves

OBSERVED_ROWS: Final = "headwater_rows"
"""Name of the observation, and of its one value, that counts the rows of a stream's frame."""

JDBC_WRITE: Final = "foreachPartition"
"""What Spark calls to write to a database; the command around it tells the same observations again."""

_DRAIN_MS: Final = 10_000

_BYTES_METRICS: Final = {"FileSourceScanExec": "filesSize", "BatchScanExec": "totalDataFileSize"}
_FILES_METRICS: Final = {"FileSourceScanExec": "numFiles", "BatchScanExec": "resultDataFiles"}


def shows_result(execution: Java) -> bool:
    """Whether it only hands on the result of a command that has run before: `spark.sql("INSERT …").show()`."""
    return str(execution.commandExecuted().getClass().getSimpleName()) == "CommandResult"


@dataclass(frozen=True, slots=True)
class Moved:
    """Rows, bytes and files that went through one scan or one write; None where Spark does not tell."""

    rows: int | None = None
    bytes: int | None = None
    files: int | None = None


class Executions:
    """The query executions that ended in a session since they were last taken."""

    def __init__(self, session: SparkSession) -> None:
        self._listener = _Listener()
        self._bus = session.sparkContext._jsc.sc().listenerBus()
        self._manager = session._jsparkSession.listenerManager()
        ensure_callback_server_started(session.sparkContext._gateway)
        self._manager.register(self._listener)

    def take(self) -> list[tuple[str, Java]]:
        """What was called and its execution, since the last call, oldest first, once Spark has told all of them."""
        self._bus.waitUntilEmpty(_DRAIN_MS)
        taken, self._listener.ended = self._listener.ended, []
        return taken

    def close(self) -> None:
        """Stop listening."""
        self._manager.unregister(self._listener)


class Plans:
    """Executed plans, walked with as few calls into the JVM as will do.

    Spark's own walk, that of EXPLAIN, goes through adaptive plans and their stages by itself. The names of its methods
    are looked up in the JVM once.
    """

    def __init__(self, session: SparkSession) -> None:
        walk = java_class(session, "org.apache.spark.sql.execution.ExplainUtils")
        self._collect_leaves = walk.collectLeaves
        self._subqueries_all = walk.subqueriesAll

    def scans(self, plan: Java) -> Iterator[tuple[str, Moved]]:
        """Every scan of a plan: what it read, and how much; one that is used twice comes twice."""
        passes = passes_over_leaves(plan)
        for leaf, name in self._leaves(plan):
            source = scan_source(leaf, name)
            if source is not None:
                moved = _moved(leaf, _BYTES_METRICS.get(name), _FILES_METRICS.get(name))
                if passes and moved.rows is not None:
                    moved = replace(moved, rows=round(moved.rows / passes.get(leaf.id(), 1)))
                yield source, moved

    def _leaves(self, plan: Java) -> Iterator[tuple[Java, str]]:
        """Leaves with their class, through what Spark counts as leaves but is a plan again."""
        for root in (plan, *items(self._subqueries_all(plan))):
            for leaf in items(self._collect_leaves(root)):
                name = leaf.productPrefix()
                inner = _inner_plan(leaf, name)
                if inner is None:
                    yield leaf, name
                else:
                    yield from self._leaves(inner)


def file_write(plan: Java) -> Moved | None:
    """What an executed plan wrote to files; None where it is no such write."""
    for _ in range(4):
        match plan.productPrefix():
            case "AdaptiveSparkPlanExec":
                plan = plan.executedPlan()
            case "ResultQueryStageExec":
                plan = plan.plan()
            case "DataWritingCommandExec":
                return _moved(plan, "numOutputBytes", "numFiles")
            case _:
                return None
    return None


def added_by_iceberg(plan: Java) -> Moved | None:
    """What the command at the top of an executed plan added to an Iceberg table; None where that does not count."""
    metrics = metrics_of(plan)
    if "addedRecords" not in metrics:
        return None
    return Moved(metrics["addedRecords"], metrics.get("addedFileSizeInBytes"), metrics.get("addedDataFiles"))


def observed_rows(execution: Java, observation: str) -> int:
    """The rows that an observation counted; 0 where the execution has none of that name."""
    row = execution.observedMetrics().get(observation)
    return int(row.get().getLong(0)) if row.isDefined() else 0


def _inner_plan(leaf: Java, name: str) -> Java | None:
    match name:
        case "ReusedExchangeExec" | "ReusedSubqueryExec":
            return leaf.child()
        case "InMemoryTableScanExec":
            return leaf.relation().cachedPlan()
        case "CommandResultExec":
            return leaf.commandPhysicalPlan()
        case _:
            return None


def _moved(node: Java, bytes_metric: str | None, files_metric: str | None) -> Moved:
    metrics = metrics_of(node)
    return Moved(*(metrics.get(name) if name else None for name in (ROWS_METRIC, bytes_metric, files_metric)))


class _Listener:
    """Spark's `QueryExecutionListener`, called from the JVM on a thread of py4j's."""

    def __init__(self) -> None:
        self.ended: list[tuple[str, Java]] = []

    def onSuccess(self, name: str, execution: Any, _duration_ns: int) -> None:  # noqa: ANN401
        self.ended.append((name, execution))

    def onFailure(self, _name: str, execution: Any, _error: Any) -> None:  # noqa: ANN401
        """A failed write has counted nothing that stays."""

    class Java:
        implements: ClassVar = ["org.apache.spark.sql.util.QueryExecutionListener"]
