"""An execution's states: what may follow what, and what a report that comes late or twice does."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.agent.states import (
    ENDED,
    Closed,
    DeliveryCounts,
    Dispatched,
    Ended,
    Execution,
    Health,
    HealthChanged,
    Lost,
    StartReported,
    State,
    StateEvent,
    StatusReported,
    Stop,
    StopAsked,
    after,
)

NOON = datetime(2026, 5, 22, 12, tzinfo=UTC)
TROUBLED = Health(waiting=3, last_error="timed out")
PENDING = Execution(
    run_id="01a1fd5c-bf4f-7259-9205-000000000001", job_id=1, version=1, trigger="deploy", created_at=NOON
)

HAPPENINGS: dict[str, StateEvent] = {
    "sent": Dispatched(),
    "told": StartReported(),
    "seen well": StatusReported({}, Health()),
    "seen troubled": StatusReported({}, TROUBLED),
    "stop asked": StopAsked(Stop("stopped", "ann", "closed")),
    "complete": Ended("COMPLETE", None, {}, Health()),
    "fail": Ended("FAIL", "no such table", {}, Health()),
    "abort": Ended("ABORT", None, {}, Health()),
    "lost": Lost(),
    "closed": Closed(),
}
MAY_FOLLOW: dict[State, set[State]] = {
    "pending": {"starting", "stopped"},
    "starting": {"running", "stopping", "completed", "failed", "stopped", "lost"},
    "running": {"degraded", "stopping", "completed", "failed", "stopped", "lost"},
    "degraded": {"running", "stopping", "completed", "failed", "stopped", "lost"},
    "stopping": {"completed", "failed", "stopped", "lost"},
    "lost": {"completed", "failed", "stopped"},
    "completed": set(),
    "failed": set(),
    "stopped": set(),
}
"""As the drawing in states.py has it."""


def come_to(*names: str) -> Execution:
    one = PENDING
    for number, name in enumerate(names):
        one = after(one, HAPPENINGS[name], NOON + timedelta(seconds=number))
    return one


@pytest.mark.parametrize(
    ("happened", "state"),
    [
        ([], "pending"),
        (["sent"], "starting"),
        (["sent", "told"], "running"),
        (["sent", "told", "seen troubled"], "degraded"),
        (["sent", "told", "seen troubled", "seen well"], "running"),
        (["sent", "told", "complete"], "completed"),
        (["sent", "fail"], "failed"),
        (["sent", "told", "stop asked"], "stopping"),
        (["sent", "told", "stop asked", "abort"], "stopped"),
        (["stop asked"], "stopped"),
        (["sent", "told", "lost"], "lost"),
        (["sent", "told", "lost", "closed"], "failed"),
    ],
)
def test_what_happens_to_an_execution_brings_it_to_a_state(happened: list[str], state: State) -> None:
    assert come_to(*happened).state == state


def test_work_that_was_done_before_the_stop_reached_it_is_complete_and_nobody_stopped_it() -> None:
    one = come_to("sent", "told", "stop asked", "complete")

    assert (one.state, one.stop) == ("completed", None)


def test_the_first_to_stop_an_execution_is_the_one_who_did() -> None:
    twice = after(come_to("sent", "told", "stop asked"), StopAsked(Stop("superseded")), NOON)

    assert twice.stop == Stop("stopped", "ann", "closed")


def test_a_lost_execution_ended_when_it_was_last_seen() -> None:
    one = come_to("sent", "told", "seen well", "lost", "closed")

    assert (one.ended_at, one.stop) == (NOON + timedelta(seconds=2), Stop("crashed"))


def test_a_lost_execution_whose_end_cannot_be_sent_says_that_its_run_stays_open_and_why() -> None:
    lost = after(after(after(PENDING, Dispatched(), NOON), StartReported(), NOON), Lost(), NOON)

    closed = after(lost, Closed("the environment variable SHOP is not set"), NOON)

    assert closed.state == "failed"
    assert closed.error is not None
    assert "stays open in lineage: cannot send its end: the environment variable SHOP is not set" in closed.error


def test_an_outcome_that_is_found_after_a_crash_counts_for_a_lost_execution() -> None:
    assert come_to("sent", "told", "lost", "complete").state == "completed"


def test_dropped_events_leave_an_execution_degraded() -> None:
    dropped = Health(delivered={"http": 5}, dropped={"spool_full": 1})

    assert after(come_to("sent", "told"), StatusReported({}, dropped), NOON).state == "degraded"


def test_events_that_wait_without_an_error_are_no_trouble() -> None:
    assert Health(waiting=2).is_good


@given(st.lists(st.sampled_from(sorted(HAPPENINGS)), max_size=12), st.sampled_from(sorted(HAPPENINGS)))
def test_any_order_of_happenings_only_makes_transitions_that_are_drawn(names: list[str], last: str) -> None:
    before = come_to(*names)

    one = after(before, HAPPENINGS[last], NOON)

    assert one.state == before.state or one.state in MAY_FOLLOW[before.state]
    assert one.is_over == (one.state in ENDED) == (one.ended_at is not None)


@given(st.lists(st.sampled_from(sorted(HAPPENINGS)), max_size=12), st.sampled_from(sorted(HAPPENINGS)))
def test_what_has_ended_stays_as_it_is(names: list[str], last: str) -> None:
    ended = come_to(*names, "sent", "abort", "closed")

    assert not ended.is_over or after(ended, HAPPENINGS[last], NOON + timedelta(hours=1)) is ended


@given(st.lists(st.sampled_from(sorted(HAPPENINGS)), max_size=12))
def test_a_change_of_health_changes_nothing_else(names: list[str]) -> None:
    one = come_to(*names)

    assert replace(after(one, HealthChanged(TROUBLED), NOON + timedelta(hours=1)), health=one.health) == one


def test_every_state_is_reached_and_drawn() -> None:
    assert set(MAY_FOLLOW) == set(get_args(State))
    assert {"pending"}.union(*MAY_FOLLOW.values()) == set(get_args(State))


def test_events_that_went_out_later_wait_no_more_and_the_last_takes_the_trouble_away() -> None:
    one = TROUBLED.after(DeliveryCounts({"http": 2}))

    assert one == Health({"http": 2}, 1, {}, "timed out")
    assert one.after(DeliveryCounts({"http": 1})) == Health({"http": 3})
    assert one.after(DeliveryCounts({"http": 1})).is_good


def test_an_event_that_was_refused_later_is_dropped_and_says_why() -> None:
    one = TROUBLED.after(DeliveryCounts({"http": 2}, refused=1, why="422 no such run"))

    assert one == Health({"http": 2}, 0, {"refused": 1}, "422 no such run")
    assert one.without_waiting() == one


def test_a_later_change_of_health_applies_to_ended_executions_only() -> None:
    over = after(come_to("sent", "told"), Ended("COMPLETE", None, {}, TROUBLED), NOON)
    under_way = come_to("sent", "told")

    assert after(over, HealthChanged(Health({"http": 3})), NOON).health == Health({"http": 3})
    assert after(under_way, HealthChanged(TROUBLED), NOON) is under_way


def test_the_events_that_told_of_a_crash_wait_beside_those_of_the_run() -> None:
    lost = after(after(come_to("sent", "told"), StatusReported({}, TROUBLED), NOON), Lost(), NOON)

    assert after(lost, Closed(None, 2, "refused"), NOON).health == Health({}, 5, {}, "refused")
