"""Every facet of the standard is stored, and a read returns it as it was sent."""

import json
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from headwater.store.sqlite import SqliteStore
from tests.support.app import RUN, Body, dataset, event, facet, get, post, schema, serving, without_run
from tests.support.spec import facets_of_standard

OF_JOB = "/api/v1/namespaces/etl/jobs/load"
OF_INPUT = "/api/v1/namespaces/lake/datasets/in"


def examples(shared: Path) -> Iterator[tuple[str, Any]]:
    for file in sorted((shared / "openlineage/examples").glob("*/*.json")):
        ((name, value),) = json.loads(file.read_bytes()).items()
        yield name, value


def event_with_facet(run: str, second: int, name: str, value: object, entities: Collection[str]) -> dict[str, Any]:
    """An event with the facet on each of these entities."""

    def on(entity: str) -> dict[str, Any]:
        return {name: value} if entity in entities else {}

    return event(
        eventTime=f"2026-05-22T14:{second // 60:02d}:{second % 60:02d}Z",
        run={"runId": run, "facets": on("run")},
        job={"namespace": "etl", "name": "load", "facets": on("job")},
        inputs=[{"namespace": "lake", "name": "in", "facets": on("dataset"), "inputFacets": on("inputDataset")}],
        outputs=[{"namespace": "lake", "name": "out", "facets": {}, "outputFacets": on("outputDataset")}],
    )


def places(client: TestClient, run: str) -> Iterator[tuple[str, Body]]:
    known = get(client, f"/api/v1/jobs/runs/{run}")
    yield "run", known["facets"]
    yield "job", get(client, OF_JOB)["facets"]
    yield "dataset", get(client, OF_INPUT)["facets"]
    yield "inputDataset", known["inputDatasetVersions"][0]["facets"]
    yield "outputDataset", known["outputDatasetVersions"][0]["facets"]


def test_every_example_of_the_standard_is_returned_by_a_read_as_it_was_sent(client: TestClient, shared: Path) -> None:
    count = 0
    in_standard = {(facet.entity, facet.key) for facet in facets_of_standard(shared / "openlineage")}
    for second, (name, value) in enumerate(examples(shared)):
        entities_with_it = {entity for entity, key in in_standard if key == name}
        post(client, event_with_facet(f"run-{second}", second, name, value, entities_with_it))
        for entity, facets in places(client, f"run-{second}"):
            if entity in entities_with_it:
                count += 1
                assert facets[name] == value, f"{entity} {name}"

    assert count > 60


def test_an_unknown_facet_is_stored_and_returned(client: TestClient) -> None:
    strange = {"anything": [{"goes": 2**80, "здесь": None}], "_producer": 5}
    body = event_with_facet(RUN, 1, "none", {}, ())
    body["run"]["facets"] = body["job"]["facets"] = {"acme_x": strange}
    body["inputs"][0] |= {"facets": {"acme_x": strange}, "inputFacets": {"acme_x": strange}}
    body["outputs"][0] |= {"outputFacets": {"acme_x": strange}}
    post(client, body)

    assert [facets["acme_x"] for _, facets in places(client, RUN)] == [strange] * 5


def test_input_facets_of_readers_are_shown_with_the_dataset_and_output_facets_are_not(tmp_path: Path) -> None:
    input_facets = {"dataQualityMetrics": facet(rowCount=7), "acme_sample": facet(rows=3)}
    columns = schema("id")
    read = {**dataset("in", schema=columns), "inputFacets": input_facets}
    written = {**dataset("out"), "outputFacets": {"outputStatistics": facet(rowCount=7)}}
    path = tmp_path / "headwater.db"
    with closing(SqliteStore(path)) as store, serving(store) as client:
        post(client, event(inputs=[read], outputs=[written]))
        live = get(client, OF_INPUT)["facets"]
        version = get(client, f"{OF_INPUT}/versions")["versions"][0]["facets"]
        past = get(client, f"{OF_INPUT}?asOf=2026-05-22T14:30:00Z")["facets"]
    with closing(SqliteStore(path)) as store, serving(store) as client:
        loaded = get(client, OF_INPUT)["facets"]
        of_writer = get(client, "/api/v1/namespaces/lake/datasets/out")["facets"]

    assert live == {**input_facets, "schema": columns}
    assert [version, past, loaded] == [live, live, live]
    assert of_writer == {}


