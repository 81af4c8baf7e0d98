"""Root cause: the findings for small histories whose cause is known."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from headwater.store.sqlite import SqliteStore
from tests.support.app import Body, dataset, event, facet, get, post, served, serving
from tests.support.days import COLUMNS, Events, at, days, read, run, schema, written

MART = "dataset:lake:mart"
DAY_1_US = 1_777_593_600_000_000
"""2026-05-01, midnight in UTC."""


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    """Four days without a fault; "now" is the time of the last event."""
    with (
        closing(SqliteStore(tmp_path / "headwater.db")) as store,
        serving(store, now_us=lambda: store.newest_us() or DAY_1_US) as client,
    ):
        post(client, *days(1, 4))
        yield client


@pytest.fixture
def client_later(tmp_path: Path) -> Iterator[TestClient]:
    """The same four days; "now" is 18 days later."""
    with served(tmp_path) as client:
        post(client, *days(1, 4))
        yield client


def ask(client: TestClient, node_id: str = MART, **query: str) -> Body:
    return get(client, f"/api/v1/root-cause?{urlencode({'nodeId': node_id, **query})}")


def found(answer: Body) -> list[tuple[str, str, int]]:
    """Each finding in order: its kind, where, and how far up."""
    return [(each["kind"], each["nodeId"].split(":")[2], each["distance"]) for each in answer["findings"]]


def links(path: list[dict[str, Any]]) -> list[tuple[str, str, str, str]]:
    return [(link["reader"], link["dataset"].split(":")[2], link["writer"], link["by"]) for link in path]


def digest_of(body: object) -> str:
    """The digest of an event as `post` sends it."""
    return f"sha256:{hashlib.sha256(json.dumps(body).encode()).hexdigest()}"


def version(number: int) -> dict[str, Any]:
    return facet(datasetVersion=str(number))


# Nothing to find


def test_without_a_fault_nothing_is_found_and_the_runs_looked_at_are_listed(client: TestClient) -> None:
    answer = ask(client)

    assert answer["findings"] == []
    assert answer["summary"] == "nothing found in 3 runs of 3 jobs, up to 2 steps upstream; 3 of these had earlier " \
        "runs to compare with"  # fmt: skip
    assert answer["run"]["id"] == "report-4"
    assert [(each["run"]["id"], each["distance"], each["comparedWith"]) for each in answer["lookedAt"]] == [
        ("report-4", 0, 3),
        ("clean-4", 1, 3),
        ("load-4", 2, 3),
    ]
    assert links(answer["lookedAt"][0]["inputs"][0]["writers"]) == [("report-4", "stage", "clean-4", "time")]
    assert answer["lookedAt"][2]["inputs"] == []


def test_for_a_dataset_that_no_run_wrote_no_run_is_looked_at(client: TestClient) -> None:
    post(client, *run("probe", 4, inputs=[read("elsewhere")], outputs=[]))

    answer = ask(client, "dataset:lake:elsewhere")

    assert (answer["run"], answer["findings"], answer["lookedAt"]) == (None, [], [])
    assert answer["summary"].startswith("no known run wrote it")


def test_the_walk_does_not_go_to_deleted_jobs_and_datasets(client: TestClient) -> None:
    assert client.delete("/api/v1/namespaces/etl/jobs/load").status_code == 200
    without_job = ask(client)
    assert client.delete("/api/v1/namespaces/lake/datasets/stage").status_code == 200

    answer = ask(client)

    assert [each["run"]["id"] for each in without_job["lookedAt"]] == ["report-4", "clean-4"]
    assert [each["run"]["id"] for each in answer["lookedAt"]] == ["report-4"]


def test_what_a_run_reported_of_a_dataset_deleted_since_is_no_finding(client: TestClient) -> None:
    post(client, *run("load", 5), *run("clean", 5, outputs=[written("stage", dataQualityAssertions=failing())]))
    before = found(ask(client, "job:etl:clean"))
    assert client.delete("/api/v1/namespaces/lake/datasets/stage").status_code == 200

    assert before == [("failed-check", "stage", 0)]
    assert found(ask(client, "job:etl:clean")) == []


def test_an_input_that_no_job_writes_is_reported_as_the_end_of_the_graph(client: TestClient) -> None:
    post(client, *run("probe", 4, inputs=[read("elsewhere")], outputs=[written("probed")]))

    answer = ask(client, "dataset:lake:probed")

    (looked_at,) = answer["lookedAt"][0]["inputs"]
    assert looked_at["words"] == "no known job writes it: the graph has nothing upstream of it"


# What changed


def test_a_column_that_changed_its_type_is_found_where_it_was_written(client: TestClient) -> None:
    text = {"id": "int", "amount": "string"}
    changed = run("load", 5, outputs=[written("raw", columns=text)])
    post(client, *changed, *run("clean", 5, inputs=[read("raw", columns=text)]), *run("report", 5))

    answer = ask(client)

    assert found(answer) == [("schema-change", "raw", 2)]
    (finding,) = answer["findings"]
    assert finding["words"] == "raw: changed amount from double to string"
    assert finding["score"] == 0.85
    assert finding["runs"] == ["load-5", "load-4"]
    assert links(finding["path"]) == [("report-5", "stage", "clean-5", "time"), ("clean-5", "raw", "load-5", "time")]
    assert digest_of(changed[1]) in [evidence["digest"] for evidence in finding["events"]]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("int", "INTEGER", None),
        ("bigint", "long", None),
        ("double", "DOUBLE PRECISION", None),
        ("int", "bigint", ("raw: changed amount from int to bigint", 0.4)),
        ("varchar(20)", "varchar(10)", ("raw: changed amount from varchar(20) to varchar(10)", 0.6)),
        ("bigint", "int", ("raw: changed amount from bigint to int", 0.85)),
    ],
)
def test_another_spelling_of_a_type_is_no_change_and_a_promotion_scores_less(
    client: TestClient, before: str, after: str, expected: tuple[str, float] | None
) -> None:
    for day, kind in ((5, before), (6, after)):
        post(client, *run("load", day, outputs=[written("raw", columns={"id": "int", "amount": kind})]))
        post(client, *run("clean", day), *run("report", day))

    findings = ask(client)["findings"]

    assert [(finding["words"], finding["score"]) for finding in findings] == ([expected] if expected else [])


def test_a_lost_column_scores_the_same_where_others_are_only_promoted(client: TestClient) -> None:
    for day, columns in ((5, {"id": "int", "amount": "double"}), (6, {"id": "long"})):
        post(client, *run("load", day, outputs=[written("raw", columns=columns)]))

    (finding,) = ask(client, "dataset:lake:raw")["findings"]

    assert (finding["words"], finding["score"]) == ("raw: lost amount, changed id from int to long", 0.85)


def test_columns_that_icebergs_format_adds_are_no_change(client: TestClient) -> None:
    listed = COLUMNS | {"_file": "string", "_pos": "long"}
    storage = facet(storageLayer="iceberg", fileFormat="parquet")
    post(client, *run("load", 5, outputs=[written("raw", columns=listed, storage=storage)]))
    post(client, *run("clean", 5, inputs=[read("raw", columns=listed, storage=storage)]), *run("report", 5))

    assert ask(client)["findings"] == []


def test_columns_that_a_query_of_trino_did_not_read_are_not_lost(client: TestClient) -> None:
    def of_trino(day: int, columns: dict[str, str]) -> Events:
        sent_by = {"producer": "https://github.com/trinodb/trino/plugin/trino-openlineage"}
        return [each | sent_by for each in run("trino", day, inputs=[read("raw", columns=columns)])]

    post(client, *of_trino(3, COLUMNS), *of_trino(4, {"id": "int"}))

    assert ask(client, "job:etl:trino")["findings"] == []


# What was declared


def declared(version: int, day: int, hour: int, **columns: str) -> Body:
    """A registry's version of a topic's schema."""
    subject = facet(subject="raw-value", version=version)
    described = dataset("raw", schema=schema(columns), headwater_subject=subject)
    return {**{key: value for key, value in event().items() if key in ("producer", "schemaURL")},
            "eventTime": at(day, hour), "dataset": described}  # fmt: skip


def streaming(client: TestClient, first_day: int, last_day: int) -> None:
    """Instead of `clean`: a stream that makes stage from raw; it starts on day 1 and reports once a day."""
    kind = {"jobType": facet(processingType="STREAMING", integration="TEST")}
    for day in range(first_day, last_day + 1):
        end = run("flow", 1, inputs=[dataset("raw")], outputs=[dataset("stage")], job_facets=kind)[1]
        post(client, {**end, "eventType": "START" if day == 1 else "RUNNING", "eventTime": at(day, 2)})


@pytest.fixture
def through_a_stream(tmp_path: Path) -> Iterator[TestClient]:
    """Three days of a daily report on what a stream makes from a topic whose schema a registry declares."""
    with served(tmp_path) as client:
        post(client, declared(1, 1, 1, id="int", amount="int"))
        streaming(client, 1, 3)
        post(client, *[each for day in (1, 2, 3) for each in run("report", day)])
        yield client


def test_a_registrys_new_version_is_found_although_only_a_stream_read_the_topic(through_a_stream: TestClient) -> None:
    post(through_a_stream, declared(2, 2, 20, id="int", amount="string"))

    (finding,) = ask(through_a_stream)["findings"]

    assert (finding["kind"], finding["nodeId"], finding["distance"]) == ("schema-change", "dataset:lake:raw", 2)
    assert finding["words"] == "raw: changed amount from int to string, by version 2 of raw-value"
    assert (finding["at"], finding["score"]) == ("2026-05-02T20:00:00.000Z", 0.85)
    assert links(finding["path"]) == [("report-3", "stage", "flow-1", "stream")]
    assert len(finding["events"]) == 1


def test_a_registrys_version_that_only_promotes_a_type_scores_less(through_a_stream: TestClient) -> None:
    post(through_a_stream, declared(2, 2, 20, id="int", amount="long"))

    (finding,) = ask(through_a_stream)["findings"]

    assert (finding["words"], finding["score"]) == (
        "raw: changed amount from int to long, by version 2 of raw-value",
        0.4,
    )


def test_a_version_declared_before_the_previous_run_is_no_finding(through_a_stream: TestClient) -> None:
    post(through_a_stream, declared(2, 2, 1, id="int", amount="string"))

    assert ask(through_a_stream)["findings"] == []
    assert [each["kind"] for each in ask(through_a_stream, run="report-2")["findings"]] == ["schema-change"]


def test_a_version_declared_after_the_run_is_no_finding(through_a_stream: TestClient) -> None:
    post(through_a_stream, declared(2, 3, 4, id="int", amount="string"))
    streaming(through_a_stream, 4, 5)

    assert ask(through_a_stream)["findings"] == []


def test_a_schema_change_seen_by_runs_is_a_consequence_of_the_declared_one(client: TestClient) -> None:
    post(client, declared(1, 1, 1, id="int", amount="double"), declared(2, 4, 20, id="int", amount="string"))
    text = {"id": "int", "amount": "string"}
    post(client, *run("clean", 5, inputs=[read("raw", columns=text)]), *run("report", 5))

    answer = ask(client)

    assert [(each["words"], each["consequence"]) for each in answer["findings"]] == [
        ("raw: changed amount from double to string, by version 2 of raw-value", False),
        ("raw: changed amount from double to string", True),
    ]


def test_a_failed_run_is_found_although_its_reader_read_what_an_earlier_run_wrote(client: TestClient) -> None:
    why = facet(message="disk full\nat line 1", programmingLanguage="PYTHON")
    post(client, *run("load", 5), *run("clean", 5, state="FAIL", outputs=[], run_facets={"errorMessage": why}))
    post(client, *run("report", 5))

    answer = ask(client)

    assert found(answer)[0] == ("failed-run", "clean", 1)
    assert answer["findings"][0]["words"] == "a run of clean failed: disk full"
    assert links(answer["lookedAt"][0]["inputs"][0]["writers"]) == [
        ("report-5", "stage", "clean-4", "time"),
        ("report-5", "stage", "clean-5", "attempt"),
    ]


def test_of_runs_that_failed_at_the_same_time_none_is_a_retry_of_another(client: TestClient) -> None:
    *_, failed = run("clean", 5, state="FAIL")
    post(client, *run("load", 5), *({**failed, "run": {"runId": f"clean-5-{part}"}} for part in "ab"))
    post(client, *run("report", 5))

    assert found(ask(client))[0] == ("failed-run", "clean", 1)


def test_a_failed_last_run_of_the_outputs_own_job_is_found(client: TestClient) -> None:
    post(client, *run("load", 5), *run("clean", 5), *run("report", 5, state="ABORT", inputs=[], outputs=[]))

    answer = ask(client)

    assert answer["run"]["id"] == "report-5"
    assert found(answer) == [("failed-run", "report", 0)]
    assert answer["findings"][0]["words"] == "a run of report was aborted"


def test_a_schema_change_above_a_failed_run_comes_first_and_the_failure_is_its_consequence(client: TestClient) -> None:
    post(client, *run("load", 5, outputs=[written("raw", columns={"id": "int"})]))
    post(client, *run("clean", 5, state="FAIL", inputs=[read("raw", columns={"id": "int"})], outputs=[]))

    answer = ask(client, "dataset:lake:stage")

    assert found(answer) == [("schema-change", "raw", 1), ("failed-run", "clean", 0)]
    assert [finding["consequence"] for finding in answer["findings"]] == [False, True]
    assert [finding["score"] for finding in answer["findings"]] == [0.85, 0.45]


def test_a_run_that_is_overdue_by_its_own_rhythm_is_missing(client: TestClient) -> None:
    for day in (5, 6, 7):
        post(client, *run("load", day), *run("report", day))

    answer = ask(client)

    assert found(answer)[0] == ("missing-run", "clean", 1)
    assert answer["findings"][0]["words"] == (
        "clean usually ends a run every 1 d, and its last one was 3 d old when stage was read"
    )
    assert answer["findings"][0]["runs"] == ["clean-4", "report-7"]


def test_a_run_is_missing_also_where_reader_and_writer_report_the_version(client: TestClient) -> None:
    for day in range(5, 9):
        post(client, *run("load", day), *run("clean", day, outputs=[written("stage", version=version(day))]))
        post(client, *run("report", day, inputs=[read("stage", version=version(day))]))
    for day in (9, 10, 11):
        post(client, *run("report", day, inputs=[read("stage", version=version(8))]))

    answer = ask(client)

    assert links(answer["lookedAt"][0]["inputs"][0]["writers"]) == [("report-11", "stage", "clean-8", "version")]
    (finding,) = answer["findings"]
    assert (finding["kind"], finding["score"], finding["runs"]) == ("missing-run", 0.75, ["clean-8", "report-11"])
    assert finding["words"] == "clean usually ends a run every 1 d, and its last one was 3 d old when stage was read"
    assert len(finding["events"]) == 1


def test_a_job_that_keeps_running_is_not_missing_where_its_reader_reads_an_old_version(client: TestClient) -> None:
    for day in range(5, 12):
        post(client, *run("load", day), *run("clean", day, outputs=[written("stage", version=version(day))]))
        post(client, *run("report", day, inputs=[read("stage", version=version(min(day, 8)))]))

    assert found(ask(client)) == [("freshness-gap", "stage", 1)]


def test_no_run_is_missing_where_a_version_was_read_before_its_run_ended(client: TestClient) -> None:
    begin, end = run("clean", 9, hour=2, outputs=[written("stage", version=version(9))])
    post(client, *run("load", 9), begin, {**end, "eventTime": at(9, 3, 30)})
    post(client, *run("report", 9, inputs=[read("stage", version=version(9))]))

    answer = ask(client)

    assert links(answer["lookedAt"][0]["inputs"][0]["writers"]) == [("report-9", "stage", "clean-9", "version")]
    assert "missing-run" not in [finding["kind"] for finding in answer["findings"]]


def test_a_job_that_had_never_run_before_its_reader_is_missing(client: TestClient) -> None:
    post(client, *run("mix", 5, hour=1, inputs=[read("late")], outputs=[written("mixed")]))
    post(client, *run("slow", 5, hour=2, outputs=[written("late")]))

    answer = ask(client, "dataset:lake:mixed")

    assert found(answer) == [("missing-run", "slow", 1)]
    assert answer["findings"][0]["words"] == "slow writes late and had completed no run when it was read"
    began = run("slow", 5, hour=2, outputs=[written("late")])[0]
    assert [each["digest"] for each in answer["findings"][0]["events"]] == [digest_of(began)]


def test_the_outputs_own_job_is_missing_where_it_is_overdue_now(client: TestClient) -> None:
    for day in range(5, 9):
        post(client, *run("load", day), *run("clean", day))

    answer = ask(client)

    assert found(answer) == [("missing-run", "report", 0)]
    (finding,) = answer["findings"]
    assert finding["words"] == "report usually ends a run every 1 d, and its last one is 4 d old"
    assert (finding["score"], finding["at"], finding["runs"]) == (0.75, "2026-05-05T03:10:00.000Z", ["report-4"])
    assert [each["digest"] for each in finding["events"]] == [digest_of(run("report", 4)[1])]
    assert found(ask(client, "job:etl:report")) == [("missing-run", "report", 0)]
    assert found(ask(client, asOf=at(6, 2))) == []  # not yet two of its intervals


def test_a_job_is_not_overdue_by_an_event_that_is_ahead_of_the_clock(tmp_path: Path) -> None:
    with served(tmp_path, start_us=DAY_1_US + 4 * 86_400_000_000) as client:
        post(client, *days(1, 4))
        post(client, event(eventTime="2099-01-01T00:00:00Z", job={"namespace": "etl", "name": "other"}))

        assert found(ask(client)) == []


def test_a_job_whose_newest_runs_began_at_the_same_time_is_overdue_for_its_output_too(client_later: TestClient) -> None:
    for each in run("report", 4):
        post(client_later, {**each, "run": {"runId": "report-4-again"}})

    overdue = [found(ask(client_later, node)) for node in (MART, "job:etl:report")]
    assert [("missing-run", "report", 0) in each for each in overdue] == [True, True]


def test_with_a_run_parameter_the_outputs_own_job_is_not_missing(client_later: TestClient) -> None:
    answer = ask(client_later)

    assert [
        (name, finding["consequence"]) for (_, name, _), finding in zip(found(answer), answer["findings"], strict=True)
    ] == [
        ("load", False),
        ("clean", True),
        ("report", True),
    ]
    assert answer["summary"].startswith("load usually ends a run every 1 d, and its last one is 18")
    assert ask(client_later, run="report-4")["findings"] == []


def test_a_failure_since_the_last_run_is_found_for_a_job_that_should_have_run_after_it(client: TestClient) -> None:
    post(client, *days(5, 6), *run("load", 7, state="FAIL"))

    answer = ask(client, asOf=at(7, 6))

    assert found(ask(client, asOf=at(7, 3, 10))) == []
    assert found(ask(client, asOf=at(7, 3, 11))) == [("failed-run", "load", 2)]
    assert found(answer) == [("failed-run", "load", 2), ("missing-run", "clean", 1), ("missing-run", "report", 0)]
    assert [each["consequence"] for each in answer["findings"]] == [False, True, True]
    assert [link["by"] for link in answer["findings"][0]["path"]] == ["time", "attempt"]
    assert found(ask(client, run="report-6", asOf=at(7, 6))) == []


def test_a_regular_job_is_overdue_a_tenth_of_its_interval_after_its_time(client: TestClient) -> None:
    post(client, *days(5, 6), *run("load", 7), *run("clean", 7))

    assert [found(ask(client, asOf=at(7, 5, minute))) for minute in (33, 35)] == [[], [("missing-run", "report", 0)]]


@pytest.mark.parametrize("state", ["FAIL", None])
def test_a_job_whose_last_run_failed_or_is_running_is_not_missing(client_later: TestClient, state: str | None) -> None:
    begin, *end = run("report", 5, state=state or "FAIL")
    post(client_later, begin, *(end if state else ()))

    assert "missing-run" not in [kind for kind, _, _ in found(ask(client_later))]


def failing(severity: str = "error", column: str | None = "amount") -> dict[str, Any]:
    return facet(assertions=[{"assertion": "not_null", "success": False, "column": column, "severity": severity}])


def test_a_failed_check_on_what_was_written_is_found(client: TestClient) -> None:
    post(client, *run("load", 5, outputs=[written("raw", dataQualityAssertions=failing())]))
    post(client, *run("clean", 5), *run("report", 5))

    answer = ask(client)

    assert found(answer) == [("failed-check", "raw", 2)]
    assert answer["findings"][0]["words"] == "raw: not_null on amount failed"
    assert answer["findings"][0]["score"] == 0.8


def reported_in_turn(*checks: dict[str, Any]) -> list[Body]:
    """The events of one run that wrote `raw`, each with one of the checks, in order of time."""
    job = {"namespace": "etl", "name": "load"}
    return [
        event(
            eventType="RUNNING" if second < len(checks) - 1 else "COMPLETE",
            eventTime=f"2026-05-22T14:23:{second:02}Z",
            job=job,
            outputs=[dataset("raw", dataQualityAssertions=check)],
        )
        for second, check in enumerate(checks)
    ]


_UNIQUE = facet(assertions=[{"assertion": "unique", "success": True, "column": "id"}])
_NOT_NULL = facet(assertions=[{"assertion": "not_null", "success": True, "column": "amount"}])


@pytest.mark.parametrize(
    ("checks", "failed"),
    [
        ([failing(), _UNIQUE], ["not_null on amount failed"]),
        ([failing(), _NOT_NULL, _UNIQUE], []),
        ([_NOT_NULL, failing(), _UNIQUE], ["not_null on amount failed"]),
        ([failing(), facet(_deleted=True), _UNIQUE], []),
    ],
    ids=["failed, then another check", "failed, then passed", "passed, then failed", "deleted"],
)
def test_of_each_check_the_last_result_that_a_run_reported_counts(
    client: TestClient, checks: list[dict[str, Any]], failed: list[str]
) -> None:
    post(client, *reversed(reported_in_turn(*checks)))

    findings = ask(client, "dataset:lake:raw")["findings"]

    assert [finding["words"].removeprefix("raw: ") for finding in findings] == failed


def named(name: str | None, *values: str, success: bool) -> Body:
    """An assertion of one kind on one column; several may differ by name or by parameters."""
    identity = {"name": name} if name is not None else {}
    assertion = {
        "assertion": "accepted_values",
        "column": "status",
        "success": success,
        "params": {"values": [*values]},
    }
    return facet(assertions=[{**assertion, **identity, "expected": f"{len(values)}", "actual": "7"}])


@pytest.mark.parametrize(
    ("checks", "has_failed"),
    [
        ([named("open", "a", success=False), named("closed", "a", success=True)], True),
        ([named("open", "a", success=False), named("open", "b", "c", success=True)], False),
        ([named(None, "a", success=False), named(None, "b", success=True)], True),
        ([named(None, "a", success=False), named(None, "a", success=True)], False),
        ([named("open", "a", success=False), named(None, "a", success=True)], True),
    ],
    ids=["other names", "other parameters of one name", "other parameters", "the same", "one of them without a name"],
)
def test_checks_of_one_kind_on_one_column_are_distinguished_by_name_or_else_by_parameters(
    client: TestClient, checks: list[Body], has_failed: bool
) -> None:
    post(client, *reversed(reported_in_turn(*checks)))
    reads = event(job={"namespace": "etl", "name": "read"}, run={"runId": "read"}, inputs=[dataset("x")], outputs=[])
    post(client, {**reads, "outputs": [dataset("raw")], "eventTime": "2026-05-22T14:22:00Z"})

    findings = ask(client, "dataset:lake:raw")["findings"]
    reached = get(client, "/api/v1/impact?nodeId=dataset:lake:x")["reached"]
    (quality,) = [each["quality"] for each in reached if each["id"] == "dataset:lake:raw"]

    assert [finding["words"] for finding in findings] == ["raw: accepted_values on status failed"] * has_failed
    assert quality["passed"] is not has_failed


def test_a_check_that_failed_before_too_scores_less(client: TestClient) -> None:
    for day in (5, 6):
        post(client, *run("load", day, outputs=[written("raw", dataQualityAssertions=failing())]))

    assert ask(client, "dataset:lake:raw")["findings"][0]["score"] == 0.4


@pytest.mark.parametrize("seconds", [(10, 20), (20, 10)])
def test_the_events_of_a_failed_check_are_ordered_by_time(client: TestClient, seconds: tuple[int, int]) -> None:
    streaming = {"jobType": facet(processingType="STREAMING", integration="FLINK")}
    live = {"namespace": "etl", "name": "live", "facets": streaming}
    checked = [dataset("raw", dataQualityAssertions=failing())]
    events_by_second = {
        second: event(eventType="RUNNING", eventTime=f"2026-05-22T14:23:{second}Z", job=live, outputs=checked)
        for second in seconds
    }
    post(client, event(eventType="START", eventTime="2026-05-22T14:23:00Z", job=live), *events_by_second.values())

    finding = ask(client, "dataset:lake:raw")["findings"][0]

    assert [each["digest"] for each in finding["events"]] == [
        digest_of(events_by_second[second]) for second in (10, 20)
    ]


def test_a_check_by_another_job_that_read_the_same_data_is_found(client: TestClient) -> None:
    checked = {**dataset("stage"), "inputFacets": {"dataQualityAssertions": failing()}}
    post(client, *run("load", 5), *run("clean", 5), *run("report", 5))
    post(client, *run("expectations", 5, hour=3, inputs=[checked], outputs=[]))

    answer = ask(client)

    assert found(answer) == [("failed-check", "stage", 1)]
    assert answer["findings"][0]["words"] == "stage: not_null on amount failed, found by expectations"
    assert answer["findings"][0]["runs"] == ["expectations-5", "clean-5"]


def test_a_check_by_another_job_that_failed_before_too_scores_less_and_explains_nothing_new(client: TestClient) -> None:
    checked = {**dataset("stage"), "inputFacets": {"dataQualityAssertions": failing()}}
    for day in (4, 5):
        post(client, *run("expectations", day, hour=4, inputs=[checked], outputs=[]))
        post(client, *(run("load", 5) + run("clean", 5) if day == 4 else ()))
    post(client, *run("report", 5, outputs=[written("mart", dataQualityAssertions=failing())]))

    assert [(each["score"], each["words"], each["consequence"]) for each in ask(client)["findings"]] == [
        (0.8, "mart: not_null on amount failed", False),
        (0.4, "stage: not_null on amount failed, as before, found by expectations", False),
    ]


def test_a_consequence_comes_after_what_explains_it_however_much_it_weighs(client: TestClient) -> None:
    warned = written("raw", dataQualityAssertions=failing("warn"))
    post(client, *run("load", 5, outputs=[warned]), *run("clean", 5), *run("report", 5, state="FAIL"))

    answer = ask(client)

    assert [(each["kind"], each["score"], each["consequence"]) for each in answer["findings"]] == [
        ("failed-check", 0.4, False),
        ("failed-run", 0.4, True),
    ]


def test_failed_tests_of_a_run_are_found(client: TestClient) -> None:
    tests = facet(tests=[{"name": "unique_id", "status": "fail"}, {"name": "fresh", "status": "pass"}])
    post(client, *run("report", 5, run_facets={"test": tests}))

    answer = ask(client)

    assert found(answer) == [("failed-check", "report", 0)]
    assert answer["findings"][0]["words"] == "report: unique_id failed"


def test_a_jump_in_rows_is_found_furthest_up_first(client: TestClient) -> None:
    for day, rows in ((5, 1000), (6, 1010), (7, 990), (8, 1005), (9, 12)):
        post(client, *run("load", day, outputs=[written("raw", rows)]))
        post(client, *run("clean", day, inputs=[read("raw", rows)], outputs=[written("stage", rows)]))
        post(client, *run("report", day))

    answer = ask(client)

    assert found(answer) == [("volume-jump", "raw", 2), ("volume-jump", "raw", 1), ("volume-jump", "stage", 1)]
    assert [finding["consequence"] for finding in answer["findings"]] == [False, True, True]
    assert answer["findings"][0]["words"] == "raw: load wrote 12 rows; its 4 runs before wrote 990 to 1,010"
    # Median of 1000, 1010, 990, 1005: 1002.5; absolute deviations 2.5, 7.5, 12.5, 2.5, their median 5.
    # 0.6745 * (12 - 1002.5) / 5 = -133.6
    assert answer["findings"][0]["rows"] == {"count": 12, "usual": 1002.5, "robustZ": -133.6}


@pytest.mark.parametrize("rows", [-1, 10**400], ids=["negative", "huge"])
def test_an_impossible_number_of_rows_is_unknown(client: TestClient, rows: int) -> None:
    post(client, *run("load", 5, outputs=[written("raw", rows=rows)]))
    for day in (6, 7, 8):
        post(client, *run("load", day, outputs=[written("raw", rows=1000)]))
    post(client, *run("load", 9, outputs=[written("raw", rows=rows)]))

    assert ask(client, "dataset:lake:raw")["findings"] == []


def test_changed_sql_is_found_and_white_space_is_no_change(client: TestClient) -> None:
    for day, query in ((5, "SELECT id, amount FROM raw"), (6, "SELECT  id,\n amount FROM raw"), (7, "SELECT 1")):
        post(client, *run("load", day), *run("clean", day, job_facets={"sql": facet(query=query)}), *run("report", day))

    answer = ask(client)

    assert found(answer) == [("code-change", "clean", 1)]
    assert answer["findings"][0]["words"] == "clean: the SQL text changed"
    assert found(ask(client, run="report-6")) == []  # white space is no change


def test_changed_code_parameters_and_engine_are_found_but_not_what_changes_in_every_run(client: TestClient) -> None:
    for day in (5, 6, 7):
        is_last = day == 7
        location = facet(type="git", url="https://example.org/code.git", version="b2" if is_last else "a1")
        parameters = [{"key": "limit", "value": "5" if is_last else "9"}, {"key": "date", "value": str(day)}]
        facets = {
            "processing_engine": facet(name="spark", version="4.2" if is_last else "4.1"),
            "executionParameters": facet(parameters=parameters),
        }
        post(client, *run("report", day, run_facets=facets, job_facets={"sourceCodeLocation": location}))

    answer = ask(client)

    words = {finding["kind"]: (finding["words"], finding["score"]) for finding in answer["findings"]}
    assert words["code-change"] == ("report: the version of the code changed from a1 to b2", 0.6)
    assert words["parameter-change"] == ("report: parameter limit changed", 0.5)
    assert words["engine-change"] == ("report: the engine changed from spark 4.1 to spark 4.2", 0.4)
    assert "parameter date" not in json.dumps(answer)


def test_a_job_that_reads_another_dataset_than_before_is_found(client: TestClient) -> None:
    post(client, *run("clean", 5, inputs=[read("raw_copy")]))

    answer = ask(client, "dataset:lake:stage")

    assert [finding["words"] for finding in answer["findings"]] == ["clean: its inputs changed from raw to raw_copy"]


def made(**sources: str) -> dict[str, Any]:
    """The columns of an output, each with the column of raw that its value is taken from."""
    fields = {
        column: {"inputFields": [{"namespace": "lake", "name": "raw", "field": source}]}
        for column, source in sources.items()
    }
    return facet(fields=fields)


def test_columns_that_a_job_takes_from_other_columns_than_before_are_found(client: TestClient) -> None:
    for day, amount in ((5, "amount"), (6, "amount"), (7, "tax"), (8, "tax")):
        post(client, *run("load", day))
        post(client, *run("clean", day, outputs=[written("stage", columnLineage=made(id="id", amount=amount))]))

    answer = ask(client, "dataset:lake:stage")

    (finding,) = answer["findings"]
    assert finding["words"] == "stage: clean takes amount from other columns than before"
    assert (finding["kind"], finding["score"], finding["runs"]) == (
        "code-change",
        0.3,
        ["clean-7", "clean-6", "clean-8"],
    )
    assert found(ask(client, "datasetField:lake:stage:id")) == []
    assert ask(client, "dataset:lake:stage", run="clean-7")["findings"][0]["score"] == 0.6


def test_columns_that_come_from_elsewhere_each_time_are_no_finding(client: TestClient) -> None:
    for day in range(5, 9):
        post(client, *run("load", day))
        post(client, *run("clean", day, outputs=[written("stage", columnLineage=made(amount=f"amount_{day}"))]))

    assert found(ask(client, "dataset:lake:stage")) == []


def test_a_job_that_writes_a_dataset_beside_the_one_that_always_did_is_found(client: TestClient) -> None:
    by_hand = run("query-42", 5, hour=2, inputs=[read("names")], outputs=[written("stage", 3)])
    by_hand = [{**each, "eventTime": at(5, 2, 40 + minute)} for minute, each in enumerate(by_hand)]
    post(client, *run("load", 5), *run("clean", 5), *by_hand, *run("report", 5))

    (finding,) = ask(client)["findings"]

    assert finding["words"] == "stage: query-42 wrote it, and had not before; clean had"
    assert (finding["kind"], finding["score"], finding["runs"]) == ("new-writer", 0.6, ["query-42-5", "clean-5"])
    post(client, *run("load", 6), *run("clean", 6), *run("report", 6))
    assert found(ask(client)) == []  # the report had read it before


def test_a_dataset_that_another_job_writes_each_time_has_no_new_writer(client: TestClient) -> None:
    for day in range(5, 9):
        post(client, *run(f"query-{day}", day, hour=1, inputs=[], outputs=[written("names")]))
        post(client, *run("report", day, hour=4, inputs=[read("names")]))

    assert "new-writer" not in [kind for kind, _, _ in found(ask(client))]


# Streams, versions, freshness

STREAM = {
    "jobType": facet(
        processingType="STREAMING",
        integration="FLINK",
        emissionPattern={"eventTrigger": "PERIODIC", "eventContentMode": "ACCUMULATIVE", "windowDuration": 300},
    )
}


def stream_event(kind: str, time: str) -> dict[str, Any]:
    about = {"run": {"runId": "stream"}, "job": {"namespace": "etl", "name": "stream", "facets": STREAM}}
    return event(eventType=kind, eventTime=time, outputs=[written("events")], **about)


@pytest.mark.parametrize(("last", "is_silent"), [(at(5, 3, 40), True), (at(5, 3, 55), False)])
def test_a_stream_that_fell_silent_before_it_was_read_is_found(client: TestClient, last: str, is_silent: bool) -> None:
    post(client, stream_event("START", at(4, 1)), stream_event("RUNNING", last))
    post(client, *run("count", 5, inputs=[read("events")], outputs=[written("counted")]))  # at 4:00; window 5 min

    answer = ask(client, "dataset:lake:counted")

    assert links(answer["lookedAt"][0]["inputs"][0]["writers"]) == [("count-5", "events", "stream", "stream")]
    assert found(answer) == ([("silent-stream", "stream", 1)] if is_silent else [])
    if is_silent:
        assert answer["findings"][0]["words"] == "stream is running and had reported nothing for 20 min"


def test_an_event_based_stream_may_be_silent_for_an_hour(client: TestClient) -> None:
    pattern = {"eventTrigger": "EVENT_BASED", "eventContentMode": "ACCUMULATIVE", "windowDuration": 300}
    kind = facet(processingType="STREAMING", integration="FLINK", emissionPattern=pattern)
    job = {"namespace": "etl", "name": "stream", "facets": {"jobType": kind}}
    post(client, *[{**stream_event(*sent), "job": job} for sent in (("START", at(4, 1)), ("RUNNING", at(5, 3, 40)))])
    post(client, *run("count", 5, inputs=[read("events")], outputs=[written("counted")]))

    answer = ask(client, "dataset:lake:counted")

    assert links(answer["lookedAt"][0]["inputs"][0]["writers"]) == [("count-5", "events", "stream", "stream")]
    assert found(answer) == []


def stream_day(day: int, kind: str, hour: int, rows: int, columns: dict[str, str] | None = None) -> dict[str, Any]:
    """An event at an hour of the stream's run of that day, which began at midnight."""
    about = {"run": {"runId": f"stream-{day}", "facets": {}}}
    output = written("events", rows=rows, columns=columns)
    return {**stream_event(kind, at(day, hour)), **about, "outputs": [output]}


