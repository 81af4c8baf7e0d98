"""An invalid member of a facet does not hide its other members, and every answer reads a facet in the same way."""

from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from tests.support.app import RUN, Body, dataset, event, facet, get, post

ORDERS = "/api/v1/namespaces/lake/datasets/orders"
LOAD = "/api/v1/namespaces/etl/jobs/load"


def ran(run: str, minute: int, *, run_facets: Body | None = None, **changes: object) -> dict[str, Any]:
    return event(
        eventType="COMPLETE",
        eventTime=f"2026-05-22T14:{minute:02d}:00Z",
        run={"runId": run, "facets": run_facets or {}},
        **{"inputs": [dataset("raw")], "outputs": [dataset("orders")], **changes},
    )


def causes(client: TestClient) -> list[tuple[str, str]]:
    query = urlencode({"nodeId": "dataset:lake:orders"})
    return [(each["kind"], each["words"]) for each in get(client, f"/api/v1/root-cause?{query}")["findings"]]


def quality(client: TestClient, node: str = "dataset:lake:orders") -> list[bool | None]:
    return [each["passed"] for each in get(client, f"/api/v1/quality?{urlencode({'nodeId': node})}")["timeline"]]


def orders_in_impact(client: TestClient) -> Body:
    reached = get(client, f"/api/v1/impact?{urlencode({'nodeId': 'dataset:lake:raw'})}")["reached"]
    (orders,) = (each for each in reached if each["id"] == "dataset:lake:orders")
    return orders  # type: ignore[no-any-return]


def test_columns_are_in_order_and_have_their_types_whatever_the_others_are(client: TestClient) -> None:
    b = {"name": "b", "type": 5, "description": 1.5, "ordinal_position": 2.0}
    a = {"name": "a", "type": ["odd"], "ordinal_position": 1}
    post(client, ran("r1", 1, outputs=[dataset("orders", schema=facet(fields=[b, "odd", {"type": "int"}, a]))]))
    retyped = facet(fields=[{**b, "type": 6}, a])
    post(client, ran("r2", 2, outputs=[dataset("orders", schema=retyped)]))

    (retyping,) = get(client, "/api/v1/drift?nodeId=dataset:lake:orders")["drift"][0]["changes"]

    assert [(each["name"], each["type"], each["description"]) for each in get(client, ORDERS)["fields"]] == [
        ("a", None, None),
        ("b", "6", "1.5"),
    ]
    assert (retyping["column"], retyping["before"], retyping["after"]) == ("b", "5", "6")


@pytest.mark.parametrize(
    "facets",
    [
        {"columnLineage": facet(fields={"id": {}})},
        {"columnLineage": facet(fields={"id": {"inputFields": None}})},
        {"columnLineage": facet(fields={}, dataset={"namespace": "lake", "name": "raw", "field": "id"})},
        {"lineage": facet(inputs=None, fields={"id": {"inputs": "raw"}})},
        {"lineage": facet(inputs=["raw", {"nam": "raw"}, {"namespace": "lake", "name": ""}])},
        {"columnLineage": facet(fields={"id": {"inputFields": ["raw.id"]}})},
        {"columnLineage": facet(fields={}, dataset=[None])},
    ],
)
def test_a_facet_without_a_readable_list_of_sources_does_not_hide_that_the_output_is_made_from_the_input(
    client: TestClient, facets: Body
) -> None:
    post(client, ran("r1", 1, outputs=[dataset("orders", **facets)]))

    (source,) = get(client, "/api/v1/flow?nodeId=dataset:lake:orders")["sources"]

    assert (source["dataset"]["name"], source["derivation"]) == ("raw", "inputs and outputs")
    assert orders_in_impact(client)["distance"] > 0


