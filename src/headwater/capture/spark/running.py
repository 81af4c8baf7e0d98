"""Query executions that are at work, from Spark's own list of them."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, NamedTuple

from pyspark.sql import SparkSession

from headwater.observe.spark.jvm import Java, java_class
from headwater.observe.spark.relations import items

_LOOK_AT: Final = 16
"""How many of the newest executions are looked at: one that works is mostly among the last."""


class Running(NamedTuple):
    """An execution that is no part of another."""

    number: int
    execution: Java
    started_at: datetime


def running(session: SparkSession) -> Iterator[Running]:
    """The executions of the program's actions; micro-batches of streams are none."""
    context = session.sparkContext._jsc
    if context is None or not context.sc().statusTracker().getActiveJobIds():  # stopped, or nothing runs
        return
    by_id = java_class(session, "org.apache.spark.sql.execution.SQLExecution").getQueryExecution
    store = session._jsparkSession.sharedState().statusStore()
    for told in items(store.executionsList(max(0, store.executionsCount() - _LOOK_AT), _LOOK_AT)):
        if told.completionTime().isDefined() or told.rootExecutionId() != told.executionId():
            continue
        execution = by_id(told.executionId())
        if execution is not None and execution.getClass().getSimpleName() == "QueryExecution":
            yield Running(execution.id(), execution, datetime.fromtimestamp(told.submissionTime() / 1000, UTC))