def stream_and_read(client: TestClient, rows_by_read: int) -> None:
    """A stream that is read each day at 4:00, with 300 of the day's 2,400 rows written; on the last, with so many."""
    for day in range(5, 9):
        post(client, stream_day(day, "START", 0, 0), *[stream_day(day, "RUNNING", hour, 100 * hour) for hour in (1, 3)])
        post(client, stream_day(day, "RUNNING", 4, 300), stream_day(day, "COMPLETE", 23, 2_400))
    count = run("count", 9, inputs=[read("events")], outputs=[written("counted")])
    post(client, stream_day(9, "START", 0, 0), stream_day(9, "RUNNING", 4, rows_by_read), *count)


@pytest.fixture
def read_while_streaming(client: TestClient) -> TestClient:
    """The same, as it is every day."""
    stream_and_read(client, 300)
    return client


def test_a_stream_that_still_runs_has_not_written_too_few_rows(read_while_streaming: TestClient) -> None:
    answer = ask(read_while_streaming, "dataset:lake:counted")

    assert links(answer["lookedAt"][0]["inputs"][0]["writers"]) == [("count-9", "events", "stream-9", "stream")]
    assert answer["lookedAt"][1]["comparedWith"] == 4
    assert found(answer) == []


def test_a_stream_that_wrote_more_rows_than_ever_is_found_while_it_runs(client: TestClient) -> None:
    stream_and_read(client, 90_000)

    assert found(ask(client, "dataset:lake:counted")) == [("volume-jump", "events", 1)]


