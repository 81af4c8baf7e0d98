"""Unknown query parameters and unknown namespaces: neither is ignored."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.routing import Mount
from starlette.testclient import TestClient

from headwater.service.http.query import KnownQuery
from tests.support.app import dataset, event, facet, get, post, schema, served


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with served(tmp_path) as client:
        post(client, event(eventType="COMPLETE", outputs=[dataset("orders", schema=schema("id"))]))
        yield client


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("coverage?limt=5", "limt is unknown: did you mean limit?"),
        ("coverage?NAMESPACE=etl", "NAMESPACE is unknown: did you mean namespace?"),
        ("impact?nodeId=dataset:lake:orders&changes=drop", "changes is unknown: did you mean change?"),
        ("silent-streams?whose=1", "whose is unknown: expected asOf, at, limit, logSize, offset"),
        ("access/me?verbose=1", "verbose is unknown: expected none"),
        ("log/checkpoint?witness=1", "witness is unknown: did you mean witnesses?"),
        ("lineage?nodeId=dataset:lake:orders&asof=2026-05-22T00:00:00Z", "asof is unknown: did you mean asOf?"),
        ("jobs?as_of=1", "as_of is unknown: did you mean asOf?"),
        ("namespaces/etl/jobs?log-size=1", "log-size is unknown: did you mean logSize?"),
    ],
)
def test_a_misspelt_parameter_is_named_with_the_one_that_is_meant(client: TestClient, path: str, message: str) -> None:
    response = client.get(f"/api/v1/{path}")

    assert (response.status_code, response.json()["message"]) == (400, f"query param {message}")


def test_a_misspelt_receipt_parameter_of_a_batch_is_named(client: TestClient) -> None:
    response = client.post("/api/v1/lineage/batch?reciept=true", content=json.dumps([event()]))

    assert response.status_code == 400
    assert response.json()["message"] == "query param reciept is unknown: did you mean receipt?"


@pytest.mark.parametrize("path", ["jobs", "lineage?nodeId=dataset:lake:orders", "search?q=o", "namespaces", "events"])
def test_a_client_of_marquez_may_send_unknown_parameters(client: TestClient, path: str) -> None:
    assert get(client, f"/api/v1/{path}{'&' if '?' in path else '?'}aggregateToParentRun=true") == get(
        client, f"/api/v1/{path}"
    )


def test_every_route_of_the_api_checks_the_names_of_parameters(client: TestClient) -> None:
    app: Any = client.app

    without_check = [
        route.path for route in app.routes if not isinstance(route, KnownQuery) and not isinstance(route, Mount)
    ]

    # Scrapers and load balancers add parameters of their own; events go in without routing.
    assert {*without_check} == {"/healthz", "/metrics", "/openapi.json", "/api/v1/lineage", "/api/v1/lineage/batch"}


@pytest.mark.parametrize("path", ["coverage?", "drift?", "diff?from=log:0&", "diff?fromRun={run}&toRun={run}&"])
def test_an_unknown_namespace_is_not_found(client: TestClient, path: str) -> None:
    run = get(client, "/api/v1/jobs")["jobs"][0]["latestRun"]["id"]

    response = client.get(f"/api/v1/{path.format(run=run)}namespace=nope")

    assert (response.status_code, response.json()["message"]) == (404, "Namespace 'nope' not found.")


def test_a_namespace_is_known_to_a_comparison_if_it_was_at_either_end(client: TestClient) -> None:
    ends = ("from=log:0&to=log:1", "from=log:1&to=log:0")

    changes = [get(client, f"/api/v1/diff?{each}&namespace=lake")["totalCount"] for each in ends]

    assert changes[0] == changes[1] > 0


def test_gaps_of_a_namespace_with_only_a_quarantined_name_are_shown(client: TestClient) -> None:
    declared = event(dataset={"namespace": "mist", "name": "", "facets": {"schema": schema("a")}})
    post(client, {member: declared[member] for member in ("eventTime", "producer", "schemaURL", "dataset")})

    assert get(client, "/api/v1/coverage?namespace=mist")["total"]["gaps"]["quarantinedNames"] == 1


def test_silence_is_measured_at_the_given_time(client: TestClient) -> None:
    pattern = {"eventTrigger": "PERIODIC", "eventContentMode": "COMPLETE_SNAPSHOT", "windowDuration": 60}
    kind = facet(processingType="STREAMING", integration="X", jobType="JOB", emissionPattern=pattern)
    stream = event(run={"runId": "s"}, job={"namespace": "etl", "name": "s", "facets": {"jobType": kind}})
    post(client, {**stream, "eventType": "RUNNING"})

    silent = {
        at: get(client, f"/api/v1/silent-streams?at={quote(at)}")["totalCount"]
        for at in ("2026-05-22T14:24:00Z", "2026-05-22T14:25:00Z")
    }

    assert [*silent.values()] == [0, 1]


@pytest.mark.parametrize(
    "path",
    [
        *("impact", "root-cause", "drift", "identity", "quality", "flow", "control-flow", "containment", "path"),
        "neighbours?way=upstream&type=JOB",
        "diff?from=log:0",
        "identity?nodeId=dataset:lake:orders&other",
    ],
)
@pytest.mark.parametrize("node_id", ["foo", "job:x", "dataset"])
def test_an_invalid_node_id_has_the_same_answer_on_all_our_routes(client: TestClient, path: str, node_id: str) -> None:
    parameter = "other" if path.endswith("other") else "nodeId"
    query = f"={node_id}" if parameter == "other" else f"{'&' if '?' in path else '?'}nodeId={node_id}"

    response = client.get(f"/api/v1/{path}{query}")

    expected = "dataset:NAMESPACE:NAME, datasetField:NAMESPACE:NAME:FIELD, job:NAMESPACE:NAME or run:ID"
    assert response.status_code == 404
    assert response.json()["message"] == f"query param {parameter} cannot be read: expected {expected}"
