"""Access control: keys, roles, scopes, and the names that an answer hides. All tests share one app."""

import asyncio
import json
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet, OKPKey
from starlette.routing import Mount
from starlette.testclient import TestClient

from headwater.access.config import OidcConfig
from headwater.access.entrance import Entrance
from headwater.access.key_set import ProviderKeys
from headwater.access.oidc import Provider
from headwater.access.operator import operator_token
from headwater.access.policy import Policy
from headwater.service.gate.rules import OPEN, RULES
from headwater.service.gate.words import FORMAT
from headwater.signing.keys import NodeKey
from headwater.signing.note import NoteSigner
from headwater.signing.sign import sign_event
from headwater.store.sqlite import SqliteStore
from tests.support.app import LOG_KEY, RUN, START_US, Response, dataset, event, facet, schema, serving
from tests.support.callers import Caller, caller, guarded
from tests.support.reads import answer_schema

NODE = NodeKey.from_seed("11111111-1111-1111-1111-111111111111", bytes(32))
OTHER_NODE = NodeKey.from_seed("22222222-2222-2222-2222-222222222222", bytes(range(32)))
HIDDEN_RUN = "0198f7d0-0000-7000-8000-00000000beef"
COLUMN_LINEAGE = facet(
    fields={
        "zz_ssn": {"inputFields": [{"namespace": "zz_vault", "name": "zz_people", "field": "zz_number"}]},
        "name": {"inputFields": [{"namespace": "zz_vault", "name": "zz_people", "field": "zz_called"}]},
    }
)
CUSTOMERS = dataset(
    "customers",
    "lake",
    schema=schema("id", "name", "zz_ssn"),
    columnLineage=COLUMN_LINEAGE,
    tags=facet(tags=[{"key": "Restricted", "value": "true", "source": "CATALOG", "field": "zz_ssn"}]),
)
PEOPLE = dataset("zz_people", "zz_vault", schema=schema("zz_number", "zz_called"))
REPORT = dataset(
    "report",
    "lake",
    schema=schema("zz_ssn_seen", "who"),
    columnLineage=facet(
        fields={"who": {"inputFields": [{"namespace": "lake", "name": "customers", "field": "zz_ssn"}]}}
    ),
)
OWNED = facet(owners=[{"name": "zz_ann", "type": "MAINTAINER"}])
MISSED = facet(assertions=[{"assertion": "zz_between", "success": False, "column": "zz_sum"}])
SUMMED = facet(
    fields={
        "zz_sum": {
            "inputFields": [
                {
                    "namespace": "lake",
                    "name": "report",
                    "field": "who",
                    "transformations": [{"type": "DIRECT", "subtype": "AGGREGATION", "description": "count zz_sum"}],
                }
            ]
        }
    }
)
MEASURED = facet(columnMetrics={"zz_number": {"nullCount": 3}})
LATER_RUN = "0198f7d0-0000-7000-8000-00000000cafe"
SQL = facet(query="SELECT Zz_Ssn AS who FROM customers")
EVENTS = [
    event(
        run={"runId": HIDDEN_RUN},
        job={"namespace": "zz_vault", "name": "zz_fill"},
        eventType="COMPLETE",
        outputs=[PEOPLE],
    ),
    event(eventType="COMPLETE", inputs=[PEOPLE], outputs=[CUSTOMERS]),
    event(
        run={"runId": str(uuid4())},
        job={"namespace": "etl", "name": "tell", "facets": {"sql": SQL}},
        eventType="COMPLETE",
        inputs=[CUSTOMERS],
        outputs=[REPORT],
    ),
    event(
        run={"runId": str(uuid4())},
        job={"namespace": "zz_vault", "name": "zz_after", "facets": {"ownership": OWNED}},
        eventType="FAIL",
        inputs=[REPORT],
        outputs=[dataset("zz_out", "zz_vault", ownership=OWNED, dataQualityAssertions=MISSED, columnLineage=SUMMED)],
    ),
    event(
        run={"runId": str(uuid4())},
        job={"namespace": "zz_vault", "name": "zz_fill", "facets": {"ownership": OWNED}},
        eventTime="2026-05-22T14:23:12Z",
        eventType="FAIL",
        outputs=[PEOPLE],
    ),
    event(
        run={"runId": LATER_RUN},
        eventTime="2026-05-22T14:23:13Z",
        eventType="COMPLETE",
        inputs=[{**PEOPLE, "inputFacets": {"dataQualityMetrics": MEASURED}}],
        outputs=[CUSTOMERS],
    ),
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    trusted = {key.key_id: key.public_key for key in (NODE, OTHER_NODE)}
    never = '@id("no-rain") forbid (principal, action, resource) when { context.namespace == "rain" };'
    store = SqliteStore(tmp_path_factory.mktemp("access") / "headwater.db")
    with closing(store), serving(store, trusted, entrance=Entrance(Policy(never))) as client:
        admin = Caller(client, operator_token(LOG_KEY, "ann", START_US))
        for each in EVENTS:
            assert admin("POST", "/api/v1/lineage", content=json.dumps(each)).status_code == 201
        yield client


@pytest.fixture
def admin(client: TestClient) -> Caller:
    return Caller(client, operator_token(LOG_KEY, "ann", START_US))


def routes(client: TestClient) -> set[str]:
    """Every route of the app, including those that the OpenAPI page omits."""
    app: Any = client.app
    found = set()
    for route in app.routes:
        if isinstance(route, Mount):
            found.add(f"files {route.path}")
            continue
        found |= {f"{method} {route.path_format}" for method in route.methods - {"HEAD"}}
    return found


def test_every_route_of_the_app_has_a_rule_and_no_rule_is_without_a_route(client: TestClient) -> None:
    open_files = {"files /spec"}
    assert {*RULES, *OPEN, *open_files} == routes(client)
    assert not {*RULES} & OPEN


@pytest.mark.parametrize("route", sorted(RULES))
def test_no_route_is_open_without_a_token(client: TestClient, route: str) -> None:
    method, path = route.split()

    answer = client.request(method, path.replace("{mark}", "start"))

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert "Bearer TOKEN" in answer.json()["message"]


def test_the_openapi_page_says_which_routes_require_a_token_and_their_errors(client: TestClient) -> None:
    page = client.get("/openapi.json").json()

    (scheme,) = page["components"]["securitySchemes"].items()
    assert (scheme[0], scheme[1]["type"], scheme[1]["scheme"]) == ("bearer", "http", "bearer")
    for path, methods in page["paths"].items():
        for method, operation in methods.items():
            route = f"{method.upper()} {path}"
            is_closed = route not in OPEN
            assert operation.get("security") == ([{}, {"bearer": []}] if is_closed else None), route
            assert ("401" in operation["responses"]) is is_closed, route
            assert not is_closed or RULES[route].action is None or "403" in operation["responses"], route
            for status, response in operation["responses"].items():
                if status.startswith("4"):
                    assert response["content"]["application/json"]["schema"]["$ref"].endswith("/Failure"), route


def test_open_routes_require_no_token(client: TestClient) -> None:
    open_paths = [path for method, path in map(str.split, OPEN) if method == "GET"]

    statuses = {path: client.get(path).status_code for path in open_paths}

    assert all(status in (200, 400) for status in statuses.values()), statuses


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/nothing",
        "/api/v1/line%61ge",
        "/%61pi/v1/lineage",
        "/api%2fv1/lineage",
        "/API/v1/lineage",
        "//api/v1/lineage",
    ],
)
def test_another_spelling_of_a_path_does_not_bypass_the_token(client: TestClient, path: str) -> None:
    assert client.post(path, content=json.dumps(event())).status_code in (401, 404)
    assert client.get(path).status_code in (401, 404)


