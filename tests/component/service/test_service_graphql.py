"""GraphQL in Marquez's schema: a query gets what it names, and no query can do harm."""

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from headwater.service.graphql import ask
from tests.support.app import Body, dataset, event, facet, post, schema, served

PATH = "/api/v1-beta/graphql"
RUN = "0198f7d0-0000-7000-8000-000000000001"
NEXT = "0198f7d0-0000-7000-8000-000000000002"
SOURCE = facet(name="pg", uri="postgres://db:5432")
STREAMING = facet(processingType="STREAMING", integration="FLINK")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with served(tmp_path) as client:
        orders = dataset("orders", schema=schema("id", "price"), documentation=facet(description="all of them"))
        mart = dataset("mart", schema=schema("total"), dataSource=SOURCE)
        post(
            client,
            run(RUN, "START", 10, inputs=[orders]),
            run(RUN, "COMPLETE", 12, outputs=[mart]),
            run(NEXT, "START", 20, job={"namespace": "etl", "name": "report"}, inputs=[mart]),
        )
        yield client


def run(run_id: str, kind: str, second: int | str, **changes: object) -> dict[str, Any]:
    changes = {"job": {"namespace": "etl", "name": "mart"}, **changes}
    return event(eventType=kind, eventTime=f"2026-05-22T14:23:{second}Z", run={"runId": run_id}, **changes)


def ask_for(client: TestClient, query: str, **variables: object) -> Body:
    answer = client.post(PATH, json={"query": query, "variables": variables})
    assert answer.status_code == 200
    body: Body = answer.json()
    assert "errors" not in body, body
    data: Body = body["data"]
    return data


def test_a_dataset_has_its_columns_and_versions(client: TestClient) -> None:
    data = ask_for(
        client,
        'query ($name: String!) { dataset(namespace: "lake", name: $name) { name type description '
        "fields { name type dataset { name } } currentVersion { version fields { name } run { id } } "
        "versions { version } source { name } namespace { name currentOwner { name } } } }",
        name="orders",
    )["dataset"]

    assert (data["name"], data["type"], data["description"]) == ("orders", "DB_TABLE", "all of them")
    assert data["fields"] == [{"name": name, "type": "int", "dataset": {"name": "orders"}} for name in ("id", "price")]
    assert data["versions"] == [{"version": data["currentVersion"]["version"]}]
    assert data["currentVersion"]["fields"] == [{"name": "id"}, {"name": "price"}]
    assert data["currentVersion"]["run"] is None  # a reader reported it
    assert data["source"] == {"name": "default"}
    assert data["namespace"] == {"name": "lake", "currentOwner": {"name": "anonymous"}}


def test_a_job_has_its_runs(client: TestClient) -> None:
    data = ask_for(
        client,
        '{ job(namespace: "etl", name: "mart") { name type currentVersion { job { name } inputs { name } '
        "outputs { name source { connectionUrl datasets { name } } } latestRun { id currentState startState "
        "{ transitionedAt } endState { state run { id } } states { state } inputs { dataset { name } } "
        "outputs { fields { name } } jobVersion { version } } } versions { version } } }",
    )["job"]

    version = data["currentVersion"]
    latest = version["latestRun"]
    assert (version["job"], version["inputs"]) == ({"name": "mart"}, [{"name": "orders"}])
    assert version["outputs"] == [
        {"name": "mart", "source": {"connectionUrl": "postgres://db:5432", "datasets": [{"name": "mart"}]}}
    ]
    assert (latest["id"], latest["currentState"]) == (RUN, "COMPLETED")
    assert latest["startState"] == {"transitionedAt": "2026-05-22T14:23:10.000Z"}
    assert latest["endState"] == {"state": "COMPLETED", "run": {"id": RUN}}
    assert latest["states"] == [{"state": "COMPLETED"}, {"state": "RUNNING"}]
    assert latest["inputs"] == [{"dataset": {"name": "orders"}}]
    assert latest["outputs"] == [{"fields": [{"name": "total"}]}]
    assert data["versions"] == [latest["jobVersion"]]


