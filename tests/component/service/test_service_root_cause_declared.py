"""Root causes where runs report no datasets: what their job is declared to read and write counts instead."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.support.app import Body, dataset, event, facet, get, post

STAGE = {"eventTime": "2026-05-22T10:00:00Z", "producer": "https://example.org/producer"}
WEB = "https://example.org/OpenLineage.json#/$defs"


def run(run_id: str, job: str, minute: int, kind: str = "COMPLETE", *entries: Body, **ends: list[Body]) -> list[Body]:
    """START and, a minute later, the end of a run with its inputs and outputs; both events have the entries."""
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


def reported_by_another(*entries: Body, minute: int = 30) -> Body:
    """An event of an orchestrator's run that reports how data flows between other jobs."""
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
    """The runs that were looked at, with their inputs, the writers of these, and the evidence."""
    return [
        (
            each["run"]["id"],
            [(read["dataset"], [(it["writer"], it["by"]) for it in read["writers"]]) for read in each["inputs"]],
        )
        for each in answer["lookedAt"]
    ]


def producers(client: TestClient, run_id: str) -> dict[str, list[tuple[str, str | None]]]:
    """For each run upstream: its inputs, and the run that wrote each."""
    runs = get(client, f"/api/v1/runlineage/upstream?runId={run_id}")["runs"]
    return {each["run"]["id"]: [(read["name"], read["producedByRunId"]) for read in each["inputs"]] for each in runs}


WALK_FROM_REPORT = [
    ("report-1", [("dataset:lake:clean", [("etl-1", "time")])]),
    ("etl-1", [("dataset:lake:raw", [("stage-1", "attempt")])]),
    ("stage-1", []),
]


@pytest.mark.parametrize("step", [1, -1])
def test_a_run_without_datasets_has_the_declared_inputs_and_outputs_of_its_job(client: TestClient, step: int) -> None:
    post(client, *[DECLARED, *FAILED, *run("etl-1", "etl", 10), *REPORT][::step])

    answer = ask(client, "report")

    assert findings(answer) == [("failed-run", "job:etl:stage")]
    assert walked(answer) == WALK_FROM_REPORT
    assert walked(ask(client, "clean")) == WALK_FROM_REPORT[1:]
    assert producers(client, "report-1") == {"report-1": [("clean", "etl-1")], "etl-1": [("raw", None)]}


def test_a_run_of_a_put_job_that_only_starts_and_ends_has_the_jobs_inputs_and_outputs(client: TestClient) -> None:
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
    run_id = client.post("/api/v1/namespaces/shop/jobs/etl/runs", json={}).json()["id"]
    for state in ("start", "complete"):
        assert client.post(f"/api/v1/jobs/runs/{run_id}/{state}").status_code == 200
    at = get(client, f"/api/v1/jobs/runs/{run_id}")["endedAt"].replace("T14", "T20")
    clean, report = dataset("clean", "shop"), dataset("report", "shop")
    read = {"run": {"runId": "report-1"}, "job": {"namespace": "bi", "name": "report"}, "eventTime": at}
    post(client, event(**read), event(**read, eventType="COMPLETE", inputs=[clean], outputs=[report]))

    answer = get(client, "/api/v1/root-cause?nodeId=dataset:shop:report")

    assert findings(answer) == []
    assert walked(answer)[0] == ("report-1", [("dataset:shop:clean", [(run_id, "time")])])
    assert producers(client, "report-1") == {"report-1": [("clean", run_id)], run_id: [("raw", None)]}


def test_a_run_with_datasets_has_only_those(client: TestClient) -> None:
    other = run("etl-2", "etl", 20, inputs=[dataset("elsewhere")], outputs=[dataset("other")])
    post(client, DECLARED, *run("etl-1", "etl", 10), *other, *REPORT)

    assert walked(ask(client, "report"))[0] == WALK_FROM_REPORT[0]
    assert walked(ask(client, "other")) == [("etl-2", [("dataset:lake:elsewhere", [])])]
    assert producers(client, "report-1")["report-1"] == [("clean", "etl-1")]