@pytest.mark.parametrize(
    "token",
    [
        "hw_0123456789ab_" + "A" * 43,
        "hwop_AAAA",
        "a.b.c",
        operator_token(NoteSigner.from_seed("lineage.example.org", bytes(31) + b"1"), "eve", START_US),
        operator_token(LOG_KEY, "ann", START_US - 3_600_000_000),
        operator_token(LOG_KEY, "ann", START_US + 3_600_000_000),
    ],
)
def test_an_invalid_token_is_rejected(client: TestClient, token: str) -> None:
    answer = Caller(client, token)("GET", "/api/v1/jobs")

    assert answer.status_code == 401
    assert token not in answer.text


def test_a_revoked_key_is_rejected_and_its_history_is_in_the_log(admin: Caller) -> None:
    made = admin("POST", "/api/v1/access/keys", json={"name": "ci", "roles": ["read"], "scopes": ["*"]}).json()
    holder = Caller(admin._client, made["secret"])
    before = holder("GET", "/api/v1/jobs").status_code

    revoked = admin("DELETE", "/api/v1/access/keys/ci")

    assert (before, revoked.status_code, holder("GET", "/api/v1/jobs").status_code) == (200, 200, 401)
    log = admin("GET", "/api/v1/edits").json()["edits"]
    history = [
        (entry["by"], edit["what"])
        for entry in (each["entry"] for each in log)
        for edit in entry["edits"]
        if edit["target"] == ["access-key", made["id"]]
    ]
    assert history == [("operator:ann", "revoked"), ("operator:ann", "granted")]
    assert made["secret"] not in json.dumps(log)
    (listed,) = (each for each in admin("GET", "/api/v1/access/keys").json()["keys"] if each["id"] == made["id"])
    assert listed["isRevoked"] is True
    assert "secret" not in listed


def test_all_keys_that_were_created_with_one_name_at_the_same_time_are_revoked_by_it(admin: Caller) -> None:
    def created(_: int) -> Response:
        return admin("POST", "/api/v1/access/keys", json={"name": "ci", "roles": ["read"], "scopes": ["*"]})

    with ThreadPoolExecutor(8) as at_once:
        answers = [*at_once.map(created, range(8))]
    admin("DELETE", "/api/v1/access/keys/ci")

    holders = [Caller(admin._client, each.json()["secret"]) for each in answers if each.status_code == 201]
    assert {holder("GET", "/api/v1/jobs").status_code for holder in holders} == {401}


def test_a_key_expires_at_its_time(admin: Caller) -> None:
    caller(admin, "read")
    made_at = datetime.fromisoformat(admin("GET", "/api/v1/actions").json()["actions"][0]["at"])
    holder = caller(admin, "read", until=(made_at + timedelta(milliseconds=50)).isoformat())

    # the clock advances with each request
    before, *later = (holder("GET", "/api/v1/jobs").status_code for _ in range(60))

    assert (before, later[-1]) == (200, 401)
    assert later == sorted(later)


def test_an_expired_key_is_not_created(admin: Caller) -> None:
    body = {"name": "late", "roles": ["read"], "scopes": ["lake"], "until": "2026-05-22T14:00:00Z"}
    caller(admin, "read", name="in time")

    answer = admin("POST", "/api/v1/access/keys", json=body)

    assert (answer.status_code, answer.json()["message"].partition(":")[0]) == (400, "until")
    names = {key["name"] for key in admin("GET", "/api/v1/access/keys").json()["keys"]}
    assert names & {"late", "in time"} == {"in time"}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", " ci"),
        ("name", "ci\n"),
        ("roles", []),
        ("roles", ["read", "king"]),
        ("scopes", []),
        ("nodes", []),
        ("nodes", ["edge-7"]),
    ],
)
def test_a_key_whose_grant_is_not_clear_is_not_created(admin: Caller, field: str, value: object) -> None:
    body = {"name": "ci", "roles": ["read"], "scopes": ["lake"], field: value}

    answer = admin("POST", "/api/v1/access/keys", json=body)

    assert (answer.status_code, answer.json()["message"].partition(":")[0]) == (400, field)


def test_nodes_are_refused_for_an_admin_whom_they_would_not_limit(admin: Caller) -> None:
    body = {"name": "ci", "roles": ["admin", "ingest"], "scopes": ["*"], "nodes": ["edge-7"]}

    answer = admin("POST", "/api/v1/access/keys", json=body)

    assert (answer.status_code, answer.json()["message"].partition(":")[0]) == (400, "nodes")


