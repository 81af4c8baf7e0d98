"""Differences: between two times, and between two runs."""

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from tests.support import logs
from tests.support.app import Body, dataset, event, facet, get, post, schema, served, without_run

MONDAY = "2026-05-18"
TUESDAY = "2026-05-19"
Change = tuple[str, str, str]
"""How it changed, its kind, and the node (or origin > destination) with the facet."""


def at(day: str, run: str, **changes: object) -> dict[str, Any]:
    return event(eventType="COMPLETE", eventTime=f"{day}T10:00:00Z", run={"runId": run, "facets": {}}, **changes)


def changes_of(answer: Body) -> list[Change]:
    return [
        (each["change"], each["kind"], "".join(filter(None, (each["nodeId"] or _edge(each), each["facet"]))))
        for each in answer["changes"]
    ]


def _edge(change: Body) -> str:
    return f"{change['origin']} > {change['destination']}" if change["origin"] else ""


def columns_from(source: str, column: str, subtype: str = "IDENTITY") -> dict[str, Any]:
    step = {"type": "DIRECT", "subtype": subtype, "description": "", "masking": False}
    inputs = [{"namespace": "lake", "name": source, "field": column, "transformations": [step]}]
    return facet(fields={column: {"inputFields": inputs}})


def test_a_diff_lists_what_a_run_added_to_the_graph(client: TestClient) -> None:
    post(client, at(MONDAY, "first", outputs=[dataset("raw", schema=schema("id"))]))
    mart = {"namespace": "etl", "name": "mart"}
    outputs = [dataset("mart", schema=schema("id"), columnLineage=columns_from("raw", "id"))]
    post(client, at(TUESDAY, "second", job=mart, inputs=[dataset("raw")], outputs=outputs))

    answer = get(client, f"/api/v1/diff?from={MONDAY}T23:00:00Z")

    assert changes_of(answer) == [
        ("came", "job", "job:etl:mart"),
        ("came", "dataset", "dataset:lake:mart"),
        ("came", "schema", "dataset:lake:mart"),
        ("came", "column", "datasetField:lake:mart:id"),
        ("came", "edge", "dataset:lake:raw > job:etl:mart"),
        ("came", "edge", "job:etl:mart > dataset:lake:mart"),
        ("came", "columnEdge", "datasetField:lake:raw:id > datasetField:lake:mart:id"),
    ]
    assert answer["counts"] == {"came": 7, "went": 0, "changed": 0}
    assert {(each["event"]["index"], each["event"]["runId"]) for each in answer["changes"]} == {(1, "second")}
    assert answer["changes"][0]["event"]["job"] == {"namespace": "etl", "name": "mart"}
    assert answer["changes"][0]["event"]["eventTime"] == f"{TUESDAY}T10:00:00.000Z"


def test_a_time_as_answers_show_it_includes_what_happened_at_that_time(client: TestClient) -> None:
    precise = at(MONDAY, "first", outputs=[dataset("raw")]) | {"eventTime": f"{MONDAY}T10:00:00.123456Z"}
    post(client, at(MONDAY, "before"), precise)
    before, then = f"{MONDAY}T10:00:00.122Z", f"{MONDAY}T10:00:00.123Z"

    came, since = (get(client, f"/api/v1/diff?from={times}") for times in (f"{before}&to={then}", then))

    assert ("came", "dataset", "dataset:lake:raw") in changes_of(came)
    assert changes_of(since) == []
    assert (came["from"]["asOf"], came["to"]["asOf"]) == (before, then)


@pytest.mark.parametrize("about", ["", "&nodeId=dataset:lake:mart", "&nodeId=dataset:lake:raw"])
def test_a_column_edge_from_a_quarantined_name_comes_with_the_event_that_gives_it_a_namespace(
    client: TestClient, about: str
) -> None:
    nowhere = {"namespace": "", "name": "nowhere"}
    columns = facet(fields={"id": {"inputFields": [{**nowhere, "field": "id"}]}})
    raw = {"namespace": "lake", "name": "raw", "type": "TABLE"}
    placed = {**nowhere, "facets": {"symlinks": facet(identifiers=[raw])}}
    post(client, at(MONDAY, "first", inputs=[dataset("raw")], outputs=[dataset("mart", columnLineage=columns)]))
    post(client, at(TUESDAY, "second", job={"namespace": "etl", "name": "place"}, inputs=[placed]))

    answer = get(client, f"/api/v1/diff?from={MONDAY}T23:00:00Z{about}")

    edge = ("came", "columnEdge", "datasetField:lake:raw:id > datasetField:lake:mart:id")
    (edge_event,) = [each["event"] for each in answer["changes"] if changes_of({"changes": [each]}) == [edge]]
    assert edge_event["runId"] == "second"


def test_a_column_edge_comes_with_its_event_however_others_spell_the_source(client: TestClient) -> None:
    spelt = {"namespace": "s3a://lake", "name": "/raw/orders/", "field": "id"}
    mart = dataset("mart", columnLineage=facet(fields={"id": {"inputFields": [spelt]}}))
    post(client, at(MONDAY, "first", outputs=[mart]))
    post(client, at(TUESDAY, "second", outputs=[{"namespace": "s3://lake", "name": "raw/orders"}]))

    answer = get(client, "/api/v1/diff?from=log:0")

    edge = ("came", "columnEdge", "datasetField:s3://lake:raw/orders:id > datasetField:lake:mart:id")
    (edge_event,) = [each["event"] for each in answer["changes"] if changes_of({"changes": [each]}) == [edge]]
    assert edge_event["runId"] == "first"