def test_a_run_with_only_outputs_has_the_declared_inputs_of_its_job(client: TestClient) -> None:
    post(client, DECLARED, *FAILED, *run("etl-1", "etl", 10, outputs=[dataset("clean")]), *REPORT)

    answer = ask(client, "report")

    assert findings(answer) == [("failed-run", "job:etl:stage")]
    assert walked(answer) == WALK_FROM_REPORT


def test_what_a_job_was_declared_to_write_since_does_not_count_as_of_then(client: TestClient) -> None:
    since = {**DECLARED, "eventTime": "2026-05-22T10:50:00Z"}
    post(client, *run("etl-1", "etl", 10), *REPORT, since)

    then = get(client, "/api/v1/root-cause?nodeId=dataset:lake:report&asOf=2026-05-22T10:45:00Z")

    assert walked(then) == [("report-1", [("dataset:lake:clean", [])])]
    assert walked(ask(client, "report"))[0] == WALK_FROM_REPORT[0]


def test_a_run_has_the_inputs_and_outputs_that_others_report_for_its_job(client: TestClient) -> None:
    etl = entry("JOB", "etl", "etl")
    lineage = reported_by_another(
        entry("DATASET", "lake", "clean", etl), {**etl, "inputs": [entry("DATASET", "lake", "raw")]}
    )
    post(client, *FAILED, *run("etl-1", "etl", 10), lineage, *REPORT)

    answer = ask(client, "report")

    assert findings(answer) == [("failed-run", "job:etl:stage")]
    assert walked(answer) == WALK_FROM_REPORT
    assert producers(client, "report-1") == {"report-1": [("clean", "etl-1")], "etl-1": [("raw", None)]}


def test_a_stream_without_datasets_wrote_its_declared_outputs_while_it_ran(client: TestClient) -> None:
    streaming = facet(processingType="STREAMING", integration="FLINK")
    started, later = run("etl-1", "etl", 10, "RUNNING")
    post(client, declared("etl", ["raw"], ["clean"], jobType=streaming), *FAILED, started, *REPORT)
    post(client, {**later, "eventTime": "2026-05-22T10:50:00Z"})

    answer = ask(client, "report")

    assert walked(answer) == [
        (WALK_FROM_REPORT[0][0], [("dataset:lake:clean", [("etl-1", "stream")])]),
        *WALK_FROM_REPORT[1:],
    ]
    assert producers(client, "report-1")["report-1"] == [("clean", "etl-1")]


# Which run of a job, where that is reported

FIRST, SECOND = run("transform-1", "transform", 0, "FAIL"), run("transform-2", "transform", 5)
GAVE_FIRST = entry("JOB", "etl", "transform", run_id="transform-1")
OWN = {"type": "JOB"}


def load(*entries: Body) -> list[Body]:
    return run("load-1", "load", 10, "COMPLETE", *entries, outputs=[dataset("loaded")])


REPORTED_BY: dict[str, list[Body]] = {
    "the run that took the data": [*FIRST, *load({**OWN, "inputs": [GAVE_FIRST]})],
    "the run that gave it": [
        *run("transform-1", "transform", 0, "FAIL", entry("JOB", "etl", "load", OWN, run_id="load-1")),
        *load(),
    ],
    "another": [*FIRST, *load(), reported_by_another(entry("JOB", "etl", "load", GAVE_FIRST, run_id="load-1"))],
}


@pytest.mark.parametrize("reporter", REPORTED_BY)
@pytest.mark.parametrize("step", [1, -1])
def test_data_came_from_the_named_run_whichever_ended_since(client: TestClient, reporter: str, step: int) -> None:
    post(client, *[*SECOND, *REPORTED_BY[reporter]][::step])

    answer = ask(client, "loaded")

    assert findings(answer) == [("failed-run", "job:etl:transform")]
    assert walked(answer)[0] == ("load-1", [("job:etl:transform", [("transform-1", "named")])])
    (first, _) = get(client, "/api/v1/runlineage/upstream?runId=load-1")["runs"]
    assert [(each["name"], each["producedByRunId"]) for each in first["inputJobs"]] == [("transform", "transform-1")]


