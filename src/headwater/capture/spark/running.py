"""Query executions in progress, from Spark's own list."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, NamedTuple

from pyspark.sql import SparkSession

from headwater.observe.spark.jvm import Java, java_class
from headwater.observe.spark.relations import items

_LOOK_AT: Final = 16
"""How many of the newest executions are checked: a running one is usually among them."""


class Running(NamedTuple):
    """An execution in progress that is not part of another."""

    number: int
    execution: Java
    started_at: datetime


def running(session: SparkSession) -> Iterator[Running]:
    """The running executions of the program's actions, without micro-batches of streams."""
    context = session.sparkContext._jsc
    if context is None or not context.sc().statusTracker().getActiveJobIds():  # stopped, or nothing runs
        return
    by_id = java_class(session, "org.apache.spark.sql.execution.SQLExecution").getQueryExecution
    store = session._jsparkSession.sharedState().statusStore()
    for summary in items(store.executionsList(max(0, store.executionsCount() - _LOOK_AT), _LOOK_AT)):
        if summary.completionTime().isDefined() or summary.rootExecutionId() != summary.executionId():
            continue
        execution = by_id(summary.executionId())
        if execution is not None and execution.getClass().getSimpleName() == "QueryExecution":
            yield Running(execution.id(), execution, datetime.fromtimestamp(summary.submissionTime() / 1000, UTC))
