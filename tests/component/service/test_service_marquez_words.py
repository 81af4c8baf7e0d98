"""What Marquez's clients rely on beyond the recorded pairs: messages, statuses and the characters allowed in names.

Source: MarquezProject/marquez, `api/src/main/java/marquez/api` (`BaseResource`, `JobResource`, `DatasetResource`,
`ColumnLineageResource`, `exceptions/`), `service/models/LineageEvent`, `spec/openapi.yml` (`sort`),
`web/src/routes/column-level/layout.ts`; Dropwizard's converter, which reads an enum's values in either case; Jersey's,
which reads numbers.
"""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from tests.support.app import Body, dataset, event, facet, get, post, schema, served

TABLE = {"type": "DB_TABLE", "physicalName": "p", "sourceName": "default", "fields": [{"name": "c d/:e"}]}
NO_NAMESPACE = {"code": 404, "message": "Namespace 'none' not found."}
VERSION = "00000000-0000-4000-8000-000000000000"
RUN = "00000001-0000-4000-8000-000000000001"
OTHER_RUN = "00000002-0000-4000-8000-000000000001"
STEPS = (".", "..")
"""Names that clients resolve as steps of a relative path."""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder: Path = tmp_path_factory.mktemp("service")
    with served(folder) as client:
        read, written = dataset("raw", schema=schema("x")), dataset("orders", schema=schema("y"))
        post(client, event(run={"runId": RUN}, inputs=[read], outputs=[written]))
        post(client, event(eventType="COMPLETE", eventTime="2026-05-22T14:25:11Z", run={"runId": RUN}))
        client.put("/api/v1/namespaces/team", json={"ownerName": "ann"})
        yield client


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "datasets"),
        ("GET", "datasets/d"),
        ("GET", "datasets/d/versions"),
        ("GET", f"datasets/d/versions/{VERSION}"),
        ("DELETE", "datasets/d"),
        ("POST", "datasets/d/tags/GOLD"),
        ("DELETE", "datasets/d/tags/GOLD"),
        ("POST", "datasets/d/fields/f/tags/GOLD"),
        ("DELETE", "datasets/d/fields/f/tags/GOLD"),
        ("GET", "jobs/j"),
        ("GET", "jobs/j/runs"),
        ("POST", "jobs/j/runs"),
        ("GET", "jobs/j/versions"),
        ("GET", f"jobs/j/versions/{VERSION}"),
        ("DELETE", "jobs/j"),
        ("POST", "jobs/j/tags/GOLD"),
        ("DELETE", "jobs/j/tags/GOLD"),
    ],
)
def test_in_an_unknown_namespace_the_namespace_is_reported_as_not_found(
    client: TestClient, method: str, path: str
) -> None:
    body: Body | None = {} if path == "jobs/j/runs" and method == "POST" else None

    response = client.request(method, f"/api/v1/namespaces/none/{path}", json=body)

    assert (response.status_code, response.json()) == (404, NO_NAMESPACE)


def test_an_unknown_namespace_has_an_empty_list_of_jobs(client: TestClient) -> None:
    """Since Marquez 0.50 it is the list of `/jobs`, which does not check the namespace."""
    assert get(client, "/api/v1/namespaces/none/jobs") == {"jobs": [], "totalCount": 0}
    assert get(client, "/api/v1/namespaces/none/jobs?lastRunStates=FAILED") == {"jobs": [], "totalCount": 0}


@pytest.mark.parametrize(
    ("method", "path", "message"),
    [
        ("GET", "namespaces/team/datasets/d", "Dataset 'd' not found."),
        ("GET", "namespaces/team/datasets/d/versions", "Dataset 'd' not found."),
        ("GET", f"namespaces/lake/datasets/raw/versions/{VERSION}", f"Dataset version '{VERSION}' not found."),
        ("POST", "namespaces/lake/datasets/raw/fields/f/tags/GOLD", "Field 'f' not found for dataset 'raw'."),
        ("GET", "namespaces/team/jobs/j", "Job 'j' not found."),
        ("GET", "namespaces/team/jobs/j/runs", "Job 'j' not found."),
        ("GET", f"namespaces/etl/jobs/load/versions/{VERSION}", f"Job version '{VERSION}' not found."),
        ("GET", f"jobs/runs/{VERSION}", f"Run '{VERSION}' not found."),
        ("GET", f"jobs/runs/{VERSION}/facets?type=run", f"Run '{VERSION}' not found."),
        ("POST", f"jobs/runs/{VERSION}/start", f"Run '{VERSION}' not found."),
        ("GET", "sources/none", "Source 'none' not found."),
        ("DELETE", "namespaces/none", "Namespace 'none' not found."),
    ],
)
def test_what_is_unknown_is_not_found_with_marquezs_message(
    client: TestClient, method: str, path: str, message: str
) -> None:
    response = client.request(method, f"/api/v1/{path}")

    assert (response.status_code, response.json()) == (404, {"code": 404, "message": message})