def test_a_schema_change_is_listed_by_column_with_the_first_event_that_has_it(client: TestClient) -> None:
    post(client, at(MONDAY, "first", outputs=[dataset("raw", schema=schema("id", "old"))]))
    changed = facet(fields=[{"name": "id", "type": "bigint"}, {"name": "new", "type": "int"}])
    post(client, at(TUESDAY, "second", outputs=[dataset("raw", schema=changed)]))
    post(client, at("2026-05-20", "third", outputs=[dataset("raw", schema=changed)]))

    answer = get(client, f"/api/v1/diff?from=log:1&nodeId={quote('dataset:lake:raw')}")

    assert changes_of(answer) == [
        ("changed", "schema", "dataset:lake:raw"),
        ("changed", "column", "datasetField:lake:raw:id"),
        ("came", "column", "datasetField:lake:raw:new"),
        ("went", "column", "datasetField:lake:raw:old"),
    ]
    assert [(each["before"], each["after"]) for each in answer["changes"][1:]] == [
        ("int", "bigint"),
        (None, "int"),
        ("int", None),
    ]
    assert [each["event"]["runId"] for each in answer["changes"]] == ["second"] * 4


def test_a_reversed_diff_lists_removals_with_the_same_event(client: TestClient) -> None:
    post(client, at(MONDAY, "first", outputs=[dataset("raw", schema=schema("id"))]))
    post(client, at(TUESDAY, "second", outputs=[dataset("raw", schema=schema("id", "new")), dataset("other")]))

    answer = get(client, f"/api/v1/diff?to={MONDAY}T23:00:00Z&from={TUESDAY}T23:00:00Z")

    assert changes_of(answer) == [
        ("went", "dataset", "dataset:lake:other"),
        ("changed", "schema", "dataset:lake:raw"),
        ("went", "column", "datasetField:lake:raw:new"),
        ("went", "edge", "job:etl:load > dataset:lake:other"),
    ]
    assert [each["event"]["index"] for each in answer["changes"]] == [1] * 4


@pytest.mark.parametrize("size", [0, 1])
@pytest.mark.parametrize("is_dataset_first", [True, False])
def test_an_edge_comes_with_the_later_of_the_events_that_name_job_and_dataset(
    client: TestClient, size: int, is_dataset_first: bool
) -> None:
    parent = {"run": {"runId": "all"}, "job": {"namespace": "etl", "name": "nightly"}}
    with_dataset = at(MONDAY if is_dataset_first else TUESDAY, "first", outputs=[dataset("raw")])
    of_job = at(TUESDAY if is_dataset_first else MONDAY, "first", job={"namespace": "etl", "name": "other"})
    of_job["run"]["facets"]["parent"] = facet(**parent)  # so the run belongs to this job, whenever the other event was
    post(client, *((with_dataset, of_job) if is_dataset_first else (of_job, with_dataset)))

    there = get(client, f"/api/v1/diff?from=log:{size}")
    back = get(client, f"/api/v1/diff?to=log:{size}&from=log:2")

    for answer in (there, back):
        (edge,) = (each for each in answer["changes"] if each["origin"] == "job:etl:other")
        assert (edge["destination"], edge["event"]["index"]) == ("dataset:lake:raw", 1)


def test_an_edge_that_a_new_declaration_omits_went_with_it(client: TestClient) -> None:
    declared = without_run(event())
    post(client, {**declared, "eventTime": f"{MONDAY}T10:00:00Z", "inputs": [dataset("a"), dataset("b")]})
    post(client, {**declared, "eventTime": f"{TUESDAY}T10:00:00Z", "inputs": [dataset("b")]})

    answer = get(client, "/api/v1/diff?from=log:1")

    assert changes_of(answer) == [
        ("went", "dataset", "dataset:lake:a"),
        ("went", "edge", "dataset:lake:a > job:etl:load"),
    ]
    assert answer["changes"][1]["event"]["index"] == 1
    assert answer["changes"][1]["event"]["eventType"] == "JOB"


def test_an_edge_went_with_the_first_declaration_that_omits_it(client: TestClient) -> None:
    declared = without_run(event())
    post(client, {**declared, "eventTime": f"{MONDAY}T10:00:00Z", "inputs": [dataset("a"), dataset("b")]})
    for hour in (11, 12):
        post(client, {**declared, "eventTime": f"{MONDAY}T{hour}:00:00Z", "inputs": [dataset("b")]})

    (edge,) = (each for each in get(client, "/api/v1/diff?from=log:1")["changes"] if each["kind"] == "edge")

    assert (edge["change"], edge["event"]["index"]) == ("went", 1)


def made_from(*columns: str) -> dict[str, Any]:
    """A dataset with these columns, each made from the column of the same name in `raw`."""
    fields = {column: columns_from("raw", column)["fields"][column] for column in columns}
    return dataset("mart", schema=schema(*columns), columnLineage=facet(fields=fields))


@pytest.mark.parametrize("left", [[made_from("a")], []])
@pytest.mark.parametrize("ends", [(1, 3), (3, 1)])
def test_columns_and_datasets_that_a_new_declaration_of_a_job_omits_went_with_it(
    client: TestClient, left: list[dict[str, Any]], ends: tuple[int, int]
) -> None:
    job = {key: value for key, value in event().items() if key not in ("run", "eventType", "inputs", "outputs")}
    post(client, {**job, "eventTime": f"{MONDAY}T10:00:00Z", "inputs": [dataset("raw")], "outputs": [made_from(*"ab")]})
    inputs = [dataset("raw")] if left else []
    for hour in (11, 12):
        post(client, {**job, "eventTime": f"{MONDAY}T{hour}:00:00Z", "inputs": inputs, "outputs": left})

    changes = get(client, "/api/v1/diff?from=log:{}&to=log:{}".format(*ends))["changes"]

    assert {"columnEdge", "column", "schema"} <= {each["kind"] for each in changes}
    assert ("dataset" in {each["kind"] for each in changes}) is not bool(left)
    assert [each["event"] and each["event"]["index"] for each in changes] == [1] * len(changes)


def test_columns_that_a_new_declaration_of_a_dataset_omits_went_with_it(client: TestClient) -> None:
    for hour, columns in ((10, "ab"), (11, "a"), (12, "a")):
        post(client, _declared(f"{MONDAY}T{hour}:00:00Z", made_from(*columns)))

    changes = get(client, "/api/v1/diff?from=log:1")["changes"]

    assert ("went", "columnEdge") in {(each["change"], each["kind"]) for each in changes}
    assert {each["event"]["index"] for each in changes} == {1}