def test_declared_input_facets_are_shown_with_the_dataset(client: TestClient) -> None:
    both = {"documentation": facet(description="in inputFacets"), "subset": facet(inputCondition={"type": "location"})}
    read = {**dataset("in", documentation=facet(description="orders")), "inputFacets": both}
    declared = event(inputs=[read])
    del declared["run"], declared["eventType"]
    post(client, declared)

    facets = get(client, OF_INPUT)["facets"]

    assert facets == {"documentation": facet(description="orders"), "subset": both["subset"]}


@pytest.mark.parametrize("entity", ["run", "job", "dataset"])
def test_a_deleted_facet_is_gone_until_it_is_reported_again(client: TestClient, entity: str) -> None:
    name = {"run": "tags", "job": "ownership", "dataset": "schema"}[entity]
    shown = []
    for second, value in enumerate([facet(x=1), facet(_deleted=True), facet(x=2)]):
        post(client, event_with_facet(RUN, second, name, value, [entity]))
        shown.append(dict(places(client, RUN))[entity].get(name, {}).get("x"))

    assert shown == [1, None, 2]


def test_columns_are_sorted_by_ordinal_position_if_all_have_one(client: TestClient) -> None:
    inner = [{"name": "z", "ordinal_position": 2}, {"name": "y", "ordinal_position": 1}]
    placed = [{"name": "b", "ordinal_position": 2, "fields": inner}, {"name": "a", "ordinal_position": 1}]
    columns_of = {"in": placed, "out": [{"name": "b", "ordinal_position": 2}, {"name": "a"}]}
    post(client, event(outputs=[dataset(name, schema=facet(fields=fields)) for name, fields in columns_of.items()]))

    of_all, of_some = (get(client, f"/api/v1/namespaces/lake/datasets/{name}")["fields"] for name in columns_of)

    assert [field["name"] for field in of_all] == ["a", "b"]
    assert [field["name"] for field in of_all[1]["fields"]] == ["y", "z"]
    assert [field["name"] for field in of_some] == ["b", "a"]


def test_the_content_of_a_deleted_facet_does_not_count(client: TestClient) -> None:
    columns = [{"name": "id", "type": "int"}]
    other_name = {"namespace": "lake", "name": "other", "type": "TABLE"}
    content = {"schema": {"fields": columns}, "symlinks": {"identifiers": [other_name]}}
    deleted = {name: facet(**value, _deleted=True) for name, value in content.items()}
    dependencies = facet(_deleted=True, upstream=[{"job": {"namespace": "etl", "name": "before"}}])
    within = facet(_deleted=True, run={"runId": "p"}, job={"namespace": "etl", "name": "dag"})
    post(client, event(outputs=[dataset("t", schema=facet(fields=columns))]))
    late = {"eventTime": "2026-05-22T14:23:12Z", "outputs": [dataset("t", **deleted), dataset("other")]}
    post(client, event(run={"runId": RUN, "facets": {"jobDependencies": dependencies, "parent": within}}, **late))

    shown = get(client, "/api/v1/namespaces/lake/datasets")["datasets"]
    jobs = get(client, "/api/v1/jobs")["jobs"]
    drift = get(client, "/api/v1/drift?nodeId=dataset:lake:t")

    assert {each["name"]: each["fields"] for each in shown} == {"t": [], "other": []}
    assert [(job["name"], job["parentJobName"]) for job in jobs] == [("load", None)]
    assert get(client, "/api/v1/control-flow?nodeId=job:etl:load")["upstream"] == []
    assert [change["after"] for each in drift["drift"] for change in each["changes"]] == [None]


def test_deleted_column_lineage_gives_no_edges(client: TestClient) -> None:
    post(client, event(outputs=[dataset("t", columnLineage=facet(_deleted=True, fields={"a": {"inputFields": []}}))]))

    assert get(client, "/api/v1/column-lineage?nodeId=dataset:lake:t")["graph"] == []


def test_a_run_shows_its_parent_its_root_and_the_gap_in_its_lineage(client: TestClient) -> None:
    dag = {"namespace": "etl", "name": "dag"}
    parent = facet(run={"runId": "p"}, job=dag, root={"run": {"runId": "r"}, "job": dag})
    missing = facet(totalTasks=3, failedTasks=1, errors=[{"errorMessage": "cannot parse", "task": "SELECT"}])
    post(client, event(run={"runId": RUN, "facets": {"parent": parent, "extractionError": missing}}))

    run = get(client, f"/api/v1/jobs/runs/{RUN}")

    assert (run["parent"], run["root"]) == ({"runId": "p", "job": dag}, {"runId": "r", "job": dag})
    assert run["gap"] == {"failedTasks": 1, "totalTasks": 3, "messages": ["cannot parse"]}