def test_an_existing_run_cannot_be_created_again(client: TestClient) -> None:
    response = client.post("/api/v1/namespaces/etl/jobs/load/runs", json={"id": RUN})

    message = f"Run '{RUN}' already exists for 'load' under namespace 'etl'."
    assert (response.status_code, response.json()) == (400, {"code": 400, "message": message})


def test_column_lineage_downstream_of_a_version_is_refused(client: TestClient) -> None:
    version = get(client, "/api/v1/namespaces/lake/datasets/raw")["currentVersion"]
    of_version = f"/api/v1/column-lineage?nodeId=dataset:lake:raw%23{version}"

    response = client.get(f"{of_version}&withDownstream=true")

    message = "Node version cannot be specified when withDownstream is true"
    assert (response.status_code, response.json()) == (400, {"code": 400, "message": message})
    assert client.get(of_version).status_code == 200


@pytest.mark.parametrize(
    ("node_id", "kind"),
    [("dataset:lake:raw", "Dataset"), ("datasetField:lake:raw:x", "Dataset"), ("job:etl:load", "Job")],
)
def test_columns_of_an_unknown_version_are_not_found(client: TestClient, node_id: str, kind: str) -> None:
    response = client.get(f"/api/v1/column-lineage?nodeId={node_id}%23{VERSION}")

    assert (response.status_code, response.json()["message"]) == (404, f"{kind} version '{VERSION}' not found.")


@pytest.mark.parametrize(
    ("path", "spellings"),
    [
        ("jobs?lastRunStates=", ("COMPLETED", "completed")),
        ("events/lineage?sortDirection=", ("asc", "ASC")),
        ("search?q=a&filter=", ("DATASET", "dataset")),
        ("search?q=a&sort=", ("UPDATE_AT", "update_at")),
        ("stats/jobs?period=", ("DAY", "day")),
        (f"jobs/runs/{RUN}/facets?type=", ("run", "RUN")),
    ],
)
def test_enum_values_are_accepted_in_either_case(client: TestClient, path: str, spellings: tuple[str, str]) -> None:
    responses = [client.get(f"/api/v1/{path}{word}") for word in spellings]

    assert [response.status_code for response in responses] == [200, 200]
    assert responses[0].json() == responses[1].json()


@pytest.mark.parametrize(
    "path",
    [
        "namespaces?limit=",
        "jobs?offset=",
        "lineage?nodeId=job:etl:load&depth=",
        "column-lineage?nodeId=job:etl:load&depth=",
        f"runlineage/upstream?runId={RUN}&depth=",
    ],
)
def test_an_invalid_number_is_a_404_and_an_empty_one_means_the_default(client: TestClient, path: str) -> None:
    responses = [client.get(f"/api/v1/{path}{number}") for number in ("many", "1e3", "1_0", "9" * 5_000)]

    name = path.rpartition("?")[2].rpartition("&")[2].rstrip("=")
    fault = {"code": 404, "message": "HTTP 404 Not Found", "errors": [f"query param {name} must be a whole number"]}
    assert [(each.status_code, each.json()) for each in responses] == [(404, fault)] * 4
    without, _, _ = path.rpartition(name)
    assert client.get(f"/api/v1/{path}").json() == client.get(f"/api/v1/{without}").json()


@pytest.mark.parametrize("route", ["lineage", "column-lineage"])
def test_a_depth_may_be_any_number(client: TestClient, route: str) -> None:
    depths = {depth: client.get(f"/api/v1/{route}?nodeId=job:etl:load&depth={depth}") for depth in (-3, 0, 9, 2**40)}

    assert {each.status_code for each in depths.values()} == {200}
    assert depths[-3].json() == depths[0].json()
    assert depths[9].json() == depths[2**40].json()