def test_an_event_of_type_other_during_a_run_is_not_a_state(client: TestClient) -> None:
    states = '{ job(namespace: "etl", name: "late") { currentVersion { latestRun { states { state } } } } }'
    late = {"job": {"namespace": "etl", "name": "late"}}
    for kind, second in (("OTHER", 30), ("START", 31), ("OTHER", 32), ("COMPLETE", 33)):
        post(client, run("late", kind, second, **late))

    data = ask_for(client, states)["job"]

    states_of_run = [each["state"] for each in data["currentVersion"]["latestRun"]["states"]]
    assert states_of_run == ["COMPLETED", "RUNNING", "NEW"]


@pytest.mark.parametrize("kinds", [*permutations(["OTHER", "START", "COMPLETE"])], ids=" ".join)
def test_states_of_one_moment_are_in_the_same_order_however_they_arrived(
    client: TestClient, kinds: tuple[str, ...]
) -> None:
    post(client, *(run("quick", kind, 31, job={"namespace": "etl", "name": "quick"}) for kind in kinds))

    data = ask_for(client, '{ job(namespace: "etl", name: "quick") { versions { latestRun { states { state } } } } }')

    states = [each["state"] for each in data["job"]["versions"][0]["latestRun"]["states"]]
    assert states == ["COMPLETED", "RUNNING", "NEW"]


def test_lineage_from_a_job_answers_the_query_of_marquez_pages(client: TestClient) -> None:
    graph = ask_for(
        client,
        "query getLineage($name: String!, $namespace: String!, $depth: Int!) { lineageFromJob(name: $name, "
        "namespace: $namespace, depth: $depth) { graph { __typename "
        "... on DatasetLineageEntry { name namespace type data { name physicalName fields { name } } "
        "inEdges { name namespace type } outEdges { name namespace type } } "
        "... on JobLineageEntry { name namespace type data { name currentVersion { version location } } "
        "inEdges { name namespace } outEdges { name namespace } } } } }",
        name="mart",
        namespace="etl",
        depth=1,
    )["lineageFromJob"]["graph"]

    by_name = {(node["type"], node["name"]): node for node in graph}
    assert [*by_name] == [("DATASET", "mart"), ("DATASET", "orders"), ("JOB", "mart"), ("JOB", "report")]
    assert by_name["DATASET", "mart"]["inEdges"] == [{"name": "mart", "namespace": "etl", "type": "JOB"}]
    assert by_name["DATASET", "mart"]["outEdges"] == [{"name": "report", "namespace": "etl", "type": "JOB"}]
    assert by_name["JOB", "mart"]["inEdges"] == [{"name": "orders", "namespace": "lake"}]
    assert by_name["DATASET", "orders"]["data"]["fields"] == [{"name": "id"}, {"name": "price"}]
    assert by_name["JOB", "report"]["data"]["currentVersion"] is None


def test_an_edge_leads_to_its_own_node_though_another_nodes_id_is_spelt_the_same(client: TestClient) -> None:
    reads = event(
        run={"runId": f"{NEXT[:-1]}8"}, job={"namespace": "etl", "name": "read"}, inputs=[dataset("b:c", "a")]
    )
    other = event(
        run={"runId": f"{NEXT[:-1]}9"}, job={"namespace": "etl", "name": "write"}, outputs=[dataset("c", "a:b")]
    )
    post(client, reads, other)

    graph = ask_for(
        client,
        '{ lineageFromJob(namespace: "etl", name: "read") { graph { ... on JobLineageEntry '
        "{ inEdges { name namespace type } } } } }",
    )["lineageFromJob"]["graph"]

    assert graph[-1]["inEdges"] == [{"name": "b:c", "namespace": "a", "type": "DATASET"}]


def test_lists_are_paged(client: TestClient) -> None:
    data = ask_for(
        client,
        "{ datasets { name jobVersionAsInput { job { name } } jobVersionAsOutput { job { name } } } jobs { name } "
        "second: datasets(limit: 1, offset: 1) { name } none: datasets(limit: 0) { name } "
        'namespace(name: "etl") { jobs { name } datasets { name } } lake: namespace(name: "lake") '
        "{ jobs { name } datasets { name } } }",
    )

    assert data["datasets"] == [
        {"name": "mart", "jobVersionAsInput": [], "jobVersionAsOutput": [{"job": {"name": "mart"}}]},
        {"name": "orders", "jobVersionAsInput": [{"job": {"name": "mart"}}], "jobVersionAsOutput": []},
    ]
    assert (data["second"], data["none"]) == ([{"name": "orders"}], [])
    assert data["jobs"] == [{"name": "report"}, {"name": "mart"}]
    assert data["namespace"] == {"jobs": [{"name": "mart"}, {"name": "report"}], "datasets": []}
    assert data["lake"] == {"jobs": [], "datasets": [{"name": "mart"}, {"name": "orders"}]}


