"""The OpenAPI page is true, and every failure has one shape."""

import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from starlette.testclient import TestClient

from tests.support.app import RUN, Answer, event, get, post, served
from tests.support.reads import ENDLESS, documented_operations
from tests.support.service import running

SECONDS = 20


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with served(tmp_path) as client:
        post(client, event())
        yield client


A_TIME = "expected a time such as 2026-05-22T14:23:11Z, or milliseconds since 1970"
A_TIME_WITH_ZONE = "expected a time with its zone such as 2026-05-22T14:23:11Z, or milliseconds since 1970"


def assert_is_failure(answer: Answer, status: int) -> None:
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert body["code"] == status
    assert isinstance(body["message"], str)
    assert body["message"]
    assert body.keys() <= {"code", "message", "errors"}


def test_every_failure_of_every_route_has_one_shape(client: TestClient) -> None:
    operations = [each for each in documented_operations(client) if each[1] != ENDLESS]
    assert len(operations) > 20
    for method, path in operations:
        answer = client.request(method, path)
        if answer.status_code != 200:
            assert answer.status_code in (400, 404, 422)
            assert_is_failure(answer, answer.status_code)
        own = {each for each, of in operations if of == path}
        for other in {"PUT", "DELETE", "PATCH", "POST", "GET"} - own:
            answer = client.request(other, path)
            assert_is_failure(answer, 405)
            assert own <= {*answer.headers["allow"].split(", ")}
            assert ("HEAD" in answer.headers["allow"]) == ("GET" in own)


def test_every_path_tells_its_methods(client: TestClient) -> None:
    operations = [*documented_operations(client)]
    for path in {path for _, path in operations}:
        answer = client.options(path)
        assert (answer.status_code, answer.content) == (200, b"")
        own = {method for method, of in operations if of == path}
        assert {*answer.headers["allow"].split(", ")} == own | {"OPTIONS"} | ({"HEAD"} if "GET" in own else set())


@pytest.mark.parametrize(
    "path", ["/api/v1/none", "/none", "/api", "/api/v1/", "/api/v1/jobs//", "/api/jobs/", "/%2e%2e/%2e%2e/etc/passwd"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_is_no_route_is_not_found(client: TestClient, method: str, path: str) -> None:
    assert_is_failure(client.request(method, path), 404)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("lineage", "query param nodeId must not be null"),
        ("column-lineage", "query param nodeId must not be null"),
        ("search", "query param q must not be blank"),
        (f"jobs/runs/{RUN}/facets", "query param type must not be null"),
        (f"jobs/runs/{RUN}/facets?type=dataset", "query param type must be one of [RUN, JOB]"),
        ("jobs?limit=-1", "query param limit must be greater than or equal to 0"),
        ("jobs?limit=1001", "query param limit must be less than or equal to 1000"),
        ("jobs?offset=-1", "query param offset must be greater than or equal to 0"),
        ("jobs?logSize=x", "query param logSize must be a whole number"),
        ("events/lineage?sortDirection=up", "query param sortDirection must be one of [DESC, ASC]"),
        ("events/lineage?before=x", f"query param before cannot be read: {A_TIME}"),
        ("events?after=2026-13-01", f"query param after cannot be read: {A_TIME}"),
        ("jobs?asOf=x", f"query param asOf cannot be read: {A_TIME_WITH_ZONE}"),
        ("drift?from=x", f"query param from cannot be read: {A_TIME_WITH_ZONE}"),
        ("drift?to=2026-01-01", f"query param to cannot be read: {A_TIME_WITH_ZONE}"),
        ("coverage?at=x", f"query param at cannot be read: {A_TIME_WITH_ZONE}"),
        ("silent-streams?at=x", f"query param at cannot be read: {A_TIME_WITH_ZONE}"),
        ("search?q=a&after=2026-02-30", "query param after cannot be read: expected an existing day, such as "),
        ("coverage?kind=lost", "query param kind must be one of [quarantined-name, run-without-start, "),
        (
            "jobs?lastRunStates=DONE",
            "query param lastRunStates must be one of [NEW, RUNNING, COMPLETED, ABORTED, FAILED]",
        ),
    ],
)
def test_a_wrong_parameter_is_named(client: TestClient, path: str, message: str) -> None:
    answer = client.get(f"/api/v1/{path}")

    assert_is_failure(answer, 400)
    assert answer.json()["message"].startswith(message)
    assert answer.json()["errors"] == [answer.json()["message"]]


def test_a_fault_of_the_service_is_logged_and_its_details_are_not_told(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    knowledge = client.app.state.service.knowledge  # type: ignore[attr-defined]
    knowledge.graph.jobs = None  # what a fault of ours would be like

    answer = client.get("/api/v1/jobs")

    assert_is_failure(answer, 500)
    assert answer.json()["message"] == "internal error; see the service's log"
    (record,) = [record for record in caplog.records if record.name == "headwater.service.http.failures"]
    assert (record.levelname, vars(record)["path"], record.exc_info is not None) == ("ERROR", "/api/v1/jobs", True)


def test_every_parameter_and_answer_is_described(client: TestClient) -> None:
    page = get(client, "/openapi.json")
    for path, methods in page["paths"].items():
        for method, operation in methods.items():
            assert operation["description"], path
            for parameter in operation.get("parameters", []):
                assert parameter["description"], f"{method} {path} {parameter['name']}"
            for status, response in operation["responses"].items():
                assert response.get("content"), f"{method} {path} {status}"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running(tmp_path_factory.mktemp("home")) as service:
        httpx.post(f"{service.url}/api/v1/lineage", json=event()).raise_for_status()
        yield service.url


def test_no_request_that_the_page_allows_or_forbids_is_a_fault_of_the_service(url: str) -> None:
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    operations = [each.ok() for each in schema.get_all_operations() if each.ok().path != ENDLESS]
    for operation in operations:
        ask(operation, SECONDS / len(operations))
    assert len(operations) > 20


def ask(operation: Any, seconds: float) -> None:  # noqa: ANN401  schemathesis does not export its type
    """Call one operation in all the ways that there is time for, at least one."""
    calls = count()
    end = time.monotonic() + seconds

    @given(case=operation.as_strategy())
    @settings(max_examples=60, suppress_health_check=list(HealthCheck), database=None)
    def call(case: schemathesis.Case) -> None:
        if next(calls) == 0 or time.monotonic() < end:
            response = case.call()
            case.validate_response(response, checks=[not_a_server_error])

    call()
