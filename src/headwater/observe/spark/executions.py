"""The rows, bytes and files that Spark's query executions read and wrote, from the metrics of their executed plans.

A listener collects the executions of the run's session; their plans are walked later, between two outputs. The metrics
are Spark's accumulators, which do not count failed task attempts.
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
"""The name of the observation that counts the rows of a stream's frame, and of its one value."""

JDBC_WRITE: Final = "foreachPartition"
"""The action by which Spark writes to a database; the command around it reports the same observations again."""

_DRAIN_MS: Final = 10_000

_BYTES_METRICS: Final = {"FileSourceScanExec": "filesSize", "BatchScanExec": "totalDataFileSize"}
_FILES_METRICS: Final = {"FileSourceScanExec": "numFiles", "BatchScanExec": "resultDataFiles"}


def shows_result(execution: Java) -> bool:
    """Whether it only returns the result of a command that ran before: `spark.sql("INSERT …").show()`."""
    return str(execution.commandExecuted().getClass().getSimpleName()) == "CommandResult"


@dataclass(frozen=True, slots=True)
class Moved:
    """Rows, bytes and files of one scan or one write; None if Spark does not report them."""

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
        """The actions and their executions since the last call, oldest first, once Spark has reported all."""
        self._bus.waitUntilEmpty(_DRAIN_MS)
        taken, self._listener.ended = self._listener.ended, []
        return taken

    def close(self) -> None:
        """Stop listening."""
        self._manager.unregister(self._listener)


class Plans:
    """Walks executed plans with as few calls into the JVM as possible.

    Spark's own walk, that of EXPLAIN, descends into adaptive plans and their stages by itself. Its methods are looked
    up in the JVM once.
    """

    def __init__(self, session: SparkSession) -> None:
        walk = java_class(session, "org.apache.spark.sql.execution.ExplainUtils")
        self._collect_leaves = walk.collectLeaves
        self._subqueries_all = walk.subqueriesAll

    def scans(self, plan: Java) -> Iterator[tuple[str, Moved]]:
        """Every scan of a plan: its source, and how much it read; a scan used twice comes twice."""
        passes = passes_over_leaves(plan)
        for leaf, name in self._leaves(plan):
            source = scan_source(leaf, name)
            if source is not None:
                moved = _moved(leaf, _BYTES_METRICS.get(name), _FILES_METRICS.get(name))
                if passes and moved.rows is not None:
                    moved = replace(moved, rows=round(moved.rows / passes.get(leaf.id(), 1)))
                yield source, moved

    def _leaves(self, plan: Java) -> Iterator[tuple[Java, str]]:
        """Leaves with their class; descends into operators that Spark treats as leaves but contain a plan."""
        for root in (plan, *items(self._subqueries_all(plan))):
            for leaf in items(self._collect_leaves(root)):
                name = leaf.productPrefix()
                inner = _inner_plan(leaf, name)
                if inner is None:
                    yield leaf, name
                else:
                    yield from self._leaves(inner)


def file_write(plan: Java) -> Moved | None:
    """How much an executed plan wrote to files; None if it does not write files."""
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
    """How much the command at the top of an executed plan added to an Iceberg table; None if it has no such metric."""
    metrics = metrics_of(plan)
    if "addedRecords" not in metrics:
        return None
    return Moved(metrics["addedRecords"], metrics.get("addedFileSizeInBytes"), metrics.get("addedDataFiles"))


def observed_rows(execution: Java, observation: str) -> int:
    """The rows that an observation counted; 0 if the execution has none of that name."""
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
    """A `QueryExecutionListener` of Spark, called from the JVM on a py4j thread."""

    def __init__(self) -> None:
        self.ended: list[tuple[str, Java]] = []

    def onSuccess(self, name: str, execution: Any, _duration_ns: int) -> None:  # noqa: ANN401
        self.ended.append((name, execution))

    def onFailure(self, _name: str, execution: Any, _error: Any) -> None:  # noqa: ANN401
        """Ignored: nothing of a failed write stays."""

    class Java:
        implements: ClassVar = ["org.apache.spark.sql.util.QueryExecutionListener"]