@pytest.mark.parametrize("query", ["from=log:1&to=log:4", "from=log:4&to=log:1"])
def test_edges_of_a_run_that_moves_to_another_job_went_and_came_with_one_event(client: TestClient, query: str) -> None:
    mart = {"job": {"namespace": "etl", "name": "load.mart"}, "inputs": [dataset("raw")], "outputs": [dataset("mart")]}
    members: list[Body] = [{"inputs": [dataset("raw")]}, mart, mart, mart]
    for minute, (kind, more) in enumerate(zip(("START", "RUNNING", "RUNNING", "COMPLETE"), members, strict=True)):
        post(client, event(eventType=kind, eventTime=f"{MONDAY}T10:{minute:02d}:00Z", **more))

    changes = get(client, f"/api/v1/diff?{query}")["changes"]

    ways = {each["change"] for each in changes if each["kind"] in ("job", "edge")}
    assert ways == {"came", "went"}
    assert {each["event"]["index"] for each in changes} == {1}


def data_from_jobs(*others: str) -> dict[str, Any]:
    """Job facets of a job that takes data directly from other jobs, without a dataset between."""
    inputs = [{"namespace": "etl", "name": name, "type": "JOB"} for name in others]
    return {"lineage": facet(entries=[{"type": "JOB", "inputs": inputs}])}


def test_data_passed_between_jobs_is_an_edge_with_the_event_that_reports_it(client: TestClient) -> None:
    load = {"namespace": "etl", "name": "load"}
    run = event(eventTime=f"{MONDAY}T10:00:00Z", job={**load, "facets": data_from_jobs("fetch")})
    declared = without_run(event())
    with_other = {**declared, "eventTime": f"{MONDAY}T11:00:00Z", "job": {**load, "facets": data_from_jobs("ask")}}
    post(client, run, with_other, {**declared, "eventTime": f"{TUESDAY}T10:00:00Z"})

    came = get(client, "/api/v1/diff?from=log:0&to=log:2")
    assert [each for each in changes_of(came) if each[1] == "edge"] == [
        ("came", "edge", "job:etl:ask > job:etl:load"),
        ("came", "edge", "job:etl:fetch > job:etl:load"),
    ]
    assert [each["event"]["index"] for each in came["changes"] if each["kind"] == "edge"] == [1, 0]

    went = get(client, f"/api/v1/diff?from={MONDAY}T23:00:00Z")
    assert changes_of(went)[-1] == ("went", "edge", "job:etl:ask > job:etl:load")
    assert went["changes"][-1]["event"]["index"] == 2
    assert len(changes_of(went)) == 2, "the job that is no longer named went, too"


def test_an_edge_between_jobs_comes_with_the_event_that_assigns_its_run_to_the_job(client: TestClient) -> None:
    load, mart = ({"namespace": "etl", "name": name} for name in ("load", "mart"))
    post(client, event(eventTime=f"{MONDAY}T10:00:00Z", job={**mart, "facets": data_from_jobs("fetch")}))
    post(client, event(eventTime=f"{MONDAY}T11:00:00Z", job=load))

    (edge,) = (each for each in get(client, "/api/v1/diff?from=log:0")["changes"] if each["kind"] == "edge")

    assert (edge["origin"], edge["destination"]) == ("job:etl:fetch", "job:etl:load")
    assert edge["event"]["index"] == 1


def test_a_dataset_that_gets_another_name_is_one_change_without_changes_of_its_edges(client: TestClient) -> None:
    post(client, at(MONDAY, "first", outputs=[dataset("b")]))
    alias = facet(identifiers=[{"namespace": "glue", "name": "a", "type": "TABLE"}])
    post(client, at(TUESDAY, "second", outputs=[dataset("b", symlinks=alias)]))
    post(client, at("2026-05-20", "third", outputs=[dataset("a", "glue")]))

    answer = get(client, "/api/v1/diff?from=log:1")

    assert changes_of(answer) == [("changed", "dataset", "dataset:glue:a")]
    (change,) = answer["changes"]
    assert change["before"] == ["dataset:lake:b"]
    assert change["after"] == ["dataset:glue:a", "dataset:lake:b"]
    assert change["event"]["index"] == 1


def joined_by(event_index: int, client: TestClient) -> None:
    """A job writes `lake` `a`, another reads `glue` `b`, and the event at this index says that they are one table."""
    alias = facet(identifiers=[{"namespace": "glue", "name": "b", "type": "TABLE"}])
    mart = {"namespace": "etl", "name": "mart"}
    columns = columns_from("a", "id")
    copy = {"namespace": "etl", "name": "copy"}
    events = [
        at(MONDAY, "first", outputs=[dataset("a", schema=schema("id"))]),
        at(MONDAY, "second", job=mart, inputs=[dataset("b", "glue")], outputs=[dataset("m")]),
        at(MONDAY, "third", job=copy, inputs=[dataset("a")], outputs=[dataset("c", columnLineage=columns)]),
    ]
    events.insert(event_index, _declared(f"{TUESDAY}T10:00:00Z", dataset("a", symlinks=alias)))
    post(client, *events)