def test_a_run_without_failed_tasks_has_no_gap(client: TestClient) -> None:
    flawless = facet(totalTasks=3, failedTasks=0, errors=[])
    post(client, event(run={"runId": RUN, "facets": {"extractionError": flawless}}))

    assert get(client, f"/api/v1/jobs/runs/{RUN}")["gap"] is None


# Containment


def within(run: str, job: str, parent_job: str, namespace: str = "etl", second: int = 0) -> dict[str, Any]:
    parent = facet(run={"runId": "p"}, job={"namespace": "etl", "name": parent_job})
    return event(
        eventTime=f"2026-05-22T14:23:{second:02d}Z",
        run={"runId": run, "facets": {"parent": parent}},
        job={"namespace": namespace, "name": job},
    )


def parts(client: TestClient, job: str, more: str = "") -> list[str]:
    answer = get(client, f"/api/v1/containment?nodeId=job:etl:{job}{more}")
    return [f"{part['namespace']}:{part['name']}" for part in answer["parts"]]


def test_a_job_lists_its_parts_in_all_namespaces_and_each_part_its_parent(client: TestClient) -> None:
    post(client, within("r1", "dag.b", "dag"), within("r2", "dag.a", "dag"), within("r3", "sql", "dag", "spark"))

    of_part = get(client, "/api/v1/containment?nodeId=job:spark:sql")

    assert parts(client, "dag") == ["etl:dag.a", "etl:dag.b", "spark:sql"]
    assert parts(client, "dag", "&limit=1&offset=1") == ["etl:dag.b"]
    assert (of_part["partOf"], of_part["parts"]) == ({"namespace": "etl", "name": "dag"}, [])


def test_a_job_that_moved_is_a_part_of_its_newest_runs_parent(client: TestClient) -> None:
    post(client, within("r1", "task", "old", second=1), within("r2", "task", "new", second=2))

    assert (parts(client, "old"), parts(client, "new")) == ([], ["etl:task"])
    assert parts(client, "old", "&asOf=2026-05-22T14:23:01Z") == ["etl:task"]


def test_a_job_that_names_itself_as_its_parent_is_a_part_of_nothing(client: TestClient) -> None:
    post(client, within("r1", "dag", "dag"))

    answer = get(client, "/api/v1/containment?nodeId=job:etl:dag")

    assert (answer["partOf"], answer["parts"]) == (None, [])
    wrong = [client.get(f"/api/v1/containment?nodeId={node}").status_code for node in ("job:etl:none", "x")]
    assert wrong == [404, 404]


# Control flow


def run_with_dependencies(run: str, job: str, **ways: str) -> dict[str, Any]:
    named = {
        way: [{"job": {"namespace": "etl", "name": other}, "dependency_type": "DIRECT_INVOCATION"}]
        for way, other in ways.items()
    }
    return event(
        run={"runId": run, "facets": {"jobDependencies": facet(**named)}}, job={"namespace": "etl", "name": job}
    )


def test_control_flow_is_listed_at_both_ends_and_is_not_data_flow(client: TestClient) -> None:
    post(
        client,
        run_with_dependencies("r1", "load", upstream="extract"),
        run_with_dependencies("r2", "load", upstream="extract"),
    )
    post(client, run_with_dependencies("r3", "mart", upstream="load", downstream="report"))

    load = get(client, "/api/v1/control-flow?nodeId=job:etl:load")
    around = get(client, "/api/v1/lineage?nodeId=job:etl:load")["graph"]

    assert [(each["job"]["name"], each["dependency"], each["runs"]) for each in load["upstream"]] == [
        ("extract", "DIRECT_INVOCATION", 2)
    ]
    assert [each["job"]["name"] for each in load["downstream"]] == ["mart"]
    assert [(node["id"], node["inEdges"], node["outEdges"]) for node in around] == [("job:etl:load", [], [])]