def test_columns_show_their_sources_at_the_least_depth(client: TestClient) -> None:
    of_column = "/api/v1/column-lineage?nodeId=datasetField:mart:made:b"
    source = {"namespace": "lake", "name": "raw", "field": "x"}
    output = dataset("made", "mart", schema=schema("b"), columnLineage=facet(fields={"b": {"inputFields": [source]}}))
    post(client, event(run={"runId": OTHER_RUN}, job={"namespace": "etl", "name": "make"}, outputs=[output]))

    raw, column = get(client, f"{of_column}&depth=0")["graph"]

    assert (column["id"], raw["id"]) == ("datasetField:mart:made:b", "datasetField:lake:raw:x")
    assert column["inEdges"] == [{"origin": column["id"], "destination": raw["id"]}]
    assert raw["outEdges"] == [{"origin": raw["id"], "destination": column["id"]}]
    datasets = ("mart/datasets/made", "lake/datasets/raw")
    versions = [get(client, f"/api/v1/namespaces/{each}")["currentVersion"] for each in datasets]
    assert [column["data"]["datasetVersion"], column["data"]["inputFields"][0]["datasetVersion"]] == versions
    assert raw["data"]["datasetVersion"] == versions[1]
    assert get(client, f"{of_column}&withDownstream=1") == get(client, f"{of_column}&withDownstream=TRUE")


@pytest.mark.parametrize(
    ("missing", "fault"),
    [
        ({"run": None}, "run must not be null"),
        ({"run": {}}, "run.runId must not be null"),
        ({"run": {"runId": None}}, "run.runId must not be null"),
        ({"job": None}, "job must not be null"),
        ({"job": {"namespace": "etl"}}, "job.name must not be null"),
        ({"eventTime": None}, "eventTime must not be null"),
        ({"producer": None}, "producer must not be null"),
        ({"outputs": [{"namespace": "lake", "name": "a"}, {"name": "b"}]}, "outputs[1].namespace must not be null"),
    ],
)
def test_a_missing_member_of_an_event_is_in_errors(client: TestClient, missing: dict[str, object], fault: str) -> None:
    response = client.post("/api/v1/lineage", json=event(**missing))

    assert (response.status_code, response.json()["errors"]) == (422, [fault])


@pytest.mark.parametrize(
    ("kind", "members", "faults"),
    [
        ("RunEvent", {"job": {"namespace": "etl", "name": "load"}}, ["run must not be null"]),
        ("RunEvent", {"dataset": {"namespace": "lake", "name": "a"}}, ["run must not be null", "job must not be null"]),
        ("JobEvent", {}, ["job must not be null"]),
        ("DatasetEvent", {}, ["dataset must not be null"]),
    ],
)
def test_missing_members_of_the_kind_that_the_schema_url_names_are_in_errors(
    client: TestClient, kind: str, members: Body, faults: list[str]
) -> None:
    url = f"https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/{kind}"
    body = {"eventTime": "2026-05-22T14:23:11Z", "producer": "https://example.org", "schemaURL": url, **members}

    response = client.post("/api/v1/lineage", json=body)

    assert (response.status_code, response.json()["errors"]) == (422, faults)


@pytest.mark.parametrize("body", [b"", b" ", b"null"])
def test_an_event_without_a_body_is_refused_with_marquezs_message(client: TestClient, body: bytes) -> None:
    response = client.post("/api/v1/lineage", content=body)

    assert (response.status_code, response.json()["errors"]) == (422, ["The request body must not be null"])


@pytest.mark.parametrize(
    "path", ["search/?q=raw", "jobs/", "namespaces/", "namespaces/lake/datasets/raw/", f"jobs/runs/{RUN}/", "tags/"]
)
def test_a_trailing_slash_of_a_path_is_ignored(client: TestClient, path: str) -> None:
    assert get(client, f"/api/v1/{path}") == get(client, f"/api/v1/{path.replace('/?', '?').removesuffix('/')}")


