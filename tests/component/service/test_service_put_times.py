"""Datasets and jobs put over events of a producer whose clock is ahead: the put wins, no later than needed."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.support.app import START_US, Body, dataset, event, facet, get, post, schema, served

TEAM = "/api/v1/namespaces/team"
TABLE = {"type": "DB_TABLE", "physicalName": "public.t", "sourceName": "default"}
AHEAD = "2026-05-22T16:23:11.000000Z"
JUST_AFTER = "2026-05-22T16:23:11.000001Z"
OLD = facet(description="by event")
OF_NODE = {"producer": "https://example.org", "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json"}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with served(tmp_path) as client:
        client.put(TEAM, json={"ownerName": "ann"}).raise_for_status()
        yield client


def _put(client: TestClient, node: str, **body: object) -> Body:
    response = client.put(f"{TEAM}/{node}", json=body)
    assert response.status_code == 200, response.text
    answer: Body = response.json()
    return answer


def _newest(client: TestClient) -> Body:
    newest: Body = get(client, "/api/v1/events?limit=1")["events"][0]
    return newest


def _post_ahead(client: TestClient) -> None:
    job = {"namespace": "team", "name": "j", "facets": {"documentation": OLD}}
    post(
        client, event(eventTime=AHEAD, job=job, outputs=[dataset("t", "team", schema=schema("old"), documentation=OLD)])
    )


def test_a_put_dataset_is_as_put_although_a_producers_clock_is_ahead(client: TestClient) -> None:
    _post_ahead(client)

    for name in ("new", "newer"):
        answer = _put(client, "datasets/t", **TABLE, description=name, fields=[{"name": name}])
        assert (answer["description"], [each["name"] for each in answer["fields"]]) == (name, [name])

    versions = get(client, f"{TEAM}/datasets/t/versions")["versions"]
    assert [[each["name"] for each in version["fields"]] for version in versions] == [["newer"], ["new"], ["old"]]
    assert _newest(client)["eventTime"] == "2026-05-22T16:23:11.000002Z"


def test_a_put_job_is_as_put_although_a_producers_clock_is_ahead(client: TestClient) -> None:
    _post_ahead(client)

    answer = _put(client, "jobs/j", type="STREAM", description="new", location="https://git/x")

    assert (answer["type"], answer["description"], answer["location"]) == ("STREAM", "new", "https://git/x")
    assert _newest(client)["eventTime"] == JUST_AFTER


@pytest.mark.parametrize("of", [{"dataset": dataset("t", "team")}, {"job": {"namespace": "team", "name": "t"}}])
def test_a_declaration_with_a_future_time_is_replaced_by_a_put(client: TestClient, of: dict[str, Any]) -> None:
    post(client, {**OF_NODE, "eventTime": AHEAD, **of, **({"inputs": [dataset("in")]} if "job" in of else {})})

    if "job" in of:
        assert _put(client, "jobs/t", type="BATCH")["inputs"] == []
    else:
        assert [each["name"] for each in _put(client, "datasets/t", **TABLE, fields=[{"name": "new"}])["fields"]] == [
            "new"
        ]
    assert _newest(client)["eventTime"] == JUST_AFTER


def test_a_dataset_put_under_its_alias_is_as_put_although_a_producers_clock_is_ahead(client: TestClient) -> None:
    symlinks = facet(identifiers=[{"namespace": "team", "name": "t", "type": "TABLE"}])
    post(client, event(eventTime=AHEAD, outputs=[dataset("other", schema=schema("old"), symlinks=symlinks)]))

    answer = _put(client, "datasets/t", **TABLE, fields=[{"name": "new"}])

    assert [each["name"] for each in answer["fields"]] == ["new"]


def test_an_output_put_with_its_run_is_as_put_although_a_producers_clock_is_ahead(client: TestClient) -> None:
    _post_ahead(client)
    run_id = client.post(f"{TEAM}/jobs/j/runs", json={}).json()["id"]

    answer = _put(client, "datasets/t", **TABLE, fields=[{"name": "new"}], runId=run_id)

    assert [each["name"] for each in answer["fields"]] == ["new"]


def test_a_put_has_the_present_time_where_nothing_that_it_replaces_is_ahead(client: TestClient) -> None:
    _put(client, "datasets/t", **TABLE)
    _put(client, "jobs/j", type="BATCH", description="d")
    reads = facet(catalog="c")
    post(
        client,
        event(
            eventTime=AHEAD,
            job={"namespace": "team", "name": "j", "facets": {"sql": facet(query="SELECT 1")}},
            inputs=[dataset("t", "team", catalog=reads)],
        ),
    )

    _put(client, "datasets/t", **TABLE)
    put_events = [_newest_of(client, "dataset")]
    _put(client, "jobs/j", type="BATCH", description="d")
    put_events.append(_newest_of(client, "job"))

    assert all(each["eventTime"] < "2026-05-22T14:24" for each in put_events)


def _newest_of(client: TestClient, kind: str) -> Body:
    listed: list[Body] = get(client, "/api/v1/events?sortDirection=desc")["events"]
    return next(each for each in listed if kind in each and "run" not in each)


def test_a_put_over_a_future_event_counts_from_just_after_it_and_is_received_now(client: TestClient) -> None:
    _post_ahead(client)
    _put(client, "datasets/t", **TABLE, fields=[{"name": "new"}])
    now = datetime.fromtimestamp(START_US / 1_000_000, UTC) + timedelta(minutes=1)

    def columns(as_of: str) -> list[str]:
        return [each["name"] for each in get(client, f"{TEAM}/datasets/t?asOf={as_of}")["fields"]]

    assert client.get(f"{TEAM}/datasets/t?asOf={now:%Y-%m-%dT%H:%M:%SZ}").status_code == 404
    assert (columns(AHEAD), columns(JUST_AFTER)) == (["old"], ["new"])
    did = get(client, "/api/v1/actions?limit=1")["actions"][0]
    assert did["at"] < "2026-05-22T14:24"
