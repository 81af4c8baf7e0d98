"""Passwords that producers tell in names and facets are in the log, and in no answer but that which quotes it."""

import json
from typing import Any, Final
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from tests.support.app import RUN, Body, dataset, event, facet, get, post

SECRET: Final = "s3cret"  # noqa: S105  nobody's
TOLD: Final = f"jdbc:postgresql://ann:{SECRET}@db/shop?password={SECRET}&sslpassword={SECRET}"
SHOWN: Final = "jdbc:postgresql://db/shop"
BUCKET: Final = f"s3://KEY:{SECRET}@lake"
PARENT: Final = "0198f7d0-1111-7222-8333-444455556667"


def loaded(source: str, *, at: str = "2026-05-22T14:23:11Z") -> dict[str, Any]:
    """A run of a job that tells a password wherever it can."""
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
    f"/search?q={quote(TOLD, safe='')}",
    "/events/lineage?limit=0",
    "/coverage",
    "/drift",
    "/tags",
    "/quarantine",
    f"/jobs/runs/{RUN}",
    f"/jobs/runs/{RUN}/facets?type=run",
    f"/namespaces/{quote(TOLD, safe='')}",
    f"/namespaces/{quote(TOLD, safe='')}/jobs",
    f"/namespaces/{quote(TOLD, safe='')}/datasets",
    f"/namespaces/{quote(TOLD, safe='')}/datasets/public.orders",
    f"/namespaces/{quote(TOLD, safe='')}/jobs/{quote(f'load {TOLD}', safe='')}",
    f"/identity?nodeId={quote(f'dataset:{TOLD}:public.orders')}",
    f"/identity?namespace={quote(TOLD, safe='')}&name=public.orders",
    f"/lineage?nodeId={quote(f'dataset:{TOLD}:public.orders', safe='')}",
    f"/lineage?nodeId={quote(f'job:{TOLD}:load {TOLD}', safe='')}",
    f"/column-lineage?nodeId={quote(f'datasetField:{BUCKET}:o:id', safe='')}",
    f"/flow?nodeId={quote(f'dataset:{BUCKET}:o', safe='')}",
    f"/impact?nodeId={quote(f'dataset:{TOLD}:public.orders', safe='')}",
    f"/root-cause?nodeId={quote(f'dataset:{BUCKET}:o', safe='')}",
    f"/control-flow?nodeId={quote(f'job:{TOLD}:load {TOLD}', safe='')}",
    f"/containment?nodeId={quote(f'job:{TOLD}:daily', safe='')}",
    f"/diff?from=2026-05-22T14:00:00Z&namespace={quote(TOLD, safe='')}",
)


@pytest.mark.parametrize("path", READS)
def test_no_answer_has_a_password_and_what_is_asked_for_with_one_is_found(client: TestClient, path: str) -> None:
    post(client, loaded(TOLD))

    answer = client.get(f"/api/v1{path}")

    assert answer.status_code == 200, answer.text
    assert SECRET not in answer.text


def test_names_with_a_password_and_without_are_one_dataset_and_one_job(client: TestClient) -> None:
    post(client, loaded(TOLD), event(job={"namespace": SHOWN, "name": f"load {SHOWN}"}))

    datasets, jobs = (
        get(client, f"/api/v1/namespaces/{quote(SHOWN, safe='')}/{kind}") for kind in ("datasets", "jobs")
    )
    fed = get(client, "/api/v1/column-lineage?nodeId=datasetField:s3://lake:o:id")["graph"]

    assert [each["name"] for each in datasets["datasets"]] == ["public.orders"]
    assert sorted(each["name"] for each in jobs["jobs"]) == ["daily", f"load {SHOWN}"]
    assert {node["id"] for node in fed} == {"datasetField:s3://lake:o:id", f"datasetField:{SHOWN}:public.orders:id"}


def test_a_source_and_a_facet_are_shown_without_what_opens_them(client: TestClient) -> None:
    post(client, loaded(TOLD))

    [source] = [each for each in get(client, "/api/v1/sources")["sources"] if each["name"] == SHOWN]
    facets: Body = get(client, f"/api/v1/namespaces/{quote(SHOWN, safe='')}/datasets/public.orders")["facets"]

    assert source["connectionUrl"] == SHOWN
    assert (facets["catalog"]["metadataUri"], facets["catalog"]["warehouseUri"]) == (SHOWN, "s3://lake")
    assert facets["example"]["deep"] == [{"address": SHOWN}]


def test_the_log_quotes_what_came_byte_for_byte(client: TestClient) -> None:
    told = json.dumps(loaded(TOLD))
    client.post("/api/v1/lineage", content=told)

    assert told in client.get(f"/api/v1/events/{quote(TOLD, safe='')}").text


def test_a_tag_put_on_a_name_with_a_password_is_on_the_dataset(client: TestClient) -> None:
    post(client, loaded(TOLD))

    tagged = client.post(f"/api/v1/namespaces/{quote(TOLD, safe='')}/datasets/public.orders/tags/PII")
    edits = client.get("/api/v1/edits")

    assert tagged.json()["tags"] == ["PII"]
    assert SECRET not in tagged.text + edits.text


def test_what_is_not_there_is_told_without_the_password_it_was_asked_for_with(client: TestClient) -> None:
    asked = quote(f"dataset:{TOLD}:none", safe="")

    for path in (f"lineage?nodeId={asked}", f"identity?nodeId={asked}", f"quality?nodeId={asked}", f"search/{asked}"):
        answer = client.get(f"/api/v1/{path}")

        assert answer.status_code == 404
        assert SECRET not in answer.text