def test_tags_and_owners_are_shown(client: TestClient) -> None:
    client.put("/api/v1/namespaces/lake", json={"ownerName": "ann"})
    client.post("/api/v1/namespaces/lake/datasets/orders/tags/GOLD")
    client.post("/api/v1/namespaces/lake/datasets/orders/fields/price/tags/GOLD")

    data = ask_for(
        client,
        '{ dataset(namespace: "lake", name: "orders") { tags { name datasets { name } fields { name } } '
        "fields { tags { name description } } namespace { currentOwner { name namespaces { name } } } } }",
    )["dataset"]

    assert data["tags"] == [{"name": "GOLD", "datasets": [{"name": "orders"}], "fields": [{"name": "price"}]}]
    assert data["fields"] == [{"tags": []}, {"tags": [{"name": "GOLD", "description": None}]}]
    assert data["namespace"] == {"currentOwner": {"name": "ann", "namespaces": [{"name": "lake"}]}}


def test_a_dataset_tagged_under_several_of_its_names_is_listed_once(client: TestClient) -> None:
    shown, other = "/api/v1/namespaces/lake/datasets/orders", "/api/v1/namespaces/glue/datasets/shop.orders"
    in_glue = facet(identifiers=[{"namespace": "glue", "name": "shop.orders", "type": "TABLE"}])
    post(client, event(run={"runId": "s"}, inputs=[dataset("orders", symlinks=in_glue)]))
    for path in (shown, other):
        assert client.post(f"{path}/tags/GOLD").status_code == 200
        assert client.post(f"{path}/fields/price/tags/GOLD").status_code == 200

    (tag,) = ask_for(
        client,
        '{ dataset(namespace: "glue", name: "shop.orders") '
        "{ tags { datasets { name } fields { name dataset { name } } } } }",
    )["dataset"]["tags"]

    assert tag == {"datasets": [{"name": "orders"}], "fields": [{"name": "price", "dataset": {"name": "orders"}}]}


def test_a_tag_does_not_list_what_is_deleted(client: TestClient) -> None:
    for name, column in (("orders", "price"), ("mart", "total")):
        client.post(f"/api/v1/namespaces/lake/datasets/{name}/tags/GOLD")
        client.post(f"/api/v1/namespaces/lake/datasets/{name}/fields/{column}/tags/GOLD")
    client.delete("/api/v1/namespaces/lake/datasets/mart")

    (tag,) = ask_for(
        client, '{ dataset(namespace: "lake", name: "orders") { tags { datasets { name } fields { name } } } }'
    )["dataset"]["tags"]

    assert tag == {"datasets": [{"name": "orders"}], "fields": [{"name": "price"}]}


def test_names_with_a_password_are_found_as_in_other_reads(client: TestClient) -> None:
    cache = "redis://ann:s3cret@cache"
    post(client, run(RUN, "START", 30, job={"namespace": cache, "name": "j"}, inputs=[dataset("t", cache)]))

    found = ask_for(
        client,
        'query ($of: String!) { namespace(name: $of) { name } dataset(namespace: $of, name: "t") { name } '
        'job(namespace: $of, name: "j") { name } }',
        of=cache,
    )

    assert found == {"namespace": {"name": "redis://cache"}, "dataset": {"name": "t"}, "job": {"name": "j"}}


def test_something_unknown_or_deleted_is_null(client: TestClient) -> None:
    client.delete("/api/v1/namespaces/lake/datasets/mart")

    data = ask_for(
        client,
        '{ dataset(namespace: "lake", name: "mart") { name } job(namespace: "a", name: "b") { name } '
        'namespace(name: "none") { name } }',
    )

    assert set(data.values()) == {None}