def test_before_a_run_was_named_data_came_from_the_last_run(client: TestClient) -> None:
    named = reported_by_another(entry("JOB", "etl", "load", GAVE_FIRST, run_id="load-1"), minute=50)
    unnamed = reported_by_another(entry("JOB", "etl", "load", entry("JOB", "etl", "transform")), minute=20)
    post(client, *FIRST, *SECOND, *load(), unnamed, named)

    size = client.get("/api/v1/root-cause?nodeId=dataset:lake:loaded").headers["Headwater-Log-Size"]
    then = [
        walked(get(client, f"/api/v1/root-cause?nodeId=dataset:lake:loaded&{bound}"))[0][1][0][1]
        for bound in ("asOf=2026-05-22T10:40:00Z", f"logSize={int(size) - 1}", f"logSize={size}")
    ]

    assert then == [[("transform-2", "time")], [("transform-2", "time")], [("transform-1", "named")]]


def test_a_named_run_without_events_is_not_replaced_by_another(client: TestClient) -> None:
    silent = entry("JOB", "etl", "transform", run_id="transform-0")
    post(client, *SECOND, *load({**OWN, "inputs": [silent]}))

    assert walked(ask(client, "loaded")) == [("load-1", [("job:etl:transform", [])])]
    (first,) = get(client, "/api/v1/runlineage/upstream?runId=load-1")["runs"]
    assert [each["producedByRunId"] for each in first["inputJobs"]] == [None]


def _declared_dataset(name: str, **facets: object) -> Body:
    return {**STAGE, "schemaURL": f"{WEB}/DatasetEvent", "dataset": dataset(name, **facets)}


WROTE_FIRST = entry("JOB", "etl", "etl", run_id="etl-1")
NAMED_BY: dict[str, Body] = {
    "another run": reported_by_another(entry("DATASET", "lake", "clean", WROTE_FIRST)),
    "another job's declaration": declared(
        "orchestrator", [], [], lineage=facet(entries=[entry("DATASET", "lake", "clean", WROTE_FIRST)])
    ),
    "the dataset's declaration": _declared_dataset("clean", lineage=facet(inputs=[WROTE_FIRST])),
}


@pytest.mark.parametrize("reporter", NAMED_BY)
@pytest.mark.parametrize("step", [1, -1])
def test_a_dataset_was_written_only_by_the_run_that_others_name(client: TestClient, reporter: str, step: int) -> None:
    first = run("etl-1", "etl", 10, inputs=[dataset("raw")], outputs=[dataset("other")])
    post(client, *[*FAILED, *first, *run("etl-2", "etl", 20), NAMED_BY[reporter], *REPORT][::step])

    answer = ask(client, "report")

    assert walked(answer) == WALK_FROM_REPORT
    assert producers(client, "report-1") == {"report-1": [("clean", "etl-1")], "etl-1": [("raw", None)]}


def test_a_run_has_the_inputs_that_others_report_for_this_run_alone(client: TestClient) -> None:
    of_run = entry("JOB", "etl", "etl", entry("DATASET", "lake", "raw"), run_id="etl-2")
    post(client, *FAILED, *run("etl-1", "etl", 10, outputs=[dataset("clean")]))
    post(client, *run("etl-2", "etl", 20, outputs=[dataset("clean")]), reported_by_another(of_run))

    assert walked(ask(client, "clean")) == [("etl-2", WALK_FROM_REPORT[1][1]), WALK_FROM_REPORT[2]]
    first = get(client, "/api/v1/root-cause?nodeId=dataset:lake:clean&run=etl-1")
    assert walked(first) == [("etl-1", [])]


