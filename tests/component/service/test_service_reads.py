"""Reads across the whole service: search, namespaces, summary, HEAD requests; and the order of events is irrelevant."""

import hashlib
import json
from itertools import permutations
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from tests.support.app import PRODUCER, RUN, dataset, event, facet, get, post, schema, served
from tests.support.lineage_events import job, lineage_facet, post_columns, run_event, symlinks


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 200),
        ("/api/v1/log/checkpoint", 200),
        ("/api/v1/namespaces", 200),
        ("/api/v1/namespaces/none", 404),
        ("/api/v1/search", 400),
        (f"/api/v1/jobs/runs/{RUN}", 200),
        ("/healthz", 200),
        ("/openapi.json", 200),
        ("/spec/none", 404),
    ],
)
def test_a_head_request_has_the_headers_of_a_get_without_the_body(client: TestClient, path: str, status: int) -> None:
    post(client, event())

    head, full = client.head(path), client.get(path)

    assert (head.status_code, head.content) == (full.status_code, b"") == (status, b"")
    assert head.headers == full.headers


@pytest.mark.parametrize("plus", ["%2B", "+"])
def test_events_between_two_times_are_listed_by_event_time_in_pages(client: TestClient, plus: str) -> None:
    post(client, *(run_event(f"run-{second}", "START", second) for second in (2, 0, 4, 3, 1)))
    path = f"/api/v1/events/lineage?after=2026-05-22T14:23:01Z&before=2026-05-22T16:23:04{plus}02:00"

    newest = get(client, f"{path}&limit=2")
    oldest = get(client, f"{path}&sortDirection=asc&limit=2&offset=1")

    assert [each["run"]["runId"] for each in newest["events"]] == ["run-3", "run-2"]
    assert [each["run"]["runId"] for each in oldest["events"]] == ["run-2", "run-3"]
    assert newest["totalCount"] == oldest["totalCount"] == 3


@pytest.mark.parametrize("bounds", ["", "&after=2026-05-22T14:23:00Z", "&asOf=2026-05-22T15:00:00Z"])
def test_events_of_runs_are_listed_separately_and_among_all(client: TestClient, bounds: str) -> None:
    declared = {"eventTime": "2026-05-22T14:23:11Z", "producer": PRODUCER}
    run_events = run_event("r", "START", 1), run_event("r", "OTHER", 5)
    post(client, run_events[0], declared | {"job": job("j")}, declared | {"dataset": dataset("d")}, run_events[1])
    client.put("/api/v1/tags/GOLD", json={"description": "an edit"})

    of_runs, every = (get(client, f"/api/v1/{path}?limit=3{bounds}") for path in ("events/lineage", "events"))

    assert [each["run"]["runId"] for each in of_runs["events"]] == ["r", "r"]
    assert of_runs["totalCount"] == 2
    assert (len(every["events"]), every["totalCount"]) == (3, 4)


def test_search_finds_by_a_part_of_any_name_in_either_case(client: TestClient) -> None:
    link = symlinks(("glue", "table/Sales/Orders"))
    post(
        client,
        event(
            job=job("load_orders"),
            inputs=[dataset("raw_ORDERS", "kafka")],
            outputs=[dataset("wh/o1", "s3", symlinks=link)],
        ),
    )

    def found(query: str) -> list[tuple[str, str]]:
        return [(hit["type"], hit["name"]) for hit in get(client, f"/api/v1/search?{query}")["results"]]

    assert found("q=orders") == [("JOB", "load_orders"), ("DATASET", "raw_ORDERS"), ("DATASET", "wh/o1")]
    assert found("q=orders&filter=DATASET") == [("DATASET", "raw_ORDERS"), ("DATASET", "wh/o1")]
    assert found("q=orders&filter=JOB") == [("JOB", "load_orders")]
    assert found("q=orders&namespace=glue") == [("DATASET", "wh/o1")]
    assert found("q=orders&limit=1") == [("JOB", "load_orders")]
    assert found("q=dataset:s3:wh/o1") == [("DATASET", "wh/o1")]
    assert found("q=nothing") == []
    (hit,) = get(client, "/api/v1/search?q=sales")["results"]
    assert hit["nodeId"] == "dataset:s3:wh/o1"
    assert hit["symlinks"] == [{"namespace": "glue", "name": "table/Sales/Orders"}]


def test_search_can_sort_by_time_newest_first(client: TestClient) -> None:
    post(
        client,
        *(run_event(name, "START", second, job=job(name)) for second, name in enumerate(("job_b", "job_c", "job_a"))),
    )

    hits = get(client, "/api/v1/search?q=job_&sort=UPDATE_AT")["results"]

    assert [hit["name"] for hit in hits] == ["job_a", "job_c", "job_b"]


@pytest.mark.parametrize("sort", ["NAME", "UPDATE_AT"])
@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ("before=2026-05-22", {"day_before"}),
        ("after=2026-05-22", {"midnight", "same_day", "next_midnight"}),
        ("after=2026-05-22&before=2026-05-23", {"midnight", "same_day"}),
    ],
)
def test_search_finds_what_was_last_heard_of_from_a_day_on_and_before_another(
    client: TestClient, sort: str, bounds: str, expected: set[str]
) -> None:
    times = {
        "day_before": "2026-05-21T23:59:59.999Z",
        "midnight": "2026-05-22T00:00:00Z",
        "same_day": "2026-05-22T23:59:59Z",
        "next_midnight": "2026-05-23T00:00:00Z",
    }
    post(client, *(event(eventTime=at, run={"runId": name}, job=job(name)) for name, at in times.items()))

    found = get(client, f"/api/v1/search?q=d&sort={sort}&{bounds}")

    assert {hit["name"] for hit in found["results"]} == expected