def test_a_numeric_parameter_hides_no_other_and_its_change_is_found(client: TestClient) -> None:
    for minute, (a, b) in enumerate([("1", 3600), ("1", 3600), ("2", 7200)]):
        parameters = [{"key": "a", "value": a}, {"key": "b", "value": b}, {"value": "nobody knows of what"}]
        post(client, ran(f"r{minute}", minute, run_facets={"executionParameters": facet(parameters=parameters)}))

    assert sorted(causes(client)) == [
        ("parameter-change", "load: parameter a changed"),
        ("parameter-change", "load: parameter b changed"),
    ]


@pytest.mark.parametrize(
    "assertions",
    [
        [{"assertion": "row_count", "success": False, "expected": 1000, "actual": 999}],
        [{"assertion": "row_count", "success": False}, {"assertion": "unique", "column": "id"}, "odd"],
        [{"assertion": "row_count", "success": False}, {"assertion": "unique", "success": True, "column": ["id"]}],
        [{"assertion": "row_count", "success": False}, {"assertion": "unique", "success": "true"}],
    ],
)
def test_a_failed_check_is_reported_whatever_the_other_assertions_are(
    client: TestClient, assertions: list[Any]
) -> None:
    post(client, ran("r1", 1, outputs=[dataset("orders", dataQualityAssertions=facet(assertions=assertions))]))

    reported = orders_in_impact(client)["quality"]

    assert causes(client) == [("failed-check", "orders: row_count failed")]
    assert quality(client) == [False]
    assert (reported["passed"], reported["assertions"]) == (False, 1)
    assert [each["assertion"] for each in reported["failed"]] == ["row_count"]


def test_a_check_without_a_result_has_neither_passed_nor_failed(client: TestClient) -> None:
    assertions = [{"assertion": "unique", "column": "id"}]
    post(client, ran("r1", 1, outputs=[dataset("orders", dataQualityAssertions=facet(assertions=assertions))]))

    (point,) = get(client, "/api/v1/quality?nodeId=dataset:lake:orders")["timeline"]

    assert (point["passed"], point["assertions"]) == (None, assertions)
    assert orders_in_impact(client)["quality"]["passed"] is None
    assert causes(client) == []


def test_a_metric_that_is_not_a_number_hides_no_other(client: TestClient) -> None:
    metrics = facet(rowCount=7, bytes="many", columnMetrics={"id": {"nullCount": 2, "max": "z"}, "name": 3})
    post(client, ran("r1", 1, outputs=[dataset("orders", dataQualityMetrics=metrics)]))

    assert orders_in_impact(client)["quality"]["rowCount"] == 7


def test_a_column_without_readable_metrics_has_none(client: TestClient) -> None:
    columns = facet(fields=[{"name": "id", "type": "int"}])
    for minute, of_columns in enumerate(([{"id": 1}], {"id": 1}, {"id": {"nullCount": 2}})):
        metrics = facet(rowCount=7, columnMetrics=of_columns)
        post(client, ran(f"r{minute}", minute, outputs=[dataset("orders", schema=columns, dataQualityMetrics=metrics)]))

    (of_column,) = get(client, "/api/v1/quality?nodeId=datasetField:lake:orders:id")["timeline"]

    assert (of_column["run"], of_column["metrics"]) == ("r2", {"nullCount": 2})
    assert len(quality(client)) == 3


def test_the_row_count_is_shown_although_there_are_no_column_metrics(client: TestClient) -> None:
    post(client, ran("r1", 1, outputs=[dataset("orders", dataQualityMetrics=facet(rowCount=7))]))

    assert orders_in_impact(client)["quality"]["rowCount"] == 7


def test_a_failed_test_is_reported_whatever_the_other_tests_are(client: TestClient) -> None:
    tests = [{"name": "fresh", "status": "fail", "expected": 1, "actual": 2}, {"status": "pass"}, {"name": "odd"}]
    post(client, ran("r1", 1, run_facets={"test": facet(tests=tests)}))

    assert quality(client, "job:etl:load") == [False]
    assert causes(client) == [("failed-check", "load: fresh failed")]