def test_control_flow_is_listed_for_a_job_without_events(client: TestClient) -> None:
    post(client, run_with_dependencies("r1", "load", upstream="extract"))

    extract = get(client, "/api/v1/control-flow?nodeId=job:etl:extract")

    assert (extract["job"], extract["upstream"]) == ({"namespace": "etl", "name": "extract"}, [])
    assert [each["job"]["name"] for each in extract["downstream"]] == ["load"]
    wrong = [client.get(f"/api/v1/control-flow?nodeId={node}").status_code for node in ("job:etl:none", "job:x", "x")]
    assert wrong == [404, 404, 404]


# Streams


def stream(second: int, kind: str = "RUNNING", trigger: str = "PERIODIC", window: int | None = 60) -> dict[str, Any]:
    pattern = {"eventTrigger": trigger, "eventContentMode": "ACCUMULATIVE", "windowDuration": window}
    kind_of_job = facet(processingType="STREAMING", integration="FLINK", emissionPattern=pattern)
    return event(
        eventType=kind,
        eventTime=f"2026-05-22T14:23:{second:02d}Z",
        job={"namespace": "etl", "name": "stream", "facets": {"jobType": kind_of_job}},
    )


@pytest.mark.parametrize(
    ("time", "silent"),
    [("2026-05-22T14:24:09Z", []), ("2026-05-22T14:24:11Z", [RUN]), ("2026-05-22T14:23:09Z", [])],
)
def test_a_stream_is_stale_when_it_is_silent_for_longer_than_its_window(
    client: TestClient, time: str, silent: list[str]
) -> None:
    post(client, stream(5, "START"), stream(10))

    found = get(client, f"/api/v1/silent-streams?asOf={time}")

    assert [each["run"] for each in found["silentStreams"]] == silent
    assert get(client, f"/api/v1/jobs/runs/{RUN}")["staleAfter"] == "2026-05-22T14:24:10.000Z"


def test_a_stream_was_silent_at_a_time_before_the_first_event_of_another(client: TestClient) -> None:
    since = {**stream(10), "eventTime": "2026-05-22T16:00:00Z"}
    another = {**since["job"], "name": "another"}
    post(client, stream(5, "START"), {**since, "run": {"runId": "2"}}, {**since, "run": {"runId": "3"}, "job": another})

    found = get(client, "/api/v1/silent-streams?asOf=2026-05-22T15:00:00Z")

    assert [(each["job"]["name"], each["run"]) for each in found["silentStreams"]] == [("stream", RUN)]


@pytest.mark.parametrize(
    "last", [stream(20, "COMPLETE"), stream(20, trigger="EVENT_BASED"), stream(20, window=None), stream(20, window=0)]
)
def test_a_run_that_ended_or_has_no_periodic_window_is_never_stale(client: TestClient, last: dict[str, Any]) -> None:
    post(client, stream(10), last)

    assert get(client, f"/api/v1/jobs/runs/{RUN}")["staleAfter"] is None
    assert get(client, "/api/v1/silent-streams?asOf=2027-01-01T00:00:00Z")["totalCount"] == 0


# Quality


def measured(run: str, second: int, *, passed: bool, rows: int) -> dict[str, Any]:
    checks = [
        {"assertion": "not_null", "success": passed, "column": "id"},
        {"assertion": "row_count", "success": True},
    ]
    metrics = facet(rowCount=rows, columnMetrics={"id": {"nullCount": 2**70}})
    input_dataset = {
        **dataset("t", dataQualityAssertions=facet(assertions=checks)),
        "inputFacets": {"dataQualityMetrics": metrics},
    }
    return event(run={"runId": run}, eventTime=f"2026-05-22T14:23:{second:02d}Z", inputs=[input_dataset])


def test_quality_is_a_timeline_of_the_dataset_and_of_each_column(client: TestClient) -> None:
    post(client, measured("late", 30, passed=True, rows=7), measured("early", 10, passed=False, rows=9))

    of_dataset = get(client, "/api/v1/quality?nodeId=dataset:lake:t")
    of_column = get(client, "/api/v1/quality?nodeId=datasetField:lake:t:id") if knows_columns(client) else None

    assert [(each["run"], each["kind"], each["passed"]) for each in of_dataset["timeline"]] == [
        ("late", "dataQualityMetrics", None),
        ("late", "dataQualityAssertions", True),
        ("early", "dataQualityMetrics", None),
        ("early", "dataQualityAssertions", False),
    ]
    assert [each["metrics"]["rowCount"] for each in of_dataset["timeline"][::2]] == [7, 9]
    assert of_column is None or of_column["timeline"][0]["metrics"] == {"nullCount": 2**70}


