"""How often Spark went over what lies below a sort, which it samples before it sorts.

To sort, rows are sent to partitions by ranges, whose bounds Spark finds by going over all rows once before; over a
partition with far more rows than the others it goes once more. Operators below count each time.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from headwater.observe.spark.jvm import Java
from headwater.observe.spark.metrics import ROWS_METRIC, metrics_of
from headwater.observe.spark.relations import items

_SORTED: Final = "rangepartitioning("
"""How the text of a plan names what sorts."""
_WRITTEN: Final = "shuffleRecordsWritten"
_PASSES: Final = 2.0
_MOST_PASSES: Final = 3.0


def passes_over_leaves(plan: Java) -> Mapping[int, float]:
    """By id of those leaves of an executed plan that were gone over more than once, how often, in the mean of rows.

    It is by what the shuffle wrote, of rows that were sent once, and what the operator below it counted.
    """
    if _SORTED not in plan.toString():  # one call into the JVM, where a walk would take some for each operator
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
    """An operator's children, and the plan inside one that Spark makes a leaf of."""
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
    """The leaves from which rows come without another exchange, whose rows are kept and not made again."""
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
    """The rows that came out of an operator, by itself or, where it neither counts nor changes them, by those below."""
    rows = metrics_of(operator).get(ROWS_METRIC)
    if rows is not None:
        return rows
    below = [_counted(each) for each in _within(operator)]
    known = [each for each in below if each is not None]
    return sum(known) if known and len(known) == len(below) else None
