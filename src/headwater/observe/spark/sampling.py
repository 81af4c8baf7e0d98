"""How often Spark read the input of a sort, which it samples before sorting.

A sort partitions rows by ranges. Spark finds the range bounds with an additional pass over all rows, and with another
one over a partition that has far more rows than the others. The operators below count rows in each pass.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from headwater.observe.spark.jvm import Java
from headwater.observe.spark.metrics import ROWS_METRIC, metrics_of
from headwater.observe.spark.relations import items

_SORTED: Final = "rangepartitioning("
"""The text of a plan contains this if it sorts."""
_WRITTEN: Final = "shuffleRecordsWritten"
_PASSES: Final = 2.0
_MOST_PASSES: Final = 3.0


def passes_over_leaves(plan: Java) -> Mapping[int, float]:
    """The average number of passes, by the id of each leaf of an executed plan that was read more than once.

    It is the ratio of the rows counted by the operator below the shuffle to those that the shuffle wrote once.
    """
    if _SORTED not in plan.toString():  # one call into the JVM; a walk takes several for each operator
        return {}
    passes: dict[int, float] = {}
    for exchange in _sorting_exchanges(plan):
        often = _passes_below(exchange)
        passes |= {leaf.id(): often for leaf in _leaves_before_others(exchange.child())}
    return passes


def _sorting_exchanges(operator: Java) -> Iterator[Java]:
    for inner in _within(operator):
        yield from _sorting_exchanges(inner)
    if operator.productPrefix() == "ShuffleExchangeExec":
        partitioning = operator.outputPartitioning()
        if partitioning.getClass().getSimpleName() == "RangePartitioning" and partitioning.numPartitions() > 1:
            yield operator


def _within(operator: Java) -> Iterator[Java]:
    """An operator's children, or the plan inside an operator that Spark treats as a leaf."""
    match operator.productPrefix():
        case "AdaptiveSparkPlanExec":
            yield operator.executedPlan()
        case "ShuffleQueryStageExec" | "BroadcastQueryStageExec" | "ResultQueryStageExec":
            yield operator.plan()
        case "CommandResultExec":
            yield operator.commandPhysicalPlan()
        case _:
            yield from items(operator.children())


def _leaves_before_others(operator: Java) -> Iterator[Java]:
    """The leaves below an operator without another exchange in between, whose rows are stored, not recomputed."""
    if operator.productPrefix().endswith(("ExchangeExec", "QueryStageExec", "InMemoryTableScanExec")):
        return
    inner = [*_within(operator)]
    if not inner:
        yield operator
    for each in inner:
        yield from _leaves_before_others(each)


def _passes_below(exchange: Java) -> float:
    written, counted = metrics_of(exchange).get(_WRITTEN, 0), _counted(exchange.child())
    often = counted / written if written and counted else _PASSES
    return often if _PASSES <= often <= _MOST_PASSES else _PASSES


def _counted(operator: Java) -> int | None:
    """An operator's output rows; if it neither counts nor changes rows, those of the operators below."""
    rows = metrics_of(operator).get(ROWS_METRIC)
    if rows is not None:
        return rows
    below = [_counted(each) for each in _within(operator)]
    known = [each for each in below if each is not None]
    return sum(known) if known and len(known) == len(below) else None