def test_the_quality_of_a_column_known_only_from_checks_is_found(client: TestClient) -> None:
    post(client, measured("r", 10, passed=False, rows=9))

    of_column = get(client, "/api/v1/quality?nodeId=datasetField:lake:t:id")

    assert [each["kind"] for each in of_column["timeline"]] == ["dataQualityMetrics", "dataQualityAssertions"]
    assert client.get("/api/v1/quality?nodeId=datasetField:lake:t:other").status_code == 404
    assert client.get("/api/v1/quality?nodeId=datasetField:lake:none:id").status_code == 404


def declared(second: int, **facets: object) -> dict[str, Any]:
    body = {**event(eventTime=f"2026-05-22T14:23:{second:02d}Z"), "dataset": dataset("t", **facets)}
    return {key: value for key, value in body.items() if key not in ("eventType", "run", "job", "inputs", "outputs")}


def test_quality_facets_of_each_dataset_event_are_in_the_timeline(client: TestClient) -> None:
    missed = facet(assertions=[{"assertion": "unique", "success": False}])
    metrics = {second: facet(rowCount=second, columnMetrics={"id": {"nullCount": second}}) for second in (10, 20, 30)}
    post(
        client,
        declared(30, dataQualityMetrics=metrics[30]),
        declared(20, dataQualityMetrics=metrics[20]),
        declared(10, dataQualityMetrics=metrics[10], dataQualityAssertions=missed),
        declared(40, schema=schema("other")),
    )

    now, then, known_then, of_column = (
        [
            (each["at"][17:19], each["passed"] if each["metrics"] is None else each["metrics"])
            for each in get(client, f"/api/v1/quality?nodeId={query}")["timeline"]
        ]
        for query in (
            "dataset:lake:t",
            "dataset:lake:t&asOf=2026-05-22T14:23:20Z",
            "dataset:lake:t&logSize=2",
            "datasetField:lake:t:id",
        )
    )

    of_column_then = {second: {"nullCount": second} for second in metrics}
    of_table = {
        second: (str(second), {"rowCount": second, "columnMetrics": {"id": of_column_then[second]}})
        for second in metrics
    }
    assert now == [of_table[30], of_table[20], of_table[10], ("10", False)]
    assert then == [of_table[20], of_table[10], ("10", False)]
    assert known_then == [of_table[30], of_table[20]]
    assert of_column == [(str(second), of_column_then[second]) for second in (30, 20, 10)]


def run_with_tests(run: str, second: int, status: str, *reads: str) -> dict[str, Any]:
    tests = [{"name": "no_orphans", "status": status}, {"name": "fresh", "status": "skip"}]
    return event(
        run={"runId": run, "facets": {"test": facet(tests=tests)}},
        eventTime=f"2026-05-22T14:23:{second:02d}Z",
        inputs=[dataset(name) for name in reads],
    )


def test_tests_of_a_run_are_in_the_timelines_of_its_job_and_of_its_only_dataset(
    client: TestClient,
) -> None:
    post(
        client,
        run_with_tests("of-t", 10, "fail", "t"),
        run_with_tests("of-both", 20, "pass", "t", "u"),
        run_with_tests("none", 30, "skip"),
    )

    of_job, of_t, of_u = (
        get(client, f"/api/v1/quality?nodeId={node}")["timeline"]
        for node in ("job:etl:load", "dataset:lake:t", "dataset:lake:u")
    )

    assert [(each["run"], each["kind"], each["passed"]) for each in of_job] == [
        ("none", "test", None),
        ("of-both", "test", True),
        ("of-t", "test", False),
    ]
    assert [(each["run"], each["passed"], each["tests"][0]["name"]) for each in of_t] == [("of-t", False, "no_orphans")]
    assert of_u == []


def running_with_tests(second: int, run: str = "r", **tests: str) -> dict[str, Any]:
    """A RUNNING event with the outcomes of these tests, or with a deleted facet if there are none."""
    outcomes_of_tests = [{"name": name, "status": status} for name, status in tests.items()]
    return event(
        eventType="RUNNING",
        run={
            "runId": run,
            "facets": {"test": facet(tests=outcomes_of_tests) if outcomes_of_tests else facet(_deleted=True)},
        },
        eventTime=f"2026-05-22T14:23:{second:02d}Z",
        outputs=[dataset("t")],
    )


