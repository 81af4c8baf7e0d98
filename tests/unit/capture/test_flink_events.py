"""What is told of a Flink job, as an event."""

import json
from dataclasses import replace
from typing import Any

from headwater.capture.flink.events import ClusterContext, event_of
from headwater.capture.flink.jobs import Checkpoint, Checkpoints, Failure, Figures, Vertex
from headwater.capture.flink.lifecycle import Run, RunUpdate
from headwater.capture.traces import WITHHELD

AROUND = ClusterContext("flink-jobs", "http://127.0.0.1:8081", 60, "2.1.3")
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
Caused by: java.io.IOException: Failed to deserialize CSV row '17;hunter2'.
\tat org.apache.flink.formats.csv.CsvRowDataDeserializationSchema.deserialize(CsvRowDataDeserializationSchema.java:192)
Caused by: java.lang.RuntimeException: Row length mismatch. 3 fields expected but was 2: hunter2.
\t... 13 more
"""


def facets(told: RunUpdate) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(event_of(told, AROUND))["run"]["facets"]
    return found


def test_a_run_that_goes_on_tells_its_checkpoints_its_restarts_its_records_and_its_back_pressure() -> None:
    found = facets(RunUpdate(RUN, "RUNNING", 1_900_000))

    assert found["headwater_flink"]["streamCheckpoints"] == {
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
    assert found["headwater_flink"]["vertices"] == [
        {
            "name": "Source: orders[4] -> Calc[5]",
            "parallelism": 2,
            "state": "RUNNING",
            "backPressuredMsPerSecond": 250,
        }
    ]
    assert found["headwater_flink"]["restarts"] == 1
    counters = found["headwater_run"]
    assert (counters["recordsIn"], counters["recordsOut"], counters["errorCount"]) == (500, 400, 1)
    assert counters["durationMs"] == 1_899_000
    assert "isInferred" not in counters
    assert "errorMessage" not in found


def test_a_failure_names_its_deepest_cause_and_quotes_no_record() -> None:
    failure = Failure(CSV, 1_899_000, "Source: orders[4] -> Calc[5] (1/2)")

    found = facets(RunUpdate(RUN, "FAIL", 1_900_000, failure=failure))

    error = found["errorMessage"]
    assert error["message"] == f"java.lang.RuntimeException: {WITHHELD}"
    assert error["stackTrace"].startswith(CSV.splitlines()[0])
    assert "CsvRowDataDeserializationSchema.java:192" in error["stackTrace"]
    assert found["headwater_flink"]["lastFailure"]["task"] == "Source: orders[4] -> Calc[5] (1/2)"
    assert "hunter2" not in json.dumps(found)


def test_an_end_that_was_inferred_says_so_and_when_the_job_was_seen_last() -> None:
    silence = "the JobManager has not answered for 6 s"

    found = facets(RunUpdate(RUN, "FAIL", 1_900_000, stop_reason="cluster unreachable", silence=silence))

    assert found["headwater_run"]["isInferred"] is True
    assert found["errorMessage"]["message"] == silence
    assert found["headwater_flink"]["lastSeen"] == "1970-01-01T00:30:00+00:00"


def test_taking_an_end_back_takes_its_message_back() -> None:
    found = facets(RunUpdate(RUN, "RUNNING", 1_900_000, is_retraction=True))

    assert found["errorMessage"]["_deleted"] is True
    assert "isInferred" not in found["headwater_run"]


def test_a_job_is_a_stream_unless_flink_calls_it_a_batch() -> None:
    told = [RunUpdate(RUN, "START", 1_000), RunUpdate(replace(RUN, is_stream=False), "START", 1_000)]

    jobs = [json.loads(event_of(each, AROUND))["job"] for each in told]

    assert [job["facets"]["jobType"]["processingType"] for job in jobs] == ["STREAMING", "BATCH"]