@pytest.mark.parametrize("node", ["", "&nodeId=dataset:glue:b"])
def test_when_two_datasets_are_joined_one_changes_and_one_goes(client: TestClient, node: str) -> None:
    joined_by(3, client)

    by_log = [get(client, f"/api/v1/diff?from=log:{begin}&to=log:{end}{node}") for begin, end in ((3, 4), (4, 3))]
    by_time = get(client, f"/api/v1/diff?from={MONDAY}T23:00:00Z{node}")

    changes = [
        ("changed", "dataset", "dataset:glue:b"),
        ("went", "dataset", "dataset:lake:a"),
        ("came", "schema", "dataset:glue:b"),
        ("went", "schema", "dataset:lake:a"),
        ("came", "column", "datasetField:glue:b:id"),
        ("went", "column", "datasetField:lake:a:id"),
        ("came", "edge", "dataset:glue:b > job:etl:copy"),
        ("went", "edge", "dataset:lake:a > job:etl:copy"),
        ("came", "edge", "job:etl:load > dataset:glue:b"),
        ("went", "edge", "job:etl:load > dataset:lake:a"),
        ("came", "columnEdge", "datasetField:glue:b:id > datasetField:lake:c:id"),
        ("went", "columnEdge", "datasetField:lake:a:id > datasetField:lake:c:id"),
    ]
    expected = [change for change in changes if "glue" in change[2] or not node]
    assert changes_of(by_log[0]) == expected
    assert changes_of(by_time) == expected
    assert changes_of(by_log[1]) == [(_BACK[way], kind, what) for way, kind, what in expected]
    assert by_log[0]["changes"][0]["before"] == by_log[1]["changes"][0]["after"] == ["dataset:glue:b"]
    assert by_log[0]["changes"][0]["after"] == ["dataset:glue:b", "dataset:lake:a"]
    for answer in (*by_log, by_time):
        assert {each["event"] and each["event"]["index"] for each in answer["changes"]} == {3}


@pytest.mark.parametrize("ends", [(4, 5), (5, 4)])
def test_separated_and_rejoined_names_are_listed_with_the_edit_that_did_it(
    client: TestClient, ends: tuple[int, int]
) -> None:
    joined_by(0, client)
    names = {"name": {"namespace": "lake", "name": "a"}, "other": {"namespace": "glue", "name": "b"}}
    assert client.post("/api/v1/identity/apart", json=names).status_code == 200
    apart = get(client, "/api/v1/diff?from=log:{}&to=log:{}".format(*ends))
    assert client.request("DELETE", "/api/v1/identity/apart", json=names).status_code == 200
    again = get(client, "/api/v1/diff?from=log:{}&to=log:{}".format(*(end + 1 for end in ends)))

    assert apart["totalCount"] == again["totalCount"] == 12
    assert {each["event"] and each["event"]["index"] for each in apart["changes"]} == {4}
    assert {each["event"] and each["event"]["index"] for each in again["changes"]} == {5}


def test_a_new_name_is_listed_with_the_first_event_that_has_it(
    client: TestClient,
) -> None:
    known, new = ({"namespace": "glue", "name": name, "type": "TABLE"} for name in "bc")
    for hour, names in ((10, [known]), (11, [known]), (12, [known, new]), (13, [known, new])):
        post(client, _declared(f"{MONDAY}T{hour}:00:00Z", dataset("a", symlinks=facet(identifiers=names))))

    (change,) = get(client, "/api/v1/diff?from=log:1")["changes"]

    assert {*change["after"]} - {*change["before"]} == {"dataset:glue:c"}
    assert change["event"]["index"] == 2


def test_a_name_resolved_to_a_known_table_is_listed_with_the_event_that_resolves_it(client: TestClient) -> None:
    glue = facet(framework="iceberg", type="glue", name="lake", warehouseUri="s3://warehouse")

    def table(name: str) -> dict[str, Any]:
        return dataset(name, "s3://warehouse", catalog=glue)

    flink = {"namespace": "etl", "name": "flink"}
    # its namespace is not reported
    post(client, at(MONDAY, "first", job=flink, outputs=[dataset("lake.sales.orders", "")]))
    post(client, at(MONDAY, "other", outputs=[table("sales.db/others")]))
    post(client, at(TUESDAY, "second", inputs=[table("sales/orders")]))
    post(client, at("2026-05-20", "third", inputs=[table("sales/orders"), table("sales.db/orders")]))
    post(client, at("2026-05-21", "fourth", inputs=[table("sales/orders"), table("sales.db/orders")]))

    named = get(client, "/api/v1/diff?from=log:2&to=log:3")
    renamed = get(client, "/api/v1/diff?from=log:3")

    edge = "job:etl:flink > dataset:s3://warehouse:sales/orders"
    found = {change: each["event"]["index"] for change, each in zip(changes_of(named), named["changes"], strict=True)}
    assert found["came", "edge", edge] == 2
    (change,) = renamed["changes"]
    assert (change["kind"], change["event"]["index"]) == ("dataset", 3)
    assert {*change["after"]} - {*change["before"]} == {"dataset:s3://warehouse:sales.db/orders"}


def test_a_changed_query_is_listed_with_both_texts(client: TestClient) -> None:
    for day, run, query in (
        (MONDAY, "first", "SELECT 1"),
        (TUESDAY, "second", "SELECT 2"),
        ("2026-05-20", "x", "SELECT 2"),
    ):
        post(client, at(day, run, job={"namespace": "etl", "name": "load", "facets": {"sql": facet(query=query)}}))

    answer = get(client, f"/api/v1/diff?from={MONDAY}T23:00:00Z")

    assert changes_of(answer) == [("changed", "jobFacet", "job:etl:loadsql")]
    assert (answer["changes"][0]["before"], answer["changes"][0]["after"]) == (
        {"query": "SELECT 1"},
        {"query": "SELECT 2"},
    )
    assert answer["changes"][0]["event"]["runId"] == "second"


def test_a_new_owner_a_new_tag_and_a_drop_of_a_dataset_are_listed(client: TestClient) -> None:
    def table(*owners: str, **facets: object) -> dict[str, Any]:
        return dataset("raw", ownership=facet(owners=[{"name": name} for name in owners]), **facets)

    tags = facet(tags=[{"key": "pii", "value": "true"}])
    dropped = facet(lifecycleStateChange="DROP")
    post(client, at(MONDAY, "first", outputs=[table("ada", "bob")]))
    post(client, at(TUESDAY, "second", outputs=[table("bob", "ada", tags=tags, lifecycleStateChange=dropped)]))
    before, same, after = table("eve"), table("bob", "ada"), table("eve", tags=tags)
    post(client, at(TUESDAY, "third", inputs=[before, same], outputs=[after]))

    by_event = get(client, "/api/v1/diff?from=log:1&to=log:2")
    owner_changes = get(client, "/api/v1/diff?from=log:2&to=log:3&nodeId=dataset:lake:raw")

    changes = [(each["change"], each["facet"], each["event"]["index"]) for each in by_event["changes"] if each["facet"]]
    assert changes == [("came", "lifecycleStateChange", 1), ("came", "tags", 1)]
    assert [(each["change"], each["facet"], each["after"]) for each in owner_changes["changes"] if each["facet"]] == [
        ("changed", "ownership", {"owners": [{"name": "eve"}]})
    ]


