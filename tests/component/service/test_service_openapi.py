"""The OpenAPI document matches the service, and every failure has the same shape."""

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
from schemathesis.core.result import Ok
from starlette.testclient import TestClient

from tests.support.app import RUN, Response, event, get, post, served
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


def assert_is_failure(response: Response, status: int) -> None:
    assert response.status_code == status
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert body["code"] == status
    assert isinstance(body["message"], str)
    assert body["message"]
    assert body.keys() <= {"code", "message", "errors"}


def test_every_failure_of_every_route_has_the_same_shape(client: TestClient) -> None:
    operations = [each for each in documented_operations(client) if each[1] != ENDLESS]
    assert len(operations) > 20
    for method, path in operations:
        response = client.request(method, path)
        if response.status_code != 200:
            assert response.status_code in (400, 404, 422)
            assert_is_failure(response, response.status_code)
        own = {each for each, of in operations if of == path}
        for other in {"PUT", "DELETE", "PATCH", "POST", "GET"} - own:
            response = client.request(other, path)
            assert_is_failure(response, 405)
            assert own <= {*response.headers["allow"].split(", ")}
            assert ("HEAD" in response.headers["allow"]) == ("GET" in own)


def test_every_path_lists_its_methods(client: TestClient) -> None:
    operations = [*documented_operations(client)]
    for path in {path for _, path in operations}:
        response = client.options(path)
        assert (response.status_code, response.content) == (200, b"")
        own = {method for method, of in operations if of == path}
        assert {*response.headers["allow"].split(", ")} == own | {"OPTIONS"} | ({"HEAD"} if "GET" in own else set())


@pytest.mark.parametrize(
    "path", ["/api/v1/none", "/none", "/api", "/api/v1/", "/api/v1/jobs//", "/api/jobs/", "/%2e%2e/%2e%2e/etc/passwd"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_unknown_path_is_not_found(client: TestClient, method: str, path: str) -> None:
    assert_is_failure(client.request(method, path), 404)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("lineage", "query param nodeId must not be null"),
        ("column-lineage", "query param nodeId must not be null"),
        ("search", "query param q must not be blank"),
        ("search?q=", "query param q must not be blank"),
        ("search?q=%20%09", "query param q must not be blank"),
        (f"jobs/runs/{RUN}/facets", "query param type must not be null"),
        (f"jobs/runs/{RUN}/facets?type=dataset", "query param type must be one of [RUN, JOB]"),
        ("jobs?limit=-1", "query param limit must be greater than or equal to 0"),
        ("jobs?limit=1001", "query param limit must be less than or equal to 1000"),
        ("jobs?offset=-1", "query param offset must be greater than or equal to 0"),
        ("jobs?logSize=x", "query param logSize must be a whole number"),
        ("jobs?logSize=1_0", "query param logSize must be a whole number"),
        ("log/entries/1_0", "path param index must be a whole number"),
        ("log/proof/consistency?from=1_0", "query param from must be a whole number"),
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
def test_an_invalid_parameter_is_named(client: TestClient, path: str, message: str) -> None:
    response = client.get(f"/api/v1/{path}")

    assert_is_failure(response, 400)
    assert response.json()["message"].startswith(message)
    assert response.json()["errors"] == [response.json()["message"]]


def test_a_fault_of_the_service_is_logged_and_its_details_are_not_returned(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    knowledge = client.app.state.service.knowledge  # type: ignore[attr-defined]
    knowledge.graph.jobs = None  # simulates a fault of ours

    response = client.get("/api/v1/jobs")

    assert_is_failure(response, 500)
    assert response.json()["message"] == "internal error; see the service's log"
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


def test_no_valid_or_invalid_request_causes_a_fault_of_the_service(url: str) -> None:
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    described = [each.ok() for each in schema.get_all_operations() if isinstance(each, Ok)]
    operations = [each for each in described if each.path != ENDLESS]
    for operation in operations:
        call_within(operation, SECONDS / len(operations))
    assert len(operations) > 20


def call_within(operation: Any, seconds: float) -> None:  # noqa: ANN401  schemathesis does not export its type
    """Call one operation with as many generated requests as there is time for, at least one."""
    calls = count()
    end = time.monotonic() + seconds

    @given(case=operation.as_strategy())
    @settings(max_examples=40, suppress_health_check=list(HealthCheck), database=None)
    def call(case: schemathesis.Case[Any]) -> None:
        if next(calls) == 0 or time.monotonic() < end:
            response = case.call()
            case.validate_response(response, checks=[not_a_server_error])

    call()