def outcomes(client: TestClient, query: str = "") -> list[tuple[str, dict[str, str]]]:
    timeline = get(client, f"/api/v1/quality?nodeId=job:etl:load{query}")["timeline"]
    return [(each["at"][17:19], {test["name"]: test["status"] for test in each["tests"]}) for each in timeline]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_the_last_outcome_of_each_test_of_a_run_counts(client: TestClient, order: tuple[int, ...]) -> None:
    events = [
        running_with_tests(10, unique="fail", fresh="pass"),
        running_with_tests(20, unique="pass"),
        running_with_tests(30, rows="fail"),
    ]
    post(client, *(events[place] for place in order))

    assert outcomes(client) == [("30", {"rows": "fail"}), ("20", {"unique": "pass"}), ("10", {"fresh": "pass"})]
    assert outcomes(client, "&asOf=2026-05-22T14:23:15Z") == [("10", {"unique": "fail", "fresh": "pass"})]
    found = get(client, "/api/v1/root-cause?nodeId=dataset:lake:t")["findings"]
    assert [each["words"] for each in found] == ["load: rows failed"]


def test_repeated_tests_of_a_run_are_listed_once_and_deleted_ones_not_at_all(
    client: TestClient,
) -> None:
    post(
        client,
        running_with_tests(10, a="fail"),
        running_with_tests(20),
        running_with_tests(30, b="fail"),
        running_with_tests(40, b="fail"),
    )

    assert outcomes(client) == [("40", {"b": "fail"})]
    found = get(client, "/api/v1/root-cause?nodeId=dataset:lake:t")["findings"]
    assert [each["words"] for each in found] == ["load: b failed"]


QUALITY_OF = ("dataset:lake:t", "datasetField:lake:t:id", "job:etl:load")


def kinds_in_quality(client: TestClient, query: str = "") -> list[list[str]]:
    return [
        [each["kind"] for each in get(client, f"/api/v1/quality?nodeId={node}{query}")["timeline"]]
        for node in QUALITY_OF
    ]


@pytest.mark.parametrize("side", ["inputs", "outputs"])
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("is_repeated", [False, True])
def test_quality_facets_that_a_run_deletes_are_no_longer_listed(
    client: TestClient, side: str, order: int, is_repeated: bool
) -> None:
    tests = facet(tests=[{"name": "fresh", "status": "fail"}])
    reported = {
        "dataQualityAssertions": facet(assertions=[{"assertion": "not_null", "success": False, "column": "id"}]),
        "dataQualityMetrics": facet(rowCount=0, columnMetrics={"id": {"nullCount": 5}}),
    }
    schema_too = {"schema": schema("id")}
    deleted = {name: {**(value if is_repeated else facet()), "_deleted": True} for name, value in reported.items()}
    events = [
        event(
            eventType=kind,
            eventTime=f"2026-05-22T14:23:{second}Z",
            run={"runId": "r", "facets": {"test": of_run}},
            inputs=[],
            outputs=[],
        )
        | {side: [dataset("t", **facets, **schema_too)]}
        for kind, second, of_run, facets in (
            ("START", 10, tests, reported),
            ("COMPLETE", 20, {**(tests if is_repeated else facet()), "_deleted": True}, deleted),
        )
    ]
    post(client, *events[::order])

    assert kinds_in_quality(client) == [[], [], []]
    assert kinds_in_quality(client, "&asOf=2026-05-22T14:23:15Z") == [
        ["test", "dataQualityMetrics", "dataQualityAssertions"],
        ["dataQualityMetrics", "dataQualityAssertions"],
        ["test"],
    ]


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)])
def test_an_outcome_that_a_run_reports_several_times_in_a_row_is_listed_once_at_its_last_time(
    client: TestClient, order: tuple[int, ...]
) -> None:
    def checking(second: int, *, success: bool) -> dict[str, Any]:
        checked = facet(assertions=[{"assertion": "unique", "success": success}])
        time = f"2026-05-22T14:23:{second}Z"
        return event(eventType="RUNNING", eventTime=time, outputs=[dataset("t", dataQualityAssertions=checked)])

    events = [checking(10 + place, success=place > 1) for place in range(4)]
    post(client, *(events[place] for place in order))

    timeline = get(client, "/api/v1/quality?nodeId=dataset:lake:t")["timeline"]

    assert [(each["at"][17:19], each["passed"]) for each in timeline] == [("13", True), ("11", False)]


