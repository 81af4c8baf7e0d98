"""Root causes that lie far back: hundreds of runs ago, weeks ago, or in the same hours of earlier days."""

from collections.abc import Iterator
from cProfile import Profile
from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from tests.support.app import Body, facet, get, served
from tests.support.days import COLUMNS, read, written
from tests.support.hours import Events, batch, ran


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with served(tmp_path) as client:
        yield client


def ask(client: TestClient, node_id: str = "dataset:lake:mart", **query: str) -> Body:
    return get(client, f"/api/v1/root-cause?{urlencode({'nodeId': node_id, **query})}")


def loaded(hour: float, *, rows: int | None = None, amount: str = "double", code: str = "a") -> Events:
    columns = COLUMNS | {"amount": amount}
    return ran(
        "load",
        hour,
        [],
        [written("raw", rows, columns=columns)],
        job_facets={"sourceCodeLocation": facet(type="git", url="https://example.org/code", version=code)},
    )


def reported(hour: float) -> Events:
    return ran("report", hour, [read("raw")], [written("mart")])


# Hundreds of runs ago


def test_what_was_read_is_examined_although_its_job_has_run_hundreds_of_times_since(client: TestClient) -> None:
    before = [each for place in range(20) for each in loaded(place / 10, amount="double" if place < 19 else "string")]
    since = [each for place in range(20, 240) for each in loaded(place / 10, amount="string")]
    batch(client, [*before, *reported(1.99), *since])

    answer = ask(client)

    assert [(each["kind"], each["score"], each["runs"][0]) for each in answer["findings"]] == [
        ("schema-change", 0.85, "load-1.9")
    ]
    assert [each["comparedWith"] for each in answer["lookedAt"]] == [0, 10]


# Weeks ago

HOURS = 24 * 30
"""The last hour of the hourly job, a month after the first."""


@pytest.mark.parametrize("since", [HOURS - 11, HOURS - 12, HOURS - 100, HOURS - 27 * 24])
def test_what_changed_at_any_run_of_four_weeks_is_found_at_that_run(client: TestClient, since: int) -> None:
    hours = range(HOURS - 28 * 24 - 5, HOURS + 1)
    batch(client, [each for hour in hours for each in loaded(hour, code="a" if hour < since else "b")])

    answer = ask(client, "dataset:lake:raw")

    (finding,) = answer["findings"]
    assert finding["words"] == "load: the version of the code changed from a to b"
    assert (finding["score"], finding["runs"]) == (0.15, [f"load-{since}", f"load-{since - 1}", f"load-{HOURS}"])


def test_of_hundreds_of_runs_few_are_read_to_find_the_one_that_changed(client: TestClient) -> None:
    hours = range(HOURS - 28 * 24, HOURS + 1)
    batch(client, [each for hour in hours for each in loaded(hour, rows=1_000, code="a" if hour < 300 else "b")])
    profile = Profile()
    assert client.portal is not None

    client.portal.call(profile.enable)
    findings = ask(client, "dataset:lake:raw", run=f"load-{HOURS}")["findings"]
    client.portal.call(profile.disable)

    read_runs = sum(each.callcount for each in profile.getstats() if getattr(each.code, "co_name", "") == "record_of")
    assert findings[0]["runs"][0] == "load-300"
    assert read_runs < 40


def test_what_changed_before_the_last_four_weeks_or_came_back_is_no_finding(client: TestClient) -> None:
    old = [each for hour in range(2) for each in loaded(hour, code="old")]
    hours = range(HOURS - 28 * 24, HOURS + 1, 3)
    batch(client, [*old, *(each for hour in hours for each in loaded(hour, code="b" if 300 < hour < 350 else "a"))])

    assert ask(client, "dataset:lake:raw")["findings"] == []


def test_for_a_weekly_reader_a_change_a_hundred_runs_ago_is_news(client: TestClient) -> None:
    hours = range(24 * 9)
    loads = [each for hour in hours for each in loaded(hour, code="a" if hour < 100 else "b")]
    batch(client, [*loads, *reported(24.5), *reported(8 * 24 + 0.5)])

    (finding,) = ask(client)["findings"]

    assert (finding["kind"], finding["score"], finding["runs"][0]) == ("code-change", 0.6, "load-100")


# The same time of earlier days and weeks


