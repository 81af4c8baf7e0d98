"""Changes of schemas, for events with known changes."""

from collections.abc import Sequence
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from tests.support.app import Body, dataset, event, get, post

TOPIC = "dataset:kafka://broker:9092:orders"


def fields(**types: str) -> Body:
    return {"fields": [{"name": name, "type": kind} for name, kind in types.items()]}


def version(number: int, hour: int, rule: str = "BACKWARD", fits: bool | None = True, **types: str) -> Body:
    subject = {"subject": "orders-value", "version": number, "compatibility": rule, "fitsRule": fits}
    declared = {**dataset("orders", "kafka://broker:9092", schema=fields(**types))}
    declared["facets"]["headwater_subject"] = subject
    return {"eventTime": f"2026-05-22T{hour:02d}:00:00Z", "producer": "https://example.org/p", "dataset": declared} | {
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent"
    }


def reading(run: str, hour: int, job: str = "load") -> Body:
    columns = {"fields": {"total": {"inputFields": [from_topic("price")]}}}
    return event(
        eventType="COMPLETE",
        eventTime=f"2026-05-22T{hour:02d}:30:00Z",
        run={"runId": run},
        job={"namespace": "etl", "name": job},
        inputs=[dataset("orders", "kafka://broker:9092")],
        outputs=[dataset("totals", "lake", columnLineage=columns)],
    )


def from_topic(column: str) -> Body:
    transformations = [{"type": "DIRECT", "subtype": "TRANSFORMATION"}]
    named = {"namespace": "kafka://broker:9092", "name": "orders", "field": column}
    return {**named, "transformations": transformations}


def ask(client: TestClient, **query: str) -> list[Body]:
    answer = get(client, f"/api/v1/drift?{urlencode(query)}")
    drift: list[Body] = answer["drift"]
    assert answer["totalCount"] == len(drift)
    return drift


def test_every_version_of_a_subject_is_listed_with_what_it_affects(client: TestClient) -> None:
    post(client, reading("r1", 9), version(1, 8, fits=None, id="long", price="int"))
    post(client, version(3, 11, "NONE", False, id="long", price="string", note="string"))
    post(client, version(2, 10, id="long", price="int", note="string"))

    third, second = ask(client)

    assert (third["nodeId"], third["at"], third["breaking"]) == (TOPIC, "2026-05-22T11:00:00.000Z", True)
    assert third["subject"] == {"subject": "orders-value", "version": 3, "compatibility": "NONE", "fitsRule": False}
    assert third["changes"] == [
        {
            "column": "price",
            "change": "retyped",
            "before": "int",
            "after": "string",
            "breaking": True,
            "reaches": {"columns": 1, "datasets": 1, "jobs": 1},
            "jobs": ["job:etl:load"],
        }
    ]
    assert (second["at"], second["breaking"], second["index"]) == ("2026-05-22T10:00:00.000Z", False, 3)
    assert [(change["column"], change["change"]) for change in second["changes"]] == [("note", "added")]


def test_whether_a_change_breaks_is_taken_from_the_schema_registrys_report(client: TestClient) -> None:
    before, after = version(1, 8, fits=None, price="int32"), version(2, 10, fits=False, price="double")
    change = {"field": "price", "change": "retyped", "from": "int32", "to": "double", "isBreaking": True}
    after["dataset"]["facets"]["headwater_subject"] |= {"schemaType": "PROTOBUF", "changes": [change]}
    post(client, reading("r1", 9), before, after)

    (second,) = ask(client)

    assert (second["breaking"], second["changes"][0]["breaking"]) == (True, True)
    assert second["subject"]["fitsRule"] is False


def test_the_versions_of_a_declared_dataset_stay_when_the_next_is_declared(client: TestClient) -> None:
    post(client, version(2, 10, id="long", note="string"), version(1, 8, id="long"))

    versions = get(client, "/api/v1/namespaces/kafka%3A%2F%2Fbroker%3A9092/datasets/orders/versions")["versions"]

    assert [[field["name"] for field in version["fields"]] for version in versions] == [["id", "note"], ["id"]]
    assert [version["createdAt"] for version in versions] == ["2026-05-22T10:00:00.000Z", "2026-05-22T08:00:00.000Z"]


def test_a_schema_change_reported_by_a_job_is_listed_with_the_job(client: TestClient) -> None:
    for run, hour, kind in (("r1", 8, "int"), ("r2", 9, "int"), ("r3", 10, "bigint")):
        written = dataset("totals", "lake", schema=fields(total=kind))
        post(client, {**reading(run, hour), "outputs": [written]})

    (found,) = ask(client)

    assert (found["nodeId"], found["runId"], found["toldBy"]) == (
        "dataset:lake:totals",
        "r3",
        {"namespace": "etl", "name": "load"},
    )
    assert (found["breaking"], found["subject"]) == (False, None)


def test_jobs_that_report_different_columns_of_one_dataset_are_each_compared_with_themselves(
    client: TestClient,
) -> None:
    for run, hour, job, columns in (
        ("r1", 8, "load", {"id": "int", "total": "int"}),
        ("r2", 9, "audit", {"total": "decimal(10,0)"}),
        ("r3", 10, "load", {"id": "int", "total": "int"}),
        ("r4", 11, "audit", {"total": "string"}),
    ):
        read = dataset("totals", "lake", schema=fields(**columns))
        post(client, {**reading(run, hour, job), "inputs": [read], "outputs": []})

    (found,) = ask(client)

    assert (found["runId"], found["toldBy"]) == ("r4", {"namespace": "etl", "name": "audit"})
    assert [(each["column"], each["before"], each["after"]) for each in found["changes"]] == [
        ("total", "decimal(10,0)", "string")
    ]