@pytest.mark.parametrize(
    ("role", "allowed"),
    [
        ("read", {"GET /api/v1/namespaces/lake/datasets"}),
        ("ingest", {"POST /api/v1/lineage"}),
        ("steward", {"GET /api/v1/namespaces/lake/datasets", "POST /api/v1/namespaces/lake/datasets/report/tags/GOLD"}),
    ],
)
def test_a_role_permits_its_own_requests_and_no_others(admin: Caller, role: str, allowed: set[str]) -> None:
    holder = caller(admin, role)
    requests = {
        "GET /api/v1/namespaces/lake/datasets",
        "POST /api/v1/lineage",
        "POST /api/v1/namespaces/lake/datasets/report/tags/GOLD",
        "GET /api/v1/access/keys",
        "GET /api/v1/edits",
    }

    answers = {
        each: holder(*each.split(), content=json.dumps(event(eventTime="2026-05-22T14:30:00Z"))) for each in requests
    }

    assert {each for each, answer in answers.items() if answer.status_code < 300} == allowed
    assert all(answer.status_code == 403 for each, answer in answers.items() if each not in allowed)
    assert "this requires the role admin" in answers["GET /api/v1/edits"].json()["message"]


def test_the_actor_of_an_edit_is_the_caller_whatever_a_header_says(admin: Caller) -> None:
    holder = caller(admin, "steward")
    name = holder("GET", "/api/v1/access/me").json()["name"]

    holder._client.post(
        "/api/v1/namespaces/lake/datasets/report/tags/SILVER",
        headers={"authorization": f"Bearer {holder.token}", "x-headwater-user": "mallory"},
    )

    assert admin("GET", "/api/v1/edits?limit=1").json()["edits"][0]["entry"]["by"] == name


OF_STRANGERS = 'forbid (principal, action, resource) when { context.namespace == "strangers" };'
"""A rule about a namespace that no event names."""


def test_a_request_beyond_the_scopes_is_refused_and_names_the_required_scope(admin: Caller) -> None:
    holder = caller(admin, "read", scopes=("etl",))

    answers = [
        holder("GET", "/api/v1/namespaces/lake/datasets/report"),
        holder("GET", "/api/v1/lineage?nodeId=dataset:lake:report"),
        holder("GET", "/api/v1/lineage?nodeId=job:etl:load&nodeId=dataset:lake:report"),
        holder("GET", f"/api/v1/jobs/runs/{HIDDEN_RUN}"),
        holder("GET", "/api/v1/drift"),
        holder("GET", "/api/v1/events"),
    ]

    assert [answer.status_code for answer in answers] == [403] * 6
    assert "a scope that covers namespace 'lake'" in answers[0].json()["message"]
    assert "the scope *" in answers[5].json()["message"]


@pytest.mark.parametrize("rules", ["", OF_STRANGERS], ids=["without rules of an operator", "with one"])
def test_a_request_about_everything_requires_the_scope_of_everything(tmp_path: Path, rules: str) -> None:
    paths = [f"/api/v1/{name}" for name in ("events", "events/lineage", "log/entries/0", "sources", "sources/default")]
    paths += [f"/api/v1/{name}" for name in ("quarantine", "silent-streams", "nodes", "coverage", "drift")]
    paths += ["/api/v1/diff?from=log:0", "/api/v1-beta/graphql?query={jobs{name}}"]
    with guarded(tmp_path, rules) as admin:
        assert admin("POST", "/api/v1/lineage", content=json.dumps(EVENTS[0])).status_code == 201
        within, everywhere = caller(admin, "read"), caller(admin, "read", scopes=("*",))

        refused, answered = ([each("GET", path) for path in paths] for each in (within, everywhere))

    assert {answer.status_code for answer in refused} == {403}
    assert all("with the scope *" in answer.json()["message"] for answer in refused)
    assert {answer.status_code for answer in answered} == {200}


@pytest.mark.parametrize(
    ("method", "path"), [("GET", ""), ("GET", "/datasets"), ("GET", "/jobs"), ("DELETE", ""), ("PUT", "")]
)
def test_a_password_in_a_namespace_is_ignored_when_its_scope_is_checked(admin: Caller, method: str, path: str) -> None:
    posted = event(run={"runId": str(uuid4())}, outputs=[dataset("sums", "postgres://payroll:5432")])
    assert admin("POST", "/api/v1/lineage", content=json.dumps(posted)).status_code == 201
    holder = caller(admin, "steward", scopes=("postgres://metrics*",))
    body = {"json": {"ownerName": "mallory"}} if method == "PUT" else {}

    answer = holder(method, f"/api/v1/namespaces/postgres%3A%2F%2Fmetrics%3Ax%40payroll%3A5432{path}", **body)

    assert answer.status_code == 403
    assert "a scope that covers namespace 'postgres://payroll:5432'" in answer.json()["message"]


@pytest.mark.parametrize("slashes", ["://", "%3A%2F%2F"])
def test_events_of_a_namespace_with_slashes_require_its_scope(admin: Caller, slashes: str) -> None:
    holder = caller(admin, "read", scopes=("spark://ours/*",))

    answers = [holder("GET", f"/api/v1/events/spark{slashes}{host}/a") for host in ("ours", "theirs")]

    assert [answer.status_code for answer in answers] == [200, 403]
    assert "a scope that covers namespace 'spark://theirs/a'" in answers[1].json()["message"]


def test_a_refusal_does_not_name_the_namespace_of_a_run(admin: Caller) -> None:
    holder = caller(admin, "read", "ingest")
    stolen = event(run={"runId": HIDDEN_RUN}, job={"namespace": "etl", "name": "load"})

    answers = [
        holder("GET", f"/api/v1/jobs/runs/{HIDDEN_RUN}"),
        holder("GET", f"/api/v1/jobs/runs/{HIDDEN_RUN}/events"),
        holder("GET", f"/api/v1/lineage?nodeId=run:{HIDDEN_RUN}"),
        holder("GET", f"/api/v1/runlineage/upstream?runId={HIDDEN_RUN}"),
        holder("GET", f"/api/v1/root-cause?nodeId=dataset:lake:report&run={HIDDEN_RUN}"),
        holder("GET", f"/api/v1/diff?fromRun={HIDDEN_RUN}&toRun={RUN}"),
        holder("POST", "/api/v1/lineage", content=json.dumps(stolen)),
    ]

    assert [answer.status_code for answer in answers] == [403] * 7
    assert all("a scope that covers the namespace of the run" in answer.json()["message"] for answer in answers)
    assert not [answer.text for answer in answers if "zz_vault" in answer.text]