def declared(day: str, **facets: object) -> dict[str, Any]:
    body = {**event(eventTime=f"{day}T10:00:00Z"), "dataset": dataset("raw", **facets)}
    return {key: value for key, value in body.items() if key not in ("eventType", "run", "job", "inputs", "outputs")}


def test_a_facet_has_its_value_however_large_its_numbers(client: TestClient) -> None:
    post(client, at(MONDAY, "first"))
    post(
        client, at(TUESDAY, "second", job={"namespace": "etl", "name": "load", "facets": {"limits": facet(rows=2**80)}})
    )

    between_times = get(client, f"/api/v1/diff?from={MONDAY}T23:00:00Z")
    between_runs = get(client, "/api/v1/diff?fromRun=first&toRun=second")

    for answer in (between_times, between_runs):
        assert [each["after"] for each in answer["changes"] if each["facet"] == "limits"] == [{"rows": 2**80}]


def test_a_declared_facet_went_with_the_declaration_that_omits_it(client: TestClient) -> None:
    owners = facet(owners=[{"name": "ada"}])
    post(client, declared(MONDAY, ownership=owners, schema=schema("id")))
    post(client, {**at(MONDAY, "reads", inputs=[dataset("raw")])})
    post(client, declared(TUESDAY, documentation=facet(description="raw")))
    post(client, declared("2026-05-20", documentation=facet(_deleted=True, description="")))

    replaced, taken_back, backwards = (
        [
            (each["change"], each["kind"], each["facet"], each["event"]["index"])
            for each in get(client, f"/api/v1/diff?from=log:{before}&to=log:{after}")["changes"]
        ]
        for before, after in ((2, 3), (3, 4), (3, 2))
    )

    assert replaced == [
        ("came", "datasetFacet", "documentation", 2),
        ("went", "datasetFacet", "ownership", 2),
        ("went", "schema", None, 2),
        ("went", "column", None, 2),
    ]
    assert taken_back == [("went", "datasetFacet", "documentation", 3)]
    assert [(way, kind, name) for way, kind, name, _ in backwards] == [
        ("went", "datasetFacet", "documentation"),
        ("came", "datasetFacet", "ownership"),
        ("came", "schema", None),
        ("came", "column", None),
    ]
    assert {index for *_, index in backwards} == {2}


def test_a_schema_that_was_reported_before_comes_back_with_the_declaration_that_omits_its_own(
    client: TestClient,
) -> None:
    owned = facet(owners=[{"name": "ada"}])
    reported = dataset("raw", schema=schema("id"), ownership=owned)
    post(client, at(MONDAY, "reads", inputs=[reported]))
    post(client, declared(TUESDAY, schema=schema("b"), ownership=facet(owners=[{"name": "bob"}])))
    post(client, declared("2026-05-20", schema=schema("c")), declared("2026-05-21"), declared("2026-05-22"))

    ways = [
        [
            (each["change"], each["kind"], each["event"] and each["event"]["index"])
            for each in get(client, f"/api/v1/diff?from=log:{before}&to=log:{after}")["changes"]
        ]
        for before, after in ((2, 5), (5, 2))
    ]

    assert ways[0] == [
        ("changed", "datasetFacet", 2),
        ("changed", "schema", 3),
        ("went", "column", 2),
        ("came", "column", 3),
    ]
    assert [index for *_, index in ways[1]] == [index for *_, index in ways[0]]


def test_a_schema_once_hidden_by_another_name_is_listed_with_the_event_that_has_it(client: TestClient) -> None:
    first, other = dataset("t", "s3a://lake", schema=schema("id")), dataset("t", "s3://lake", schema=schema("b"))
    events = [(10, first), (11, other), (12, dataset("t", "s3://lake"))]
    post(client, *(_declared(f"{MONDAY}T{hour}:00:00Z", each) for hour, each in events))

    by_kind = {each["kind"]: each for each in get(client, "/api/v1/diff?from=log:0")["changes"]}

    assert by_kind["schema"]["after"] == [{"name": "id", "type": "int"}]
    assert by_kind["schema"]["event"]["index"] == by_kind["column"]["event"]["index"] == 0


def _declared(time: str, about: dict[str, Any]) -> dict[str, Any]:
    return {"eventTime": time, "producer": "https://example.org/producer", "dataset": about}