def running_event(minute: int, **types: str) -> Body:
    """A running stream reports the current columns of the topic and the table."""
    return event(
        eventType="RUNNING",
        eventTime=f"2026-05-22T14:{minute:02d}:00Z",
        inputs=[dataset("orders", "kafka://broker:9092", schema=fields(**types))],
        outputs=[dataset("totals", "lake", schema=fields(**types))],
    )


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4, 5), (5, 0, 4, 1, 3, 2), (3, 4, 2, 5, 1, 0)])
def test_a_change_during_a_stream_is_listed_with_the_first_event_that_has_it(
    client: TestClient, order: Sequence[int]
) -> None:
    events = [running_event(minute, id="int", price="int") for minute in (0, 1)]
    events += [running_event(minute, id="int") for minute in (2, 3)] + [
        running_event(minute, id="int", price="int") for minute in (4, 5)
    ]
    post(client, *(events[each] for each in order))

    back, gone = ask(client, nodeId=TOPIC)
    versions = get(client, "/api/v1/namespaces/kafka%3A%2F%2Fbroker%3A9092/datasets/orders/versions")["versions"]
    then = ask(client, nodeId=TOPIC, asOf="2026-05-22T14:03:00Z")
    before = ask(client, nodeId=TOPIC, asOf="2026-05-22T14:01:00Z")

    assert (gone["at"], gone["index"]) == ("2026-05-22T14:02:00.000Z", order.index(2))
    assert [(each["column"], each["change"]) for each in gone["changes"]] == [("price", "removed")]
    assert [(each["column"], each["change"]) for each in back["changes"]] == [("price", "added")]
    assert then == [gone]
    assert before == []
    assert [[field["name"] for field in version["fields"]] for version in versions] == [
        ["id", "price"],
        ["id"],
        ["id", "price"],
    ]
    assert [[field["name"] for field in version["facets"]["schema"]["fields"]] for version in versions] == [
        [field["name"] for field in version["fields"]] for version in versions
    ]
    assert [version["createdAt"][14:16] for version in versions[1:]] == ["02", "00"]


def test_the_list_is_filtered_by_dataset_namespace_time_and_past(client: TestClient) -> None:
    post(client, version(1, 8, id="int"), version(2, 9, id="long"), version(3, 10, id="double"))

    assert len(ask(client)) == 2
    assert len(ask(client, nodeId=TOPIC)) == 2
    assert ask(client, namespace="default") == []
    assert [each["subject"]["version"] for each in ask(client, **{"from": "2026-05-22T10:00:00Z"})] == [3]
    assert [each["subject"]["version"] for each in ask(client, to="2026-05-22T09:30:00Z")] == [2]
    assert [each["subject"]["version"] for each in ask(client, asOf="2026-05-22T09:30:00Z")] == [2]
    assert [each["subject"]["version"] for each in ask(client, logSize="2")] == [2]


def test_a_change_is_listed_between_its_own_times_as_answers_show_them(client: TestClient) -> None:
    precise = version(2, 9, id="long") | {"eventTime": "2026-05-22T09:00:00.123456Z"}
    post(client, version(1, 8, id="int"), precise)
    at = ask(client)[0]["at"]

    found = ask(client, **{"from": at, "to": at})

    assert at == "2026-05-22T09:00:00.123Z"
    assert [each["subject"]["version"] for each in found] == [2]


def test_a_period_that_ends_before_it_begins_is_refused(client: TestClient) -> None:
    answer = client.get("/api/v1/drift?from=2026-05-22T10:00:00Z&to=2026-05-22T09:00:00Z")

    assert answer.status_code == 400
    assert answer.json()["message"] == "query param from must not be later than query param to"


def test_only_a_dataset_has_a_schema(client: TestClient) -> None:
    post(client, reading("r1", 9))

    assert client.get("/api/v1/drift?nodeId=job:etl:load").status_code == 400
    assert client.get(f"/api/v1/drift?nodeId={TOPIC}x").status_code == 404


def test_metadata_columns_of_iceberg_are_not_a_schema_change(client: TestClient) -> None:
    storage = {"storageLayer": "iceberg", "fileFormat": ""}
    for hour in (9, 10, 11):
        read = dataset("agg", "lake", schema=fields(customer="string", total="double", _file="string"), storage=storage)
        written = dataset("agg", "lake", schema=fields(customer="string", total="double"), storage=storage)
        times = {"eventType": "RUNNING", "eventTime": f"2026-05-22T{hour:02d}:00:00Z"}
        merge = {"job": {"namespace": "etl", "name": "merge"}, "run": {"runId": "stream"}}
        post(client, event(**times, **merge, inputs=[read], outputs=[written]))

    shown = get(client, "/api/v1/namespaces/lake/datasets/agg")

    assert ask(client) == []
    assert [column["name"] for column in shown["fields"]] == ["customer", "total"]
    assert [(each["rule"], each["what"].split()[2]) for each in shown["mended"]] == [("metadata-columns", "_file")]
    assert get(client, "/api/v1/namespaces/lake/datasets/agg/versions")["totalCount"] == 1