def test_an_owner_has_all_namespaces_that_name_it_also_where_nobody_put_one(client: TestClient) -> None:
    client.put("/api/v1/namespaces/new", json={"ownerName": "ann"})
    owned = "{ currentOwner { name namespaces { name } } }"

    data = ask_for(client, f'{{ etl: namespace(name: "etl") {owned} new: namespace(name: "new") {owned} }}')

    nobody = [{"name": name} for name in ("default", "etl", "lake")]
    assert data["etl"] == {"currentOwner": {"name": "anonymous", "namespaces": nobody}}
    assert data["new"] == {"currentOwner": {"name": "ann", "namespaces": [{"name": "new"}]}}


def test_an_owner_is_the_same_whichever_namespace_is_queried(client: TestClient) -> None:
    for namespace in ("etl", "new"):
        client.put(f"/api/v1/namespaces/{namespace}", json={"ownerName": "ann"})

    data = ask_for(
        client,
        '{ etl: namespace(name: "etl") { currentOwner { name createdAt } } '
        'new: namespace(name: "new") { currentOwner { name createdAt } owners { name createdAt } } }',
    )

    ann = {"name": "ann", "createdAt": None}
    assert data == {"etl": {"currentOwner": ann}, "new": {"currentOwner": ann, "owners": [ann]}}


@pytest.mark.parametrize("name", ["nobody's", "mart"])
def test_lineage_from_an_unknown_or_deleted_job_is_empty(client: TestClient, name: str) -> None:
    client.delete("/api/v1/namespaces/etl/jobs/mart")

    data = ask_for(client, f'{{ lineageFromJob(namespace: "etl", name: "{name}") {{ graph {{ __typename }} }} }}')

    assert data == {"lineageFromJob": {"graph": []}}


def test_a_query_may_be_in_the_url(client: TestClient) -> None:
    query = "query Q($n: String!) { namespace(name: $n) { name } } query R { jobs { name } }"
    parameters = {"query": query, "operationName": "Q", "variables": '{"n": "etl"}'}

    assert client.get(PATH, params=parameters).json() == {"data": {"namespace": {"name": "etl"}}}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("{", "Syntax Error: Expected Name, found <EOF>."),
        ("{ nothing }", "Cannot query field 'nothing' on type 'Query'."),
        ("mutation { jobs { name } }", "mutation"),
        ("{ dataset(namespace: 5) { name } }", "String cannot represent a non string value: 5"),
        ("query ($a: String!) { namespace(name: $a) { name } }", "Variable '$a'"),
        ("{" + "a: __typename " * 700 + "}", "Syntax Error: Document contains more than 2000 tokens"),
        (f'{{ namespace(name: "{"x" * 100_000}") {{ name }} }}', "the query is longer than 100,000 characters"),
    ],
)
def test_an_invalid_query_is_answered_with_its_error(client: TestClient, query: str, message: str) -> None:
    answer = client.post(PATH, json={"query": query})

    assert answer.status_code == 200
    assert answer.json()["data"] is None
    assert message in answer.json()["errors"][0]["message"]


@pytest.mark.parametrize("variables", ["5", "{", "%ff"])
def test_variables_that_are_not_an_object_are_refused(client: TestClient, variables: str) -> None:
    answer = client.get(f"{PATH}?query=%7Bjobs%7Bname%7D%7D&variables={variables}")

    assert answer.json() == {"code": 400, "message": "query param variables must be a JSON object"}


def test_a_body_without_a_query_is_refused(client: TestClient) -> None:
    assert client.post(PATH, json={}).json() == {
        "code": 422,
        "message": "query must not be null",
        "errors": ["query must not be null"],
    }


def test_a_circular_query_is_stopped(client: TestClient) -> None:
    query = '{ namespace(name: "etl") ' + "{ jobs { namespace " * 14 + "{ name }" + "} }" * 14 + "}"

    errors = client.post(PATH, json={"query": query}).json()["errors"]

    assert errors[0]["message"] == "the query reaches more than 10,000 objects: request less at a time"


