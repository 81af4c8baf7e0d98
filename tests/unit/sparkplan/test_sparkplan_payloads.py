"""A topic has the columns of its payload: if a stream parses `value`, the fields are the topic's columns."""

import pytest

from headwater.graph.sparkplan.lineage import column_lineage
from headwater.graph.sparkplan.plan import parse_plan
from tests.support.lineage_text import LineageText, as_text, expected
from tests.unit.sparkplan.sparkplan_plans import Entry, alias, column, function, literal, operator, project, text

STRUCT = {"type": "struct", "fields": [{"name": "id", "type": "long"}, {"name": "price", "type": "double"}]}


def topic(source: str = "kafka") -> list[Entry]:
    return operator("StreamingRelationV2", sourceName=source, output=[column("key", 1), column("value", 2)])


def parsing(*columns: list[Entry], source: str = "kafka", parser: str = "JsonToStructs") -> list[Entry]:
    """A projection over `record`, the struct that a topic's `value` is parsed to."""
    parsed = function(parser, function("Cast", column("value", 2), dataType="string"), schema=STRUCT)
    return project(project(topic(source), alias(parsed, "record", 3), column("key", 1)), *columns)


def record() -> list[Entry]:
    return [{**column("record", 3)[0], "dataType": STRUCT}]


def lineage(plan: list[Entry]) -> LineageText:
    return as_text(column_lineage(parse_plan(text(plan)), lambda _: "orders"), lambda _: "orders")


@pytest.mark.parametrize("parser", ["JsonToStructs", "AvroDataToCatalyst", "FromAvro"])
def test_a_field_of_the_parsed_value_is_the_topics_column(parser: str) -> None:
    field = function("GetStructField", record(), ordinal=1, name="price")
    doubled = function("Multiply", field, literal(2))

    result = lineage(parsing(alias(field, "p", 4), alias(doubled, "d", 5), column("key", 1), parser=parser))

    assert result == expected({"p": "orders.price", "d": "orders.price TRANSFORMATION", "key": "orders.key"})


def test_a_star_names_fields_by_index() -> None:
    starred = [alias(function("GetStructField", record(), ordinal=index), "x", 4 + index) for index in range(2)]

    result = lineage(parsing(starred[1], [{**starred[0][0], "name": "y"}, *starred[0][1:]]))

    assert result == expected({"x": "orders.price", "y": "orders.id"})


def test_a_field_named_in_another_case_is_the_topics_column() -> None:
    field = function("GetStructField", record(), ordinal=1, name="PRICE")

    result = lineage(parsing(alias(field, "p", 4)))

    assert result == expected({"p": "orders.price"})


def test_a_parsed_record_used_as_a_whole_is_derived_from_value() -> None:
    result = lineage(parsing(alias(record(), "all", 4)))

    assert result == expected({"all": "orders.value TRANSFORMATION"})


def test_a_column_named_value_of_another_source_keeps_its_name() -> None:
    field = function("GetStructField", record(), ordinal=1, name="price")

    result = lineage(parsing(alias(field, "p", 4), source="rate"))

    assert result == expected({"p": "orders.value TRANSFORMATION"})


def test_a_field_of_an_aggregated_record_is_derived_from_value() -> None:
    chosen = function("AggregateExpression", function("Max", record()))
    field = function("GetStructField", chosen, ordinal=1, name="price")
    grouped = operator(
        "Aggregate", parsing(record()), groupingExpressions=[], aggregateExpressions=[alias(field, "p", 4)]
    )

    assert lineage(grouped) == expected({"p": "orders.value AGGREGATION"})
