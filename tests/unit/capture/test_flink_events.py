"""The events of a Flink job."""

import json
from dataclasses import replace
from typing import Any

from headwater.capture.flink.events import ClusterContext, event_of
from headwater.capture.flink.jobs import Checkpoint, Checkpoints, Failure, Figures, Vertex
from headwater.capture.flink.lifecycle import Run, RunUpdate
from headwater.capture.traces import WITHHELD

CONTEXT = ClusterContext("flink-jobs", "http://127.0.0.1:8081", 60, "2.1.3")
CHECKPOINTS = Checkpoints(58, 2, 1, 0, Checkpoint(58, 1_700_000, 7, 9_065, "file:/ckpt/chk-58"), None)
FIGURES = Figures(
    records_in=500,
    records_out=400,
    restarts=1,
    checkpoints=CHECKPOINTS,
    vertices=(Vertex("Source: orders[4] -> Calc[5]", 2, "RUNNING", 250),),
)
RUN = Run(
    "01a1fd63-6104-72d6-a825-d5132f7ddac9",
    "edff2bd142af505b67ed5c6fa83db9ab",
    "stats",
    started_ms=1_000,
    state="RUNNING",
    modified_ms=1_500,
    seen_ms=1_800_000,
    told_ms=1_900_000,
    figures=FIGURES,
)

CSV = """org.apache.flink.runtime.JobException: Recovery is suppressed by NoRestartBackoffTimeStrategy
\tat org.apache.flink.runtime.executiongraph.failover.ExecutionFailureHandler.handleFailure(E.java:219)
Caused by: java.lang.RuntimeException: One or more fetchers have encountered exception
\tat org.apache.flink.connector.base.source.reader.fetcher.SplitFetcherManager.checkErrors(SplitFetcherManager.java:321)
Caused by: java.io.IOException: Failed to deserialize CSV row '17;hunter2'.
\tat org.apache.flink.formats.csv.CsvRowDataDeserializationSchema.deserialize(CsvRowDataDeserializationSchema.java:192)
Caused by: java.lang.RuntimeException: Row length mismatch. 3 fields expected but was 2: hunter2.
\t... 13 more
"""


def facets(update: RunUpdate) -> dict[str, Any]:
    run_facets: dict[str, Any] = json.loads(event_of(update, CONTEXT))["run"]["facets"]
    return run_facets


def test_an_event_says_how_often_the_next_one_comes_and_that_only_all_together_are_complete() -> None:
    event = json.loads(event_of(RunUpdate(RUN, "RUNNING", 1_900_000), CONTEXT))

    assert event["job"]["facets"]["jobType"]["emissionPattern"] == {
        "eventTrigger": "PERIODIC",
        "eventContentMode": "ACCUMULATIVE",
        "windowDuration": 60,
    }


def test_a_running_event_has_checkpoints_restarts_records_and_back_pressure() -> None:
    run_facets = facets(RunUpdate(RUN, "RUNNING", 1_900_000))

    assert run_facets["headwater_flink"]["streamCheckpoints"] == {
        "completed": 58,
        "failed": 2,
        "inProgress": 1,
        "restored": 0,
        "last": {
            "id": 58,
            "completedAt": "1970-01-01T00:28:20+00:00",
            "durationMs": 7,
            "stateBytes": 9_065,
            "path": "file:/ckpt/chk-58",
        },
    }
    assert run_facets["headwater_flink"]["vertices"] == [
        {
            "name": "Source: orders[4] -> Calc[5]",
            "parallelism": 2,
            "state": "RUNNING",
            "backPressuredMsPerSecond": 250,
        }
    ]
    assert run_facets["headwater_flink"]["restarts"] == 1
    counters = run_facets["headwater_run"]
    assert (counters["recordsIn"], counters["recordsOut"], counters["errorCount"]) == (500, 400, 1)
    assert counters["durationMs"] == 1_899_000
    assert "isInferred" not in counters
    assert "errorMessage" not in run_facets


def test_a_failure_names_the_deepest_cause_before_a_record_may_be_quoted() -> None:
    failure = Failure(CSV, 1_899_000, "Source: orders[4] -> Calc[5] (1/2)")

    run_facets = facets(RunUpdate(RUN, "FAIL", 1_900_000, failure=failure))

    error = run_facets["errorMessage"]
    assert error["message"] == f"java.io.IOException: {WITHHELD}"
    assert error["stackTrace"].startswith(CSV.splitlines()[0])
    assert "SplitFetcherManager.java:321" in error["stackTrace"]
    assert "CsvRowDataDeserializationSchema.java:192" in error["stackTrace"]
    assert run_facets["headwater_flink"]["lastFailure"]["task"] == "Source: orders[4] -> Calc[5] (1/2)"
    assert "hunter2" not in json.dumps(run_facets)


def test_a_failure_names_the_generated_code_that_failed() -> None:
    head = CSV.partition("Caused by")[0]
    frame = "\tat StreamExecCalc$28.processElement_split3(Unknown Source)"
    trace = f"{head}Caused by: java.lang.ArithmeticException: Division by zero\n{frame}\n"

    error = facets(RunUpdate(RUN, "FAIL", 1_900_000, failure=Failure(trace, 1_899_000, None)))["errorMessage"]

    assert error["message"] == f"java.lang.ArithmeticException: {WITHHELD}"
    assert error["stackTrace"].endswith(frame)


def test_an_inferred_end_is_marked_and_has_the_time_the_job_was_last_seen() -> None:
    silence = "the JobManager has not answered for 6 s"

    run_facets = facets(RunUpdate(RUN, "FAIL", 1_900_000, stop_reason="cluster unreachable", silence=silence))

    assert run_facets["headwater_run"]["isInferred"] is True
    assert run_facets["errorMessage"]["message"] == silence
    assert run_facets["headwater_flink"]["lastSeen"] == "1970-01-01T00:30:00+00:00"


def test_retracting_an_end_deletes_its_error_message() -> None:
    run_facets = facets(RunUpdate(RUN, "RUNNING", 1_900_000, is_retraction=True))

    assert run_facets["errorMessage"]["_deleted"] is True
    assert "isInferred" not in run_facets["headwater_run"]


def test_a_report_after_the_end_of_a_run_has_its_duration_and_its_error() -> None:
    failed = RunUpdate(
        replace(RUN, state="FAILED"), "FAIL", 1_850_000, failure=Failure(CSV, 1_849_000, None), is_retraction=True
    )

    run_facets = facets(failed._replace(state="RUNNING", time_ms=1_900_001, ended_ms=1_850_000))

    assert run_facets["errorMessage"] == facets(failed)["errorMessage"]
    assert run_facets["headwater_run"] == facets(failed)["headwater_run"]


def test_a_job_is_a_stream_unless_flink_reports_it_as_a_batch() -> None:
    updates = [RunUpdate(RUN, "START", 1_000), RunUpdate(replace(RUN, is_stream=False), "START", 1_000)]

    jobs = [json.loads(event_of(each, CONTEXT))["job"] for each in updates]

    assert [job["facets"]["jobType"]["processingType"] for job in jobs] == ["STREAMING", "BATCH"]
