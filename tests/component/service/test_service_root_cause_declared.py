"""Why an output is wrong, where runs tell no datasets: what their job is declared to read and write counts then."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.support.app import Body, dataset, event, facet, get, post

STAGE = {"eventTime": "2026-05-22T10:00:00Z", "producer": "https://example.org/producer"}
WEB = "https://example.org/OpenLineage.json#/$defs"


def run(run_id: str, job: str, minute: int, kind: str = "COMPLETE", *entries: Body, **ends: list[Body]) -> list[Body]:
    """START and the end of a run, a minute later, which tells what it read and wrote; both tell the entries."""
    facets = {"lineage": facet(entries=[*entries])} if entries else {}
    about = {"run": {"runId": run_id}, "job": {"namespace": "etl", "name": job, "facets": facets}}
    return [
        event(eventType="START", eventTime=f"2026-05-22T10:{minute:02d}:00Z", **about),
        event(eventType=kind, eventTime=f"2026-05-22T10:{minute + 1:02d}:00Z", **about, **ends),
    ]


def declared(job: str, inputs: list[str], outputs: list[str], **facets: object) -> Body:
    return {
        **STAGE,
        "schemaURL": f"{WEB}/JobEvent",
        "job": {"namespace": "etl", "name": job, "facets": facets},
        "inputs": [dataset(name) for name in inputs],
        "outputs": [dataset(name) for name in outputs],
    }


def entry(kind: str, namespace: str, name: str, *inputs: Body, run_id: str | None = None) -> Body:
    of_run = {} if run_id is None else {"runId": run_id}
    return {
        "type": kind,
        "namespace": namespace,
        "name": name,
        **of_run,
        **({"inputs": [*inputs]} if inputs else {}),
    }


def told_by_another(*entries: Body, minute: int = 30) -> Body:
    """An orchestrator's run says how data flows between others."""
    job = {"namespace": "o", "name": "orchestrator", "facets": {"lineage": facet(entries=[*entries])}}
    when = f"2026-05-22T10:{minute:02d}:00Z"
    return event(eventType="COMPLETE", eventTime=when, run={"runId": f"orchestrator-{minute}"}, job=job)


DECLARED = declared("etl", ["raw"], ["clean"])
FAILED = run("stage-1", "stage", 0, "FAIL", outputs=[dataset("raw")])
REPORT = run("report-1", "report", 40, inputs=[dataset("clean")], outputs=[dataset("report")])


def ask(client: TestClient, name: str) -> Body:
    return get(client, f"/api/v1/root-cause?nodeId=dataset:lake:{name}")


def findings(answer: Body) -> list[tuple[str, str]]:
    return [(each["kind"], each["nodeId"]) for each in answer["findings"]]


def walked(answer: Body) -> list[tuple[str, list[tuple[str, list[tuple[str, str]]]]]]:
    """The runs that were looked at, with their inputs and who wrote these, by which evidence."""
    return [
        (
            each["run"]["id"],
            [(read["dataset"], [(it["writer"], it["by"]) for it in read["writers"]]) for read in each["inputs"]],
        )
        for each in answer["lookedAt"]
    ]


def producers(client: TestClient, run_id: str) -> dict[str, list[tuple[str, str | None]]]:
    """Of each run upstream: what it read, and the run that wrote that."""
    runs = get(client, f"/api/v1/runlineage/upstream?runId={run_id}")["runs"]
    return {each["run"]["id"]: [(read["name"], read["producedByRunId"]) for read in each["inputs"]] for each in runs}


FEEDS = [
    ("report-1", [("dataset:lake:clean", [("etl-1", "time")])]),
    ("etl-1", [("dataset:lake:raw", [("stage-1", "attempt")])]),
    ("stage-1", []),
]


@pytest.mark.parametrize("step", [1, -1])
def test_a_run_that_names_no_datasets_wrote_and_read_what_its_job_is_declared_to(client: TestClient, step: int) -> None:
    post(client, *[DECLARED, *FAILED, *run("etl-1", "etl", 10), *REPORT][::step])

    answer = ask(client, "report")

    assert findings(answer) == [("failed-run", "job:etl:stage")]
    assert walked(answer) == FEEDS
    assert walked(ask(client, "clean")) == FEEDS[1:]
    assert producers(client, "report-1") == {"report-1": [("clean", "etl-1")], "etl-1": [("raw", None)]}