def test_the_current_of_many_versions_is_found_without_loading_all(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ask, "MAX_OBJECTS", 50)
    versions = ["a", *map(str, range(58)), "a"]
    for second, version in enumerate(versions):
        table = dataset("table", schema=schema("id"), version=facet(datasetVersion=version))
        post(client, run(f"commit {second}", "COMPLETE", f"{second:02d}", inputs=[], outputs=[table]))
    named = 'dataset(namespace: "lake", name: "table")'

    current = ask_for(
        client, f"{{ {named} {{ currentVersion {{ version createdAt fields {{ name }} run {{ id }} }} }} }}"
    )
    runs = ask_for(
        client, '{ job(namespace: "etl", name: "mart") { currentVersion { latestRun { id outputs { run { id } } } } } }'
    )
    all_versions = client.post(PATH, json={"query": f"{{ {named} {{ versions {{ version }} }} }}"}).json()

    version = current["dataset"]["currentVersion"]
    assert (version["createdAt"], version["run"]) == ("2026-05-22T14:23:59.000Z", {"id": "commit 59"})
    assert version["fields"] == [{"name": "id"}]
    assert runs["job"]["currentVersion"]["latestRun"] == {"id": "commit 59", "outputs": [{"run": {"id": "commit 59"}}]}
    assert "more than 50 objects" in all_versions["errors"][0]["message"]


def test_a_job_with_more_versions_than_a_query_may_reach_shows_its_current_one(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ask, "MAX_OBJECTS", 20)
    daily = [dataset(f"day {day}") for day in range(30)]
    for second, part in enumerate(daily, 10):
        post(client, run(f"run {second}", "COMPLETE", second, inputs=[daily[0]], outputs=[part]))

    version = "{ version latestRun { id jobVersion { version } } }"
    job = ask_for(client, f'{{ job(namespace: "etl", name: "mart") {{ currentVersion {version} }} }}')["job"]
    read = ask_for(client, f'{{ dataset(namespace: "lake", name: "day 0") {{ jobVersionAsInput {version} }} }}')

    latest = job["currentVersion"]["latestRun"]
    assert (latest["id"], latest["jobVersion"]["version"]) == ("run 39", job["currentVersion"]["version"])
    assert read["dataset"]["jobVersionAsInput"] == [job["currentVersion"]]


def test_the_datasets_of_a_source_are_found_among_more_than_a_query_may_reach(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ask, "MAX_OBJECTS", 20)
    others = [dataset(f"day {day}") for day in range(30)]
    in_source = [dataset(name, dataSource=SOURCE) for name in ("b", "a", "gone", "moved")]
    post(client, run("daily", "COMPLETE", 30, inputs=others, outputs=in_source))
    post(client, run("later", "COMPLETE", 31, outputs=[dataset("moved", dataSource=facet(name="other", uri="x://y"))]))
    client.delete("/api/v1/namespaces/lake/datasets/gone").raise_for_status()

    found = ask_for(client, '{ dataset(namespace: "lake", name: "a") { source { name datasets { name } } } }')[
        "dataset"
    ]

    assert found["source"] == {"name": "pg", "datasets": [{"name": name} for name in ("a", "b", "mart")]}


def test_a_stream_has_a_version_while_it_runs_and_other_jobs_have_none(client: TestClient) -> None:
    stream = {"namespace": "etl", "name": "stream", "facets": {"jobType": STREAMING}}
    post(client, run("stream", "RUNNING", 30, job=stream, inputs=[dataset("orders")]))
    post(client, run("again", "START", 31, inputs=[dataset("orders")]))

    versions = ask_for(
        client,
        '{ stream: job(namespace: "etl", name: "stream") '
        "{ currentVersion { version latestRun { id endState { state } jobVersion { version } } } } "
        'batch: job(namespace: "etl", name: "mart") { versions { latestRun { id } } } }',
    )

    current = versions["stream"]["currentVersion"]
    assert current["latestRun"] == {
        "id": "stream",
        "endState": None,
        "jobVersion": {"version": current["version"]},
    }
    assert versions["batch"] == {"versions": [{"latestRun": {"id": RUN}}]}


def test_a_run_that_only_reported_its_end_has_no_start(client: TestClient) -> None:
    post(client, run("ended", "FAIL", 30, job={"namespace": "etl", "name": "ended"}))

    job = ask_for(
        client,
        '{ job(namespace: "etl", name: "ended") { currentVersion { latestRun '
        "{ startState { state } endState { state transitionedAt } } } } }",
    )["job"]

    assert job["currentVersion"]["latestRun"] == {
        "startState": None,
        "endState": {"state": "FAILED", "transitionedAt": "2026-05-22T14:23:30.000Z"},
    }