def test_a_refusal_names_no_run_of_a_namespace_beyond_the_scopes(tmp_path: Path) -> None:
    output = [dataset("report", "lake")]
    with guarded(tmp_path) as admin:
        for namespace, run_id in (("etl", "load-1"), ("zz_vault", "zz_pay_people")):
            job = {"namespace": namespace, "name": "load"}
            sent = event(run={"runId": run_id}, job=job, eventType="COMPLETE", outputs=output)
            assert admin("POST", "/api/v1/lineage", content=json.dumps(sent)).status_code == 201
        other = event(run={"runId": "other"}, job={"namespace": "etl", "name": "other"}, eventType="COMPLETE")
        assert admin("POST", "/api/v1/lineage", content=json.dumps(other)).status_code == 201
        path = "/api/v1/root-cause?nodeId=dataset:lake:report&run=other"

        within, beyond, everywhere = (
            each("GET", path).json()["message"]
            for each in (caller(admin, "read"), caller(admin, "read", scopes=("lake", "etl*")), admin)
        )

    assert within == "Run 'other' did not write dataset 'report'; the newest that did: load-1."
    assert beyond == within
    assert everywhere == "Run 'other' did not write dataset 'report'; the newest that did: zz_pay_people, load-1."


def test_upstream_runs_are_shown_without_hidden_names_even_after_deletion(tmp_path: Path) -> None:
    with guarded(tmp_path) as admin:
        for each in EVENTS:
            assert admin("POST", "/api/v1/lineage", content=json.dumps(each)).status_code == 201
        holder = caller(admin, "read")
        before = holder("GET", f"/api/v1/runlineage/upstream?runId={LATER_RUN}")

        assert admin("DELETE", "/api/v1/namespaces/zz_vault").status_code == 200
        after = holder("GET", f"/api/v1/runlineage/upstream?runId={LATER_RUN}")

    assert [each["run"]["id"] for each in before.json()["runs"]] == [LATER_RUN, HIDDEN_RUN]
    assert "zz_" not in before.text
    assert after.json() == before.json()


def test_a_refusal_does_not_name_the_namespace_behind_a_datasets_alias(tmp_path: Path) -> None:
    symlinks = facet(identifiers=[{"namespace": "lake", "name": "people", "type": "TABLE"}])
    known = event(job={"namespace": "zz_vault", "name": "fill"}, outputs=[dataset("p", "zz_vault", symlinks=symlinks)])
    store = SqliteStore(tmp_path / "headwater.db")
    with closing(store), serving(store, entrance=Entrance(Policy())) as client:
        admin = Caller(client, operator_token(LOG_KEY, "ann", START_US))
        assert admin("POST", "/api/v1/lineage", content=json.dumps(known)).status_code == 201
        holder = caller(admin, "read")

        answers = [
            holder("GET", "/api/v1/namespaces/lake/datasets/people"),
            holder("GET", "/api/v1/lineage?nodeId=dataset:lake:people"),
        ]

        assert [answer.status_code for answer in answers] == [403, 403]
        assert all("a scope that covers the namespace of the dataset" in answer.json()["message"] for answer in answers)


def test_lists_omit_what_is_beyond_the_scopes_and_their_pages_are_full(admin: Caller) -> None:
    holder = caller(admin, "read")

    namespaces = holder("GET", "/api/v1/namespaces?limit=2").json()
    jobs = holder("GET", "/api/v1/jobs").json()
    second = f"datasets?limit=1&offset=1&logSize={len(EVENTS)}"  # without events of other tests
    datasets = holder("GET", f"/api/v1/{second}").json()
    hits = holder("GET", "/api/v1/search?q=t").json()

    assert [each["name"] for each in namespaces["namespaces"]] == ["etl", "lake"]
    assert namespaces["totalCount"] == 2
    assert {each["name"] for each in jobs["jobs"]} == {"load", "tell"}
    assert datasets == {**holder("GET", f"/api/v1/namespaces/lake/{second}").json(), "totalCount": 2}
    assert {hit["name"] for hit in hits["results"]} == {"customers", "report", "tell"}


def test_every_key_of_an_answer_is_a_key_of_the_format(client: TestClient) -> None:
    app: Any = client.app
    shapes = app.openapi()["components"]["schemas"]

    of_answers = {name: shape for name, shape in shapes.items() if not name.endswith("Body")}
    keys_of_answer = {name: {*shape.get("properties", {})} for name, shape in of_answers.items()}

    assert {name: names - FORMAT.keys for name, names in keys_of_answer.items() if names - FORMAT.keys} == {}


def test_lineage_stays_connected_through_hidden_nodes(admin: Caller) -> None:
    holder, first = caller(admin, "read"), f"logSize={len(EVENTS)}"  # without events of other tests

    graph = holder("GET", f"/api/v1/lineage?nodeId=dataset:lake:customers&{first}").json()["graph"]
    complete = admin("GET", f"/api/v1/lineage?nodeId=dataset:lake:customers&{first}").json()["graph"]

    assert len({node["id"] for node in graph}) == len(complete)
    edges = [edge for node in graph for edge in (*node["inEdges"], *node["outEdges"])]
    assert {edge[end] for edge in edges for end in ("origin", "destination")} <= {node["id"] for node in graph}
    hidden = [node for node in graph if ":redacted:" in node["id"]]
    assert len(hidden) == sum(node["data"]["namespace"] not in ("etl", "lake") for node in complete) > 3
    assert all(node["data"]["name"].startswith("redacted-") for node in hidden)
    path = holder("GET", f"/api/v1/path?nodeId=dataset:lake:customers&{first}").json()["edges"]
    assert {(edge["origin"], edge["destination"]) for edge in path} == {
        (edge["origin"], edge["destination"]) for edge in edges
    }
    query = f"/api/v1/neighbours?nodeId=job:etl:load&way=upstream&type=DATASET&{first}"
    (people,) = holder("GET", query).json()["neighbours"]
    assert people["nodeId"] in {node["id"] for node in hidden}


