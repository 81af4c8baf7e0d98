"""Missing runs: by the job's rhythm, its usual pauses, and what its reader had read before."""

from collections.abc import Iterable
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from tests.support.app import Body, dataset, get
from tests.support.days import read, schema, written
from tests.support.hours import DAY, Events, at_hour, ran

FRIDAY, SATURDAY, SUNDAY = 0, 1, 2
"""Days after the beginning, modulo 7."""


def send(client: TestClient, *runs: Events) -> None:
    events = sorted((each for events in runs for each in events), key=lambda each: each["eventTime"])
    for first in range(0, len(events), 200):
        response = client.post("/api/v1/lineage/batch", json=events[first : first + 200])
        assert response.json()["summary"]["failed"] == 0, response.text


def loads(days: Iterable[int], hour: float = 1, job: str = "load", failed: int = -1) -> list[Events]:
    ends = [read("source")], [dataset("raw")]
    return [ran(job, day * DAY + hour, *ends, state="FAIL" if day == failed else "COMPLETE") for day in days]


def reports(days: Iterable[int]) -> list[Events]:
    return [ran("report", day * DAY + 3, [dataset("raw")], [written("mart")]) for day in days]


def ask(client: TestClient, day: int, hour: float = 4) -> Body:
    query = {"nodeId": "dataset:lake:mart", "asOf": at_hour(day * DAY + hour)}
    return get(client, f"/api/v1/root-cause?{urlencode(query)}")


def found(answer: Body) -> list[tuple[str, str, float]]:
    return [(each["kind"], each["nodeId"].split(":")[2], each["score"]) for each in answer["findings"]]


# A missed night


def test_a_missed_night_is_found_where_every_earlier_read_had_new_data(client: TestClient) -> None:
    send(client, *loads(day for day in range(10) if day != 8), *reports(range(10)))

    answer = ask(client, 8)

    assert found(answer) == [("missing-run", "load", 0.75)]
    assert answer["findings"][0]["words"] == (
        "load usually ends a run every 1 d, and its last one was 1.1 d old when raw was read, and had been read before"
    )
    assert len(answer["findings"][0]["events"]) == 1
    assert found(ask(client, 7)) == []
    assert found(ask(client, 9)) == []


def test_a_reader_that_runs_twice_reads_the_same_and_nothing_is_missing(client: TestClient) -> None:
    again = ran("report", 8 * DAY + 9, [dataset("raw")], [written("mart")])
    send(client, *loads(range(9)), *reports(range(9)), again)

    assert found(ask(client, 8, hour=10)) == []


def test_a_missed_night_is_no_finding_for_a_weekly_reader_which_has_new_data_all_the_same(client: TestClient) -> None:
    weeks = [7 * week for week in range(6)]
    send(client, *loads(day for day in range(36) if day != weeks[-1]), *reports(weeks))

    assert found(ask(client, weeks[-1])) == []


def test_a_run_in_progress_is_not_missing(client: TestClient) -> None:
    late = ran("load", 8 * DAY + 2.9, [read("source")], [dataset("raw")], minutes=60)
    send(client, *loads(range(8)), late, *reports(range(9)))

    assert "missing-run" not in [kind for kind, _, _ in found(ask(client, 8))]


def test_nothing_is_missing_for_a_reader_that_often_reads_the_same_data(client: TestClient) -> None:
    send(client, *loads(day for day in range(12) if day % 2 == 0), *reports(range(12)))

    assert [found(ask(client, day)) for day in (9, 10, 11)] == [[], [], []]


# Usual pauses of a job


def test_a_job_that_pauses_at_weekends_is_not_missing_then(client: TestClient) -> None:
    weekdays = [day for day in range(26) if day % 7 not in (SATURDAY, SUNDAY)]
    send(client, *loads(day for day in weekdays if day != 24), *reports(range(26)))

    weekend = (15, 16)
    assert [found(ask(client, day)) for day in weekend] == [[], []]
    assert found(ask(client, 17)) == []
    assert found(ask(client, 24)) == [("missing-run", "load", 0.75)]  # a Monday


def test_a_job_that_pauses_at_night_is_not_missing_then(client: TestClient) -> None:
    hours = [run for hour in range(8, 19) for run in loads(range(6), hour)]
    send(client, *hours, *reports(range(1, 7)))

    assert [found(ask(client, day)) for day in (5, 6)] == [[], []]


def test_a_pause_as_long_as_an_earlier_one_scores_less(client: TestClient) -> None:
    send(client, *loads(day for day in range(16) if day not in (5, 6)), *reports((14, 17)))

    assert found(ask(client, 17)) == [("missing-run", "load", 0.225)]


# A job that another one has replaced


@pytest.mark.parametrize(
    ("last_fails", "first", "kind", "score"), [(True, 7, "failed-run", 0.9), (False, 8, "missing-run", 0.75)]
)
def test_a_replaced_job_scores_less_and_less(
    client: TestClient, last_fails: bool, first: int, kind: str, score: float
) -> None:
    former = loads(range(7), job="former", failed=6 if last_fails else -1)
    send(client, *former, *loads(range(7, 20)), *reports(range(20)))

    assert found(ask(client, first))[0] == (kind, "former", score)
    assert found(ask(client, first + 1)) == [(kind, "former", score / 2)]
    assert found(ask(client, 19)) == []


def test_a_failed_job_without_a_replacement_stays_a_finding(client: TestClient) -> None:
    send(client, *loads(range(6), failed=5), *reports(range(18)))

    assert found(ask(client, 17))[0] == ("failed-run", "load", 0.9)


def test_a_change_after_a_job_was_replaced_comes_first(client: TestClient) -> None:
    text = {"inputs": [{**dataset("source"), "facets": {"schema": schema({"id": "int", "amount": "string"})}}]}
    last = [{**each, **text} for each in ran("load", 9 * DAY + 1, [], [dataset("raw")])]
    send(client, *loads(range(7), job="former", failed=6), *loads(range(7, 9)), last, *reports(range(10)))

    assert found(ask(client, 9)) == [("schema-change", "source", 0.85), ("failed-run", "former", 0.45)]
