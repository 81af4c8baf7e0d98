"""Whether Connect's workers are running, by the broker's list of groups and by the workers' records."""

import logging
from collections.abc import Sequence

import pytest

from headwater.capture.connect.group import Group, Listed

PRESENT = [Listed("workers", "connect", is_empty=False)]
EMPTY = [Listed("workers", "connect", is_empty=True)]
OF_OTHERS = [Listed("workers", "consumer", is_empty=False)]


def group(name: str | None = "workers", seen_ms: int = 0) -> Group:
    return Group(name, seen_ms, silent_ms=30_000)


@pytest.mark.parametrize("listed", [[], OF_OTHERS, [Listed("workers", "consumer", is_empty=True)]])
def test_a_group_that_was_never_seen_is_ignored_with_one_warning(
    listed: Sequence[Listed], caplog: pytest.LogCaptureFixture
) -> None:
    workers = group()

    with caplog.at_level(logging.WARNING):
        for now_ms in range(1000, 100_000, 3000):
            workers.look(listed, now_ms)

    assert workers.workers is None
    assert [record.message for record in caplog.records] == [
        "no worker was ever seen in this group, so an absence of workers is ignored"
    ]


@pytest.mark.parametrize("listed", [[], EMPTY])
def test_workers_that_were_seen_before_are_missing(listed: Sequence[Listed]) -> None:
    workers = group()
    workers.look(PRESENT, 1000)

    workers.look(listed, 4000)
    workers.look(listed, 90_000)

    assert workers.workers == (False, 1000, 4000)


def test_workers_that_an_earlier_process_saw_are_missing_and_those_of_an_empty_group_from_now() -> None:
    seen_before, empty = group(seen_ms=500), group()

    seen_before.look([], 90_000)
    empty.look(EMPTY, 90_000)

    assert seen_before.workers == (False, 500, 90_000)
    assert empty.workers == (False, 90_000, 90_000)


def test_the_time_of_the_workers_return_is_known() -> None:
    workers = group()
    for now_ms, listed in ((1000, PRESENT), (4000, []), (60_000, PRESENT), (63_000, PRESENT)):
        workers.look(listed, now_ms)

    assert workers.workers == (True, 63_000, 60_000)


def test_workers_that_write_records_are_running_even_if_not_listed() -> None:
    workers = group()
    workers.look(PRESENT, 1000)
    workers.look([], 4000)
    workers.wrote(6000)  # its last records may be read a little later
    workers.look([], 40_000)
    before = workers.workers

    workers.wrote(50_000)
    workers.look([], 51_000)
    workers.look([], 200_000)

    assert before == (False, 1000, 4000)
    assert workers.workers == (True, 200_000, 51_000)


def test_workers_that_went_away_a_second_time_are_missing_at_once_whatever_they_wrote_in_between() -> None:
    workers = group()
    for now_ms, listed in ((1000, PRESENT), (4000, EMPTY), (7000, PRESENT)):
        workers.look(listed, now_ms)
    workers.wrote(60_000)
    workers.look(PRESENT, 60_000)

    workers.look(EMPTY, 63_000)
    workers.look(EMPTY, 66_000)

    assert workers.workers == (False, 60_000, 63_000)


def test_if_the_group_cannot_be_read_the_state_is_unknown_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    workers = group()
    workers.look(PRESENT, 1000)

    with caplog.at_level(logging.WARNING):
        workers.unseen("timed out")
        workers.look([Listed("workers", "", is_empty=True, fault="not allowed")], 60_000)
    unseen = workers.workers
    workers.look([], 90_000)  # a broker that comes back knows its groups a moment later

    assert unseen is None
    assert len(caplog.records) == 1
    assert workers.workers == (False, 90_000, 90_000)


def test_a_single_connect_group_is_found_and_of_two_none() -> None:
    single, double = group(None), group(None)

    single.look([Listed("readers", "consumer", is_empty=False), *PRESENT], 1000)
    double.look([Listed("others", "connect", is_empty=False), *PRESENT], 1000)

    assert (single.name, single.workers) == ("workers", (True, 1000, 1000))
    assert (double.name, double.workers) == (None, None)