def test_tags_put_and_removed_over_the_api_are_listed_for_job_dataset_and_column(client: TestClient) -> None:
    tags = facet(tags=[{"key": "raw", "value": "true"}, {"key": "pii", "value": "true", "field": "id"}])
    post(client, at(MONDAY, "first", outputs=[dataset("raw", schema=schema("id"), tags=tags)]))
    of_dataset = "/api/v1/namespaces/lake/datasets/raw"
    for method, path in (
        ("POST", f"{of_dataset}/tags/GOLD"),
        ("POST", f"{of_dataset}/fields/id/tags/SENSITIVE"),
        ("POST", "/api/v1/namespaces/etl/jobs/load/tags/NIGHTLY"),
        ("DELETE", f"{of_dataset}/tags/GOLD"),
        ("DELETE", f"{of_dataset}/tags/raw"),
        ("DELETE", f"{of_dataset}/fields/id/tags/PII"),
        ("DELETE", f"{of_dataset}/tags/nobodys"),
        ("POST", f"{of_dataset}/tags/raw"),
    ):
        assert client.request(method, path).status_code == 200

    by_edit = [
        [
            (each["change"], each["kind"], each["nodeId"], each["before"], each["after"], each["event"]["index"])
            for each in get(client, f"/api/v1/diff?from=log:{size}&to=log:{size + 1}")["changes"]
        ]
        for size in range(1, 9)
    ]

    assert by_edit == [
        [("came", "tag", "dataset:lake:raw", None, "GOLD", 1)],
        [("came", "tag", "datasetField:lake:raw:id", None, "SENSITIVE", 2)],
        [("came", "tag", "job:etl:load", None, "NIGHTLY", 3)],
        [("went", "tag", "dataset:lake:raw", "GOLD", None, 4)],
        [("went", "tag", "dataset:lake:raw", "raw", None, 5)],
        [("went", "tag", "datasetField:lake:raw:id", "PII", None, 6)],
        [],
        [("came", "tag", "dataset:lake:raw", None, "raw", 8)],
    ]
    column = get(client, "/api/v1/diff?from=log:1&to=log:9&nodeId=datasetField:lake:raw:id")["changes"]
    assert [(each["change"], each["before"] or each["after"]) for each in column] == [
        ("went", "PII"),
        ("came", "SENSITIVE"),
    ]


def test_the_order_of_parameters_makes_no_difference(client: TestClient) -> None:
    both = [{"key": "date", "value": "18"}, {"key": "mode", "value": "full"}]
    for name, parameters in (("first", both), ("second", both[::-1])):
        facets = {"executionParameters": facet(parameters=parameters)}
        post(client, {**at(MONDAY, name), "run": {"runId": name, "facets": facets}})

    assert get(client, "/api/v1/diff?fromRun=first&toRun=second")["totalCount"] == 0


@pytest.mark.parametrize("bound", [f"asOf={MONDAY}T23:00:00Z", "logSize=2"])
def test_two_runs_are_compared_by_their_events_up_to_the_bound(client: TestClient, bound: str) -> None:
    def run(day: str, name: str, value: str) -> dict[str, Any]:
        facets = {"executionParameters": facet(parameters=[{"key": "date", "value": value}])}
        return {**at(day, name), "run": {"runId": name, "facets": facets}}

    post(client, run(MONDAY, "first", "18"), run(MONDAY, "second", "18"), run(TUESDAY, "second", "19"))

    assert get(client, "/api/v1/diff?fromRun=first&toRun=second")["totalCount"] == 1
    assert get(client, f"/api/v1/diff?fromRun=first&toRun=second&{bound}")["totalCount"] == 0


def test_two_runs_differ_in_parameters_inputs_and_schemas(client: TestClient) -> None:
    def run(day: str, name: str, value: str, source: str, *columns: str) -> dict[str, Any]:
        parameters = facet(parameters=[{"key": "date", "value": value}])
        reported = at(day, name, inputs=[dataset(source)], outputs=[dataset("mart", schema=schema(*columns))])
        return {**reported, "run": {"runId": name, "facets": {"executionParameters": parameters}}}

    post(client, run(MONDAY, "first", "18", "raw", "id"), run(TUESDAY, "second", "19", "raw2", "id", "day"))

    answer = get(client, "/api/v1/diff?fromRun=first&toRun=second")

    assert changes_of(answer) == [
        ("changed", "runFacet", "executionParameters"),
        ("went", "dataset", "dataset:lake:raw"),
        ("came", "dataset", "dataset:lake:raw2"),
        ("changed", "schema", "dataset:lake:mart"),
        ("came", "column", "datasetField:lake:mart:day"),
        ("went", "edge", "dataset:lake:raw > job:etl:load"),
        ("came", "edge", "dataset:lake:raw2 > job:etl:load"),
    ]
    assert answer["changes"][0]["after"] == {"parameters": [{"key": "date", "value": "19"}]}
    assert [each["event"]["runId"] for each in answer["changes"]] == [
        "second",
        "first",
        *["second"] * 3,
        "first",
        "second",
    ]
    assert (answer["from"]["runId"], answer["to"]["runId"]) == ("first", "second")


def test_of_each_run_the_last_schema_and_the_column_edges_that_the_graph_has_are_compared(client: TestClient) -> None:
    def run(day: str, name: str, *columns: str, **lineage: object) -> dict[str, Any]:
        return at(day, name, outputs=[dataset("mart", schema=schema(*columns), **lineage)])

    entry = {"inputs": [{"namespace": "lake", "name": "other", "field": "id", "type": "DATASET"}]}
    explicit = facet(inputs=[], fields={"id": entry})
    post(client, run(MONDAY, "first", "id", columnLineage=columns_from("raw", "id")))
    post(client, run(MONDAY, "second", "id", "day", columnLineage=columns_from("raw", "id")))
    post(client, run(TUESDAY, "second", "id", columnLineage=columns_from("raw", "id", "AGGREGATION")))
    post(client, run(MONDAY, "third", "id", columnLineage=columns_from("raw", "id")))
    post(client, run(TUESDAY, "third", "id", columnLineage=columns_from("raw", "id"), lineage=explicit))

    second, third = (get(client, f"/api/v1/diff?fromRun=first&toRun={run}") for run in ("second", "third"))

    into = "> datasetField:lake:mart:id"
    assert changes_of(second) == [("changed", "columnEdge", f"datasetField:lake:raw:id {into}")]
    assert [each["subtype"] for each in second["changes"][0]["after"]] == ["AGGREGATION", "IDENTITY"]
    assert changes_of(third) == [
        ("came", "columnEdge", f"datasetField:lake:other:id {into}"),
        ("went", "columnEdge", f"datasetField:lake:raw:id {into}"),
    ]


