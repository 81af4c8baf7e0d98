"""The control API over the agent's own store; what needs Spark is in the e2e test."""

import asyncio
from collections.abc import Iterator, MutableMapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from headwater.agent.api import create_api
from headwater.agent.config import AgentConfig
from headwater.agent.loop import Agent, AgentContext
from headwater.agent.store import AgentStore
from headwater.emission import new_run_id

PIPELINE = """
name: orders
namespace: edge
input: {generate: {rows: 1}}
output: {stdout: {rows: 1}}
agent: {schedule: {every: 10m}}
"""


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    config = AgentConfig(allowed_endpoints=("http://localhost:5000", "s3://landing"))
    with AgentStore(tmp_path / "agent.db") as store:
        yield Agent(
            store, AgentContext(home=tmp_path, config=config, now=lambda: datetime.now(UTC), new_run_id=new_run_id)
        )


@pytest.fixture
def api(agent: Agent) -> TestClient:
    return TestClient(create_api(agent, None), base_url="http://agent/api/v1")


def deployed(api: TestClient, text: str = PIPELINE, **more: object) -> dict[str, Any]:
    response = api.post("/jobs", json={"source": text, "by": "ann", **more})
    assert response.status_code == 201, response.text
    job: dict[str, Any] = response.json()
    return job


def test_a_deployed_job_is_listed_and_described_with_its_text(api: TestClient) -> None:
    job = deployed(api, settings={"agent.restart": "never"})

    listed = api.get("/jobs", params={"name": "orders"}).json()
    described = api.get(f"/jobs/{job['id']}").json()

    assert listed == [job]
    assert (described["source"], described["restart"], described["schedule"]) == (PIPELINE, "never", "every 600 s")
    assert (described["version"], described["deployed"]["deployedBy"]) == (1, "ann")


OF_BUCKET = """
name: {name}
namespace: edge
input: {{s3: {{paths: ["s3://landing/{name}/*.json"], format: json, access_key_env: {key}, secret_key_env: SECRET}}}}
output: {{stdout: {{rows: 1}}}}
agent: {{schedule: {{every: 10m}}}}
"""


def test_two_jobs_that_reach_one_bucket_with_two_credentials_are_refused_by_name(api: TestClient) -> None:
    ours = deployed(api, OF_BUCKET.format(name="ours", key="OUR_ID"))

    refused = api.post("/jobs", json={"source": OF_BUCKET.format(name="theirs", key="THEIR_ID")})
    same = deployed(api, OF_BUCKET.format(name="also", key="OUR_ID"))
    api.delete(f"/jobs/{ours['id']}")
    api.delete(f"/jobs/{same['id']}")
    alone = deployed(api, OF_BUCKET.format(name="theirs", key="THEIR_ID"))

    assert refused.status_code == 400
    assert all(word in refused.text for word in ("theirs", "landing", "ours", "credentials"))
    assert "OUR_ID" not in refused.text
    assert alone["name"] == "theirs"


def test_a_job_that_reaches_one_bucket_in_two_ways_is_refused(api: TestClient) -> None:
    text = OF_BUCKET.format(name="ours", key="OUR_ID").replace(
        "{stdout: {rows: 1}}", "{file: {path: s3://landing/out, format: json}}"
    )

    refused = api.post("/jobs", json={"source": text})

    assert refused.status_code == 400
    assert "in two ways" in refused.text


def test_a_pipeline_that_is_wrong_is_refused_with_every_problem(api: TestClient) -> None:
    response = api.post("/jobs", json={"source": "name: orders\nnamspace: edge\n", "path": "/edge/orders.yaml"})

    assert response.status_code == 400
    assert "/edge/orders.yaml:2:1: namspace: unknown key, did you mean 'namespace'?" in response.json()["message"]


def test_an_endpoint_beyond_the_region_is_refused_when_it_is_deployed(api: TestClient) -> None:
    elsewhere = f"{PIPELINE}lineage: {{http: {{endpoint: 'http://elsewhere:5000/api/v1/lineage'}}}}"

    response = api.post("/jobs", json={"source": elsewhere})

    assert response.status_code == 400
    assert "lineage.http.endpoint: http://elsewhere:5000/api/v1/lineage is not in" in response.json()["message"]


