"""Passwords that producers send in names and facets are in the log, and in no answer except the quoted events."""

import json
from typing import Any, Final
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from tests.support.app import RUN, Body, dataset, event, facet, get, post

SECRET: Final = "s3cret"  # noqa: S105  nobody's
SENT: Final = f"jdbc:postgresql://ann:{SECRET}@db/shop?password={SECRET}&sslpassword={SECRET}"
SHOWN: Final = "jdbc:postgresql://db/shop"
BUCKET: Final = f"s3://KEY:{SECRET}@lake"
PARENT: Final = "0198f7d0-1111-7222-8333-444455556667"


def loaded(source: str, *, at: str = "2026-05-22T14:23:11Z") -> dict[str, Any]:
    """A run of a job with a password in every member that may have one."""
    read = {"namespace": source, "name": "public.orders", "field": "id"}
    identifiers = [{"namespace": BUCKET, "name": "wh/orders", "type": "TABLE"}]
    return event(
        eventType="FAIL",
        eventTime=at,
        job={"namespace": source, "name": f"load {source}", "facets": {"sql": facet(query=f"COPY t FROM '{BUCKET}'")}},
        run={
            "runId": RUN,
            "facets": {
                "parent": facet(run={"runId": PARENT}, job={"namespace": source, "name": "daily"}),
                "errorMessage": facet(message=f"no route to {source}, {SHOWN}", programmingLanguage="JAVA"),
                "jobDependencies": facet(upstream=[{"job": {"namespace": source, "name": "before"}}]),
            },
        },
        inputs=[
            dataset(
                "public.orders",
                source,
                dataSource=facet(name=source, uri=source),
                symlinks=facet(identifiers=identifiers),
                catalog=facet(framework="x", type="jdbc", name="c", metadataUri=source, warehouseUri=BUCKET),
                example=facet(deep=[{"address": source}]),
            )
        ],
        outputs=[dataset("o", BUCKET, columnLineage=facet(fields={"id": {"inputFields": [read]}}))],
    )


READS: Final = (
    "/namespaces",
    "/sources",
    "/jobs",
    "/search?q=o",
    f"/search?q={quote(SENT, safe='')}",
    "/events/lineage?limit=0",
    "/coverage",
    "/drift",
    "/tags",
    "/quarantine",
    f"/jobs/runs/{RUN}",
    f"/jobs/runs/{RUN}/facets?type=run",
    f"/namespaces/{quote(SENT, safe='')}",
    f"/namespaces/{quote(SENT, safe='')}/jobs",
    f"/namespaces/{quote(SENT, safe='')}/datasets",
    f"/namespaces/{quote(SENT, safe='')}/datasets/public.orders",
    f"/namespaces/{quote(SENT, safe='')}/jobs/{quote(f'load {SENT}', safe='')}",
    f"/identity?nodeId={quote(f'dataset:{SENT}:public.orders')}",
    f"/identity?namespace={quote(SENT, safe='')}&name=public.orders",
    f"/lineage?nodeId={quote(f'dataset:{SENT}:public.orders', safe='')}",
    f"/lineage?nodeId={quote(f'job:{SENT}:load {SENT}', safe='')}",
    f"/column-lineage?nodeId={quote(f'datasetField:{BUCKET}:o:id', safe='')}",
    f"/flow?nodeId={quote(f'dataset:{BUCKET}:o', safe='')}",
    f"/impact?nodeId={quote(f'dataset:{SENT}:public.orders', safe='')}",
    f"/root-cause?nodeId={quote(f'dataset:{BUCKET}:o', safe='')}",
    f"/control-flow?nodeId={quote(f'job:{SENT}:load {SENT}', safe='')}",
    f"/containment?nodeId={quote(f'job:{SENT}:daily', safe='')}",
    f"/diff?from=2026-05-22T14:00:00Z&namespace={quote(SENT, safe='')}",
)


@pytest.mark.parametrize("path", READS)
def test_no_answer_has_a_password_and_names_with_one_are_found(client: TestClient, path: str) -> None:
    post(client, loaded(SENT))

    response = client.get(f"/api/v1{path}")

    assert response.status_code == 200, response.text
    assert SECRET not in response.text