def test_what_a_declaration_no_longer_reports_of_a_run_does_not_count(client: TestClient) -> None:
    other = declared("orchestrator", [], [], lineage=facet(entries=[entry("DATASET", "lake", "clean", WROTE_FIRST)]))
    later = {**other, "eventTime": "2026-05-22T10:01:00Z"}
    later["job"] = {**other["job"], "facets": {}}
    post(client, *run("etl-1", "etl", 10), other, *REPORT)
    before = walked(ask(client, "report"))[0]

    post(client, later)

    assert before == WALK_FROM_REPORT[0]
    assert walked(ask(client, "report"))[0] == ("report-1", [("dataset:lake:clean", [])])


# Jobs that are declared and never ran

DASHBOARD = declared("board", ["report"], ["shown"])
COPY = declared("copy", ["clean"], ["copied"])
OF_COPY = run("last-1", "last", 50, inputs=[dataset("copied")], outputs=[dataset("last")])


@pytest.mark.parametrize("step", [1, -1])
def test_the_output_of_a_job_that_never_ran_has_the_findings_of_its_inputs(client: TestClient, step: int) -> None:
    post(client, *[DECLARED, *FAILED, *run("etl-1", "etl", 10), *REPORT, DASHBOARD][::step])

    of_shown = ask(client, "shown")

    assert of_shown["run"]["id"] == "report-1"
    assert walked(of_shown) == WALK_FROM_REPORT
    assert findings(of_shown) == [("failed-run", "job:etl:stage")]
    assert walked(get(client, "/api/v1/root-cause?nodeId=job:etl:board")) == WALK_FROM_REPORT


def test_the_walk_goes_through_a_job_that_never_ran(client: TestClient) -> None:
    post(client, DECLARED, *FAILED, *run("etl-1", "etl", 10), COPY, *OF_COPY)

    answer = ask(client, "last")

    assert walked(answer) == [
        ("last-1", [("dataset:lake:clean", [("etl-1", "time")]), ("dataset:lake:copied", [])]),
        *WALK_FROM_REPORT[1:],
    ]
    assert findings(answer) == [("failed-run", "job:etl:stage")]
    (_, copied) = answer["lookedAt"][0]["inputs"]
    assert copied["words"] == "no run wrote it: it is made from others, which are examined as if they had been read"


def test_the_walk_looks_at_a_declared_job_once_it_ran(client: TestClient) -> None:
    ran = run("copy-1", "copy", 30, inputs=[dataset("clean")], outputs=[dataset("copied")])
    post(client, DECLARED, *FAILED, *run("etl-1", "etl", 10), COPY, *ran, *OF_COPY)

    then = get(client, "/api/v1/root-cause?nodeId=dataset:lake:copied&asOf=2026-05-22T10:29:00Z")

    assert [run for run, _ in walked(ask(client, "last"))] == ["last-1", "copy-1", "etl-1", "stage-1"]
    assert walked(then) == WALK_FROM_REPORT[1:]


@pytest.mark.parametrize("start", ["shown", "last"])
def test_for_a_column_only_what_feeds_it_through_a_declared_job_is_looked_at(client: TestClient, start: str) -> None:
    def lineage(**sources: tuple[str, str]) -> Body:
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
    board["outputs"] = [dataset("shown", columnLineage=lineage(**joined))]
    post(client, board, *run("names-1", "names", 0, outputs=[dataset("names")]))
    post(client, *run("values-1", "values", 0, outputs=[dataset("values")]))
    inputs, of_joined = [dataset("names"), dataset("values")], dataset("joined", columnLineage=lineage(**names))
    post(client, *run("join-1", "join", 10, inputs=inputs, outputs=[of_joined]))
    last = dataset("last", columnLineage=lineage(**shown))
    post(client, *run("last-1", "last", 20, inputs=[dataset("shown")], outputs=[last]))

    answer = get(client, f"/api/v1/root-cause?nodeId=dataset:lake:{start}&column=n")

    assert [run for run, _ in walked(answer)] == [*(["last-1"] if start == "last" else []), "join-1", "names-1"]