@pytest.mark.parametrize(
    "path",
    [
        "search?q=a{}filter={}sort={}namespace=",
        "events/lineage?limit=9{}before={}after=",
        "jobs?limit=9{}lastRunStates=",
    ],
)
def test_an_empty_parameter_is_ignored(client: TestClient, path: str) -> None:
    without = path.partition("{")[0]

    assert get(client, f"/api/v1/{path.replace('{}', '&')}") == get(client, f"/api/v1/{without}")


@pytest.mark.parametrize("word", ["updated_at", "UPDATED_AT"])
def test_sorting_newest_first_has_two_spellings(client: TestClient, word: str) -> None:
    assert get(client, f"/api/v1/search?q=a&sort={word}") == get(client, "/api/v1/search?q=a&sort=UPDATE_AT")


def test_an_event_is_accepted_with_a_trailing_slash_of_the_path(client: TestClient) -> None:
    sent = event(run={"runId": OTHER_RUN}, job={"namespace": "slash", "name": "load"})

    statuses = [client.post(f"/api/v1/lineage{slash}", json=sent).status_code for slash in ("/", "")]

    assert statuses == [201, 200]


def test_all_missing_members_of_an_event_are_in_errors(client: TestClient) -> None:
    bodies: list[Body] = [{}, {"run": {}, "job": {}}]
    responses = [client.post("/api/v1/lineage", json=body) for body in bodies]

    of_all = {f"{member} must not be null" for member in ("eventTime", "producer", "run", "job")}
    of_members = {f"{member} must not be null" for member in ("run.runId", "job.namespace", "job.name")}
    assert [response.status_code for response in responses] == [422, 422]
    assert {*responses[0].json()["errors"]} == of_all
    assert {*responses[1].json()["errors"]} == of_members | {"eventTime must not be null", "producer must not be null"}


def test_a_page_past_the_end_is_empty_and_has_the_total_count(client: TestClient) -> None:
    page = get(client, "/api/v1/namespaces/lake/datasets?limit=10&offset=100")

    assert page == {"datasets": [], "totalCount": 2}


@pytest.mark.parametrize(
    "path", ["namespaces", "sources", "tags", "jobs", "datasets", "namespaces/lake/datasets", "events/lineage"]
)
@pytest.mark.parametrize("wrong", ["limit=-1", "offset=-1"])
def test_a_negative_limit_or_offset_is_refused(client: TestClient, path: str, wrong: str) -> None:
    response = client.get(f"/api/v1/{path}?{wrong}")

    fault = f"query param {wrong.partition('=')[0]} must be greater than or equal to 0"
    assert (response.status_code, response.json()["errors"]) == (400, [fault])


@pytest.mark.parametrize(
    "name",
    [
        "a/b c",
        "ü:ñ",
        "x%2Fy",
        "p?q#r",
        "a:b:c",
        "..x",
        "日本",
        "tab\tq",
        "back\\slash",
        "quote\"'",
        "a+b",
        "a;b",
        "a&b",
        "..;",
        *STEPS,
    ],
)
def test_any_name_works_on_every_route(client: TestClient, name: str) -> None:
    encoded, column = f"{name};" if name in STEPS else quote(name, safe=""), quote("c d/:e", safe="")
    client.put(f"/api/v1/namespaces/team/datasets/{encoded}", json=TABLE).raise_for_status()
    ends = {"inputs": [{"namespace": "team", "name": name}]}
    client.put(f"/api/v1/namespaces/team/jobs/{encoded}", json={"type": "BATCH", **ends}).raise_for_status()

    tagged = client.post(f"/api/v1/namespaces/team/datasets/{encoded}/fields/{column}/tags/{quote('t/g', safe='')}")

    assert tagged.json()["fields"][0]["tags"] == ["T/G"]
    graph = get(client, f"/api/v1/lineage?nodeId={quote(f'dataset:team:{name}', safe='')}")["graph"]
    assert [node["id"] for node in graph] == [f"dataset:team:{name}", f"job:team:{name}"]
    node_id = f"datasetField:team:{name}:c d/:e"
    columns = get(client, f"/api/v1/column-lineage?nodeId={quote(node_id, safe='')}")["graph"]
    assert [node["id"] for node in columns] == [node_id]
    results = get(client, f"/api/v1/search?q={quote(name, safe='')}&namespace=team")["results"]
    assert {hit["nodeId"] for hit in results} >= {f"dataset:team:{name}", f"job:team:{name}"}