@pytest.mark.parametrize(
    ("last", "listed"), [({"assertions": [{"assertion": "unique", "success": True}]}, ["20"]), ({"_deleted": True}, [])]
)
def test_what_a_run_reports_under_two_names_of_a_dataset_is_listed_as_under_one(
    client: TestClient, last: Body, listed: list[str]
) -> None:
    symlinks = facet(identifiers=[{"namespace": "lake", "name": "other", "type": "TABLE"}])
    checked = facet(assertions=[{"assertion": "unique", "success": True}])
    first = dataset("t", symlinks=symlinks, dataQualityAssertions=checked)
    for second, named in ((10, first), (20, dataset("other", dataQualityAssertions=facet(**last)))):
        post(client, event(eventType="RUNNING", eventTime=f"2026-05-22T14:23:{second}Z", outputs=[named]))

    timeline = get(client, "/api/v1/quality?nodeId=dataset:lake:t")["timeline"]

    assert [each["at"][17:19] for each in timeline] == listed


def test_a_check_that_an_event_of_a_job_reports_is_in_the_timeline(client: TestClient) -> None:
    missed = facet(assertions=[{"assertion": "unique", "success": False}])
    body = event(eventTime="2026-05-22T14:23:20Z", inputs=[dataset("t", dataQualityAssertions=missed)])
    post(client, without_run(body))

    (point,) = get(client, "/api/v1/quality?nodeId=dataset:lake:t")["timeline"]

    assert (point["at"], point["run"], point["passed"]) == ("2026-05-22T14:23:20.000Z", None, False)


def test_deleted_quality_facets_of_a_dataset_event_are_not_listed(client: TestClient) -> None:
    metrics = facet(rowCount=0, columnMetrics={"id": {"nullCount": 5}}, _deleted=True)
    missed = facet(assertions=[{"assertion": "unique", "success": False, "column": "id"}], _deleted=True)
    post(client, event(outputs=[dataset("t", schema=schema("id"))]))
    post(client, declared(30, schema=schema("id"), dataQualityMetrics=metrics, dataQualityAssertions=missed))

    assert kinds_in_quality(client) == [[], [], []]


def test_tests_are_listed_as_of_the_requested_time(client: TestClient) -> None:
    post(
        client,
        run_with_tests("a", 10, "fail", "t"),
        run_with_tests("a", 20, "pass", "t"),
        run_with_tests("b", 30, "fail", "t"),
    )

    then = get(client, "/api/v1/quality?nodeId=dataset:lake:t&asOf=2026-05-22T14:23:15Z")["timeline"]
    now = get(client, "/api/v1/quality?nodeId=dataset:lake:t")["timeline"]

    assert [(each["run"], each["passed"]) for each in then] == [("a", False)]
    assert [(each["run"], each["passed"]) for each in now] == [("b", False), ("a", True)]


def knows_columns(client: TestClient) -> bool:
    post(client, event(run={"runId": "s"}, inputs=[dataset("t", schema=facet(fields=[{"name": "id"}]))]))
    return True


def test_facets_are_the_same_after_a_restart(tmp_path: Path) -> None:
    """The graph loaded from merged facts equals the one built event by event."""
    failed = event(eventType="FAIL", run={"runId": RUN, "facets": {"errorMessage": facet(message="boom")}})
    path = tmp_path / "headwater.db"
    with closing(SqliteStore(path)) as store, serving(store) as client:
        post(client, failed, event(eventType="COMPLETE", eventTime="2026-05-22T14:23:20Z"))
        post(client, run_with_dependencies("r1", "load", upstream="extract"))
        before = [
            get(client, each) for each in (f"/api/v1/jobs/runs/{RUN}", "/api/v1/control-flow?nodeId=job:etl:load")
        ]
    with closing(SqliteStore(path)) as store, serving(store) as client:
        after = [get(client, each) for each in (f"/api/v1/jobs/runs/{RUN}", "/api/v1/control-flow?nodeId=job:etl:load")]

    assert before == after
    assert before[0]["state"] == "FAILED"
    assert [each["rule"] for each in before[0]["mended"]] == ["completed-after-failing"]