def test_a_job_that_was_put_and_whose_runs_only_begin_and_end_had_completed_a_run(client: TestClient) -> None:
    dataset_names: list[dict[str, Any]] = [{"namespace": "shop", "name": name} for name in ("raw", "clean")]
    put = {"type": "BATCH", "inputs": dataset_names[:1], "outputs": dataset_names[1:], "location": "https://x/y"}
    table = {"type": "DB_TABLE", "physicalName": "t", "sourceName": "db", "fields": [{"name": "id", "type": "int"}]}
    puts = {
        "/namespaces/shop": {"ownerName": "ann"},
        "/sources/db": {"type": "POSTGRESQL", "connectionUrl": "jdbc:postgresql://h/db"},
        "/namespaces/shop/datasets/raw": table,
        "/namespaces/shop/datasets/clean": table,
        "/namespaces/shop/jobs/etl": put,
    }
    for path, body in puts.items():
        assert client.put(f"/api/v1{path}", json=body).status_code == 200
    made = client.post("/api/v1/namespaces/shop/jobs/etl/runs", json={}).json()["id"]
    for state in ("start", "complete"):
        assert client.post(f"/api/v1/jobs/runs/{made}/{state}").status_code == 200
    at = get(client, f"/api/v1/jobs/runs/{made}")["endedAt"].replace("T14", "T20")
    clean, report = dataset("clean", "shop"), dataset("report", "shop")
    read = {"run": {"runId": "report-1"}, "job": {"namespace": "bi", "name": "report"}, "eventTime": at}
    post(client, event(**read), event(**read, eventType="COMPLETE", inputs=[clean], outputs=[report]))

    answer = get(client, "/api/v1/root-cause?nodeId=dataset:shop:report")

    assert findings(answer) == []
    assert walked(answer)[0] == ("report-1", [("dataset:shop:clean", [(made, "time")])])
    assert producers(client, "report-1") == {"report-1": [("clean", made)], made: [("raw", None)]}


def test_a_run_that_names_datasets_is_judged_by_what_it_names(client: TestClient) -> None:
    other = run("etl-2", "etl", 20, inputs=[dataset("elsewhere")], outputs=[dataset("other")])
    post(client, DECLARED, *run("etl-1", "etl", 10), *other, *REPORT)

    assert walked(ask(client, "report"))[0] == FEEDS[0]
    assert walked(ask(client, "other")) == [("etl-2", [("dataset:lake:elsewhere", [])])]
    assert producers(client, "report-1")["report-1"] == [("clean", "etl-1")]


def test_a_run_that_names_only_what_it_writes_read_what_its_job_is_declared_to(client: TestClient) -> None:
    post(client, DECLARED, *FAILED, *run("etl-1", "etl", 10, outputs=[dataset("clean")]), *REPORT)

    answer = ask(client, "report")

    assert findings(answer) == [("failed-run", "job:etl:stage")]
    assert walked(answer) == FEEDS


def test_what_a_job_was_declared_to_write_since_is_not_what_its_run_wrote_then(client: TestClient) -> None:
    since = {**DECLARED, "eventTime": "2026-05-22T10:50:00Z"}
    post(client, *run("etl-1", "etl", 10), *REPORT, since)

    then = get(client, "/api/v1/root-cause?nodeId=dataset:lake:report&asOf=2026-05-22T10:45:00Z")

    assert walked(then) == [("report-1", [("dataset:lake:clean", [])])]
    assert walked(ask(client, "report"))[0] == FEEDS[0]


def test_a_run_wrote_and_read_what_others_say_of_its_job(client: TestClient) -> None:
    etl = entry("JOB", "etl", "etl")
    told = told_by_another(entry("DATASET", "lake", "clean", etl), {**etl, "inputs": [entry("DATASET", "lake", "raw")]})
    post(client, *FAILED, *run("etl-1", "etl", 10), told, *REPORT)

    answer = ask(client, "report")

    assert findings(answer) == [("failed-run", "job:etl:stage")]
    assert walked(answer) == FEEDS
    assert producers(client, "report-1") == {"report-1": [("clean", "etl-1")], "etl-1": [("raw", None)]}


def test_a_stream_that_names_nothing_wrote_what_it_is_declared_to_while_it_ran(client: TestClient) -> None:
    streaming = facet(processingType="STREAMING", integration="FLINK")
    started, later = run("etl-1", "etl", 10, "RUNNING")
    post(client, declared("etl", ["raw"], ["clean"], jobType=streaming), *FAILED, started, *REPORT)
    post(client, {**later, "eventTime": "2026-05-22T10:50:00Z"})

    answer = ask(client, "report")

    assert walked(answer) == [(FEEDS[0][0], [("dataset:lake:clean", [("etl-1", "stream")])]), *FEEDS[1:]]
    assert producers(client, "report-1")["report-1"] == [("clean", "etl-1")]


# Which run of a job, where that is told

FIRST, SECOND = run("transform-1", "transform", 0, "FAIL"), run("transform-2", "transform", 5)
GAVE_FIRST = entry("JOB", "etl", "transform", run_id="transform-1")
OWN = {"type": "JOB"}