def test_namespaces_are_those_of_jobs_datasets_and_their_other_names(client: TestClient) -> None:
    link = symlinks(("glue", "t"))
    post(client, event(inputs=[dataset("t", "s3://b/c", symlinks=link)]))

    page = get(client, "/api/v1/namespaces?limit=2&offset=2")

    assert [each["name"] for each in page["namespaces"]] == ["glue", "s3://b/c"]
    assert page["totalCount"] == 4
    assert get(client, "/api/v1/namespaces/s3%3A%2F%2Fb%2Fc")["name"] == "s3://b/c"
    assert get(client, "/api/v1/namespaces/glue/datasets")["totalCount"] == 0
    assert client.get("/api/v1/namespaces/none/datasets").status_code == 404


def test_the_summary_counts_everything(client: TestClient) -> None:
    post_columns(client)
    client.post("/api/v1/lineage", content="{")

    summary = get(client, "/api/v1/summary")

    assert summary == {
        "jobs": 2,
        "runs": 2,
        "datasets": 3,
        "columns": 6,
        "edges": 4,
        "columnEdges": 4,
        "quarantined": 0,
        "events": {
            "stored": 3,
            "verified": 0,
            "unsigned": 3,
            "unknownKey": 0,
            "tampered": 0,
            "malformed": 0,
            "refused": 1,
        },
    }


def test_every_answer_is_the_same_for_any_order_of_the_events(tmp_path: Path) -> None:
    answers = []
    for order in (1, -1):
        folder = tmp_path / str(order)
        folder.mkdir()
        with served(folder) as client:
            events = [
                run_event("1", "START", 1, inputs=[dataset("a", schema=schema("x", "y"))]),
                run_event(
                    "1", "COMPLETE", 2, outputs=[dataset("b", columnLineage=lineage_facet(x=[("a", "x", "DIRECT/")]))]
                ),
                run_event("2", "START", 3, outputs=[dataset("b", schema=schema("x"))]),
                run_event("2", "COMPLETE", 4, inputs=[dataset("a2", symlinks=symlinks(("lake", "a")))]),
            ]
            post(client, *events[::order])
            paths = ("lineage?nodeId=job:etl:load", "jobs", "namespaces/lake/datasets", "jobs/runs/1", "summary")
            bodies = [client.get(f"/api/v1/{path}").json() for path in paths]
        mended = bodies[3].pop("mended")
        assert [each["rule"] for each in mended] == (
            [] if order == 1 else ["started-after-its-end"]
        )  # depends on the order
        answers.append(bodies)

    assert answers[0] == answers[1]


STARTED_AT_ITS_END = "the run had started when it ended (FAIL), though its start was reported later"
HAS_ENDED = "the run has ended (COMPLETE), though its start was reported later"


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize(
    ("reported", "times", "message"),
    [
        ([("FAIL", 5), ("START", 9), ("OTHER", 1)], (5, 5), STARTED_AT_ITS_END),
        ([("FAIL", 5), ("RUNNING", 7), ("RUNNING", 9)], (5, 5), STARTED_AT_ITS_END),
        ([("START", 0), ("COMPLETE", 5), ("START", 9)], (0, 5), HAS_ENDED),
    ],
)
def test_a_start_later_than_the_end_is_reported_whatever_the_order(
    client: TestClient, reported: list[tuple[str, int]], times: tuple[int, int], message: str, order: tuple[int, ...]
) -> None:
    post(client, *(run_event("r", *reported[at]) for at in order))

    run = get(client, "/api/v1/jobs/runs/r")

    assert (run["startedAt"], run["endedAt"]) == tuple(f"2026-05-22T14:23:{second:02d}.000Z" for second in times)
    assert [(each["rule"], each["what"]) for each in run["mended"]] == [("started-after-its-end", message)]


def test_the_evidence_of_a_start_after_the_end_is_the_end_and_each_later_event(client: TestClient) -> None:
    events = [run_event("r", kind, second) for kind, second in (("START", 9), ("FAIL", 5), ("START", 3))]
    post(client, *events)
    digests = [hashlib.sha256(json.dumps(each).encode()).hexdigest() for each in events]

    (mended,) = get(client, "/api/v1/jobs/runs/r")["mended"]

    assert mended["evidence"] == [f"event sha256:{digests[at]}" for at in (1, 0, 2)]


def test_a_name_in_a_path_may_have_any_character_if_encoded(client: TestClient) -> None:
    namespace, name = "s3://b%2F/c d", "a/b?c#d%41:\u00fc\U0001f600"
    post(client, event(job={"namespace": namespace, "name": name}))

    shown = get(client, f"/api/v1/namespaces/{quote(namespace, safe='')}/jobs/{quote(name, safe='')}")

    assert shown["id"] == {"namespace": namespace, "name": name}


def test_unknown_facets_are_returned_as_stored(client: TestClient) -> None:
    post(client, event(run={"runId": RUN, "facets": {"big": facet(number=10**40, text="\u2028<&>", nothing=None)}}))

    raw = client.get(f"/api/v1/jobs/runs/{RUN}/facets?type=run").content

    assert json.loads(raw)["facets"]["big"] == facet(number=10**40, text="\u2028<&>", nothing=None)
