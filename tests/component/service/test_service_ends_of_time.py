"""Times at the ends of the calendar, and just beyond them, wherever a time can be sent."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from starlette.testclient import TestClient

from headwater.model.times import LAST_US, microseconds
from headwater.service.views.stats import edges_us
from tests.support.app import RUN, Body, dataset, event, get, post, schema, served
from tests.support.reads import ENDLESS, read_everything

TIMES = (
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00+14:00",
    "0001-01-01",
    "-62135596800000",
    "-62135596800001",
    "9999-12-31T23:59:59.999999Z",
    "9999-12-31T23:59:59-14:00",
    "9999-12-31",
    "253402300799999",
    "253402300800000",
)
NEEDED = {"nodeId": "dataset:lake:orders", "type": "run", "q": "o", "runId": RUN, "index": "0", "from": "1"}
IN_PATHS = {"namespace": "lake", "name": "orders", "field": "id", "run_id": RUN, "mark": "complete"}
ZONES = ("UTC", "Pacific/Kiritimati", "Pacific/Midway")
BODIES: dict[str, tuple[str, dict[str, object]]] = {
    "/api/v1/namespaces/etl/jobs/load/runs": ("nominalStartTime", {"nominalEndTime": TIMES[0]}),
    "/api/v1/access/keys": ("until", {"name": "k", "roles": ["reader"]}),
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with served(tmp_path_factory.mktemp("service")) as client:
        post(client, event(outputs=[dataset("orders", schema=schema("id"))]))
        yield client


def _parameters(client: TestClient) -> Iterator[tuple[str, str, str, dict[str, str]]]:
    """For each text parameter in the query of a route: method, path, the parameter, and the required others."""
    for template, methods in client.get("/openapi.json").json()["paths"].items():
        for method, described in methods.items() if template != ENDLESS else ():
            parameters = described.get("parameters", [])
            names = {each["name"]: IN_PATHS.get(each["name"], "x") for each in parameters if each["in"] == "path"}
            of_query = [each for each in parameters if each["in"] == "query"]
            needed = {each["name"]: NEEDED.get(each["name"], "x") for each in of_query if each.get("required")}
            for each in of_query:
                if each["schema"].get("type") != "integer":
                    yield method, template.format_map(names), each["name"], needed


@pytest.mark.parametrize("time", TIMES)
def test_no_parameter_fails_with_a_time_at_the_ends_of_the_calendar(client: TestClient, time: str) -> None:
    requests = [
        (method, path, {**needed, **more, name: time})
        for method, path, name, needed in _parameters(client)
        for more in (_statistics_queries() if "/stats/" in path else ({},))
    ]

    failed = [each for each in requests if client.request(each[0], each[1], params=each[2]).status_code >= 500]

    assert failed == []
    assert any("at" in query for _, _, query in requests)


def _statistics_queries() -> list[dict[str, str]]:
    return [{"period": "DAY"}, *({"period": "WEEK", "timezone": zone} for zone in ZONES)]


@pytest.mark.parametrize("time", TIMES)
@pytest.mark.parametrize("path", BODIES)
def test_no_body_fails_with_a_time_at_the_ends_of_the_calendar(client: TestClient, path: str, time: str) -> None:
    name, others = BODIES[path]

    answer = client.post(path, json={**others, name: time})

    assert answer.status_code < 500


def test_these_tests_cover_each_time_in_a_body(client: TestClient) -> None:
    described = client.get("/openapi.json").json()["components"]["schemas"]
    bodies = {kind: each for kind, each in described.items() if kind.endswith("Body")}

    timed = {name for body in bodies.values() for name, each in body["properties"].items() if _is_time(each)}

    assert timed == {"until", "nominalStartTime", "nominalEndTime"}


def _is_time(described: Body) -> bool:
    return "date-time" in json.dumps(described)


@pytest.mark.parametrize("mark", ["start", "complete", "fail", "abort"])
@pytest.mark.parametrize(
    ("at", "shown"),
    [
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00.000Z"),
        ("9999-12-31T23:59:59-14:00", "9999-12-31T23:59:59.999Z"),
    ],
)
def test_a_run_may_change_its_state_at_the_ends_of_the_calendar(tmp_path: Path, mark: str, at: str, shown: str) -> None:
    with served(tmp_path) as client:
        client.put("/api/v1/namespaces/team", json={"ownerName": "ann"})
        client.put("/api/v1/namespaces/team/jobs/j", json={"type": "BATCH"})
        run_id = client.post("/api/v1/namespaces/team/jobs/j/runs", json={}).json()["id"]

        answer = client.post(f"/api/v1/jobs/runs/{run_id}/{mark}", params={"at": at})

        assert answer.status_code == 200
        events: Any = get(client, "/api/v1/events/lineage")["events"]
        assert {answer.json()["startedAt"], answer.json()["endedAt"]} == {shown, None}
        assert shown[:-1] in {each["eventTime"][:23] for each in events}
        read_everything(client)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("year", [2, 9998])
def test_a_week_at_the_ends_of_the_calendar_has_its_usual_days(year: int, zone: str) -> None:
    now = datetime(year, 3, 1, 12, tzinfo=UTC)
    days = [(now.astimezone(ZoneInfo(zone)) + timedelta(days=n)).date() for n in range(-6, 2)]

    edges = edges_us("WEEK", microseconds(now), ZoneInfo(zone))

    assert edges == [microseconds(datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone))) for day in days]


def test_the_last_day_and_week_of_the_calendar_have_all_their_hours_and_days() -> None:
    day, week = (edges_us(period, LAST_US, ZoneInfo("UTC")) for period in ("DAY", "WEEK"))

    assert (len(day), len(week)) == (25, 8)
    assert day[-1] == week[-1] == LAST_US + 1