def test_assertions_of_great_expectations_are_in_the_timeline_and_are_possible_causes(
    client: TestClient,
) -> None:
    found = facet(
        assertions=[
            {"expectationType": "expect_table_row_count_to_be_between", "success": True},
            {"expectationType": "expect_column_values_to_not_be_null", "success": False, "column": "id"},
        ]
    )
    checked = {**dataset("orders"), "inputFacets": {"greatExpectations_assertions": found}}
    load = {"eventType": "COMPLETE", "run": {"runId": "load"}, "outputs": [dataset("orders")]}
    check = {"eventType": "COMPLETE", "run": {"runId": "check"}, "job": {"namespace": "etl", "name": "suite"}}

    post(client, event(**load), event(**check, eventTime="2026-05-22T14:30:00Z", inputs=[checked]))

    (point,) = get(client, "/api/v1/quality?nodeId=dataset:lake:orders")["timeline"]
    (cause,) = get(client, "/api/v1/root-cause?nodeId=dataset:lake:orders")["findings"]
    (version,) = get(client, "/api/v1/jobs/runs/check")["inputDatasetVersions"]
    assert (point["passed"], point["assertions"]) == (
        False,
        [
            {"assertion": "expect_table_row_count_to_be_between", "success": True},
            {"assertion": "expect_column_values_to_not_be_null", "success": False, "column": "id"},
        ],
    )
    assert cause["kind"] == "failed-check"
    assert version["facets"]["greatExpectations_assertions"] == found


def test_counts_reported_as_text_count_as_numbers_and_are_listed_as_mended(client: TestClient) -> None:
    statistics, measured = (
        facet(rowCount="7", size="123"),
        facet(rowCount="7", columnMetrics={"id": {"nullCount": "1"}}),
    )
    written = {**dataset("out", "lake", dataQualityMetrics=measured), "outputFacets": {"outputStatistics": statistics}}
    post(client, event(eventType="COMPLETE", outputs=[written]))

    run = get(client, f"/api/v1/jobs/runs/{RUN}")
    out = get(client, "/api/v1/namespaces/lake/datasets/out")
    [point] = get(client, "/api/v1/quality?nodeId=dataset:lake:out")["timeline"]

    assert run["outputDatasetVersions"][0]["facets"]["outputStatistics"] == statistics
    assert [(each["rule"], each["what"]) for each in run["mended"]] == [
        ("counts-as-text", "rowCount, size in outputStatistics of out in lake, reported as text, count as numbers")
    ]
    assert [each["rule"] for each in out["mended"]] == ["counts-as-text"]
    assert point["metrics"] == {"rowCount": 7, "columnMetrics": {"id": {"nullCount": 1}}}


def test_counts_in_a_deleted_facet_are_not_listed_as_mended(client: TestClient) -> None:
    deleted = facet(_deleted=True, rowCount="7")
    written = {**dataset("out", "lake", dataQualityMetrics=deleted), "outputFacets": {"outputStatistics": deleted}}
    post(client, event(eventType="COMPLETE", outputs=[written]))

    assert get(client, f"/api/v1/jobs/runs/{RUN}")["mended"] == []
    assert get(client, "/api/v1/namespaces/lake/datasets/out")["mended"] == []


@pytest.mark.parametrize("order", [("sales/t", "sales.db/t"), ("sales.db/t", "sales/t")])
def test_the_last_statistics_of_a_run_count_whichever_names_of_the_dataset_it_used(
    client: TestClient, order: tuple[str, str]
) -> None:
    symlinks = facet(identifiers=[{"namespace": "lake", "name": order[1], "type": "LOCATION"}])
    written = [dataset(order[0], symlinks=symlinks), dataset(order[1])]
    for rows, output in enumerate(written):
        statistics = {"outputStatistics": facet(rowCount=rows)}
        time = f"2026-05-22T14:23:1{rows}Z"
        post(client, event(eventType="RUNNING", eventTime=time, outputs=[{**output, "outputFacets": statistics}]))

    (output,) = get(client, f"/api/v1/jobs/runs/{RUN}")["outputDatasetVersions"]

    assert output["facets"]["outputStatistics"]["rowCount"] == 1


def test_a_volume_jump_in_counts_reported_as_text_is_a_possible_cause(client: TestClient) -> None:
    for day, rows in enumerate(("100", "101", "99", "7"), start=1):
        written = {**dataset("out"), "outputFacets": {"outputStatistics": facet(rowCount=rows)}}
        run = {"runId": f"0198f7d0-1111-7222-8333-44445555666{day}"}
        post(client, event(eventType="COMPLETE", eventTime=f"2026-05-2{day}T00:00:00Z", run=run, outputs=[written]))

    found = get(client, "/api/v1/root-cause?nodeId=dataset:lake:out")

    assert "volume-jump" in [each["kind"] for each in found["findings"]]
