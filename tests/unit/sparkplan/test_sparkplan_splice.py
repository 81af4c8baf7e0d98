"""A plan over the rows of another plan, combined with that plan."""

from typing import Any

import orjson

from headwater.graph.sparkplan.leaves import Attribute, Leaf
from headwater.graph.sparkplan.lineage import column_lineage
from headwater.graph.sparkplan.plan import parse_plan
from headwater.graph.sparkplan.splice import with_query
from tests.support.lineage_text import as_text, expected

Entry = dict[str, Any]


def column(name: str, number: int) -> list[Entry]:
    return [{"class": "AttributeReference", "num-children": 0, "name": name, "exprId": {"id": number}}]


def alias(name: str, number: int, value: list[Entry]) -> list[Entry]:
    return [{"class": "Alias", "num-children": 1, "name": name, "exprId": {"id": number}}, *value]


def name_of(leaf: Leaf) -> str | None:
    return leaf.source


QUERY: list[Entry] = [
    {"class": "Project", "num-children": 1, "projectList": [alias("p", 9, column("price", 1))]},
    {"class": "StreamingRelation", "num-children": 0, "output": [column("price", 1)], "sourceName": "orders"},
]


def rows(name: str, number: int) -> Entry:
    return {"class": "LogicalRDD", "num-children": 0, "output": [column(name, number)]}


def test_a_plan_over_a_querys_rows_has_the_querys_inputs() -> None:
    plan = [{"class": "Project", "num-children": 1, "projectList": [alias("twice", 20, column("p", 5))]}, rows("p", 5)]

    spliced = with_query(orjson.dumps(plan), orjson.dumps(QUERY), [Attribute("p", 9)])

    assert as_text(column_lineage(parse_plan(spliced), name_of), name_of) == expected({"twice": "orders.price"})


def test_rows_with_other_columns_are_not_replaced() -> None:
    plan = [rows("q", 5)]

    spliced = with_query(orjson.dumps(plan), orjson.dumps(QUERY), [Attribute("p", 9)])

    assert orjson.loads(spliced) == plan