PARAMETERS = {
    "nodeId": "dataset:lake:customers", "namespace": "lake", "name": "customers", "q": "e", "run_id": RUN, "runId": RUN,
    "from": "2026-05-22T00:00:00Z", "type": "run", "period": "DAY", "tag": "GOLD", "index": "0",
    "query": "{datasets{name}}", "withDownstream": "true",
}  # fmt: skip


def readable(client: TestClient) -> dict[str, str]:
    """Every read of the API that a scope of two namespaces permits, mapped to its path on the OpenAPI page.

    The parameters lead to hidden nodes.
    """
    paths: dict[str, str] = {}
    spec: Any = client.app
    for path, methods in spec.openapi()["paths"].items():
        if "get" not in methods or "{version}" in path or path == "/api/v1/stream":
            continue
        parameters = methods["get"].get("parameters", [])
        names = {each["name"] for each in parameters if each["in"] == "query"} & {*PARAMETERS}
        if path == "/api/v1/identity":
            names -= {"namespace", "name"}
        query = "&".join(f"{name}={PARAMETERS[name]}" for name in sorted(names))
        filled = path.replace("{run_id}", LATER_RUN).replace("{namespace}", "lake").replace("{name}", "customers")
        if "/jobs/" in path or path.endswith("/events/{namespace}"):
            filled = filled.replace("/lake", "/etl").replace("/customers", "/tell")
        if path == "/api/v1/namespaces/{name}":
            filled = "/api/v1/namespaces/lake"
        paths[f"{filled}?{query}"] = path
        if "nodeId" in names:
            for node in ("job:etl:tell", "dataset:lake:report"):
                paths[f"{filled}?{query.replace('dataset:lake:customers', node)}"] = path
        if path == "/api/v1/impact":
            paths[f"{filled}?{query}&change=drop"] = path
    return paths


def test_every_answer_to_a_reader_with_a_scope_matches_the_openapi_page(client: TestClient, admin: Caller) -> None:
    holder = caller(admin, "read")
    spec: Any = client.app

    answers = {path: holder("GET", path) for path in readable(client)}

    successful = {path: answer for path, answer in answers.items() if answer.status_code == 200 and keys_of(answer)}
    assert len(successful) > 30
    errors = {
        path: str(error)
        for path, answer in successful.items()
        for error in answer_schema(spec.openapi(), readable(client)[path]).iter_errors(answer.json())
    }
    assert errors == {}


def test_an_impact_shows_the_effect_on_a_hidden_node_without_its_details(admin: Caller) -> None:
    holder = caller(admin, "read")
    query = "/api/v1/impact?nodeId=dataset:lake:customers&change=drop"

    shown, complete = (
        {each["id"]: each for each in reader("GET", query).json()["reached"]}.values() for reader in (holder, admin)
    )

    hidden = [each for each in shown if each["namespace"] == "redacted"]
    assert len(hidden) == 3
    assert sorted((each["effect"], each["use"], each["distance"], each["breaking"]) for each in hidden) == sorted(
        (each["effect"], each["use"], each["distance"], each["breaking"])
        for each in complete
        if each["namespace"] == "zz_vault"
    )
    details = [(each["reason"], each["owners"], each["lastRun"], each["quality"], each["path"]) for each in hidden]
    assert details == [("redacted", [], None, None, [])] * 3


def test_a_hidden_root_cause_has_its_kind_and_score(admin: Caller) -> None:
    holder = caller(admin, "read")

    answer = holder("GET", "/api/v1/root-cause?nodeId=dataset:lake:customers").json()

    (finding,) = (each for each in answer["findings"] if each["nodeId"].startswith("job:redacted:"))
    assert (finding["kind"], finding["score"], finding["words"]) == ("failed-run", 0.9, "redacted")


def test_no_read_names_what_is_hidden_from_its_reader(client: TestClient, admin: Caller) -> None:
    holder = caller(admin, "read")
    all_columns_hidden = caller(admin, "read", scopes=("*",))

    by_holder = {path: holder("GET", path) for path in readable(client)}
    without_columns = {path: all_columns_hidden("GET", path) for path in readable(client)}
    by_admin = {path: admin("GET", path) for path in readable(client)}

    assert not [path for path, answer in by_holder.items() if "zz_" in answer.text.lower().replace("zz_ssn_seen", "")]
    assert not [
        path for path, answer in without_columns.items() if "zz_ssn" in answer.text.lower().replace("zz_ssn_seen", "")
    ]
    assert {answer.status_code for answer in by_holder.values()} <= {200, 400, 403, 404}
    assert sum(answer.status_code == 200 for answer in by_holder.values()) > 35
    # otherwise there would be nothing to hide
    assert sum("zz_" in answer.text.lower() for answer in by_admin.values()) > 25


def test_a_restricted_column_requested_by_name_is_not_found(admin: Caller) -> None:
    holder, trusted = caller(admin, "read"), caller(admin, "read", knowsRestricted=True)
    path = "/api/v1/column-lineage?nodeId=datasetField:lake:customers:{}"

    hidden, absent = (holder("GET", path.format(column)) for column in ("zz_ssn", "zz_nothing"))
    known = trusted("GET", path.format("zz_ssn"))

    assert (hidden.status_code, absent.status_code, known.status_code) == (404, 404, 200)
    assert hidden.text.replace("zz_ssn", "zz_nothing") == absent.text
    assert "zz_ssn" in known.text

    impact = "/api/v1/impact?nodeId=dataset:lake:customers&column={}"
    hidden, absent = (holder("GET", impact.format(column)) for column in ("zz_ssn", "zz_nothing"))
    assert (hidden.status_code, hidden.text.replace("zz_ssn", "zz_nothing")) == (404, absent.text)