def test_a_rerun_waits_for_the_worker_and_a_second_one_is_refused(api: TestClient) -> None:
    job = deployed(api)

    first = api.post(f"/jobs/{job['id']}/rerun", json={})
    second = api.post(f"/jobs/{job['id']}/rerun", json={})

    assert (first.status_code, first.json()["state"], first.json()["trigger"]) == (202, "pending", "rerun")
    assert (second.status_code, "already running" in second.json()["message"]) == (400, True)


def test_a_stopped_job_shows_who_stopped_it_and_why_and_does_not_start_again(api: TestClient) -> None:
    job = deployed(api)
    run_id = api.post(f"/jobs/{job['id']}/rerun", json={}).json()["runId"]

    stopped = api.post(f"/jobs/{job['id']}/stop", json={"by": "ann", "note": "closed"}).json()

    assert (stopped["wanted"], stopped["nextStart"]) == ("stopped", None)
    execution = api.get(f"/executions/{run_id}").json()
    assert (execution["state"], execution["stop"]) == ("stopped", {"reason": "stopped", "by": "ann", "note": "closed"})
    assert [step["state"] for step in execution["transitions"]] == ["pending", "stopped"]


def test_a_job_that_is_stopped_before_it_ever_ran_is_stopped_at_once(api: TestClient) -> None:
    job = deployed(api)

    stopped = api.post(f"/jobs/{job['id']}/stop", json={}).json()

    assert (job["state"], stopped["state"], stopped["wanted"]) == ("pending", "stopped", "stopped")


def test_a_new_version_supersedes_a_running_execution_of_the_old_one(api: TestClient) -> None:
    job = deployed(api)
    run_id = api.post(f"/jobs/{job['id']}/rerun", json={}).json()["runId"]

    again = deployed(api, f"{PIPELINE}description: better\n")

    assert (again["id"], again["version"]) == (job["id"], 2)
    assert api.get(f"/executions/{run_id}").json()["stop"]["reason"] == "superseded"
    history = api.get(f"/jobs/{job['id']}/history").json()
    assert [each["version"] for each in history["versions"]] == [2, 1]
    assert [each["runId"] for each in history["executions"]] == [run_id]


def test_a_deleted_job_is_no_longer_found(api: TestClient) -> None:
    job = deployed(api)

    assert api.delete(f"/jobs/{job['id']}").status_code == 202

    assert api.get("/jobs").json() == []
    assert api.get(f"/jobs/{job['id']}").status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/jobs/7", None, 404),
        ("GET", f"/jobs/{1 << 63}", None, 422),
        ("GET", f"/executions?job={1 << 63}", None, 422),
        ("GET", "/executions?job=1_0", None, 422),
        ("GET", "/executions?limit=1_0", None, 422),
        ("GET", "/jobs/1_0", None, 422),
        ("GET", "/executions/none", None, 404),
        ("GET", "/executions/none/logs", None, 404),
        ("GET", "/nowhere", None, 404),
        ("POST", "/jobs", {"text": "x"}, 422),
        ("POST", "/jobs/7/stop", {}, 404),
        ("POST", "/jobs/7/stop", {"by": "ann", "note": " "}, 400),
        ("POST", "/jobs/7/stop", {"by": ""}, 400),
        ("DELETE", "/jobs/7?note=", None, 400),
        ("GET", "/executions?limit=0", None, 422),
    ],
)
def test_every_refusal_has_one_shape(api: TestClient, method: str, path: str, body: object, status: int) -> None:
    response = api.request(method, path, json=body)

    assert response.status_code == status
    assert response.json().keys() == {"code", "message"}
    assert response.json()["code"] == status


def test_a_request_without_the_token_is_refused_and_logged(agent: Agent, caplog: pytest.LogCaptureFixture) -> None:
    guarded = TestClient(create_api(agent, "s3cret"), base_url="http://agent/api/v1")

    refused = [guarded.get("/node"), guarded.get("/node", headers={"Authorization": "Bearer s3cre"})]
    admitted = guarded.get("/node", headers={"Authorization": "Bearer s3cret"})

    assert [response.status_code for response in refused] == [401, 401]
    assert admitted.json()["jobs"] == 0
    records = [vars(record) for record in caplog.records if record.message == "a request was refused"]
    assert [record["route"] for record in records] == ["/api/v1/node"] * 2
    assert "s3cre" not in str(records)