def test_what_a_stream_reports_after_it_was_read_is_no_finding_for_the_reader(read_while_streaming: TestClient) -> None:
    before = ask(read_while_streaming, "dataset:lake:counted")
    text = {"id": "int", "amount": "string"}
    post(read_while_streaming, stream_day(9, "RUNNING", 12, 2_000, text), stream_day(9, "FAIL", 15, 90_000, text))

    assert ask(read_while_streaming, "dataset:lake:counted") == before
    assert found(ask(read_while_streaming, "dataset:lake:events"))[0] == ("failed-run", "stream", 0)


def test_a_stream_that_reports_nothing_for_17_days_is_silent_now(client_later: TestClient) -> None:
    client = client_later
    post(client, stream_event("START", at(4, 1)), stream_event("RUNNING", at(5, 3, 40)))  # 17 days ago; window 5 min

    assert found(ask(client, "dataset:lake:events")) == [("silent-stream", "stream", 0)]
    assert found(ask(client, "dataset:lake:events", asOf=at(5, 3, 45))) == []


def test_a_stream_that_was_silent_when_it_was_read_is_found_although_it_reported_again(client: TestClient) -> None:
    post(client, stream_event("START", at(4, 1)), stream_event("RUNNING", at(5, 3, 40)))
    post(client, *run("count", 5, inputs=[read("events")], outputs=[written("counted")]))
    before = ask(client, "dataset:lake:counted")
    post(client, stream_event("RUNNING", at(5, 5)))

    assert ask(client, "dataset:lake:counted") == before
    assert found(before) == [("silent-stream", "stream", 1)]