def test_a_run_has_the_version_of_its_time_even_if_the_dataset_went_back_to_it_later(
    client: TestClient,
) -> None:
    writes = {"job": {"namespace": "etl", "name": "write"}, "inputs": []}
    reads = {"job": {"namespace": "etl", "name": "read"}, "outputs": []}
    first, other = (dataset("table", schema=schema(*columns)) for columns in (["id"], ["id", "x"]))
    post(
        client,
        run("a", "COMPLETE", 30, **writes, outputs=[first]),
        run("reader", "COMPLETE", 31, **reads, inputs=[dataset("table")]),
        run("b", "COMPLETE", 32, **writes, outputs=[other]),
        run("c", "COMPLETE", 33, **writes, outputs=[first]),
    )

    data = ask_for(
        client,
        '{ job(namespace: "etl", name: "read") { currentVersion { latestRun { inputs { createdAt run { id } } } } } '
        'dataset(namespace: "lake", name: "table") { versions { run { id outputs { createdAt run { id } } } } } }',
    )

    times = {"a": 30, "b": 32, "c": 33}
    version_by = {
        run_id: {"createdAt": f"2026-05-22T14:23:{s}.000Z", "run": {"id": run_id}} for run_id, s in times.items()
    }
    assert data["job"]["currentVersion"]["latestRun"]["inputs"] == [version_by["a"]]
    written = [each["run"] for each in data["dataset"]["versions"]]
    assert written == [{"id": run_id, "outputs": [version_by[run_id]]} for run_id in "cba"]


def test_a_column_has_the_times_of_the_versions_that_added_and_changed_it(client: TestClient) -> None:
    def column(name: str, kind: str = "int") -> Body:
        return {"name": name, "type": kind}

    schemas = [
        [column("a"), column("gone"), column("typed")],
        [column("a"), column("new"), column("typed", "long")],
        [column("typed", "long"), column("new"), column("a"), column("gone")],
    ]
    for number, columns in enumerate(schemas):
        table = dataset("table", schema=facet(fields=columns))
        post(client, run(f"{number}", "COMPLETE", 30 + number, inputs=[], outputs=[table]))
    post(client, run("reader", "COMPLETE", 40, inputs=[dataset("table")]))

    data = ask_for(
        client,
        '{ dataset(namespace: "lake", name: "table") { fields { name createdAt updatedAt versions { createdAt } } '
        "versions { fields { name createdAt updatedAt } } } }",
    )["dataset"]
    versions = {each["name"]: [at["createdAt"][17:19] for at in each.pop("versions")] for each in data["fields"]}

    times = {each["name"]: (each["createdAt"][17:19], each["updatedAt"][17:19]) for each in data["fields"]}
    assert times == {"a": ("30", "30"), "gone": ("30", "32"), "typed": ("30", "31"), "new": ("31", "31")}
    of_versions = [each for version in data["versions"] for each in version["fields"]]
    assert all(each in data["fields"] for each in of_versions)
    assert (versions["gone"], versions["new"]) == (["32", "30"], ["32", "31"])


def test_an_internal_error_of_a_field_is_logged_and_not_shown(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    knowledge = client.app.state.service.knowledge  # type: ignore[attr-defined]
    knowledge.graph.jobs = None

    answer = client.post(PATH, json={"query": "{ jobs { name } datasets { name } }"}).json()

    assert answer["errors"][0]["message"] == "internal error; see the service's log"
    assert answer["data"]["jobs"] is None
    assert len(answer["data"]["datasets"]) == 2
    assert [record.name for record in caplog.records] == ["headwater.service.graphql.answer"]


def test_an_empty_operation_name_counts_as_none(client: TestClient) -> None:
    query = '{job(namespace:"etl",name:"mart"){name}}'

    posted = client.post(PATH, json={"query": query, "operationName": ""})
    got = client.get(PATH, params={"query": query, "operationName": ""})

    assert posted.json() == got.json() == {"data": {"job": {"name": "mart"}}}
