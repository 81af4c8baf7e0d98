"""Trino's events with corrected lineage: each expectation is written by hand from the event's content."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from headwater.model.events import RunEvent, parse_event
from headwater.model.extract import facts
from headwater.model.facts import Content, Observation, RunOfJob
from headwater.model.names import DatasetId, JobId
from headwater.model.trino import mended_trino

TRINO = "https://github.com/trinodb/trino/plugin/trino-openlineage"
HOST = "trino://127.0.0.1:8080"
RUN = "480e3a6f-a5b6-3183-b238-9b64a87491e1"


def table(name: str, *columns: str, lineage: dict[str, Any] | None = None) -> dict[str, Any]:
    """A dataset as Trino reports it: only the columns that were read or assigned."""
    facets: dict[str, Any] = {"schema": {"fields": [{"name": column} for column in columns]}}
    return {"namespace": HOST, "name": name, "facets": facets | ({"columnLineage": lineage} if lineage else {})}


def field(name: str, column: str) -> dict[str, str]:
    return {"namespace": HOST, "name": name, "field": column}


def event(
    sql: str,
    *,
    producer: str = TRINO,
    inputs: Sequence[object] = (),
    outputs: Sequence[object] = (),
    run_facets: Mapping[str, object] | None = None,
) -> RunEvent:
    body = {
        "eventType": "COMPLETE",
        "eventTime": "2026-11-21T09:48:11Z",
        "producer": producer,
        "run": {"runId": RUN, "facets": run_facets or {}},
        "job": {"namespace": "trino", "name": "20261121_094811_00003_uhx8y", "facets": {"sql": {"query": sql}}},
        "inputs": inputs,
        "outputs": outputs,
    }
    parsed = parse_event(json.dumps(body).encode())
    assert isinstance(parsed, RunEvent)
    return parsed


def without_column(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """The datasets that are inputs without a column."""
    return [each["name"] for each in entries if "field" not in each]


def direct(lineage: Mapping[str, Any]) -> dict[str, list[str]]:
    return {
        column: [
            f"{each['name']}.{each['field']}"
            for each in column_lineage["inputFields"]
            if any(step["type"] == "DIRECT" for step in each.get("transformations", ()))
        ]
        for column, column_lineage in lineage["fields"].items()
    }


UPDATED = table(
    "lake.sales.stats",
    "n",
    lineage={
        "fields": {"n": {"inputFields": []}},
        "dataset": [field("lake.sales.stats", column) for column in ("n", "v", "$row_id", "tot")],
    },
)


def test_an_updates_column_lineage_is_from_its_sql_and_marked_so() -> None:
    mended = mended_trino(event("UPDATE lake.sales.stats SET n = n + 1 WHERE v = '2'", outputs=[UPDATED]))

    lineage = mended.outputs[0].facets["columnLineage"]
    assert direct(lineage) == {"n": ["lake.sales.stats.n"]}
    assert [each["field"] for each in lineage["dataset"]] == ["v"]
    (how,) = lineage["fields"]["n"]["inputFields"][0]["transformations"]
    assert (how["type"], how["subtype"], how["description"]) == ("DIRECT", "TRANSFORMATION", "from the SQL's text")


def test_names_without_the_sessions_catalog_are_the_events_tables() -> None:
    target = table(
        "lake.sales.stats",
        "tot",
        lineage={"fields": {"tot": {"inputFields": []}}, "dataset": [field("lake.sales.stats", "v")]},
    )
    sql = "MERGE INTO stats t USING sales.o2 s ON t.v = s.v WHEN MATCHED THEN UPDATE SET tot = s"

    mended = mended_trino(event(sql, inputs=[table("lake.sales.o2", "s", "v")], outputs=[target]))

    assert direct(mended.outputs[0].facets["columnLineage"]) == {"tot": ["lake.sales.o2.s"]}


def test_trinos_order_of_columns_is_not_used_as_the_tables() -> None:
    target = table(
        "lake.sales.stats",
        "tot",
        "n",
        "v",
        lineage={"fields": {"tot": {"inputFields": []}}, "dataset": [field("lake.sales.stats", "v")]},
    )
    merge = (
        "MERGE INTO lake.sales.stats t USING lake.sales.o2 s ON t.v = s.v"
        " WHEN NOT MATCHED THEN INSERT VALUES (s.v, s.s, 0)"
    )
    union = "/* dashboard: d */ SELECT * FROM lake.sales.o UNION ALL SELECT * FROM lake.sales.o2"
    read = [table("lake.sales.o", "v", "id"), table("lake.sales.o2", "s", "v")]

    merged = mended_trino(event(merge, inputs=read, outputs=[target]))
    selected = mended_trino(event(union, inputs=read))

    assert direct(merged.outputs[0].facets["columnLineage"]) == {"tot": []}
    assert direct(selected.outputs[0].facets["columnLineage"]) == {"v": ["lake.sales.o.v"], "id": ["lake.sales.o.id"]}


def test_a_dot_in_a_tables_name_belongs_to_the_name() -> None:
    target = table(
        "lake.sales.my.stats",
        "strange col",
        lineage={"fields": {"strange col": {"inputFields": []}}, "dataset": [field("lake.sales.my.stats", "a")]},
    )
    update = 'UPDATE "my.stats" SET "strange col" = "strange col" || a'
    select = '/* dashboard: d */ SELECT "Strange Col" AS x FROM sales."my.stats"'

    updated = mended_trino(event(update, outputs=[target]))
    selected = mended_trino(event(select, inputs=[table("lake.sales.my.stats", "strange col")]))

    assert direct(updated.outputs[0].facets["columnLineage"]) == {
        "strange col": ["lake.sales.my.stats.a", "lake.sales.my.stats.strange col"]
    }
    assert direct(selected.outputs[0].facets["columnLineage"]) == {"x": ["lake.sales.my.stats.strange col"]}


def test_an_unqualified_name_is_not_the_table_that_is_named_with_its_schema() -> None:
    sql = "/* dashboard: d */ SELECT o.id, s.id AS staged FROM orders o JOIN staging.orders s ON o.id = s.id"

    mended = mended_trino(event(sql, inputs=[table("lake.staging.orders", "id"), table("lake.sales.orders", "id")]))

    assert direct(mended.outputs[0].facets["columnLineage"]) == {
        "id": ["lake.sales.orders.id"],
        "staged": ["lake.staging.orders.id"],
    }


def test_a_table_whose_rows_are_only_counted_is_an_input_without_a_column() -> None:
    orders, customers = table("lake.s.orders", "id"), table("lake.s.customers")
    insert = "INSERT INTO stats SELECT id, (SELECT count(*) FROM customers) FROM orders"
    inserted = table(
        "lake.s.stats",
        "id",
        "n",
        lineage={
            "fields": {"id": {"inputFields": [field("lake.s.orders", "id")]}, "n": {"inputFields": []}},
            "dataset": [field("lake.s.orders", "id")],
        },
    )
    updated = table(
        "lake.s.stats",
        "n",
        lineage={"fields": {"n": {"inputFields": []}}, "dataset": [field("lake.s.stats", "$row_id")]},
    )

    selected = mended_trino(
        event("/* dashboard: d, query: q */ SELECT count(*) AS n FROM customers", inputs=[customers])
    )
    inserted_event = mended_trino(event(insert, inputs=[orders, customers], outputs=[inserted]))
    update = mended_trino(
        event("UPDATE stats SET n = (SELECT count(*) FROM customers)", inputs=[customers], outputs=[updated])
    )

    assert without_column(selected.outputs[0].facets["columnLineage"]["fields"]["q.n"]["inputFields"]) == [
        "lake.s.customers"
    ]
    assert without_column(inserted_event.outputs[0].facets["columnLineage"]["dataset"]) == ["lake.s.customers"]
    assert direct(update.outputs[0].facets["columnLineage"]) == {"n": []}
    assert without_column(update.outputs[0].facets["columnLineage"]["dataset"]) == ["lake.s.customers"]


def test_a_column_with_unknown_inputs_is_not_reported_as_without_inputs() -> None:
    sql = (
        "/* dashboard: d */ SELECT * FROM TABLE(exclude_columns(input => TABLE(orders), columns => DESCRIPTOR(price)))"
    )

    mended = mended_trino(event(sql, inputs=[table("lake.s.orders", "id", "price")]))

    assert mended.outputs[0].facets["columnLineage"]["fields"] == {}
    assert not mended.outputs[0].facets["columnLineage"]["dataset"]


def test_hidden_columns_are_not_inputs_but_their_table_is() -> None:
    lineage = {"fields": {"path": {"inputFields": [field("lake.s.orders", "$path")]}}, "dataset": []}
    read = [table("lake.s.orders", "$path")]

    inserted = mended_trino(
        event("INSERT INTO paths SELECT 1", inputs=read, outputs=[table("p", "path", lineage=lineage)])
    )
    selected = mended_trino(event('/* dashboard: d */ SELECT "$path" AS path, 1 AS n FROM orders', inputs=read))

    assert inserted.outputs[0].facets["columnLineage"]["fields"] == {"path": {"inputFields": []}}
    assert without_column(inserted.outputs[0].facets["columnLineage"]["dataset"]) == ["lake.s.orders"]
    assert without_column(selected.outputs[0].facets["columnLineage"]["fields"]["n"]["inputFields"]) == [
        "lake.s.orders"
    ]


def test_a_field_inside_a_struct_is_not_a_column_of_the_table() -> None:
    lineage = {
        "fields": {"n": {"inputFields": [field("lake.s.orders", "r")]}},
        "dataset": [field("lake.s.orders", "f"), field("lake.s.orders", "a"), field("lake.s.base", "b")],
    }
    read = [table("lake.s.orders", "a", "r")]

    mended = mended_trino(event("INSERT INTO t SELECT r.f FROM o", inputs=read, outputs=[table("t", lineage=lineage)]))

    inputs = mended.outputs[0].facets["columnLineage"]["dataset"]
    assert {(each["name"], each["field"]) for each in inputs} == {
        ("lake.s.orders", "a"),
        ("lake.s.orders", "r"),
        ("lake.s.base", "b"),
    }


def test_the_storage_of_a_materialized_view_is_the_view() -> None:
    lineage = {
        "fields": {"total": {"inputFields": [field("lake.s.mv", "total")]}},
        "dataset": [field("lake.s.mv$materialized_view_storage", "total")],
    }

    mended = mended_trino(
        event("INSERT INTO t SELECT * FROM mv", inputs=[table("lake.s.mv")], outputs=[table("t", lineage=lineage)])
    )

    assert [each["name"] for each in mended.outputs[0].facets["columnLineage"]["dataset"]] == ["lake.s.mv"]


def test_a_statement_quoted_in_execute_immediate_is_analysed() -> None:
    update = "execute immediate 'UPDATE lake.sales.stats SET n = n + ? WHERE v = ''2'' AND tot > ?' USING 1, 2"
    select = "EXECUTE IMMEDIATE '/* dashboard: d, query: q */ SELECT v FROM lake.s.o WHERE id > ?' USING 1"
    before = "/* dashboard: d */ EXECUTE IMMEDIATE 'SELECT 1'"

    updated = mended_trino(event(update, outputs=[UPDATED]))
    selected = mended_trino(event(select, inputs=[table("lake.s.o", "v", "id")]))

    assert direct(updated.outputs[0].facets["columnLineage"]) == {"n": ["lake.sales.stats.n"]}
    assert [each["field"] for each in updated.outputs[0].facets["columnLineage"]["dataset"]] == ["tot", "v"]
    assert selected.job == JobId("dashboards", "d.q")
    assert direct(selected.outputs[0].facets["columnLineage"]) == {"q.v": ["lake.s.o.v"]}
    assert mended_trino(event(before)).job == JobId("dashboards", "d")


def test_a_schema_of_some_columns_is_dropped_and_that_of_a_new_table_remains() -> None:
    updated = mended_trino(event("UPDATE lake.sales.stats SET n = 1", outputs=[UPDATED]))
    created = mended_trino(
        event("CREATE TABLE t AS SELECT 1", inputs=[table("a.b.c", "x")], outputs=[table("a.b.t", "x", "y")])
    )

    assert "schema" not in updated.outputs[0].facets
    assert "schema" not in created.inputs[0].facets
    assert [each["name"] for each in created.outputs[0].facets["schema"]["fields"]] == ["x", "y"]


def test_sql_that_cannot_be_parsed_leaves_trinos_lineage_without_hidden_columns() -> None:
    mended = mended_trino(event("UPDATE lake.sales.stats SET n = ~~ WHERE", outputs=[UPDATED]))

    lineage = mended.outputs[0].facets["columnLineage"]
    assert direct(lineage) == {"n": []}
    assert [each["field"] for each in lineage["dataset"]] == ["n", "v", "tot"]


@pytest.mark.parametrize(
    "lineage", [{"fields": {"n": {"inputFields": "v"}, "v": {}, "tot": 7}}, {"fields": [], "dataset": 1}]
)
def test_lineage_of_an_unknown_form_is_unchanged(lineage: dict[str, Any]) -> None:
    mended = mended_trino(event("INSERT INTO lake.sales.stats SELECT 1", outputs=[table("a.b.c", lineage=lineage)]))

    assert mended.outputs[0].facets["columnLineage"]["fields"] == lineage["fields"]


def test_a_star_has_no_hidden_columns() -> None:
    sql = '/* dashboard: d */ SELECT *, "$path" AS file FROM lake.s.o'

    mended = mended_trino(event(sql, inputs=[table("lake.s.o", "id", "$path")]))

    assert direct(mended.outputs[0].facets["columnLineage"]) == {"id": ["lake.s.o.id"]}


SELECT = "/* dashboard: revenue, query: by_supplier */ SELECT supplier, sum(price) AS total FROM lake.s.o GROUP BY 1"


def test_a_query_of_a_dashboard_is_a_run_of_its_job_and_feeds_the_dashboards_columns() -> None:
    query_event = event(SELECT, inputs=[table("lake.s.o", "supplier", "price")])

    mended = mended_trino(query_event)

    assert mended.job == JobId("dashboards", "revenue.by_supplier")
    assert [each.id for each in mended.outputs] == [DatasetId("dashboards", "revenue")]
    assert direct(mended.outputs[0].facets["columnLineage"]) == {
        "by_supplier.supplier": ["lake.s.o.supplier"],
        "by_supplier.total": ["lake.s.o.price"],
    }
    assert mended.outputs[0].facets["columnLineage"]["dataset"] == []


def test_facts_are_those_of_the_mended_event() -> None:
    all_facts = facts(event(SELECT, inputs=[table("lake.s.o", "supplier", "price")]))

    assert {fact.job for fact in all_facts if isinstance(fact, RunOfJob)} == {
        JobId("dashboards", "revenue.by_supplier")
    }
    written = {fact.dataset for fact in all_facts if isinstance(fact, Observation) and fact.direction == "output"}
    assert written == {DatasetId("dashboards", "revenue")}


def test_a_dashboards_start_event_without_tables_is_of_the_same_job() -> None:
    started = mended_trino(event(SELECT))

    assert started.job == JobId("dashboards", "revenue.by_supplier")
    assert started.outputs == ()


def test_long_statistics_texts_are_left_in_the_log_and_figures_remain() -> None:
    statistics = {"cpuTime": "0.588", "operatorSummaries": "x" * 50_000}
    huge = event("SELECT 1", run_facets={"trino_query_statistics": statistics, "other": {"text": "y" * 1_000}})

    mended = mended_trino(huge)

    assert mended.run_facets["trino_query_statistics"] == {
        "cpuTime": "0.588",
        "headwater_left_in_log": {"operatorSummaries": 50_000},
    }
    assert mended.run_facets["other"] == {"text": "y" * 1_000}
    assert sum(len(fact.body) for fact in facts(huge) if isinstance(fact, Content)) < 2_000


def test_another_producers_event_is_unchanged() -> None:
    other = event(SELECT, producer="https://example.org/other", outputs=[UPDATED])

    assert mended_trino(other) is other


@pytest.mark.parametrize("sql", ["SELECT 1", "INSERT INTO t SELECT 1", "", "-- nothing"])
def test_a_query_without_a_dashboards_name_keeps_its_job(sql: str) -> None:
    assert mended_trino(event(sql)).job.namespace == "trino"


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        ("UPDATE lake..stats SET n = 1", "lake.sales.stats"),
        ("MERGE INTO a.lake.sales.stats t USING orders s ON t.n = s.n WHEN MATCHED THEN DELETE", "lake.sales.stats"),
        ("UPDATE stats SET n = (SELECT x.y.z.n.m FROM a..b x)", "lake.sales.stats"),
    ],
)  # fmt: skip
def test_a_statement_whose_names_cannot_be_resolved_leaves_trinos_lineage(sql: str, name: str) -> None:
    lineage = {"fields": {"n": {"inputFields": [field("lake.sales.orders", "n")]}}, "dataset": []}

    mended = mended_trino(event(sql, outputs=[table(name, "n", lineage=lineage)]))

    (output,) = mended.outputs
    assert "fields" in output.facets["columnLineage"]