def test_a_test_whose_status_is_not_a_string_has_neither_passed_nor_failed(client: TestClient) -> None:
    post(client, ran("r1", 1, run_facets={"test": facet(tests=[{"name": "fresh", "status": False}])}))

    assert quality(client, "job:etl:load") == [None]
    assert causes(client) == []


def test_tests_that_a_run_reports_later_are_listed_whatever_names_earlier_ones_had(client: TestClient) -> None:
    first = [{"name": ["odd"], "status": "pass"}, {"name": "unique", "status": "fail"}, {"status": "pass"}]
    later = [{"name": "unique", "status": "pass"}]
    for minute, tests in ((1, first), (2, later)):
        post(client, ran(RUN, minute, run_facets={"test": facet(tests=tests)}))

    timeline = get(client, f"/api/v1/quality?{urlencode({'nodeId': 'job:etl:load'})}")["timeline"]

    assert [point["tests"] for point in timeline] == [later, [first[0], first[2]]]


def test_a_later_report_of_a_test_replaces_an_earlier_one_only_if_both_can_be_read(client: TestClient) -> None:
    first = [{"name": "fresh", "status": "fail"}, {"name": 7, "status": "fail"}]
    later = [{"name": "fresh", "status": 1}, {"name": 7, "status": "pass"}]
    for minute, tests in ((1, first), (2, later)):
        post(client, ran(RUN, minute, run_facets={"test": facet(tests=tests)}))

    timeline = get(client, f"/api/v1/quality?{urlencode({'nodeId': 'job:etl:load'})}")["timeline"]

    assert [(point["tests"], point["passed"]) for point in timeline] == [(later, True), (first[:1], False)]
    assert causes(client) == [("failed-check", "load: fresh failed")]


def test_tags_are_listed_whatever_their_values_are(client: TestClient) -> None:
    tags = facet(tags=[{"key": "pii", "value": "true"}, {"key": "tier", "value": 1}, {"key": "gold"}, {"value": "x"}])
    field = {"key": "mask", "value": "all", "field": ["email"]}
    of_dataset = facet(tags=[*tags["tags"], field])
    job = {"namespace": "etl", "name": "load", "facets": {"tags": tags}}
    post(client, ran(RUN, 1, run_facets={"tags": tags}, job=job, outputs=[dataset("orders", tags=of_dataset)]))

    of_job = get(client, LOAD)

    assert get(client, ORDERS)["tags"] == of_job["tags"] == of_job["latestRun"]["tags"] == ["pii", "tier:1", "gold"]
    assert {tag["name"] for tag in get(client, "/api/v1/tags")["tags"]} >= {"pii", "tier:1", "gold"}


def test_owners_are_listed_although_one_of_them_is_invalid(client: TestClient) -> None:
    owners = facet(owners=[{"name": "ann", "type": "DEVELOPER"}, {"type": "MAINTAINER"}, {"name": "bob", "type": {}}])
    post(client, ran("r1", 1, outputs=[dataset("orders", ownership=owners)]))

    assert orders_in_impact(client)["owners"] == [
        {"name": "ann", "type": "DEVELOPER"},
        {"name": "bob", "type": None},
    ]


def gap_words(client: TestClient) -> list[str]:
    query = urlencode({"kind": "extraction-error"})
    return [gap["words"] for gap in get(client, f"/api/v1/coverage?{query}")["gaps"]]


def test_a_gap_is_reported_although_one_of_its_errors_has_no_message(client: TestClient) -> None:
    failure = facet(totalTasks=2, failedTasks=1, errors=[{"task": "SELECT"}, {"errorMessage": "no such table"}])
    post(client, ran(RUN, 1, run_facets={"extractionError": failure}))

    assert get(client, f"/api/v1/jobs/runs/{RUN}")["gap"] == {
        "failedTasks": 1,
        "totalTasks": 2,
        "messages": ["no such table"],
    }
    assert gap_words(client) == ["a run of load: the lineage of 1 of 2 tasks could not be extracted"]