@pytest.mark.parametrize(
    "body",
    [
        {"query": "{ zz_ssn: datasets { name } }"},
        {"query": "{ datasets { fields { ...on DatasetField { zz_ssn: name } } } }"},
        {"query": "{ datasets { zz_ssn } }"},
        {"query": 'query { "zz_ssn" }'},
        {"query": "query ($zz_ssn: Int!) { datasets(limit: $zz_ssn) { name } }"},
        {"query": "query ($n: Int) { datasets(limit: $n) { name } }", "variables": {"n": "zz_ssn"}},
        {"query": "query a { datasets { name } }", "operationName": "zz_ssn"},
    ],
    ids=lambda body: body["query"],
)
def test_a_graphql_error_does_not_confirm_a_guessed_restricted_column(admin: Caller, body: dict[str, object]) -> None:
    holder = caller(admin, "read", scopes=("*",))
    other = json.loads(json.dumps(body).replace("zz_ssn", "zz_abc"))

    guessed, absent = (holder("POST", "/api/v1-beta/graphql", json=each) for each in (body, other))

    assert guessed.json()["errors"]
    assert guessed.json() == absent.json()


def test_a_graphql_query_without_aliases_is_answered_to_every_reader(admin: Caller) -> None:
    holder, trusted = caller(admin, "read", scopes=("*",)), caller(admin, "steward", scopes=("*",))
    query = '{ dataset(namespace: "lake", name: "customers") { fields { name } } }'

    shown = holder("POST", "/api/v1-beta/graphql", json={"query": query}).json()["data"]["dataset"]["fields"]
    aliased = trusted("POST", "/api/v1-beta/graphql", json={"query": query.replace("{ name", "{ zz_ssn: name")})

    assert any(field["name"].startswith("restricted-") for field in shown)
    assert "zz_ssn" in {field["zz_ssn"] for field in aliased.json()["data"]["dataset"]["fields"]}


def test_a_column_is_hidden_as_soon_as_a_steward_tags_it(admin: Caller) -> None:
    holder, steward = caller(admin, "read"), caller(admin, "steward")
    before = holder("GET", "/api/v1/namespaces/lake/datasets/report").json()["fields"]

    steward("POST", "/api/v1/namespaces/lake/datasets/report/fields/zz_ssn_seen/tags/restricted")
    after = holder("GET", "/api/v1/namespaces/lake/datasets/report").json()["fields"]
    steward("DELETE", "/api/v1/namespaces/lake/datasets/report/fields/zz_ssn_seen/tags/restricted")

    assert [field["name"] for field in before] == ["zz_ssn_seen", "who"]
    assert after[0]["name"].startswith("restricted-")
    assert holder("GET", "/api/v1/namespaces/lake/datasets/report").json()["fields"] == before


def test_a_restricted_column_named_like_a_key_of_the_format_changes_no_key_of_an_answer(
    client: TestClient, admin: Caller
) -> None:
    holder = caller(admin, "read", scopes=("*",))
    outputs = [dataset("moved", "lake", schema=schema("createdAt", "type", "number"))]
    admin("POST", "/api/v1/lineage", content=json.dumps(event(run={"runId": str(uuid4())}, outputs=outputs)))
    paths = [*readable(client), "/api/v1-beta/graphql?query={datasets{name createdAt fields{name type createdAt}}}"]
    before = {path: keys_of(holder("GET", path)) for path in paths}

    field = "/api/v1/namespaces/lake/datasets/moved/fields/{}/tags/RESTRICTED"
    for column in ("createdAt", "type"):
        assert admin("POST", field.format(column)).status_code == 200
    after = {path: keys_of(holder("GET", path)) for path in paths}
    shown = holder("GET", "/api/v1/namespaces/lake/datasets/moved").json()["fields"]
    for column in ("createdAt", "type"):
        admin("DELETE", field.format(column))

    assert {path: found for path, found in after.items() if found != before[path]} == {}
    assert [each["name"].partition("-")[0] for each in shown] == ["restricted", "restricted", "number"]


def keys_of(answer: Response) -> list[str]:
    return sorted(keys(answer.json())) if answer.headers["content-type"] == "application/json" else []


def keys(answer: object) -> Iterator[str]:
    """The keys of an answer, except those of facets from producers, tags and changes, which vary."""
    match answer:
        case dict():
            yield from answer
            for key, each in answer.items():
                if key not in ("facets", "tags", "changes"):
                    yield from keys(each)
        case list():
            for each in answer[:1]:
                yield from keys(each)


def test_a_sender_may_post_events_of_its_own_namespaces_and_runs_only(admin: Caller) -> None:
    holder = caller(admin, "ingest", scopes=("edge-*",))

    def status_of(**changes: object) -> int:
        status: int = holder("POST", "/api/v1/lineage", content=json.dumps(event(**changes))).status_code
        return status

    own = {"namespace": "edge-7", "name": "load"}
    assert status_of(job=own, run={"runId": str(uuid4())}, inputs=[PEOPLE]) == 201  # datasets may be of any namespace
    assert status_of(run={"runId": str(uuid4())}) == 403
    assert status_of(job=own, run={"runId": HIDDEN_RUN}) == 403
    assert status_of(run=None, job=None, dataset={"namespace": "lake", "name": "mine"}) == 403


def test_a_run_cannot_be_taken_over_by_naming_it_as_a_parent(admin: Caller) -> None:
    parent, other = str(uuid4()), caller(admin, "ingest", scopes=("edge-*",))
    owner = caller(admin, "ingest", scopes=("planner",))
    named = facet(run={"runId": parent}, job={"namespace": "edge-7", "name": "whole"})
    part = {"run": {"runId": str(uuid4()), "facets": {"parent": named}}, "job": {"namespace": "edge-7", "name": "part"}}
    own = {"run": {"runId": parent}, "job": {"namespace": "planner", "name": "plan"}}
    taken = {"run": {"runId": parent}, "job": {"namespace": "edge-7", "name": "whole"}, "eventType": "FAIL"}

    statuses = [
        sender("POST", "/api/v1/lineage", content=json.dumps(event(**each))).status_code
        for sender, each in ((other, part), (owner, own), (other, taken))
    ]

    assert statuses == [201, 201, 403]
    assert admin("GET", f"/api/v1/jobs/runs/{parent}").json()["job"] == own["job"]