def test_names_in_quarantine_are_not_compared_between_runs(client: TestClient) -> None:
    nameless = columns_from("raw", "id")
    nameless["fields"]["id"]["inputFields"][0]["namespace"] = ""
    outputs = [dataset("mart", columnLineage=nameless), dataset("lost", "", schema=schema("id"))]
    post(client, at(MONDAY, "first", outputs=[dataset("mart")]), at(TUESDAY, "second", outputs=outputs))

    assert changes_of(get(client, "/api/v1/diff?fromRun=first&toRun=second")) == []


def test_a_column_edge_did_not_come_with_an_event_that_reports_another_in_a_stronger_facet(client: TestClient) -> None:
    explicit = facet(inputs=[{"namespace": "lake", "name": "other", "type": "DATASET"}], fields={})
    weaker = columns_from("raw", "id")
    post(client, at(MONDAY, "first", outputs=[dataset("mart", columnLineage=weaker, lineage=explicit)]))
    post(client, at(TUESDAY, "second", outputs=[dataset("mart", columnLineage=weaker)]))

    answer = get(client, "/api/v1/diff?from=2026-05-17T00:00:00Z")

    by_origin = {each["origin"]: each["event"]["runId"] for each in answer["changes"] if each["kind"] == "columnEdge"}
    assert by_origin == {"datasetField:lake:raw:id": "second", "dataset:lake:other": "first"}


def test_pages_have_all_changes_in_order(client: TestClient) -> None:
    post(client, at(MONDAY, "first"), at(TUESDAY, "second", outputs=[dataset(name) for name in "cab"]))
    complete = get(client, "/api/v1/diff?from=log:1")

    pages = [get(client, f"/api/v1/diff?from=log:1&limit=2&offset={offset}") for offset in (0, 2, 4, 6)]

    assert [change for page in pages for change in page["changes"]] == complete["changes"]
    assert {page["totalCount"] for page in pages} == {6}


def test_a_diff_of_a_namespace_lists_only_changes_that_touch_it(client: TestClient) -> None:
    post(client, at(MONDAY, "first"), at(TUESDAY, "second", outputs=[dataset("a"), dataset("b", "other")]))

    answer = get(client, "/api/v1/diff?from=log:1&namespace=other")

    assert changes_of(answer) == [
        ("came", "dataset", "dataset:other:b"),
        ("came", "edge", "job:etl:load > dataset:other:b"),
    ]


def test_nothing_is_different_between_a_time_and_itself(client: TestClient) -> None:
    post(client, at(MONDAY, "first", outputs=[dataset("a", schema=schema("id"))]), at(TUESDAY, "second"))

    answer = get(client, f"/api/v1/diff?from={MONDAY}T12:00:00Z&to={MONDAY}T12:00:00Z")

    assert answer["changes"] == []
    assert answer["from"] == answer["to"]


@pytest.mark.parametrize(
    ("query", "status", "message"),
    [
        ("", 400, "from"),
        ("to=log:1", 400, "from"),
        ("from=yesterday", 400, "query param from "),
        ("from=log:-1", 400, "query param from "),
        ("from=log:99", 400, "query param from: log:99 is beyond the end of the log, log:1"),
        ("from=log:1&to=log:4", 400, "query param to: log:4 is beyond the end of the log, log:1"),
        ("from=log:1&to=log:x", 400, "query param to "),
        ("from=run:first", 400, "query param from cannot be read: expected a time or log:N; compare two runs by"),
        ("from=log:1&to=run:second", 400, "query param to cannot be read: expected a time or log:N; compare two"),
        ("from=run:first&to=run:second", 400, "compare two runs by fromRun=ID and toRun=ID"),
        ("fromRun=first", 400, "toRun"),
        ("from=log:1&toRun=first", 400, "toRun"),
        ("fromRun=first&toRun=nobody", 404, "nobody"),
        ("from=log:1&nodeId=job:etl:nothing", 404, "nothing"),
    ],
)
def test_an_invalid_comparison_is_refused(client: TestClient, query: str, status: int, message: str) -> None:
    post(client, at(MONDAY, "first"))

    answer = client.get(f"/api/v1/diff?{query}")

    assert answer.status_code == status
    assert message in answer.json()["message"]


def test_joined_datasets_are_several_in_the_reversed_diff(client: TestClient) -> None:
    names = ["raw", "raw2", "raw3", "raw4", "raw5"]
    for name in names:
        post(client, at(MONDAY, name, outputs=[dataset(name, schema=schema(name))]))
    same = facet(identifiers=[{"namespace": "lake", "name": name, "type": "TABLE"} for name in names[1:]])
    post(client, at(TUESDAY, "joining", outputs=[dataset("raw", symlinks=same)]))

    back = get(client, "/api/v1/diff?from=log:6&to=log:5&limit=1000")

    assert [change for change in changes_of(back) if change[1] == "dataset"] == [
        ("changed", "dataset", "dataset:lake:raw"),
        *(("came", "dataset", f"dataset:lake:{name}") for name in names[1:]),
    ]


def test_a_job_known_from_declarations_and_child_runs_gets_an_edge_when_its_output_is_resolved(
    client: TestClient,
) -> None:
    load, mart = ({"job": {"namespace": "etl", "name": name}} for name in ("load", "mart"))
    part = {"runId": "part", "facets": {"parent": facet(run={"runId": "silent"}, **load)}}
    post(client, {**at(MONDAY, "part", **mart), "run": part})
    declared = at(MONDAY, "none", **load, outputs=[{"namespace": "", "name": "nowhere"}])
    post(client, without_run(declared))
    former = facet(lifecycleStateChange="RENAME", previousIdentifier={"namespace": "", "name": "nowhere"})
    post(client, at(TUESDAY, "renaming", **mart, outputs=[dataset("raw", lifecycleStateChange=former)]))

    answer = get(client, "/api/v1/diff?from=log:2")

    assert ("came", "edge", "job:etl:load > dataset:lake:raw") in changes_of(answer)


