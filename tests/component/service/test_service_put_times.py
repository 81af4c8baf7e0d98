"""Datasets and jobs put over what a producer told with a clock that is ahead: they hold, and no later than need be."""

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
    answer = client.put(f"{TEAM}/{node}", json=body)
    assert answer.status_code == 200, answer.text
    known: Body = answer.json()
    return known


def _newest(client: TestClient) -> Body:
    newest: Body = get(client, "/api/v1/events?limit=1")["events"][0]
    return newest


def _tell_ahead(client: TestClient) -> None:
    job = {"namespace": "team", "name": "j", "facets": {"documentation": OLD}}
    post(
        client, event(eventTime=AHEAD, job=job, outputs=[dataset("t", "team", schema=schema("old"), documentation=OLD)])
    )


def test_a_dataset_that_is_put_is_as_it_was_put_though_a_producers_clock_is_ahead(client: TestClient) -> None:
    _tell_ahead(client)

    for name in ("new", "newer"):
        known = _put(client, "datasets/t", **TABLE, description=name, fields=[{"name": name}])
        assert (known["description"], [each["name"] for each in known["fields"]]) == (name, [name])

    versions = get(client, f"{TEAM}/datasets/t/versions")["versions"]
    assert [[each["name"] for each in version["fields"]] for version in versions] == [["newer"], ["new"], ["old"]]
    assert _newest(client)["eventTime"] == "2026-05-22T16:23:11.000002Z"


def test_a_job_that_is_put_is_as_it_was_put_though_a_producers_clock_is_ahead(client: TestClient) -> None:
    _tell_ahead(client)

    known = _put(client, "jobs/j", type="STREAM", description="new", location="https://git/x")

    assert (known["type"], known["description"], known["location"]) == ("STREAM", "new", "https://git/x")
    assert _newest(client)["eventTime"] == JUST_AFTER


@pytest.mark.parametrize("of", [{"dataset": dataset("t", "team")}, {"job": {"namespace": "team", "name": "t"}}])
def test_a_declaration_of_a_time_ahead_is_replaced_by_a_put(client: TestClient, of: dict[str, Any]) -> None:
    post(client, {**OF_NODE, "eventTime": AHEAD, **of, **({"inputs": [dataset("in")]} if "job" in of else {})})

    if "job" in of:
        assert _put(client, "jobs/t", type="BATCH")["inputs"] == []
    else:
        assert [each["name"] for each in _put(client, "datasets/t", **TABLE, fields=[{"name": "new"}])["fields"]] == [
            "new"
        ]
    assert _newest(client)["eventTime"] == JUST_AFTER


def test_a_dataset_under_another_name_of_which_the_clock_was_ahead_is_as_it_was_put(client: TestClient) -> None:
    symlinks = facet(identifiers=[{"namespace": "team", "name": "t", "type": "TABLE"}])
    post(client, event(eventTime=AHEAD, outputs=[dataset("other", schema=schema("old"), symlinks=symlinks)]))

    known = _put(client, "datasets/t", **TABLE, fields=[{"name": "new"}])

    assert [each["name"] for each in known["fields"]] == ["new"]


def test_what_a_run_wrote_is_as_it_was_put_though_a_producers_clock_is_ahead(client: TestClient) -> None:
    _tell_ahead(client)
    run_id = client.post(f"{TEAM}/jobs/j/runs", json={}).json()["id"]

    known = _put(client, "datasets/t", **TABLE, fields=[{"name": "new"}], runId=run_id)

    assert [each["name"] for each in known["fields"]] == ["new"]


def test_a_put_is_of_now_where_nothing_that_it_replaces_is_ahead(client: TestClient) -> None:
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
    told = [_newest_of(client, "dataset")]
    _put(client, "jobs/j", type="BATCH", description="d")
    told.append(_newest_of(client, "job"))

    assert all(each["eventTime"] < "2026-05-22T14:24" for each in told)


def _newest_of(client: TestClient, kind: str) -> Body:
    listed: list[Body] = get(client, "/api/v1/events?sortDirection=desc")["events"]
    return next(each for each in listed if kind in each and "run" not in each)


def test_a_put_over_what_is_ahead_holds_as_of_its_own_time_and_is_received_now(client: TestClient) -> None:
    _tell_ahead(client)
    _put(client, "datasets/t", **TABLE, fields=[{"name": "new"}])
    now = datetime.fromtimestamp(START_US / 1_000_000, UTC) + timedelta(minutes=1)

    def columns(as_of: str) -> list[str]:
        return [each["name"] for each in get(client, f"{TEAM}/datasets/t?asOf={as_of}")["fields"]]

    assert client.get(f"{TEAM}/datasets/t?asOf={now:%Y-%m-%dT%H:%M:%SZ}").status_code == 404
    assert (columns(AHEAD), columns(JUST_AFTER)) == (["old"], ["new"])
    did = get(client, "/api/v1/actions?limit=1")["actions"][0]
    assert did["at"] < "2026-05-22T14:24"