def load(*entries: Body) -> list[Body]:
    return run("load-1", "load", 10, "COMPLETE", *entries, outputs=[dataset("loaded")])


TOLD_BY: dict[str, list[Body]] = {
    "the run that took the data": [*FIRST, *load({**OWN, "inputs": [GAVE_FIRST]})],
    "the run that gave it": [
        *run("transform-1", "transform", 0, "FAIL", entry("JOB", "etl", "load", OWN, run_id="load-1")),
        *load(),
    ],
    "another": [*FIRST, *load(), told_by_another(entry("JOB", "etl", "load", GAVE_FIRST, run_id="load-1"))],
}


@pytest.mark.parametrize("teller", TOLD_BY)
@pytest.mark.parametrize("step", [1, -1])
def test_data_was_taken_from_the_run_that_is_named_whichever_ended_since(
    client: TestClient, teller: str, step: int
) -> None:
    post(client, *[*SECOND, *TOLD_BY[teller]][::step])

    answer = ask(client, "loaded")

    assert findings(answer) == [("failed-run", "job:etl:transform")]
    assert walked(answer)[0] == ("load-1", [("job:etl:transform", [("transform-1", "named")])])
    (first, _) = get(client, "/api/v1/runlineage/upstream?runId=load-1")["runs"]
    assert [(each["name"], each["producedByRunId"]) for each in first["inputJobs"]] == [("transform", "transform-1")]


def test_a_run_that_nobody_named_then_took_what_was_there_last(client: TestClient) -> None:
    named = told_by_another(entry("JOB", "etl", "load", GAVE_FIRST, run_id="load-1"), minute=50)
    unnamed = told_by_another(entry("JOB", "etl", "load", entry("JOB", "etl", "transform")), minute=20)
    post(client, *FIRST, *SECOND, *load(), unnamed, named)

    size = client.get("/api/v1/root-cause?nodeId=dataset:lake:loaded").headers["Headwater-Log-Size"]
    then = [
        walked(get(client, f"/api/v1/root-cause?nodeId=dataset:lake:loaded&{bound}"))[0][1][0][1]
        for bound in ("asOf=2026-05-22T10:40:00Z", f"logSize={int(size) - 1}", f"logSize={size}")
    ]

    assert then == [[("transform-2", "time")], [("transform-2", "time")], [("transform-1", "named")]]


def test_a_run_that_is_named_and_never_spoke_is_no_reason_to_go_to_another(client: TestClient) -> None:
    silent = entry("JOB", "etl", "transform", run_id="transform-0")
    post(client, *SECOND, *load({**OWN, "inputs": [silent]}))

    assert walked(ask(client, "loaded")) == [("load-1", [("job:etl:transform", [])])]
    (first,) = get(client, "/api/v1/runlineage/upstream?runId=load-1")["runs"]
    assert [each["producedByRunId"] for each in first["inputJobs"]] == [None]


def _declared_dataset(name: str, **facets: object) -> Body:
    return {**STAGE, "schemaURL": f"{WEB}/DatasetEvent", "dataset": dataset(name, **facets)}


WROTE_FIRST = entry("JOB", "etl", "etl", run_id="etl-1")
SAID_OF_A_RUN: dict[str, Body] = {
    "another run": told_by_another(entry("DATASET", "lake", "clean", WROTE_FIRST)),
    "another job's declaration": declared(
        "orchestrator", [], [], lineage=facet(entries=[entry("DATASET", "lake", "clean", WROTE_FIRST)])
    ),
    "the dataset's declaration": _declared_dataset("clean", lineage=facet(inputs=[WROTE_FIRST])),
}


@pytest.mark.parametrize("teller", SAID_OF_A_RUN)
@pytest.mark.parametrize("step", [1, -1])
def test_only_the_run_that_others_name_wrote_a_dataset(client: TestClient, teller: str, step: int) -> None:
    first = run("etl-1", "etl", 10, inputs=[dataset("raw")], outputs=[dataset("other")])
    post(client, *[*FAILED, *first, *run("etl-2", "etl", 20), SAID_OF_A_RUN[teller], *REPORT][::step])

    answer = ask(client, "report")

    assert walked(answer) == FEEDS
    assert producers(client, "report-1") == {"report-1": [("clean", "etl-1")], "etl-1": [("raw", None)]}


def test_a_run_read_what_others_say_that_just_this_run_read(client: TestClient) -> None:
    of_run = entry("JOB", "etl", "etl", entry("DATASET", "lake", "raw"), run_id="etl-2")
    post(client, *FAILED, *run("etl-1", "etl", 10, outputs=[dataset("clean")]))
    post(client, *run("etl-2", "etl", 20, outputs=[dataset("clean")]), told_by_another(of_run))

    assert walked(ask(client, "clean")) == [("etl-2", FEEDS[1][1]), FEEDS[2]]
    first = get(client, "/api/v1/root-cause?nodeId=dataset:lake:clean&run=etl-1")
    assert walked(first) == [("etl-1", [])]