def test_each_event_of_a_batch_is_checked_separately(admin: Caller) -> None:
    holder = caller(admin, "ingest", scopes=("edge-*",))
    events = [event(job={"namespace": each, "name": "x"}, run={"runId": str(uuid4())}) for each in ("edge-1", "etl")]

    answer = holder("POST", "/api/v1/lineage/batch", content=json.dumps(events)).json()

    assert [each["status"] for each in answer["results"]] == [201, 403]
    assert "namespace 'etl'" in answer["failed_events"][0]["reason"]


def test_a_key_bound_to_a_node_may_post_only_what_that_node_signed(admin: Caller) -> None:
    holder = caller(admin, "ingest", scopes=("edge-*",), nodes=[NODE.node_id])
    raw = [json.dumps(event(job={"namespace": "edge-1", "name": "x"}, run={"runId": str(uuid4())})) for _ in range(3)]
    bodies = [sign_event(raw[0].encode(), NODE), sign_event(raw[1].encode(), OTHER_NODE), raw[2].encode()]

    statuses = [holder("POST", "/api/v1/lineage", content=body).status_code for body in bodies]

    assert statuses == [201, 403, 403]


def test_a_refusal_says_whether_the_role_the_scope_or_the_nodes_key_is_missing(admin: Caller) -> None:
    signed = sign_event(json.dumps(event()).encode(), NODE)
    by_unknown_key = sign_event(json.dumps(event()).encode(), NodeKey.from_seed(NODE.node_id, bytes([9] * 32)))

    may_come_later = []

    def refusal(sender: Caller, content: bytes) -> str:
        answer = sender("POST", "/api/v1/lineage", content=content)
        assert answer.status_code == 403
        may_come_later.append(answer.json()["retriable"])
        message = answer.json()["message"].split(" ", 1)[1]
        assert len(message) < 200 - len("403 key:edge-7 "), "an emitter stores no more"
        return str(message)

    no_role = refusal(caller(admin, "read"), signed)
    no_scope = refusal(
        caller(admin, "ingest", scopes=("lake",)), json.dumps(event(run={"runId": str(uuid4())})).encode()
    )
    no_key = refusal(caller(admin, "ingest", nodes=[NODE.node_id]), by_unknown_key)
    other_node = refusal(caller(admin, "ingest", nodes=[OTHER_NODE.node_id]), signed)
    forbidden = refusal(
        caller(admin, "ingest", scopes=("*",)), json.dumps(event(job={"namespace": "rain", "name": "n"})).encode()
    )

    assert no_role == (
        "is not permitted: this requires the role ingest or admin; "
        "its role is read: ask an admin for one (docs/access.md)"
    )
    assert "this requires a scope that covers namespace 'etl'; its scopes are lake: ask an admin" in no_scope
    assert "it is unknown-key: enrol a key with `headwater key enrol` on its node" in no_key
    assert f"node {NODE.node_id} signed it; it must be signed by {OTHER_NODE.node_id}" in other_node
    assert "a policy of this service forbids it" in forbidden
    assert may_come_later == [True, False, True, False, False]  # once the role is granted, and the key enrolled


@pytest.mark.parametrize("roles", [None, [], ["captain"]])
def test_a_token_without_a_role_is_refused_and_the_refusal_says_so(tmp_path: Path, roles: object) -> None:
    key, now_s = OKPKey.generate_key("Ed25519"), START_US // 1_000_000
    (tmp_path / "keys.json").write_text(json.dumps(KeySet([key]).as_dict(private=False)))
    oidc = OidcConfig(issuer="https://id.example.org", audience="headwater", jwks=f"{tmp_path}/keys.json")
    provider = Provider(
        oidc, ProviderKeys(oidc.issuer, oidc.jwks, oidc.refresh_s, None, lambda: now_s), lambda: START_US
    )
    claims = {"iss": oidc.issuer, "aud": oidc.audience, "sub": "ann", "exp": now_s + 60, "headwater_roles": roles}
    token = jwt.encode({"alg": "Ed25519"}, claims, key, algorithms=["Ed25519"])
    with (
        closing(SqliteStore(tmp_path / "headwater.db")) as store,
        serving(store, entrance=Entrance(Policy(), provider)) as client,
    ):
        holder = Caller(client, token)

        me, *answers = (holder("GET", f"/api/v1/{path}") for path in ("access/me", "namespaces", "events", "edits"))

    assert me.json() == {"name": "oidc:ann", "roles": [], "scopes": [], "knowsRestricted": False}
    assert {answer.status_code for answer in answers} == {403}
    assert all("its role is none: ask an admin for one" in answer.json()["message"] for answer in answers)


def test_a_node_may_report_on_itself_whatever_its_scopes_and_nobody_else_may(admin: Caller) -> None:
    holder = caller(admin, "ingest", scopes=("edge-*",), nodes=[NODE.node_id])

    def status_of(key: NodeKey | None, node_id: str) -> int:
        raw = json.dumps(event(job={"namespace": "headwater-nodes", "name": node_id}, run={"runId": str(uuid4())}))
        body = raw.encode() if key is None else sign_event(raw.encode(), key)
        status: int = holder("POST", "/api/v1/lineage", content=body).status_code
        return status

    assert status_of(NODE, NODE.node_id) == 201
    assert status_of(NODE, OTHER_NODE.node_id) == 403
    assert status_of(OTHER_NODE, OTHER_NODE.node_id) == 403
    assert status_of(None, NODE.node_id) == 403


