"""Root causes of incidents, as somebody on call meets them: each a story of days or hours."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from tests.support.app import Body, dataset, event, facet, get, served, without_run
from tests.support.days import read, written
from tests.support.hours import Events, at_hour, batch, ran


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with served(tmp_path) as client:
        yield client


def findings(client: TestClient, as_of: float, node_id: str = "dataset:lake:mart") -> list[Body]:
    query = urlencode({"nodeId": node_id, "asOf": at_hour(as_of)})
    answer: list[Body] = get(client, f"/api/v1/root-cause?{query}")["findings"]
    return answer


def words(client: TestClient, as_of: float) -> list[str]:
    return [each["words"] for each in findings(client, as_of)]


def test_of_a_partition_that_came_after_the_read_it_is_said_when_it_came(client: TestClient) -> None:
    events: Events = []
    for day in range(14):
        events += ran("load", 24 * day + (4.5 if day == 13 else 1), [], [written("raw")], minutes=30)
        events += ran("report", 24 * day + 3, [read("raw")], [written("mart")])
    batch(client, events)

    late = (
        "load usually ends a run every 1 d, and its last one was 1.1 d old when raw was read, and had been read before"
    )
    assert words(client, 24 * 13 + 4) == [late]
    assert words(client, 24 * 13 + 8) == [f"{late}; its next one began 1.5 h later"]


def for_time(day: int) -> dict[str, Any]:
    return {"nominalTime": facet(nominalStartTime=at_hour(24 * day))}


def test_a_backfill_that_ran_twice_is_found_twice(client: TestClient) -> None:
    events: Events = []
    for day in range(14):
        events += ran("load", 24 * day + 1, [], [written("raw")], run_facets=for_time(day))
        events += ran("report", 24 * day + 3, [read("raw")], [written("mart")])
    for hour in (24 * 12 + 10, 24 * 12 + 10.2):
        events += ran("load", hour, [], [written("raw")], run_facets=for_time(5))
    batch(client, events)

    assert words(client, 24 * 13 + 4) == [
        "load ran again for 2026-05-06T00:00:00Z, which earlier runs had already passed",
        "load ran again for 2026-05-06T00:00:00Z, for which it had run 12 min before",
    ]


@pytest.mark.parametrize("days", [1, 4])
def test_a_job_that_runs_after_its_reader_since_its_schedule_was_moved_is_found(client: TestClient, days: int) -> None:
    events: Events = []
    for day in range(15 + days):
        events += ran("load", 24 * day + (2 if day >= 14 else 1), [], [written("raw")], minutes=20)
        events += ran("report", 24 * day + 1.5, [read("raw")], [written("mart")])
    batch(client, events)

    (finding,) = findings(client, 24 * (14 + days) + 4)

    assert (finding["kind"], finding["score"], finding["at"]) == ("freshness-gap", 0.275, "2026-05-15T01:30:00.000Z")
    assert finding["words"] == (
        f"raw: at the last {days + 1} reads, what load had written was 23.2 h old; "
        f"at the {10 - days} before, 10 min at most"
    )


def test_a_weekend_without_new_data_is_no_moved_schedule(client: TestClient) -> None:
    events: Events = []
    for day in range(21):
        if day % 7 not in (1, 2):
            events += ran("load", 24 * day + 1, [], [written("raw")], minutes=20)
        events += ran("report", 24 * day + 1.5, [read("raw")], [written("mart")])
    batch(client, events)

    assert [words(client, 24 * day + 2) for day in range(15, 21)] == [[]] * 6


def test_a_job_that_another_has_replaced_is_missing_and_the_other_is_named(client: TestClient) -> None:
    events: Events = []
    for day in range(14):
        is_new = day >= 12
        events += ran("load_v2" if is_new else "load", 24 * day + 1, [], [written("raw")])
        events += ran("report_v2" if is_new else "report", 24 * day + 3, [read("raw")], [written("mart")])
    batch(client, events)

    assert words(client, 24 * 12 + 4) == ["mart: report_v2 wrote it, and had not before; report had"]
    assert words(client, 24 * 13 + 4) == [
        "load usually ends a run every 1 d, and its last one was 2.1 d old when raw was read; "
        "load_v2 had written it since"
    ]


def streamed(job: str, hour: float, source: str, target: str) -> Body:
    kind = {"jobType": facet(processingType="STREAMING", integration="TEST")}
    about = {"run": {"runId": job}, "job": {"namespace": "etl", "name": job, "facets": kind}}
    return event(
        eventType="RUNNING", eventTime=at_hour(hour), inputs=[read(source)], outputs=[written(target)], **about
    )


def declared(name: str, hour: float, state: str) -> Body:
    about = without_run(event(eventTime=at_hour(hour)))
    del about["job"], about["inputs"], about["outputs"]
    return {**about, "dataset": dataset(name, lifecycleStateChange=facet(lifecycleStateChange=state))}


def with_a_topic(first: int, last: int) -> Events:
    """Each hour a stream reads a topic and fills a table, which a report reads half an hour later."""
    events: Events = []
    for hour in range(first, last):
        events += [streamed("fill", hour, "source", "topic"), streamed("enrich", hour + 0.1, "topic", "table")]
        events += ran("report", hour + 0.5, [read("table")], [written("mart")])
    return events


@pytest.mark.parametrize("until", [13, 14])
def test_a_topic_that_was_dropped_after_the_last_report_of_a_stream_is_found(client: TestClient, until: int) -> None:
    batch(client, [*with_a_topic(0, until), declared("topic", 12.2, "DROP")])

    (dropped,) = findings(client, 12.9)

    assert (dropped["words"], dropped["at"]) == ("topic was dropped, and not written since", "2026-05-01T12:12:00.000Z")


def test_a_topic_that_was_dropped_and_created_again_between_two_reads_is_found(client: TestClient) -> None:
    batch(client, [*with_a_topic(0, 14), declared("topic", 11.7, "DROP"), declared("topic", 11.8, "CREATE")])

    assert words(client, 12.9) == ["topic was created anew"]
    assert words(client, 13.9) == []


def test_a_topic_that_was_created_before_it_was_first_read_is_no_finding(client: TestClient) -> None:
    batch(client, [declared("topic", 11.8, "CREATE"), *with_a_topic(12, 14)])

    assert words(client, 12.9) == []


def upgraded(day: int, *, is_new: bool) -> Events:
    """A run by an older or newer version of a producer, which reports the same things otherwise, and some more."""
    columns = {"id": "bigint", "tags": "array<string>"} if not is_new else {"tags": "ARRAY<STRING>", "id": "LONG"}
    query = (
        "SELECT id,\n  tags FROM Source WHERE kind = 'A';" if is_new else "select id, tags from source where kind = 'A'"
    )
    parameters = [{"key": "date", "value": str(day)}]
    more = {"executionParameters": facet(parameters=parameters)} if is_new else {}
    agent = facet(name="spark", version="3.5", openlineageAdapterVersion="1.40" if is_new else "1.20")
    return ran(
        "load",
        24 * day + 1,
        [read("source", columns=columns)],
        [written("raw", 1_000, columns=columns)],
        run_facets={"processing_engine": agent, **more},
        job_facets={"sql": facet(query=query)},
    )


@pytest.mark.parametrize(("day", "scores"), [(8, [0.15]), (9, [0.2, 0.075]), (10, [0.075])])
def test_an_upgrade_of_a_producer_changes_facets_and_not_the_data(
    client: TestClient, day: int, scores: list[float]
) -> None:
    batch(client, [each for day in range(12) for each in upgraded(day, is_new=day >= 8)])

    found = findings(client, 24 * day + 2, "dataset:lake:raw")

    assert [each["score"] for each in found] == scores
    assert found[-1]["words"] == "load: the engine's lineage agent changed from 1.20 to 1.40"


@pytest.mark.parametrize(
    ("bad", "kind", "finding_words"),
    [
        ({"rows": 0}, "volume-jump", "raw: load wrote 0 rows; its 10 runs before wrote 1,000"),
        ({"columns": {"id": "int"}}, "schema-change", "raw: lost amount"),
    ],
)
def test_hours_of_an_outage_long_before_the_read_are_found_where_they_began(
    client: TestClient, bad: dict[str, Any], kind: str, finding_words: str
) -> None:
    events: Events = []
    for place in range(6 * 54):
        hour = place / 6
        facets: dict[str, Any] = bad if 36 <= hour < 41 else {}
        events += ran("load", hour, [], [written("raw", **{"rows": 1_000, **facets})])
    events += [each for day in (1, 2) for each in ran("report", 24 * day + 5.45, [read("raw")], [written("mart")])]
    batch(client, events)

    found = findings(client, 54)

    assert (found[0]["kind"], found[0]["words"], found[0]["at"]) == (kind, finding_words, "2026-05-02T12:00:00.000Z")


@pytest.mark.parametrize(("day", "score"), [(10, 0.6), (11, 0.3), (24, 0.15)])
def test_a_job_that_reads_from_another_cluster_is_found_on_later_days_too(
    client: TestClient, day: int, score: float
) -> None:
    events: Events = []
    for each in range(25):
        cluster = "kafka://old:9092" if each < 10 else "kafka://new:9092"
        events += ran("ingest", 24 * each, [{**read("orders"), "namespace": cluster}], [written("raw")])
    batch(client, events)

    (finding,) = findings(client, 24 * day + 1, "dataset:lake:raw")

    assert (finding["score"], finding["at"]) == (score, "2026-05-11T00:00:00.000Z")
    assert finding["words"] == ("ingest: its inputs changed from kafka://old:9092:orders to kafka://new:9092:orders")