def test_of_a_long_stream_only_events_before_it_was_read_count(client: TestClient) -> None:
    post(client, stream_event("START", at(4, 1)))
    post(client, *[stream_event("RUNNING", at(4, 2 + minute // 60, minute % 60)) for minute in range(450)])
    post(client, *run("count", 4, hour=9, inputs=[read("events")], outputs=[written("counted")]))
    before = ask(client, "dataset:lake:counted")
    post(client, *[stream_event("RUNNING", at(4, 12 + minute // 60, minute % 60)) for minute in range(450)])

    assert ask(client, "dataset:lake:counted") == before


def test_a_schema_change_that_a_job_passes_on_is_a_consequence_of_its_inputs(client: TestClient) -> None:
    few = {"id": "int"}
    for day, columns in ((3, COLUMNS), (4, few)):
        ends = ([read("topic", columns=columns)], [written("bronze.topic", columns=columns)])
        start, end = run("ingest", day, hour=4, inputs=ends[0], outputs=ends[1])
        post(client, {**start, "inputs": end["inputs"]}, {**end, "inputs": []})
        state = "FAIL" if columns is few else "COMPLETE"
        reads, makes = [read("bronze.topic", columns=columns)], [written("sums")]
        post(client, *run("revenue", day, hour=5, state=state, inputs=reads, outputs=makes))

    answer = ask(client, "dataset:lake:bronze.topic")
    of_reader = ask(client, "dataset:lake:sums")

    assert found(answer)[:2] == [("schema-change", "topic", 0), ("schema-change", "bronze.topic", 0)]
    assert [finding["consequence"] for finding in answer["findings"]] == [False, True]
    assert len({finding["at"] for finding in answer["findings"]}) == 1
    assert found(of_reader)[0] == ("schema-change", "topic", 1)
    assert [finding["consequence"] for finding in of_reader["findings"]] == [False, True, True]


def streamed(day: int, hour: int, run_id: str = "stream", kind: str = "RUNNING", sql: str = "a", **types: str) -> Body:
    """An event of a stream from a topic into a table, both with the same columns."""
    stream = stream_event(kind, at(day, hour))
    job_type = facet(processingType="STREAMING", integration="FLINK")
    job = {**stream["job"], "facets": {"jobType": job_type, "sql": facet(query=sql)}}
    columns = facet(fields=[{"name": name, "type": kind} for name, kind in types.items()])
    ends = {"inputs": [dataset("topic", schema=columns)], "outputs": [dataset("events", schema=columns)]}
    return {**stream, **ends, "run": {"runId": run_id}, "job": job}


def read_daily(*stream_events: Body) -> list[Body]:
    """These events, and those of a job that reads the table at 4:00 on two days."""
    counts = [run("count", day, inputs=[read("events")], outputs=[written("counted")]) for day in (6, 7)]
    return [*stream_events, *counts[0], *counts[1]]


@pytest.mark.parametrize(("day", "hour", "is_found"), [(5, 9, False), (6, 9, True), (7, 9, False)])
def test_columns_that_a_topic_lost_during_a_stream_are_found_only_where_lost_between_two_reads(
    client: TestClient, day: int, hour: int, is_found: bool
) -> None:
    hours = [(each, hour) for each in (4, 5, 6, 7) for hour in (1, 3, 9, 20)]
    after: list[tuple[tuple[int, int], dict[str, Any]]] = [
        (each, {"id": "int"}) for each in hours if each >= (day, hour)
    ]
    before: list[tuple[tuple[int, int], dict[str, Any]]] = [
        (each, {"id": "int", "price": "int"}) for each in hours if each < (day, hour)
    ]
    post(client, *read_daily(*(streamed(*each, **types) for each, types in (*before, *after))))

    answer = ask(client, "dataset:lake:counted")

    expected = [("schema-change", "topic", 2), ("schema-change", "events", 1)]
    assert found(answer) == (expected if is_found else [])
    if is_found:
        assert [finding["words"] for finding in answer["findings"]] == ["topic: lost price", "events: lost price"]
        assert [finding["consequence"] for finding in answer["findings"]] == [False, True]
        assert {finding["at"] for finding in answer["findings"]} == {"2026-05-06T09:00:00.000Z"}
    of_stream = ask(client, "dataset:lake:events", asOf=at(7, 20))  # the time of its last event
    assert found(of_stream) == [("schema-change", "topic", 1), ("schema-change", "events", 0)]


@pytest.mark.parametrize("end", ["ABORT", "FAIL", "COMPLETE", None])
@pytest.mark.parametrize(("day", "is_found"), [(5, False), (6, True)])
def test_a_restarted_stream_is_compared_with_its_earlier_run(
    client: TestClient, end: str | None, day: int, is_found: bool
) -> None:
    ends = [streamed(day, 9, kind=end, id="int", price="int")] if end else []
    all_of_second_run = [streamed(each, hour, "again", sql="b", id="int") for each in (5, 6, 7) for hour in (3, 10)]
    first_run = [streamed(each, 3, id="int", price="int") for each in (4, 5, 6)]
    second_run = [each for each in all_of_second_run if each["eventTime"] > at(day, 9)]
    post(client, *read_daily(*(each for each in first_run if each["eventTime"] < at(day, 9)), *ends, *second_run))

    answer = found(ask(client, "dataset:lake:counted"))

    failed = [("failed-run", "stream", 1)] if end in ("ABORT", "FAIL") else []
    changed = [("schema-change", "events", 1), ("schema-change", "topic", 1), ("code-change", "stream", 1)]
    assert sorted(answer) == (sorted([*failed, *changed]) if is_found else [])


def test_a_check_that_failed_during_a_stream_is_found_although_it_passed_again(client: TestClient) -> None:
    def checked(day: int, hour: int, *failed: str) -> Body:
        assertions = [{"assertion": each, "success": each not in failed} for each in ("not_null", "unique")]
        stream = streamed(day, hour, id="int")
        output = {**stream["outputs"][0]}
        output["facets"] = {**output["facets"], "dataQualityAssertions": facet(assertions=assertions)}
        return {**stream, "outputs": [output]}

    failing = [checked(5, 9, "unique"), checked(6, 9, "not_null")]
    passing = [checked(day, hour) for day in (4, 5, 6, 7) for hour in (3, 10)]
    post(client, *read_daily(*failing, *passing))

    (finding,) = ask(client, "dataset:lake:counted")["findings"]

    assert (finding["kind"], finding["words"]) == ("failed-check", "events: not_null failed")
    assert finding["at"] == "2026-05-06T09:00:00.000Z"
    assert len(finding["events"]) == 1
    points = get(client, "/api/v1/quality?nodeId=dataset:lake:events")["timeline"]
    assert [(each["at"][8:13], each["passed"]) for each in points] == [
        ("07T10", True),
        ("06T09", False),
        ("05T09", False),
        ("04T03", True),
    ]


def test_a_version_that_reader_and_writer_report_names_the_writer_and_shows_a_newer_one_was_skipped(
    client: TestClient,
) -> None:
    for day in (5, 6):
        post(client, *run("clean", day, outputs=[written("stage", version=version(day))]))
    post(client, *run("report", 6, inputs=[read("stage", version=version(5))]))

    answer = ask(client)

    assert links(answer["lookedAt"][0]["inputs"][0]["writers"]) == [("report-6", "stage", "clean-5", "version")]
    assert found(answer) == [("freshness-gap", "stage", 1)]
    assert (
        answer["findings"][0]["words"] == "stage: the run read an old version, as clean had written a newer one before"
    )
    assert answer["findings"][0]["runs"] == ["report-6", "clean-6", "clean-5"]
    newer = run("clean", 6, outputs=[written("stage", version=version(6))])[1]
    assert [each["digest"] for each in answer["findings"][0]["events"]] == [digest_of(newer)]


def test_for_a_version_that_no_run_reports_the_writer_is_found_by_time(client: TestClient) -> None:
    post(client, *run("report", 5, inputs=[read("stage", version=version(77))]))

    answer = ask(client)

    (looked_at,) = answer["lookedAt"][0]["inputs"]
    assert links(looked_at["writers"]) == [("report-5", "stage", "clean-4", "time")]
    assert looked_at["words"] == "no run reports having written the version that was read"


def test_a_run_that_read_its_input_during_a_newer_run_of_the_writer_is_found(client: TestClient) -> None:
    begin, end = run("clean", 5, hour=2)
    late = {**end, "eventTime": at(5, 3, 30)}
    post(client, *run("load", 5), begin, late, *run("report", 5))

    answer = ask(client)

    assert found(answer) == [("freshness-gap", "stage", 1)]
    assert answer["findings"][0]["words"] == (
        "stage: read while a newer run of clean was under way, which ended 30 min later"
    )
    assert [each["digest"] for each in answer["findings"][0]["events"]] == [digest_of(begin), digest_of(late)]


def test_a_run_that_always_reads_its_input_during_the_writers_run_is_a_finding_only_at_first(
    client: TestClient,
) -> None:
    for day in range(5, 9):
        begin, end = run("clean", day, hour=2)
        post(client, *run("load", day), begin, {**end, "eventTime": at(day, 3, 30)}, *run("report", day))

    scores = [[each["score"] for each in ask(client, run=f"report-{day}")["findings"]] for day in (5, 6, 7, 8)]

    assert scores == [[0.55], [0.275], [0.275], [0.275]]
    for day in range(9, 12):
        begin, end = run("clean", day, hour=2)
        post(client, *run("load", day), begin, {**end, "eventTime": at(day, 3, 30)}, *run("report", day))
    assert ask(client, run="report-11")["findings"] == []


def test_a_stream_that_was_stopped_before_it_was_read_has_written_what_was_read(client: TestClient) -> None:
    post(client, stream_event("START", at(4, 1)), stream_event("ABORT", at(5, 3)))
    post(client, *run("count", 5, inputs=[read("events")], outputs=[written("counted")]))

    answer = ask(client, "dataset:lake:counted")

    assert links(answer["lookedAt"][0]["inputs"][0]["writers"]) == [("count-5", "events", "stream", "time")]
    assert found(answer) == [("failed-run", "stream", 1)]


def test_the_version_that_a_run_reported_first_for_an_input_is_the_one_it_read(client: TestClient) -> None:
    begin, end = run("report", 5, inputs=[read("stage", version=version(6))])
    post(client, *run("clean", 5, outputs=[written("stage", version=version(5))]))
    post(client, {**begin, "inputs": [read("stage", version=version(5))]}, end)

    (looked_at,) = ask(client)["lookedAt"][0]["inputs"]

    assert looked_at["versions"] == ["5"]
    assert links(looked_at["writers"]) == [("report-5", "stage", "clean-5", "version")]


@pytest.mark.parametrize(
    ("table", "run_id", "writers"),
    [
        # By hand from the recorded lines: the run whose output has the snapshot in the reader's START event.
        (
            "ctas",
            "01a1fd5d-0b5a",
            {"daily": ("115642909456147222", "01a1fd5d-00f8"), "orders": ("2373710473878880286", "01a1fd5c-f0f9")},
        ),
        (
            "daily",
            "01a1fd5d-1291",
            {"daily": ("115642909456147222", "01a1fd5d-00f8"), "orders": ("2373710473878880286", "01a1fd5c-f0f9")},
        ),
    ],
)
def test_spark_reads_the_snapshots_that_recorded_runs_wrote(
    client: TestClient, shared: Path, table: str, run_id: str, writers: dict[str, tuple[str, str]]
) -> None:
    lines = [json.loads(line) for line in (shared / "observed" / "spark-batch.jsonl").read_text().splitlines()]
    post(client, *lines)
    (full_id,) = {line["run"]["runId"] for line in lines if line["run"]["runId"].startswith(run_id)}

    looked_at = ask(client, f"dataset:file:/lab/wh/sales/{table}", run=full_id)["lookedAt"][0]["inputs"]

    by_name = {each["dataset"].rpartition("/")[2]: each for each in looked_at}
    assert {name: each["versions"] for name, each in by_name.items()} == {name: [of[0]] for name, of in writers.items()}
    by = {name: [(link["by"], link["writer"][:13]) for link in each["writers"]] for name, each in by_name.items()}
    assert {name: links[0] for name, links in by.items()} == {name: ("version", of[1]) for name, of in writers.items()}


def test_why_a_run_failed_is_read_from_sparks_own_facet(client: TestClient, shared: Path) -> None:
    post(client, *map(json.loads, (shared / "observed" / "spark-batch.jsonl").read_text().splitlines()))

    answer = ask(client, "dataset:file:/lab/wh/sales/daily")

    assert answer["findings"][0]["words"] == (
        "a run of batch_orders.append_data.lake_sales_daily failed: [USER_RAISED_EXCEPTION] boom SQLSTATE: P0001"
    )


# The walk


def test_a_run_may_be_given_by_parameter(client: TestClient) -> None:
    post(client, *run("load", 5, outputs=[written("raw", columns={"id": "int"})]), *run("clean", 5), *run("report", 5))

    assert found(ask(client, run="report-5")) == [("schema-change", "raw", 2)]
    assert found(ask(client, run="report-4")) == []


def test_a_cyclic_flow_is_walked_once(client: TestClient) -> None:
    for day in (5, 6):
        post(client, *run("load", day, inputs=[read("mart")]), *run("clean", day), *run("report", day))

    answer = ask(client)

    assert [each["run"]["id"] for each in answer["lookedAt"]] == ["report-6", "clean-6", "load-6"]


def test_a_walk_goes_no_further_than_the_given_depth(client: TestClient) -> None:
    answer = ask(client, depth="1")

    assert [each["run"]["id"] for each in answer["lookedAt"]] == ["report-4", "clean-4"]
    assert answer["isCut"] is True


def lineage(**sources: tuple[str, str]) -> dict[str, Any]:
    fields = {
        column: {"inputFields": [{"namespace": "lake", "name": name, "field": field}]}
        for column, (name, field) in sources.items()
    }
    return facet(fields=fields)


def test_for_a_column_only_the_inputs_that_feed_it_are_followed(client: TestClient) -> None:
    made_from = lineage(total=("stage", "amount"), label=("names", "label"))
    outputs = [written("mart", columns={"total": "double", "label": "string"}, columnLineage=made_from)]
    post(client, *run("name", 5, hour=1, outputs=[written("names", columns={"label": "string"})]))
    post(client, *run("name", 6, hour=1, outputs=[written("names", columns={"label": "int"})]))
    post(client, *run("load", 6), *run("clean", 6))
    post(client, *run("report", 6, inputs=[read("stage"), read("names", columns={"label": "int"})], outputs=outputs))

    of_label, of_total = ask(client, column="label"), ask(client, column="total")

    assert ("schema-change", "names", 1) in found(of_label)
    assert ("schema-change", "names", 1) not in found(of_total)
    assert [each["run"]["id"] for each in of_label["lookedAt"]] == ["report-6", "name-6"]
    assert [each["run"]["id"] for each in of_total["lookedAt"]] == ["report-6", "clean-6", "load-6"]


def separate_sources() -> dict[str, Any]:
    """In one run: `mart` is made from `stage`, `shelf` from `names`."""
    source = {"namespace": "lake", "type": "DATASET"}
    return facet(
        entries=[
            {**source, "name": target, "inputs": [{**source, "name": name}]}
            for target, name in (("mart", "stage"), ("shelf", "names"))
        ]
    )


@pytest.mark.parametrize("by", ["lineage", "columnLineage"])
def test_inputs_of_another_output_of_the_same_run_are_not_looked_at(client: TestClient, by: str) -> None:
    columns = {"mart": lineage(total=("stage", "amount")), "shelf": lineage(total=("names", "label"))}

    def reported(day: int, rows: int) -> list[Body]:
        facets: dict[str, dict[str, Any]] = {
            name: {"columnLineage": columns[name]} if by == "columnLineage" else {} for name in columns
        }
        outputs = [written("mart", **facets["mart"]), written("shelf", rows, **facets["shelf"])]
        job_facets = {"lineage": separate_sources()} if by == "lineage" else {}
        return run("report", day, inputs=[read("stage"), read("names")], outputs=outputs, job_facets=job_facets)

    for day in range(5, 9):
        post(client, *run("load", day), *run("clean", day), *reported(day, 1_000))
        post(client, *run("name", day, hour=1, outputs=[written("names")]))
    post(client, *run("load", 9), *run("clean", 9), *run("name", 9, hour=1, state="FAIL"), *reported(9, 3))

    of_mart, of_shelf = ask(client), ask(client, "dataset:lake:shelf")

    of_others = [[each for each in found(answer) if each[0] != "code-change"] for answer in (of_mart, of_shelf)]
    assert of_others == [[], [("failed-run", "name", 1), ("volume-jump", "shelf", 0)]]
    assert {each["run"]["id"] for each in of_mart["lookedAt"]} == {"report-9", "clean-9", "load-9"}
    assert not {each["run"]["id"] for each in of_shelf["lookedAt"]} & {"clean-9", "load-9"}


def test_a_run_reached_by_two_paths_is_followed_for_both(client: TestClient) -> None:
    post(client, *run("load", 5), *run("name", 5, hour=1, outputs=[written("names")]))
    post(client, *run("clean", 5), *run("name", 6, hour=1, state="FAIL"), *run("load", 6), *run("clean", 6))
    inputs = [read("stage"), read("names")]
    outputs, facets = [written("mart"), written("shelf")], {"lineage": separate_sources()}
    post(client, *run("report", 6, inputs=inputs, outputs=outputs, job_facets=facets))
    post(client, *run("copy", 6, hour=4, inputs=[read("shelf")], outputs=[written("copied")]))
    post(client, *run("join", 6, hour=5, inputs=[read("mart"), read("copied")], outputs=[written("joined")]))

    answer = ask(client, "dataset:lake:joined")

    jobs = {each["run"]["job"]["name"] for each in answer["lookedAt"]}
    assert jobs == {"join", "copy", "report", "clean", "load", "name"}
    assert ("failed-run", "name") in {(kind, name) for kind, name, _ in found(answer)}


@pytest.mark.parametrize(("column", "score"), [("one", 0.85), ("two", 0.85), ("three", 0.255)])
def test_of_a_run_reached_by_two_paths_the_columns_of_both_matter(
    client: TestClient, column: str, score: float
) -> None:
    columns = dict.fromkeys(("one", "two", "three"), "int")
    for day, changes in ((5, {}), (6, {column: "string"})):
        post(client, *run("load", day, outputs=[written("raw", columns={**columns, **changes})]))
        for name in ("one", "two"):
            copied = dataset(f"of_{name}", columnLineage=lineage(value=("raw", name)))
            post(client, *run(f"copy_{name}", day, hour=2, inputs=[dataset("raw")], outputs=[copied]))
        sources = [{"namespace": "lake", "name": f"of_{name}", "field": "value"} for name in ("one", "two")]
        summed = dataset("summed", columnLineage=facet(fields={"total": {"inputFields": sources}}))
        inputs = [dataset("of_one"), dataset("of_two")]
        post(client, *run("sum", day, hour=3, inputs=inputs, outputs=[summed]))

    (finding,) = ask(client, "dataset:lake:summed", column="total")["findings"]

    assert (finding["nodeId"], finding["score"]) == ("dataset:lake:raw", score)
    aside = "; this column does not feed the one in question" if column == "three" else ""
    assert finding["words"] == f"raw: changed {column} from int to string{aside}"


def test_a_job_that_passes_data_on_without_a_dataset_is_looked_at(client: TestClient) -> None:
    ends = [{"namespace": "etl", "name": name, "type": "JOB"} for name in ("score", "features")]
    facets = {"lineage": facet(entries=[{**ends[0], "inputs": [ends[1]]}])}
    for day in (5, 6):
        post(client, *run("load", day), *run("clean", day))
        features: dict[str, Any] = {
            "inputs": [read("stage")],
            "outputs": [],
            "state": "FAIL" if day == 6 else "COMPLETE",
        }
        post(client, *run("features", day, hour=3, **features))
        post(client, *run("score", day, inputs=[], outputs=[written("scores")], job_facets=facets))

    answer = ask(client, "dataset:lake:scores")

    assert found(answer) == [("failed-run", "features", 1)]
    assert links(answer["findings"][0]["path"]) == [("score-6", "features", "features-6", "attempt")]
    (looked_at,) = answer["lookedAt"][0]["inputs"]
    assert looked_at["dataset"] == "job:etl:features"
    assert links(looked_at["writers"]) == [
        ("score-6", "features", "features-5", "time"),
        ("score-6", "features", "features-6", "attempt"),
    ]
    assert "clean-5" in {each["run"]["id"] for each in answer["lookedAt"]}


def test_the_node_id_of_a_job_selects_its_last_run(client: TestClient) -> None:
    assert ask(client, "job:etl:clean")["run"]["id"] == "clean-4"


# Child runs of parent runs


def enclosing_run(name: str, day: int, state: str, why: str | None = None) -> Events:
    """A parent run: it begins before all others of its day, and ends when `clean` should have."""
    facets = {} if why is None else {"errorMessage": facet(message=why, programmingLanguage="PYTHON")}
    begin, end = run(name, day, hour=0, state=state, inputs=[], outputs=[], run_facets=facets)
    return [begin, {**end, "eventTime": at(day, 2, 20)}]


def part_of(name: str, day: int, root: str | None = None) -> dict[str, Any]:
    """The facets of a run whose parent is the run of `name`, below that of `root`."""
    job, top = {"namespace": "etl", "name": name}, {"namespace": "etl", "name": root}
    parent = {"run": {"runId": f"{name}-{day}"}, "job": job}
    ancestor = {} if root is None else {"root": {"run": {"runId": f"{root}-{day}"}, "job": top}}
    return {"parent": facet(**parent, **ancestor)}


@pytest.fixture
def scheduled(client: TestClient) -> TestClient:
    """Four more days without a fault, on which the runs of `clean` were children of those of `dag`."""
    for day in range(5, 9):
        post(client, *enclosing_run("dag", day, "COMPLETE"), *run("load", day))
        post(client, *run("clean", day, run_facets=part_of("dag", day)), *run("report", day))
    return client


def test_a_failed_child_run_comes_before_its_parents_failure(scheduled: TestClient) -> None:
    post(scheduled, *run("load", 9, outputs=[written("raw", columns={"id": "int"})]), *enclosing_run("dag", 9, "FAIL"))
    read_less: dict[str, Any] = {
        "inputs": [read("raw", columns={"id": "int"})],
        "outputs": [],
        "run_facets": part_of("dag", 9),
    }
    post(scheduled, *run("clean", 9, state="FAIL", **read_less))

    answer = ask(scheduled, "job:etl:dag")

    assert found(answer) == [("schema-change", "raw", 2), ("failed-run", "clean", 1), ("failed-run", "dag", 0)]
    assert [finding["consequence"] for finding in answer["findings"]] == [False, True, True]
    assert links(answer["findings"][0]["path"]) == [
        ("dag-9", "clean", "clean-9", "part"),
        ("clean-9", "raw", "load-9", "time"),
    ]
    (made_of,) = answer["lookedAt"][0]["inputs"]
    assert (made_of["dataset"], made_of["words"]) == ("job:etl:clean", "a job whose run is a part of this one")


def test_a_child_run_that_failed_and_then_succeeded_is_no_finding(scheduled: TestClient) -> None:
    first, second = run("clean", 9, hour=1, state="FAIL"), run("clean", 9)
    for each in first:
        each["run"] = {"runId": "clean-9-first", "facets": part_of("dag", 9)}
    for each in second:
        each["run"]["facets"] = part_of("dag", 9)
    post(scheduled, *run("load", 9, hour=0), *enclosing_run("dag", 9, "COMPLETE"), *first, *second)

    answer = ask(scheduled, "job:etl:dag")

    assert found(answer) == []
    assert [each["run"]["id"] for each in answer["lookedAt"]] == ["dag-9", "clean-9", "load-9"]


def test_for_a_job_without_events_of_its_own_its_child_runs_are_looked_at(client: TestClient) -> None:
    for day in (5, 6):
        state = "FAIL" if day == 6 else "COMPLETE"
        post(client, *run("load", day), *run("clean", day, state=state, run_facets=part_of("silent", day)))

    answer = ask(client, "job:etl:silent")

    assert answer["run"]["id"] == "clean-6"
    assert found(answer) == [("failed-run", "clean", 0)]


def test_a_reader_of_a_child_run_has_no_findings_from_its_siblings(scheduled: TestClient) -> None:
    post(scheduled, *run("load", 9), *enclosing_run("dag", 9, "FAIL"))
    post(scheduled, *run("clean", 9, run_facets=part_of("dag", 9)))
    post(scheduled, *run("other", 9, hour=2, state="FAIL", run_facets=part_of("dag", 9)), *run("report", 9))

    assert found(ask(scheduled)) == []


def test_a_child_run_is_missing_where_its_parent_failed_before_it_began(scheduled: TestClient) -> None:
    failed = enclosing_run("dag", 9, "FAIL", "no yarn")
    post(scheduled, *run("load", 9), *failed, *run("report", 9))

    of_mart, of_stage = ask(scheduled), ask(scheduled, "dataset:lake:stage")

    assert found(of_mart) == [("failed-run", "dag", 1), ("missing-run", "clean", 1)]
    assert found(of_stage) == [("failed-run", "dag", 1), ("missing-run", "clean", 0)]
    for answer in (of_mart, of_stage):
        assert [(each["words"], each["score"], each["consequence"]) for each in answer["findings"]] == [
            ("a run of dag failed: no yarn", 0.9, False),
            ("clean should have run as part of dag, a run of which had failed", 0.375, True),
        ]
        for each in answer["findings"]:
            assert [evidence["digest"] for evidence in each["events"]] == [digest_of(failed[1])]
    assert links(of_mart["findings"][0]["path"]) == [("report-9", "clean", "dag-9", "whole")]
    assert found(ask(scheduled, run="report-8")) == []
    assert found(ask(scheduled, "dataset:lake:stage", run="clean-8")) == []


def test_a_parent_run_that_failed_and_then_succeeded_is_no_finding(scheduled: TestClient) -> None:
    begin, end = run("dag", 9, hour=2, inputs=[], outputs=[])
    again = [{**each, "run": {"runId": "dag-9-again"}} for each in (begin, {**end, "eventTime": at(9, 2, 50)})]
    post(scheduled, *run("load", 9), *enclosing_run("dag", 9, "FAIL"), *again, *run("report", 9))

    assert found(ask(scheduled)) == []


def test_a_run_is_missing_where_another_failed_under_the_root_before_it_began(client: TestClient) -> None:
    for day in range(5, 10):
        state, why = ("FAIL", "boom") if day == 9 else ("COMPLETE", None)
        post(client, *enclosing_run("dag", day, state))
        error = {} if why is None else {"errorMessage": facet(message=why, programmingLanguage="PYTHON")}
        post(client, *run("load", day, state=state, run_facets={**part_of("dag", day), **error}))
        post(client, *run("extra", day, hour=0, outputs=[written("extra", 9)], run_facets=part_of("dag", day)))
        if day < 9:
            post(client, *run("clean", day, run_facets=part_of("task", day, "dag")))
        post(client, *run("report", day))

    answer = ask(client)

    assert found(answer) == [("failed-run", "load", 2), ("failed-run", "dag", 1), ("missing-run", "clean", 1)]
    assert [each["consequence"] for each in answer["findings"]] == [False, True, True]
    assert links(answer["findings"][0]["path"]) == [
        ("report-9", "clean", "dag-9", "whole"),
        ("dag-9", "load", "load-9", "part"),
    ]
    assert "extra-9" not in [each["run"]["id"] for each in answer["lookedAt"]]  # it did not fail


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("nodeId=dataset:lake:mart&run=none", "Run 'none' not found."),
        (
            "nodeId=dataset:lake:mart&run=load-4",
            "Run 'load-4' did not write dataset 'mart'; the newest that did: report-4, report-3, report-2.",
        ),
        ("nodeId=job:etl:clean&run=load-4", "Run 'load-4' is not a run of job 'clean'."),
    ],
)
def test_a_run_that_did_not_write_the_output_is_refused(client: TestClient, query: str, message: str) -> None:
    response = client.get(f"/api/v1/root-cause?{query}")

    assert (response.status_code, response.json()["message"]) == (404, message)


def test_the_node_id_of_a_run_selects_that_run(client: TestClient) -> None:
    post(client, *run("clean", 5, state="FAIL"), *run("clean", 6))

    answer = ask(client, "run:clean-5")

    assert answer == ask(client, "job:etl:clean", run="clean-5") == ask(client, "run:clean-5", run="clean-5")
    assert (answer["nodeId"], answer["run"]["id"], found(answer)[0][0]) == ("job:etl:clean", "clean-5", "failed-run")


def test_the_node_id_of_a_run_without_events_selects_its_child_runs(client: TestClient) -> None:
    for day in (5, 6):
        post(client, *run("load", day, run_facets=part_of("dag", day), state="FAIL" if day == 5 else "COMPLETE"))

    assert [each["run"]["id"] for each in ask(client, "run:dag-5")["lookedAt"]] == ["load-5"]


def test_a_run_parameter_that_differs_from_the_node_ids_run_is_refused(client: TestClient) -> None:
    response = client.get("/api/v1/root-cause?nodeId=run:clean-4&run=clean-3")

    assert response.status_code == 400
    assert response.json()["message"] == (
        "query param run names another run than nodeId, 'run:clean-4'; leave one of them out"
    )


# Concurrent runs of one job, such as of a mapped task

DAG = {"parent": facet(run={"runId": "dag-1"}, job={"namespace": "etl", "name": "dag"})}
NEXT_DAG = {"parent": facet(run={"runId": "dag-2"}, job={"namespace": "etl", "name": "dag"})}


def minutes(
    run_id: str,
    job: str,
    began: int,
    ended: int,
    *,
    state: str = "COMPLETE",
    parent: Body | None = DAG,
    **ends: Events,
) -> Events:
    """A run from one minute to another, as a child of a run of a DAG."""
    about = {"run": {"runId": run_id, "facets": parent or {}}, "job": {"namespace": "etl", "name": job}}
    start = event(eventType="START", eventTime=at(4, 10, began), **about)
    return [start, event(eventType=state, eventTime=at(4, 10, ended), **about, **ends)]


def mapped(number: int, began: int, ended: int, *, state: str = "COMPLETE", parent: Body | None = DAG) -> Events:
    return minutes(f"map-{number}", "map", began, ended, state=state, parent=parent, outputs=[written("parts")])


def reduced(began: int = 30, parent: Body | None = DAG) -> Events:
    ends: dict[str, Any] = {"inputs": [read("parts")], "outputs": [written("whole")]}
    return minutes("reduce", "reduce", began, began + 1, parent=parent, **ends)


CONCURRENT_FAILURES: dict[str, tuple[list[Events], list[str]]] = {
    "one failed before the other ended": (
        [mapped(0, 1, 5), mapped(1, 1, 4, state="FAIL"), reduced()],
        ["map-1"],
    ),
    "one failed after the other ended": (
        [mapped(0, 1, 5), mapped(1, 1, 6, state="FAIL"), reduced()],
        ["map-1"],
    ),
    "several failed": (
        [mapped(0, 1, 9), mapped(1, 1, 4, state="FAIL"), mapped(2, 2, 7, state="ABORT"), reduced()],
        ["map-1", "map-2"],
    ),
    "one that failed was retried and succeeded": (
        [mapped(0, 1, 9), mapped(1, 1, 4, state="FAIL"), mapped(2, 5, 7), reduced()],
        [],
    ),
    "one that failed was retried, and had not ended yet": (
        [mapped(0, 1, 9), mapped(1, 1, 4, state="FAIL"), mapped(2, 5, 40), reduced()],
        ["map-1"],
    ),
    "one that failed was retried, and failed again": (
        [mapped(0, 1, 9), mapped(1, 1, 4, state="FAIL"), mapped(2, 5, 7, state="FAIL"), reduced()],
        ["map-2"],
    ),
    "they have no parent": (
        [mapped(0, 1, 5, parent=None), mapped(1, 1, 4, state="FAIL", parent=None), reduced(parent=None)],
        ["map-1"],
    ),
    "all of the next DAG run succeeded, and it reads": (
        [mapped(1, 1, 4, state="FAIL"), mapped(0, 1, 5), mapped(2, 10, 12, parent=NEXT_DAG), reduced(parent=NEXT_DAG)],
        [],
    ),
    "all of the next DAG run succeeded, and this one reads": (
        [mapped(1, 1, 4, state="FAIL"), mapped(0, 1, 5), mapped(2, 10, 12, parent=NEXT_DAG), reduced()],
        ["map-1"],
    ),
    "the next DAG run began before all of this one ended": (
        [mapped(1, 1, 4, state="FAIL"), mapped(0, 1, 9), mapped(2, 7, 12, parent=NEXT_DAG), reduced(parent=NEXT_DAG)],
        ["map-1"],
    ),
}


@pytest.mark.parametrize("past", CONCURRENT_FAILURES)
@pytest.mark.parametrize("step", [1, -1])
def test_a_failed_run_among_concurrent_ones_is_found_unless_a_later_one_succeeded(
    client: TestClient, past: str, step: int
) -> None:
    runs, failed = CONCURRENT_FAILURES[past]
    post(client, *[each for events in runs for each in events][::step])

    answer = ask(client, "dataset:lake:whole")

    found_runs = {run_id for each in answer["findings"] if each["kind"] == "failed-run" for run_id in each["runs"]}
    assert sorted(found_runs) == failed


def test_for_a_dag_each_failed_run_among_concurrent_ones_is_found(client: TestClient) -> None:
    dag = minutes("dag-1", "dag", 0, 9, state="FAIL", parent=None)
    post(client, *dag, *mapped(0, 1, 8), *mapped(1, 1, 4, state="FAIL"), *mapped(2, 2, 7, state="FAIL"))

    answer = ask(client, "job:etl:dag")

    assert sorted(each["run"]["id"] for each in answer["lookedAt"]) == ["dag-1", "map-1", "map-2"]
    assert {*found(answer)} == {("failed-run", "dag", 0), ("failed-run", "map", 1)}


def test_for_a_dataset_that_concurrent_runs_write_each_failed_one_is_found(client: TestClient) -> None:
    concurrent = [*mapped(0, 1, 4, state="FAIL"), *mapped(1, 1, 5), *mapped(2, 2, 6)]
    post(client, *mapped(9, 1, 4, state="FAIL", parent=NEXT_DAG), *concurrent)

    answer = ask(client, "dataset:lake:parts")

    assert answer["run"]["id"] == "map-2"
    assert [each["run"]["id"] for each in answer["lookedAt"]] == ["map-2", "map-0"]
    assert found(answer) == [("failed-run", "map", 0)]


def test_concurrent_runs_that_succeeded_are_all_writers_of_what_was_read(client: TestClient) -> None:
    post(
        client,
        *mapped(9, 1, 2, parent=NEXT_DAG),
        *mapped(0, 1, 2),
        *mapped(1, 2, 7),
        *mapped(2, 3, 8),
        *mapped(3, 4, 9),
    )
    post(client, *reduced(began=8))

    answer = ask(client, "dataset:lake:whole")

    (read_parts,) = answer["lookedAt"][0]["inputs"]
    assert [(each["writer"], each["by"]) for each in read_parts["writers"]] == [("map-2", "time"), ("map-1", "time")]


@pytest.mark.parametrize(("began", "late"), [([1, 2, 3, 4, 5], []), ([1, 11, 21, 31, 41], ["map"])])
def test_concurrent_runs_of_one_parent_make_no_rhythm(client: TestClient, began: list[int], late: list[str]) -> None:
    post(client, *[each for number, minute in enumerate(began) for each in mapped(number, minute, minute + 8)])
    post(client, *run("reduce", 4, hour=14, inputs=[read("parts")], outputs=[written("whole")]))

    answer = ask(client, "dataset:lake:whole")

    missing = [each for each in answer["findings"] if each["kind"] == "missing-run"]
    assert [name for _, name, _ in found({**answer, "findings": missing})] == late