def test_all_facets_of_a_dataset_named_twice_in_a_declaration_count(client: TestClient) -> None:
    post(client, at(MONDAY, "first", outputs=[dataset("raw", schema=schema("id"))]))
    twice = [dataset("raw"), dataset("raw", schema=schema("other"))]
    declared = {**event(outputs=twice), "eventTime": f"{MONDAY}T10:00:01Z"}
    post(client, without_run(declared))

    answer = get(client, "/api/v1/diff?from=log:0")

    by_kind = {each["kind"]: each["event"] for each in answer["changes"]}
    assert by_kind["schema"]["index"] == by_kind["column"]["index"] == 1


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(log=logs.logs, ends=st.tuples(st.integers(0, 14), st.integers(0, 14)))
def test_a_reversed_diff_undoes_the_diff(log: list[bytes], ends: tuple[int, int]) -> None:
    with TemporaryDirectory() as folder, served(Path(folder)) as client:
        for raw in log:
            client.post("/api/v1/lineage", content=raw)

        begin, end = within(client, ends)
        there = get(client, f"/api/v1/diff?from=log:{begin}&to=log:{end}&limit=1000")["changes"]
        back = get(client, f"/api/v1/diff?from=log:{end}&to=log:{begin}&limit=1000")["changes"]
        from_nothing = get(client, "/api/v1/diff?from=log:0&limit=1000")["changes"]

    assert _change_counts(there) == Counter((_BACK[way], *what) for way, *what in _change_counts(back).elements())
    assert all(each["change"] == "came" for each in from_nothing)
    assert [each for each in from_nothing if each["event"] is None] == []


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(log=logs.logs, ends=st.tuples(st.integers(0, 14), st.integers(0, 14)))
def test_any_two_moments_can_be_compared(log: list[bytes], ends: tuple[int, int]) -> None:
    with TemporaryDirectory() as folder, served(Path(folder)) as client:
        for raw in log:
            client.post("/api/v1/lineage", content=raw)

        begin, end = within(client, ends)
        there = get(client, f"/api/v1/diff?from=log:{begin}&to=log:{end}&limit=1000")
        same = get(client, f"/api/v1/diff?from=log:{end}&to=log:{end}")

    assert len(there["changes"]) == there["totalCount"]
    assert same["changes"] == []


def within(client: TestClient, ends: tuple[int, int]) -> list[int]:
    """Log sizes, limited to the size of the log."""
    size = get(client, "/api/v1/events?limit=0")["totalCount"]
    return [min(each, size) for each in ends]


_BACK = {"came": "went", "went": "came", "changed": "changed"}


def _change_counts(changes: list[Body]) -> Counter[tuple[str, ...]]:
    """Changes without names of datasets, which are the names in the graph compared with."""
    return Counter((each["change"], each["kind"], str(each["facet"])) for each in changes)


def test_a_deletion_is_listed_with_its_edit_and_a_return_with_its_event(client: TestClient) -> None:
    post(client, at(MONDAY, "first", outputs=[dataset("raw", schema=schema("id"))]))
    assert client.delete("/api/v1/namespaces/lake/datasets/raw").status_code == 200
    post(client, at(TUESDAY, "second", outputs=[dataset("raw")]))

    gone = get(client, "/api/v1/diff?from=log:1&to=log:2")
    back = get(client, "/api/v1/diff?from=log:2&to=log:3")

    assert ("went", "dataset", "dataset:lake:raw") in changes_of(gone)
    assert ("came", "dataset", "dataset:lake:raw") in changes_of(back)
    assert {(each["event"]["index"], each["event"]["eventType"]) for each in gone["changes"]} == {(1, "EDIT")}
    assert back["changes"][0]["event"]["index"] == 2


@pytest.fixture
def with_one_deleted(client: TestClient) -> TestClient:
    """Three datasets in a chain, of which the middle was deleted; its job has started again since."""
    raw = dataset("raw", schema=schema("id"))
    orders = dataset("orders", schema=schema("id"), columnLineage=columns_from("raw", "id"))
    sales = dataset("sales", schema=schema("id"), columnLineage=columns_from("orders", "id"))
    mart = {"namespace": "etl", "name": "mart"}
    post(client, at(MONDAY, "first", inputs=[raw], outputs=[orders]))
    post(client, at(MONDAY, "second", job=mart, inputs=[orders], outputs=[sales]))
    assert client.delete("/api/v1/namespaces/lake/datasets/orders").status_code == 200
    post(client, event(eventTime="2026-05-23T10:00:00Z", run={"runId": "third"}))
    return client


EDGES_OF_ORDERS = {
    ("went", "edge", "dataset:lake:orders > job:etl:mart"),
    ("went", "edge", "job:etl:load > dataset:lake:orders"),
    ("went", "columnEdge", "datasetField:lake:orders:id > datasetField:lake:sales:id"),
    ("went", "columnEdge", "datasetField:lake:raw:id > datasetField:lake:orders:id"),
}


@pytest.mark.parametrize("before", ["log:2", f"{MONDAY}T23:00:00Z"])
@pytest.mark.parametrize("node", ["", "&nodeId=dataset:lake:orders"])
def test_the_edges_of_a_deleted_dataset_went_with_the_edit(
    with_one_deleted: TestClient, before: str, node: str
) -> None:
    answer = get(with_one_deleted, f"/api/v1/diff?from={before}{node}")

    assert set(changes_of(answer)) >= EDGES_OF_ORDERS
    assert {(each["event"]["index"], each["event"]["eventType"]) for each in answer["changes"]} == {(2, "EDIT")}


def test_a_deleted_dataset_has_no_edge_in_a_diff_from_the_beginning(with_one_deleted: TestClient) -> None:
    answer = get(with_one_deleted, "/api/v1/diff?from=log:0")

    assert not [change for change in changes_of(answer) if "orders" in change[2]]


def test_the_edges_of_a_dataset_come_back_with_it(with_one_deleted: TestClient) -> None:
    post(with_one_deleted, at("2026-05-24", "fourth", outputs=[dataset("orders")]))

    answer = get(with_one_deleted, "/api/v1/diff?from=log:4&to=log:5")

    assert set(changes_of(answer)) >= {("came", *change) for _, *change in EDGES_OF_ORDERS}
