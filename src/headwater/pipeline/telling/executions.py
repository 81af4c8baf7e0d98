"""What Spark's query executions read and wrote, from the metrics of their executed plans.

A listener keeps the executions of the run's session; their plans are walked later, between two outputs. The metrics are
Spark's accumulators: attempts of a task that failed do not count in them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession

from headwater.pipeline.telling.relations import Java, items, scan_source

OBSERVED_ROWS: Final = "headwater_rows"
"""Name of the observation, and of its one value, that counts the rows of a stream's frame."""

JDBC_WRITE: Final = "foreachPartition"
"""What Spark calls to write to a database; the command around it tells the same observations again."""

_DRAIN_MS: Final = 10_000

_ROWS_METRIC: Final = "numOutputRows"
_BYTES_METRICS: Final = {"FileSourceScanExec": "filesSize", "BatchScanExec": "totalDataFileSize"}
_FILES_METRICS: Final = {"FileSourceScanExec": "numFiles", "BatchScanExec": "resultDataFiles"}


@dataclass(frozen=True, slots=True)
class Moved:
    """Rows, bytes and files that went through one scan or one write; None where Spark does not tell."""

    rows: int | None = None
    bytes: int | None = None
    files: int | None = None


class Executions:
    """The query executions that ended in a session since they were last taken."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        self._listener = _Listener()
        ensure_callback_server_started(session.sparkContext._gateway)
        self._manager.register(self._listener)

    def take(self) -> list[tuple[str, Java]]:
        """What was called and its execution, since the last call, oldest first, once Spark has told all of them."""
        self._session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(_DRAIN_MS)
        taken, self._listener.ended = self._listener.ended, []
        return taken

    def close(self) -> None:
        """Stop listening."""
        self._manager.unregister(self._listener)

    @property
    def _manager(self) -> Java:
        return self._session._jsparkSession.listenerManager()


def scans(execution: Java) -> Iterator[tuple[str, Moved]]:
    """Every scan of an execution: what it read, and how much; one that is used twice in a plan comes twice."""
    for leaf, name in _physical_leaves(execution.executedPlan()):
        source = scan_source(leaf, name)
        if source is not None:
            yield source, _moved(leaf, _BYTES_METRICS.get(name), _FILES_METRICS.get(name))


def file_write(execution: Java) -> Moved | None:
    """What an execution wrote to files; None where it is no such write."""
    plan = execution.executedPlan()
    for _ in range(4):
        match plan.getClass().getSimpleName():
            case "AdaptiveSparkPlanExec":
                plan = plan.executedPlan()
            case "ResultQueryStageExec":
                plan = plan.plan()
            case "DataWritingCommandExec":
                return _moved(plan, "numOutputBytes", "numFiles")
            case _:
                return None
    return None


def observed_rows(execution: Java, observation: str) -> int:
    """The rows that an observation counted; 0 where the execution has none of that name."""
    row = execution.observedMetrics().get(observation)
    return int(row.get().getLong(0)) if row.isDefined() else 0


def _physical_leaves(plan: Java) -> Iterator[tuple[Java, str]]:
    """Leaves with their class, through what Spark counts as leaves but is a plan again."""
    roots = [plan, *items(plan.subqueriesAll())]
    for leaf in (leaf for root in roots for leaf in items(root.collectLeaves())):
        name = leaf.getClass().getSimpleName()
        inner = _inner_plan(leaf, name)
        if inner is None:
            yield leaf, name
        else:
            yield from _physical_leaves(inner)


def _inner_plan(leaf: Java, name: str) -> Java | None:
    match name:
        case "AdaptiveSparkPlanExec":
            return leaf.executedPlan()
        case "ReusedExchangeExec" | "ReusedSubqueryExec":
            return leaf.child()
        case "InMemoryTableScanExec":
            return leaf.relation().cachedPlan()
        case "CommandResultExec":
            return leaf.commandPhysicalPlan()
        case _:
            return leaf.plan() if name.endswith("QueryStageExec") else None


def _moved(node: Java, bytes_metric: str | None, files_metric: str | None) -> Moved:
    metrics = node.metrics()
    return Moved(*(_metric(metrics, name) for name in (_ROWS_METRIC, bytes_metric, files_metric)))


def _metric(metrics: Java, name: str | None) -> int | None:
    found = metrics.get(name) if name else None
    return int(found.get().value()) if found is not None and found.isDefined() else None


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