def test_what_a_declaration_no_longer_says_of_a_run_is_not_so(client: TestClient) -> None:
    other = declared("orchestrator", [], [], lineage=facet(entries=[entry("DATASET", "lake", "clean", WROTE_FIRST)]))
    later = {**other, "eventTime": "2026-05-22T10:01:00Z"}
    later["job"] = {**other["job"], "facets": {}}
    post(client, *run("etl-1", "etl", 10), other, *REPORT)
    before = walked(ask(client, "report"))[0]

    post(client, later)

    assert before == FEEDS[0]
    assert walked(ask(client, "report"))[0] == ("report-1", [("dataset:lake:clean", [])])


# Jobs that are declared, and never ran

DASHBOARD = declared("board", ["report"], ["shown"])
COPY = declared("copy", ["clean"], ["copied"])
OF_COPY = run("last-1", "last", 50, inputs=[dataset("copied")], outputs=[dataset("last")])


@pytest.mark.parametrize("step", [1, -1])
def test_what_only_a_declared_job_makes_is_as_wrong_as_what_it_is_made_from(client: TestClient, step: int) -> None:
    post(client, *[DECLARED, *FAILED, *run("etl-1", "etl", 10), *REPORT, DASHBOARD][::step])

    of_shown = ask(client, "shown")

    assert of_shown["run"]["id"] == "report-1"
    assert walked(of_shown) == FEEDS
    assert findings(of_shown) == [("failed-run", "job:etl:stage")]
    assert walked(get(client, "/api/v1/root-cause?nodeId=job:etl:board")) == FEEDS


def test_a_walk_goes_on_through_a_job_that_never_ran(client: TestClient) -> None:
    post(client, DECLARED, *FAILED, *run("etl-1", "etl", 10), COPY, *OF_COPY)

    answer = ask(client, "last")

    assert walked(answer) == [
        ("last-1", [("dataset:lake:clean", [("etl-1", "time")]), ("dataset:lake:copied", [])]),
        *FEEDS[1:],
    ]
    assert findings(answer) == [("failed-run", "job:etl:stage")]
    (_, copied) = answer["lookedAt"][0]["inputs"]
    assert copied["words"] == "no run wrote it: it is made from others, which are examined as if they had been read"


def test_a_job_that_ran_since_is_no_longer_looked_through(client: TestClient) -> None:
    ran = run("copy-1", "copy", 30, inputs=[dataset("clean")], outputs=[dataset("copied")])
    post(client, DECLARED, *FAILED, *run("etl-1", "etl", 10), COPY, *ran, *OF_COPY)

    then = get(client, "/api/v1/root-cause?nodeId=dataset:lake:copied&asOf=2026-05-22T10:29:00Z")

    assert [run for run, _ in walked(ask(client, "last"))] == ["last-1", "copy-1", "etl-1", "stage-1"]
    assert walked(then) == FEEDS[1:]


@pytest.mark.parametrize("asked", ["shown", "last"])
def test_of_a_column_what_does_not_feed_it_through_a_declared_job_is_left_out(client: TestClient, asked: str) -> None:
    def made(**sources: tuple[str, str]) -> Body:
        return facet(
            fields={
                column: {"inputFields": [{"namespace": "lake", "name": name, "field": field}]}
                for column, (name, field) in sources.items()
            }
        )

    names = {"n": ("names", "n"), "v": ("values", "v")}
    joined = {"n": ("joined", "n"), "v": ("joined", "v")}
    shown = {"n": ("shown", "n"), "v": ("shown", "v")}
    board = declared("board", ["joined"], [])
    board["outputs"] = [dataset("shown", columnLineage=made(**joined))]
    post(client, board, *run("names-1", "names", 0, outputs=[dataset("names")]))
    post(client, *run("values-1", "values", 0, outputs=[dataset("values")]))
    inputs, of_joined = [dataset("names"), dataset("values")], dataset("joined", columnLineage=made(**names))
    post(client, *run("join-1", "join", 10, inputs=inputs, outputs=[of_joined]))
    last = dataset("last", columnLineage=made(**shown))
    post(client, *run("last-1", "last", 20, inputs=[dataset("shown")], outputs=[last]))

    answer = get(client, f"/api/v1/root-cause?nodeId=dataset:lake:{asked}&column=n")

    assert [run for run, _ in walked(answer)] == [*(["last-1"] if asked == "last" else []), "join-1", "names-1"]