def days(rows: dict[int, int], sundays: int = 100, others: int = 1_000, count: int = 31) -> Events:
    """A month of a daily job, which began on a Friday; some days differ, by their number."""
    usual = {day: sundays if day % 7 == 2 else others for day in range(count)}
    return [each for day, so_many in (usual | rows).items() for each in loaded(24 * day, rows=so_many + day % 5)]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ({}, None),
        ({30: 12}, "raw: load wrote 12 rows; at the same time of the 4 weeks before, it wrote 101 to 104"),
        ({30: 1_000}, "raw: load wrote 1,000 rows; at the same time of the 4 weeks before, it wrote 101 to 104"),
        ({30: 12, 23: 1_000}, "raw: load wrote 12 rows; its 10 runs before wrote 1,000 to 1,004"),
    ],
)
def test_a_sunday_is_compared_with_sundays(client: TestClient, rows: dict[int, int], expected: str | None) -> None:
    batch(client, days(rows))

    findings = ask(client, "dataset:lake:raw", run="load-720")["findings"]

    assert [each["words"] for each in findings] == ([] if expected is None else [expected])


def test_a_weekday_is_compared_with_the_days_before_which_are_called_usual_without_the_sunday(
    client: TestClient,
) -> None:
    batch(client, days({29: 12}, count=30))

    (finding,) = ask(client, "dataset:lake:raw", run="load-696")["findings"]

    assert finding["words"] == "raw: load wrote 16 rows; 9 of its 10 runs before wrote 1,000 to 1,004"


def test_the_second_small_sunday_is_no_finding(client: TestClient) -> None:
    batch(client, days({}, count=10))

    assert ask(client, "dataset:lake:raw", run="load-216")["findings"] == []


@pytest.mark.parametrize(
    ("hour", "rows", "expected"),
    [
        (9, 0, "raw: load wrote 0 rows; at the same time of the 4 days before, it wrote 1,000"),
        (9, 1_000, None),
        (14, 0, "raw: load wrote 0 rows; at the same time of the 4 days before, it wrote 1,000"),
        (14, 1_000, None),
        (5, 0, None),
        (5, 1_000, "raw: load wrote 1,000 rows; at the same time of the 4 days before, it wrote 0"),
    ],
)
def test_an_hour_of_the_day_is_compared_with_the_same_of_other_days(
    client: TestClient, hour: int, rows: int, expected: str | None
) -> None:
    now = 24 * 9 + hour
    usual = {each: 1_000 if each % 24 >= 9 else 0 for each in range(now + 1)}
    batch(client, [each for hour, so_many in (usual | {now: rows}).items() for each in loaded(hour, rows=so_many)])

    findings = ask(client, "dataset:lake:raw", run=f"load-{now}")["findings"]

    assert [each["words"] for each in findings] == ([] if expected is None else [expected])


@pytest.mark.parametrize(
    ("factor", "expected"),
    [
        (0.98, "raw: load wrote 545 rows; at the same time 1, 2, 3 and 4 weeks before, it wrote 628, 723, 833 and 960"),
        (1.08, "raw: load wrote 10,062 rows; at the same time 1, 2, 3 and 4 weeks before, it wrote 5,871, 3,425, 1,999 "
         "and 1,166"),
        (0.99, None),
    ],
)  # fmt: skip
def test_a_slow_drift_is_found_by_weeks(client: TestClient, factor: float, expected: str | None) -> None:
    rows = {day: int(1_000 * factor**day) - day % 5 for day in range(31)}
    batch(client, days(rows))

    findings = ask(client, "dataset:lake:raw", run="load-720")["findings"]

    assert [each["words"] for each in findings] == ([] if expected is None else [expected])
    assert [each["score"] < 0.5 for each in findings] == [True for _ in findings]


def test_rows_that_were_lost_more_than_ten_runs_ago_are_found_at_the_week_in_which_they_were(
    client: TestClient,
) -> None:
    batch(client, days(dict.fromkeys(range(14, 31), 300), sundays=1_000))

    (finding,) = ask(client, "dataset:lake:raw", run="load-720")["findings"]

    assert finding["words"] == (
        "raw: load wrote 300 rows; at the same time 1, 2, 3 and 4 weeks before, it wrote 303, 301, 1,004 and 1,002"
    )
    assert (finding["at"], finding["rows"]) == (
        "2026-05-17T00:00:00.000Z",
        {"count": 300, "usual": 1002, "robustZ": None},
    )
