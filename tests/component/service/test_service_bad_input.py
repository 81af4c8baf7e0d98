"""Bad input is refused with the path of what is wrong, or stored and shown; every read still answers."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.support.app import RUN, dataset, event, facet, get, post, schema, served
from tests.support.reads import read_everything

LONG = "x" * 10_000
NUMBER = "9" * 400
GOOD = event(
    eventType="COMPLETE",
    eventTime="2026-05-22T15:00:00Z",
    run={"runId": "0198f7d0-0000-7000-8000-000000000001"},
    inputs=[dataset("orders", schema=schema("id", "price"))],
    outputs=[
        dataset(
            "mart",
            schema=schema("id", "total"),
            columnLineage=facet(
                fields={"total": {"inputFields": [{"namespace": "lake", "name": "orders", "field": "price"}]}}
            ),
        )
    ],
)


def raw_event(**members: str) -> bytes:
    """An event with additional members of raw JSON."""
    text = json.dumps(event())[:-1]
    return (text + "".join(f', "{name}": {value}' for name, value in members.items()) + "}").encode()


def with_facets(**facets: object) -> bytes:
    return json.dumps(event(outputs=[dataset("mart", **facets)])).encode()


def with_run_facets(**facets: object) -> bytes:
    return json.dumps(event(run={"runId": RUN, "facets": facets})).encode()


def with_job_facets(**facets: object) -> bytes:
    return json.dumps(event(job={"namespace": "etl", "name": "load", "facets": facets})).encode()


def many(count: int) -> list[dict[str, object]]:
    return [{"namespace": "lake", "name": f"t{number}", "type": "TABLE"} for number in range(count)]


MOST_NAMES = 10_000
REFUSED = {
    "empty body": (b"", 422, "event: the body is empty"),
    "white space": (b" \n", 422, "event: the body is empty"),
    "no JSON": (b"{", 400, "event: not JSON at line 1"),
    "open brackets": (b"[" * 200_000, 400, "event: more than"),
    "open objects": (b'{"a":' * 200_000, 400, "event: more than"),
    "not UTF-8": (b'{"a": "\xff"}', 400, "event: not UTF-8 at byte 7"),
    "a facet's name not UTF-8": (
        with_run_facets(u=facet()).replace(b'"u"', b'"\xfc"'),
        400,
        "event: not UTF-8 at byte ",
    ),
    "NaN": (raw_event(x="NaN"), 400, "x: NaN is not JSON"),
    "null": (b"null", 422, "event: expected an object"),
    "an array": (b"[]", 422, "event: expected an object"),
    "a number": (b"5", 422, "event: expected an object"),
    "no event": (b"{}", 422, "event: expected one of run (with job), job or dataset"),
    "wrong type of run": (json.dumps(event(run=5)).encode(), 422, "run: expected an object"),
    "wrong type of inputs": (json.dumps(event(inputs={})).encode(), 422, "inputs: expected an array"),
    "wrong type of a name": (
        json.dumps(event(outputs=[dataset("a"), {"namespace": "lake", "name": 7}])).encode(),
        422,
        "outputs.1.name: expected a string",
    ),
    "unknown eventType": (json.dumps(event(eventType="STARTED")).encode(), 422, "eventType: "),
    "no time": (json.dumps(event(eventTime=None)).encode(), 422, "eventTime: "),
    "a day for a time": (json.dumps(event(eventTime="2026-05-22")).encode(), 422, "eventTime: "),
    "empty run id": (json.dumps(event(run={"runId": ""})).encode(), 422, "run.runId: must not be empty"),
    "empty job name": (json.dumps(event(job={"namespace": "etl", "name": ""})).encode(), 422, "job.name: "),
    "NUL in a job name": (json.dumps(event(job={"namespace": "etl", "name": "a\0"})).encode(), 422, "job.name: "),
    "NUL in a dataset name": (json.dumps(event(inputs=[dataset("a\0b")])).encode(), 422, "inputs.0.name: "),
    "a key twice": (raw_event(job='{"namespace": "etl", "name": "load"}'), 422, "job: duplicate key"),
    "a fraction out of range": (raw_event(x="1e400"), 422, "x: the number is out of range"),
    "facets that are a string": (json.dumps(event(run={"runId": RUN, "facets": "x"})).encode(), 422, "run.facets: "),
    "a facet that is a string": (with_facets(schema="fields"), 422, "outputs.0.facets.schema: expected an object"),
    "a facet that is null": (with_facets(schema=None), 422, "outputs.0.facets.schema: expected an object"),
    "too many inputs": (
        json.dumps(event(inputs=many(MOST_NAMES + 1))).encode(),
        422,
        "inputs: an event may hold 10,000",
    ),
    "too many other names": (
        json.dumps(event(outputs=[*many(3), dataset("mart", symlinks=facet(identifiers=many(MOST_NAMES)))])).encode(),
        422,
        "outputs.3.facets.symlinks.identifiers: an event may hold 10,000 datasets and aliases of these",
    ),
    "too many other names of what is declared": (
        json.dumps(
            {
                "eventTime": "2026-05-22T14:23:11Z",
                "producer": "p",
                "dataset": dataset("mart", symlinks=facet(identifiers=many(MOST_NAMES))),
            }
        ).encode(),
        422,
        "dataset.facets.symlinks.identifiers: an event may hold 10,000",
    ),
}

STORED = {
    "a run id that is no UUID": json.dumps(event(run={"runId": "Nightly 7/3?"})).encode(),
    "an empty namespace": json.dumps(event(inputs=[dataset("orders", "")])).encode(),
    "an empty dataset name": json.dumps(event(outputs=[dataset("")])).encode(),
    "long names": json.dumps(event(job={"namespace": LONG, "name": LONG}, inputs=[dataset(LONG, LONG)])).encode(),
    "names of every kind": json.dumps(
        event(
            job={"namespace": "a/b%2F:c?d#e", "name": "../.. 100%\n\u2028\U0001f600"},
            inputs=[dataset("..", "s3://b%uck/et"), dataset("a\\b\"c'd", "{}<>&")],
        )
    ).encode(),
    "a lone surrogate": (
        b'{"eventTime":"2026-05-22T14:23:11Z","producer":"p","job":{"namespace":"n","name":"\\ud800x"}}'
    ),
    "NUL in a facet": with_facets(documentation=facet(description="a\0b"), schema=schema("a\0b")),
    "a number of 400 digits": raw_event(x=NUMBER),
    "numbers of 400 digits in facets": with_run_facets(
        headwater_run=facet(recordsIn=int(NUMBER), durationMs=int(NUMBER)), other=facet(x=int(NUMBER), y=-int(NUMBER))
    ),
    "the first and the last moment": json.dumps(event(eventTime="0001-01-01T00:00:00+14:00")).encode(),
    "beyond the last moment": json.dumps(event(eventTime="9999-12-31T23:59:59-14:00")).encode(),
    "null for every optional member": json.dumps(
        event(eventType=None, inputs=None, outputs=None, schemaURL=None, run={"runId": RUN, "facets": None})
    ).encode(),
    "schema fields are a string": with_facets(schema=facet(fields="x")),
    "schema fields are of all kinds": with_facets(
        schema=facet(fields=[5, None, {}, {"name": 7}, {"name": "a", "type": ["x"], "fields": [{"name": "b"}, 7]}])
    ),
    "column lineage of a list": with_facets(columnLineage=facet(fields=[{"a": 1}])),
    "column lineage of all kinds": with_facets(
        columnLineage=facet(
            fields={"a": {"inputFields": [7, {"namespace": "lake"}, {"namespace": "lake", "name": "o", "field": 5}]}},
            dataset="x",
        )
    ),
    "column lineage from itself": with_facets(
        schema=schema("a", "b"),
        columnLineage=facet(
            fields={"a": {"inputFields": [{"namespace": "lake", "name": "mart", "field": "b"}]}},
            dataset=[{"namespace": "lake", "name": "mart", "field": "a"}],
        ),
    ),
    "symlinks are a number": with_facets(symlinks=facet(identifiers=5)),
    "symlinks in a circle": with_facets(
        symlinks=facet(
            identifiers=[{"namespace": "lake", "name": name, "type": "TABLE"} for name in ("mart", "m2", "")]
        )
    ),
    "an empty parent": with_run_facets(parent={}),
    "a parent that is itself": with_run_facets(
        parent=facet(run={"runId": RUN}, job={"namespace": "etl", "name": "load"})
    ),
    "a parent of wrong types": with_run_facets(parent=facet(run=[], job="x")),
    "a nominal time that is none": with_run_facets(nominalTime=facet(nominalStartTime="noon")),
    "counters of wrong types": with_run_facets(headwater_run=facet(recordsIn="many"), expanso_run=facet(fields=7)),
    "job facets of wrong types": with_job_facets(
        documentation=facet(description=5),
        jobType=facet(processingType=[], integration={}),
        sourceCodeLocation=facet(url=5),
        lineage=facet(entries="x"),
        sql={},
    ),
    "dataset facets of wrong types": with_facets(
        documentation=facet(description=[]),
        dataSource=facet(name=5, uri=5),
        datasetType=facet(datasetType=5),
        lifecycleStateChange=facet(lifecycleStateChange="MELT"),
        version=facet(datasetVersion={}),
        lineage=facet(inputs={}, fields=[]),
    ),
    "facets that are deleted": with_facets(schema={"_deleted": True}, symlinks={"_deleted": True}),
    "facets deep inside": with_facets(deep=json.loads('{"a":' * 200 + "{}" + "}" * 200)),
    "a job and a dataset of one name": json.dumps(
        event(job={"namespace": "lake", "name": "mart"}, inputs=[dataset("orders")], outputs=[dataset("mart")])
    ).encode(),
}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with served(tmp_path) as client:
        post(client, GOOD)
        yield client


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_names_the_path_of_what_is_wrong(client: TestClient, case: str) -> None:
    raw, status, message = REFUSED[case]

    answer = client.post("/api/v1/lineage", content=raw)

    assert answer.status_code == status
    assert answer.json()["code"] == status
    assert answer.json()["message"].startswith(message)
    assert len(answer.content) < 1_000
    assert get(client, "/api/v1/events/lineage")["totalCount"] == 1
    read_everything(client)


@pytest.mark.parametrize("case", STORED)
def test_odd_but_valid_events_are_stored_and_every_read_still_answers(client: TestClient, case: str) -> None:
    raw = STORED[case]

    answer = client.post("/api/v1/lineage", content=raw)

    assert answer.status_code == 201, answer.text
    assert raw in client.get("/api/v1/events").content
    read_everything(client)


def test_a_dataset_without_a_full_name_is_quarantined(client: TestClient) -> None:
    post(client, event(inputs=[dataset("orders", "")], outputs=[dataset("")]))

    quarantine = get(client, "/api/v1/quarantine")
    inputs = get(client, "/api/v1/namespaces/etl/jobs/load")["inputs"]

    quarantined = [
        (each["subject"], each["direction"], each["namespace"], each["name"]) for each in quarantine["quarantine"]
    ]
    assert quarantined == [(f"run:{RUN}", "input", "", "orders"), (f"run:{RUN}", "output", "lake", "")]
    assert quarantine["totalCount"] == get(client, "/api/v1/summary")["quarantined"] == 2
    assert inputs == [{"namespace": "lake", "name": "orders"}]


@pytest.mark.parametrize("sides", [("inputs", "outputs"), ("outputs", "inputs")])
def test_names_in_quarantine_have_one_order_whatever_order_they_arrived_in(
    client: TestClient, sides: tuple[str, str]
) -> None:
    post(client, *(event(eventType="RUNNING", **{side: [dataset("orders", "")]}) for side in sides))

    quarantine = get(client, "/api/v1/quarantine")["quarantine"]

    assert [each["direction"] for each in quarantine] == ["input", "output"]
