"""The lineage of a live plan, with leaves named as `headwater.graph.sparkplan.leaves` describes."""

from typing import Any, NamedTuple

from pyspark.sql import DataFrame

from headwater.graph.sparkplan.leaves import Leaf
from headwater.graph.sparkplan.lineage import column_lineage
from headwater.graph.sparkplan.plan import parse_plan
from tests.support.lineage_text import LineageText, as_text


class Case(NamedTuple):
    """A query; `columns` and `rows` in the notation of `tests.support.lineage_text`."""

    name: str
    sql: str
    columns: dict[str, str]
    rows: str = ""
    inputs: str | None = None
    gaps: tuple[str, ...] = ()


def lineage_of_query(frame: DataFrame) -> LineageText:
    return lineage_of_plan(frame._jdf.queryExecution().analyzed())


def lineage_of_command(frame: DataFrame, command: str) -> LineageText:
    """The lineage of a command as the analyser leaves it; it is not run."""
    session = frame.sparkSession._jsparkSession
    skip = frame.sparkSession._jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
    parsed = session.sessionState().sqlParser().parsePlan(command)
    return lineage_of_plan(session.sessionState().executePlan(parsed, skip).analyzed())


def lineage_of_plan(analyzed: Any) -> LineageText:  # noqa: ANN401  (a Java object)
    names = jvm_names(analyzed)

    def name_of(leaf: Leaf) -> str | None:
        return names.get(leaf.key) if leaf.key is not None else None

    return as_text(column_lineage(parse_plan(analyzed.toJSON()), name_of), name_of)


def jvm_names(analyzed: Any) -> dict[int, str]:  # noqa: ANN401
    """The short name of every leaf that has a table or files, by `Leaf.key`."""
    names: dict[int, str] = {}
    for plan in (analyzed, *_sequence(analyzed.subqueriesAll()), *_sequence(analyzed.innerChildren())):
        for leaf in _sequence(plan.collectLeaves()):
            name = _jvm_name(leaf)
            if name is not None:
                names[leaf.output().head().exprId().id()] = name.rpartition("/")[2].rpartition(".")[2]
    return names


def _jvm_name(leaf: Any) -> str | None:  # noqa: ANN401
    match leaf.nodeName():
        case "DataSourceV2Relation" | "StreamingRelationV2":
            return str(leaf.table().name())
        case "LogicalRelation":
            return str(leaf.relation().location().rootPaths().head().toString())
        case _:
            return None


def _sequence(items: Any) -> list[Any]:  # noqa: ANN401
    return [items.apply(at) for at in range(items.size())]