def test_every_refusal_is_counted_and_logged_with_its_rule_and_no_secret(
    admin: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    holder = caller(admin, "read", scopes=("*",))

    with caplog.at_level(logging.WARNING, "headwater.service.gate.gate"):
        holder("GET", "/api/v1/lineage?nodeId=job:rain:fall")
        holder("DELETE", "/api/v1/namespaces/lake")
        holder("GET", "/api/v1/column-lineage?nodeId=datasetField:lake:customers:zz_ssn")
        Caller(holder._client, f"{holder.token}x")("GET", "/api/v1/jobs")

    logged = [(vars(each)["route"], vars(each)["rule"]) for each in caplog.records]
    assert logged == [
        ("GET /api/v1/lineage", "no-rain"),
        ("DELETE /api/v1/namespaces/{name}", "no policy permits edit"),
        ("GET /api/v1/column-lineage", "no policy permits know-restricted"),
        ("/api/v1/jobs", "authorization: the key is unknown or was revoked"),
    ]
    assert holder.token is not None
    assert holder.token not in str([vars(each) for each in caplog.records])
    metrics = admin("GET", "/metrics").text
    assert 'headwater_access_refused_total{why="forbidden"}' in metrics
    assert 'headwater_access_refused_total{why="unauthenticated"}' in metrics


def recorded_edits(admin: Caller, index_after: int) -> list[tuple[str, str, list[str]]]:
    answer = admin("GET", "/api/v1/actions?limit=50").json()
    return [
        (each["by"], edit["what"], edit["target"])
        for each in answer["actions"]
        if each["index"] > index_after
        for edit in each["did"]
    ]


def test_every_write_and_export_is_recorded_as_an_action_with_its_actor(admin: Caller) -> None:
    caller(admin, "read")  # so that there is an earlier action
    before = admin("GET", "/api/v1/actions?limit=1").json()["actions"][0]["index"]
    holder = caller(admin, "steward", "ingest", scopes=("*",))
    name = holder("GET", "/api/v1/access/me").json()["name"]
    run = str(uuid4())
    here = "/api/v1/namespaces/spare"
    table = {"type": "DB_TABLE", "physicalName": "made", "sourceName": "default"}

    written = [
        holder("PUT", here, json={"ownerName": "ann"}),
        holder("PUT", f"{here}/datasets/made", json=table),
        holder("PUT", f"{here}/jobs/make", json={"type": "BATCH", "inputs": [], "outputs": []}),
        holder("POST", f"{here}/jobs/make/runs", json={"id": run}),
        holder("POST", f"/api/v1/jobs/runs/{run}/start"),
        holder("DELETE", f"{here}/datasets/made"),
        admin("POST", "/api/v1/actions/exports", json={"begin": 0, "end": 7}),
    ]

    assert all(answer.status_code in (200, 201) for answer in written), [answer.text for answer in written]
    *rest, granted = recorded_edits(admin, before)
    assert granted[:2] == ("operator:ann", "granted")
    assert rest[0][:2] == ("operator:ann", "export")
    assert rest[1:] == [
        (name, "deleted", ["dataset", "spare", "made"]),
        (name, "put", ["run", run]),
        (name, "put", ["run", run]),
        (name, "put", ["job", "spare", "make"]),
        (name, "put", ["dataset", "spare", "made"]),
        (name, "described", ["namespace", "spare"]),
    ]


@pytest.mark.parametrize("path", ["namespaces/hr/datasets", "namespaces/hr", "edits", f"jobs/runs/{HIDDEN_RUN}"])
def test_a_trailing_slash_does_not_bypass_the_checks(admin: Caller, path: str) -> None:
    holder, stranger = caller(admin, "read"), Caller(admin._client, None)

    answers = [ask("GET", f"/api/v1/{path}{slash}") for ask in (holder, stranger) for slash in ("", "/")]

    assert [answer.status_code for answer in answers] == [403, 403, 401, 401]
    assert answers[0].text == answers[1].text


def test_a_dataset_cannot_be_put_for_a_run_beyond_the_scopes(admin: Caller) -> None:
    holder = caller(admin, "ingest", scopes=("lake",))
    body = {"type": "DB_TABLE", "physicalName": "x", "sourceName": "default", "runId": HIDDEN_RUN}

    assert holder("PUT", "/api/v1/namespaces/lake/datasets/x", json=body).status_code == 403


def test_the_stream_of_changes_omits_what_is_beyond_the_scopes(client: TestClient, admin: Caller) -> None:
    reader, unscoped = caller(admin, "read"), caller(admin, "read", scopes=("*",))

    restricted, complete = (first_message(client, each) for each in (reader, unscoped))

    assert b"job:etl:tell" in restricted
    assert b"zz_" not in restricted.replace(b"zz_ssn_seen", b"")
    assert b"zz_vault" in complete
    # so that event ids mean the same position
    assert restricted.count(b"event: change") == complete.count(b"event: change")


@pytest.mark.parametrize(("run_id", "is_shown"), [("zz-pay-2026", False), (HIDDEN_RUN, True)])
def test_the_stream_shows_the_run_id_of_a_hidden_job_only_if_it_is_a_uuid(
    tmp_path: Path, run_id: str, is_shown: bool
) -> None:
    hidden = {"run": {"runId": run_id}, "job": {"namespace": "zz_vault", "name": "zz_fill"}}
    with guarded(tmp_path) as admin:
        for each in (event(), event(**hidden, eventType="COMPLETE", outputs=[dataset("report")])):
            assert admin("POST", "/api/v1/lineage", content=json.dumps(each)).status_code == 201
        reader, unscoped = caller(admin, "read", scopes=("lake",)), caller(admin, "read", scopes=("*",))

        reader_message, unscoped_message = (first_message(admin._client, each) for each in (reader, unscoped))

    assert b"dataset:lake:report" in reader_message
    assert (run_id.encode() in reader_message) is is_shown
    assert run_id.encode() in unscoped_message
    assert b"zz_" not in reader_message


def first_message(client: TestClient, caller: Caller) -> bytes:
    """The first message of the stream to a client that reconnects after the first change."""
    headers = [(b"authorization", f"Bearer {caller.token}".encode()), (b"last-event-id", b"0")]
    scope = {"type": "http", "method": "GET", "path": "/api/v1/stream", "raw_path": b"/api/v1/stream", "root_path": "",
             "query_string": b"", "headers": headers, "http_version": "1.1", "scheme": "http",
             "server": ("headwater", 80), "client": None}  # fmt: skip

    async def ask() -> bytes:
        first: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

        async def send(message: Any) -> None:  # noqa: ANN401  ASGI
            if message.get("body") and not first.done():
                first.set_result(message["body"])

        app: Any = client.app
        listening = asyncio.create_task(app(scope, asyncio.Event().wait, send))
        try:
            return await first
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    assert client.portal is not None
    return client.portal.call(ask)
