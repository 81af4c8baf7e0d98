"""Tags that producers report in `tags` facets are listed with those that people put over the API."""

from typing import Any

from starlette.testclient import TestClient

from tests.support.app import RUN, dataset, event, facet, get, post, schema

ORDERS = "/api/v1/namespaces/lake/datasets/orders"
LOAD = "/api/v1/namespaces/etl/jobs/load"


def tags(*texts: str) -> dict[str, Any]:
    """A `tags` facet of KEY, KEY=VALUE, or COLUMN/KEY=VALUE."""
    entries = []
    for each in texts:
        column, _, tag = each.rpartition("/")
        key, _, value = tag.partition("=")
        entries.append({"key": key, "value": value, "source": "CATALOG", **({"field": column} if column else {})})
    return facet(tags=entries)


def loaded(second: int, *texts: str, **changes: object) -> dict[str, Any]:
    orders = dataset("orders", schema=schema("id", "email"), tags=tags(*texts))
    return event(eventTime=f"2026-05-22T14:23:{second:02d}Z", outputs=[orders], **changes)


def columns(client: TestClient) -> dict[str, list[str]]:
    return {field["name"]: field["tags"] for field in get(client, ORDERS)["fields"]}


def tag_names(client: TestClient) -> set[str]:
    return {tag["name"] for tag in get(client, "/api/v1/tags")["tags"]}


def test_reported_tags_are_on_the_job_the_run_the_dataset_and_the_column(client: TestClient) -> None:
    body = loaded(11, "gold", "tier=1", "email/pii=true", "email/mask=last4")
    body["job"]["facets"] = {"tags": tags("nightly=nightly", "owner=ann")}
    body["run"] = {"runId": RUN, "facets": {"tags": tags("backfill")}}
    post(client, body)

    job = get(client, LOAD)

    assert job["tags"] == ["nightly", "owner:ann"]
    assert job["latestRun"]["tags"] == ["backfill"]
    assert get(client, ORDERS)["tags"] == ["gold", "tier:1"]
    assert columns(client) == {"id": [], "email": ["pii", "mask:last4"]}
    in_graph = {node["id"]: node["data"] for node in get(client, "/api/v1/lineage?nodeId=job:etl:load")["graph"]}
    assert in_graph["dataset:lake:orders"]["tags"] == ["gold", "tier:1"]
    listed = {"nightly", "owner:ann", "gold", "tier:1", "pii", "mask:last4"}
    assert tag_names(client) == listed | {"PII", "SENSITIVE"}


def test_a_column_inside_another_is_tagged_by_its_path(client: TestClient) -> None:
    nested = facet(fields=[{"name": "address", "type": "struct", "fields": [{"name": "city", "type": "string"}]}])
    post(client, event(outputs=[dataset("orders", schema=nested, tags=tags("address.city/pii"))]))

    (address,) = get(client, ORDERS)["fields"]

    assert address["tags"] == []
    assert address["fields"][0]["tags"] == ["pii"]


def test_the_newest_facet_counts_and_what_people_put_stays(client: TestClient) -> None:
    post(client, loaded(11, "old", "id/old"))
    for path in ("tags/GOLD", "fields/id/tags/key"):
        client.post(f"{ORDERS}/{path}")
    post(client, loaded(12, "new", "id/new"))

    assert get(client, ORDERS)["tags"] == ["GOLD", "new"]
    assert columns(client)["id"] == ["KEY", "new"]
    assert tag_names(client) == {"GOLD", "KEY", "PII", "SENSITIVE", "new"}


def test_people_may_remove_tags_that_producers_reported(client: TestClient) -> None:
    post(client, loaded(11, "gold", "id/pii"))
    client.delete(f"{ORDERS}/tags/gold")
    client.delete(f"{ORDERS}/fields/id/tags/pii")
    post(client, loaded(12, "gold", "id/pii"))

    assert get(client, ORDERS)["tags"] == []
    assert columns(client) == {"id": [], "email": []}
    assert tag_names(client) == {"PII", "SENSITIVE"}


def test_a_reported_tag_that_people_removed_is_listed_while_something_else_has_it(client: TestClient) -> None:
    of_job = loaded(11, "gold", "id/pii", "email/pii", "id/mask")
    of_job["job"]["facets"] = {"tags": tags("gold", "nightly")}
    post(client, of_job)

    for path in (f"{ORDERS}/tags/gold", f"{ORDERS}/fields/id/tags/pii", f"{LOAD}/tags/nightly"):
        client.delete(path).raise_for_status()

    assert tag_names(client) == {"gold", "mask", "pii", "PII", "SENSITIVE"}


def test_tags_are_known_as_of_then(client: TestClient) -> None:
    post(client, loaded(11, "old"), loaded(13, "new"))

    then = "asOf=2026-05-22T14:23:12Z"

    assert get(client, f"{ORDERS}?{then}")["tags"] == ["old"]
    assert "new" not in {tag["name"] for tag in get(client, f"/api/v1/tags?{then}")["tags"]}


def test_an_invalid_tags_facet_adds_no_tags(client: TestClient) -> None:
    post(client, event(outputs=[dataset("orders", tags=facet(tags=[{"key": 5}]))]))

    assert get(client, ORDERS)["tags"] == []


def test_graphql_finds_datasets_and_columns_by_reported_tags(client: TestClient) -> None:
    post(client, loaded(11, "gold", "email/pii"))
    query = (
        '{ dataset(namespace: "lake", name: "orders") '
        "{ tags { name datasets { name } } fields { name tags { name fields { name } } } } }"
    )

    orders = client.post("/api/v1-beta/graphql", json={"query": query}).json()["data"]["dataset"]

    assert orders["tags"] == [{"name": "gold", "datasets": [{"name": "orders"}]}]
    assert orders["fields"][1] == {"name": "email", "tags": [{"name": "pii", "fields": [{"name": "email"}]}]}


def test_tags_of_only_deleted_datasets_and_jobs_are_not_listed(client: TestClient) -> None:
    post(client, loaded(11, "told"))
    for path in (f"{ORDERS}/tags/OF_DATASET", f"{ORDERS}/fields/id/tags/OF_COLUMN", f"{LOAD}/tags/OF_JOB"):
        client.post(path).raise_for_status()
    client.put("/api/v1/tags/PUT", json={}).raise_for_status()
    before = tag_names(client)

    client.delete(ORDERS).raise_for_status()
    client.delete(LOAD).raise_for_status()

    assert before - tag_names(client) == {"told", "OF_DATASET", "OF_COLUMN", "OF_JOB"}