@pytest.mark.parametrize(
    ("failure", "messages"),
    [
        ({"errors": [{"errorMessage": "no such table"}]}, ["no such table"]),
        ({"totalTasks": 2, "failedTasks": "some", "errors": [{"errorMessage": "no such table"}]}, ["no such table"]),
        ({"totalTasks": 2}, []),
    ],
)
def test_a_gap_is_reported_although_the_number_of_failed_tasks_is_unknown(
    client: TestClient, failure: Body, messages: list[str]
) -> None:
    post(client, ran(RUN, 1, run_facets={"extractionError": facet(**failure)}))

    assert get(client, f"/api/v1/jobs/runs/{RUN}")["gap"]["messages"] == messages
    assert gap_words(client) == ["a run of load: its lineage could not be extracted"]


@pytest.mark.parametrize(
    "job_type",
    [
        {"processingType": "STREAMING"},
        {"processingType": "STREAMING", "integration": {}, "jobType": 7, "emissionPattern": "often"},
    ],
)
def test_a_job_is_a_stream_by_its_processing_type_alone(client: TestClient, job_type: Body) -> None:
    post(client, ran(RUN, 1, job={"namespace": "etl", "name": "load", "facets": {"jobType": facet(**job_type)}}))

    assert get(client, LOAD)["type"] == "STREAM"


def test_a_stream_has_a_stale_time_from_its_window_alone(client: TestClient) -> None:
    pattern = {"eventTrigger": "PERIODIC", "windowDuration": 60}
    job = {"namespace": "etl", "name": "load", "facets": {"jobType": facet(emissionPattern=pattern)}}
    post(client, event(eventType="RUNNING", job=job))

    assert get(client, f"/api/v1/jobs/runs/{RUN}")["staleAfter"] == "2026-05-22T14:24:11.000Z"


@pytest.mark.parametrize(
    ("start", "end", "shown"),
    [
        ("2026-05-22T14:00:00Z", "None", ("2026-05-22T14:00:00.000Z", None)),
        ("None", "2026-05-22T15:00:00Z", (None, "2026-05-22T15:00:00.000Z")),
    ],
)
def test_an_invalid_nominal_time_hides_no_other(
    client: TestClient, start: str, end: str, shown: tuple[str | None, str | None]
) -> None:
    nominal = facet(nominalStartTime=start, nominalEndTime=end)
    post(client, ran(RUN, 1, run_facets={"nominalTime": nominal}))

    run = get(client, f"/api/v1/jobs/runs/{RUN}")

    assert (run["nominalStartTime"], run["nominalEndTime"]) == shown
    assert sorted(run["args"]) == [
        name for name, time in zip(("nominal_end_time", "nominal_start_time"), shown[::-1], strict=True) if time
    ]


def test_why_a_run_failed_is_reported_although_its_language_is_unknown(client: TestClient) -> None:
    failed = ran("r1", 1, run_facets={"errorMessage": facet(message="disk full", stackTrace=["a", "b"])})
    post(client, {**failed, "eventType": "FAIL"})

    assert causes(client) == [("failed-run", "a run of load failed: disk full")]


def test_code_and_engine_are_compared_by_the_members_that_can_be_read(client: TestClient) -> None:
    for minute, version in enumerate(("1", "1", "2")):
        job_facets = {
            "sourceCode": facet(sourceCode=f"print({version})"),
            "sourceCodeLocation": facet(version=version, type=7, path=[]),
        }
        engine = {"processing_engine": facet(name="spark", openlineageAdapterVersion=float(version))}
        job = {"namespace": "etl", "name": "load", "facets": job_facets}
        post(client, ran(f"r{minute}", minute, run_facets=engine, job=job))

    assert sorted(words for _, words in causes(client)) == [
        "load: the engine's lineage agent changed from 1.0 to 2.0",
        "load: the source code changed",
        "load: the version of the code changed from 1 to 2",
    ]