def test_names_with_a_password_and_without_are_one_dataset_and_one_job(client: TestClient) -> None:
    post(client, loaded(SENT), event(job={"namespace": SHOWN, "name": f"load {SHOWN}"}))

    datasets, jobs = (
        get(client, f"/api/v1/namespaces/{quote(SHOWN, safe='')}/{kind}") for kind in ("datasets", "jobs")
    )
    graph = get(client, "/api/v1/column-lineage?nodeId=datasetField:s3://lake:o:id")["graph"]

    assert [each["name"] for each in datasets["datasets"]] == ["public.orders"]
    assert sorted(each["name"] for each in jobs["jobs"]) == ["daily", f"load {SHOWN}"]
    assert {node["id"] for node in graph} == {"datasetField:s3://lake:o:id", f"datasetField:{SHOWN}:public.orders:id"}


def test_a_source_and_a_facet_are_shown_without_the_password(client: TestClient) -> None:
    post(client, loaded(SENT))

    [source] = [each for each in get(client, "/api/v1/sources")["sources"] if each["name"] == SHOWN]
    facets: Body = get(client, f"/api/v1/namespaces/{quote(SHOWN, safe='')}/datasets/public.orders")["facets"]

    assert source["connectionUrl"] == SHOWN
    assert (facets["catalog"]["metadataUri"], facets["catalog"]["warehouseUri"]) == (SHOWN, "s3://lake")
    assert facets["example"]["deep"] == [{"address": SHOWN}]


def test_the_log_quotes_events_byte_for_byte(client: TestClient) -> None:
    body = json.dumps(loaded(SENT))
    client.post("/api/v1/lineage", content=body)

    assert body in client.get(f"/api/v1/events/{quote(SENT, safe='')}").text


def test_a_tag_put_on_a_name_with_a_password_is_on_the_dataset(client: TestClient) -> None:
    post(client, loaded(SENT))

    tagged = client.post(f"/api/v1/namespaces/{quote(SENT, safe='')}/datasets/public.orders/tags/PII")
    edits = client.get("/api/v1/edits")

    assert tagged.json()["tags"] == ["PII"]
    assert SECRET not in tagged.text + edits.text


def test_what_is_put_is_found_and_stored_without_the_passwords_in_it(client: TestClient) -> None:
    cache = f"redis://ann:{SECRET}@cache"
    namespace = f"/api/v1/namespaces/{quote(cache, safe='')}"
    table = {
        "type": "DB_TABLE",
        "physicalName": SENT,
        "sourceName": cache,
        "description": f"a copy of {SENT}",
        "tags": [cache],
        "fields": [{"name": "id", "description": cache, "tags": [cache]}],
    }
    run = {"id": f"run of {cache}", "args": {"source": SENT}}
    job = {"type": "BATCH", "inputs": [{"namespace": cache, "name": "t"}], "location": f"https://ann:{SECRET}@git/x"}

    answers = [
        client.put(namespace, json={"ownerName": cache, "description": SENT}),
        client.put(f"/api/v1/sources/{quote(cache, safe='')}", json={"type": "REDIS", "connectionUrl": cache}),
        client.put("/api/v1/tags/copied", json={"description": f"from {SENT}"}),
        client.put(f"{namespace}/datasets/t", json=table),
        client.put(f"{namespace}/jobs/j", json=job),
        client.post(f"{namespace}/jobs/j/runs", json=run),
        client.put(f"{namespace}/jobs/j", json={**job, "runId": run["id"]}),
    ]

    assert [each.status_code for each in answers] == [200] * 5 + [201, 200]
    put = answers[3].json()
    assert (put["physicalName"], put["sourceName"], put["tags"]) == (SHOWN, "redis://cache", ["redis://cache"])
    assert answers[4].json()["inputs"] == [{"namespace": "redis://cache", "name": "t"}]
    logged = [client.get(f"/api/v1/{path}").text for path in ("events?limit=100", "edits?limit=100")]
    assert SECRET not in "".join([*(each.text for each in answers), *logged])


def test_a_not_found_answer_does_not_repeat_the_password_in_the_request(client: TestClient) -> None:
    node_id = quote(f"dataset:{SENT}:none", safe="")

    for path in (
        f"lineage?nodeId={node_id}",
        f"identity?nodeId={node_id}",
        f"quality?nodeId={node_id}",
        f"search/{node_id}",
    ):
        response = client.get(f"/api/v1/{path}")

        assert response.status_code == 404
        assert SECRET not in response.text