@pytest.mark.parametrize(
    "body",
    [
        rb'{"source": "\ud800"}',
        rb'{"source": "name: a", "by": "\ud800"}',
        rb'{"source": "name: a", "settings": {"\ud800": "x"}}',
        rb'{"source": "name: a", "\ud800": "x"}',
    ],
)
def test_half_of_a_surrogate_pair_is_refused(api: TestClient, body: bytes) -> None:
    response = api.post("/jobs", content=body, headers={"Content-Type": "application/json"})

    assert (response.status_code, response.json().keys()) == (422, {"code", "message"})


@pytest.mark.parametrize("route", ["/jobs", "/jobs/7/stop"])
@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", ""])
def test_a_body_that_is_not_sent_as_json_is_refused_with_the_header_that_it_needs(
    api: TestClient, route: str, kind: str
) -> None:
    response = api.post(route, content=b'{"source": "name: a"}', headers={"Content-Type": kind} if kind else {})

    assert response.status_code == 422
    assert "expected JSON with the header `Content-Type: application/json`" in response.json()["message"]


def post_in_chunks(app: FastAPI, *chunks: bytes, **headers: str) -> tuple[int, int]:
    """Post a body in these chunks to `/jobs`; the status, and how many chunks were read."""
    remaining = iter(chunks)
    unread = list(chunks)
    messages: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        unread.pop()
        return {"type": "http.request", "body": next(remaining), "more_body": bool(unread)}

    async def send(message: MutableMapping[str, Any]) -> None:
        messages.append(message)

    headers = {"content-type": "application/json", **headers}
    fields = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "POST", "path": "/api/v1/jobs", "query_string": b"", "headers": fields}
    asyncio.run(app(scope, receive, send))
    return messages[0]["status"], len(chunks) - len(unread)


def test_a_request_without_the_token_is_refused_before_its_body_is_read(agent: Agent) -> None:
    guarded = create_api(agent, "s3cret")

    assert post_in_chunks(guarded, b"{", b"}") == (401, 0)
    assert post_in_chunks(guarded, b"{", b"}", authorization="Bearer s3cre") == (401, 0)
    assert post_in_chunks(guarded, b"{", b"}", authorization="Bearer s3cret") == (422, 2)


def test_a_body_is_read_up_to_a_limit_and_then_refused(agent: Agent) -> None:
    chunks = [b" " * (1 << 20)] * 64

    status, chunks_read = post_in_chunks(create_api(agent, None), *chunks)

    assert (status, chunks_read < 20) == (413, True)
    assert post_in_chunks(create_api(agent, None), b"{}", **{"content-length": str(1 << 30)}) == (413, 0)


def test_a_job_that_the_agents_file_no_longer_allows_is_refused_when_the_agent_starts(
    agent: Agent, api: TestClient
) -> None:
    job = deployed(api)
    narrower = replace(agent.context, config=AgentConfig(allowed_endpoints=("https://lineage.eu.example",)))

    restarted = TestClient(create_api(Agent(agent.store, narrower), None), base_url="http://agent/api/v1")

    answer = restarted.get(f"/jobs/{job['id']}").json()
    assert "lineage.http.endpoint: http://localhost:5000/api/v1/lineage is not in" in answer["problem"]
    assert answer["nextStart"] is None
    assert restarted.post(f"/jobs/{job['id']}/rerun", json={}).status_code == 400


def test_a_job_whose_variable_no_longer_holds_text_is_listed_with_the_problem(
    agent: Agent, api: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM", "caf\xe9")
    deployed(api, PIPELINE.replace("edge", "${TEAM}") + "description: ${TEAM}")
    monkeypatch.setenv("TEAM", "caf\udce9")  # the byte E9 alone, as in Latin-1

    restarted = TestClient(create_api(Agent(agent.store, agent.context), None), base_url="http://agent/api/v1")

    (job,) = restarted.get("/jobs").json()
    why = "environment variable TEAM is not valid UTF-8"
    here = f"{agent.context.home / 'agent' / 'pipeline.yaml'}"
    assert job["problem"] == f"{here}:3:12: namespace: {why}\n{here}:7:14: description: {why}"
