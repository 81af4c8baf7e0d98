"""What Spark reports of a stream's micro-batches, after the example in its guide to structured streaming."""

import json
import logging
from typing import Any, Final

import pytest

from headwater.observe.spark.progress import ProgressListener, Report, sources_of

FROM: Final = {"topic-0": {"2": 0, "4": 1, "1": 1, "3": 1, "0": 1}}
TO: Final = {"topic-0": {"2": 0, "4": 115, "1": 134, "3": 21, "0": 534}}
REPORT: Final[dict[str, Any]] = {
    "id": "ce011fdc-8762-4dcb-84eb-a77333e28109",
    "runId": "88e2ff94-ede0-45a8-b687-6316fbef529a",
    "name": "MyQuery",
    "batchId": 2,
    "numInputRows": 10,
    "sources": [
        {
            "description": "KafkaSource[Subscribe[topic-0]]",
            "startOffset": FROM,
            "endOffset": TO,
            "numInputRows": 10,
        }
    ],
    "sink": {"description": "MemorySink", "numOutputRows": -1},
}


class Event:
    """Spark's event, as py4j shows it."""

    def json(self) -> str:
        """The report within the event."""
        return json.dumps({"progress": REPORT})


def test_a_listener_passes_on_the_report_of_a_micro_batch() -> None:
    reports: list[Report] = []

    ProgressListener(reports.append).onQueryProgress(Event())

    assert reports == [REPORT]


def test_an_error_in_counting_is_logged_and_does_not_reach_spark(caplog: pytest.LogCaptureFixture) -> None:
    def broken(_: Report) -> None:
        raise KeyError("observedMetrics")

    with caplog.at_level(logging.WARNING):
        ProgressListener(broken).onQueryProgress(Event())

    assert caplog.messages == ["cannot read the progress of a micro-batch"]


def test_a_querys_position_has_the_figures_of_its_source() -> None:
    assert sources_of(REPORT) == [
        {
            "query": "MyQuery",
            "batchId": 2,
            "source": "KafkaSource[Subscribe[topic-0]]",
            "startOffset": FROM,
            "endOffset": TO,
            "numInputRows": 10,
        }
    ]


def test_lag_is_the_number_of_unread_records() -> None:
    newest = {"topic-0": {**TO["topic-0"], "2": 7, "0": 540}}
    source = {**REPORT["sources"][0], "latestOffset": newest}

    (position,) = sources_of({**REPORT, "sources": [source]})

    assert (position["latestOffset"], position["lag"]) == (newest, 13)
