"""An execution's states: possible transitions, and the effect of late or repeated reports."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import accumulate
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

EVENTS: dict[str, StateEvent] = {
    "sent": Dispatched(),
    "started": StartReported(),
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
"""As drawn in states.py."""


def execution_after(*names: str) -> Execution:
    execution = PENDING
    for number, name in enumerate(names):
        execution = after(execution, EVENTS[name], NOON + timedelta(seconds=number))
    return execution


@pytest.mark.parametrize(
    ("names", "state"),
    [
        ([], "pending"),
        (["sent"], "starting"),
        (["sent", "started"], "running"),
        (["sent", "started", "seen troubled"], "degraded"),
        (["sent", "started", "seen troubled", "seen well"], "running"),
        (["sent", "started", "seen troubled", "seen troubled"], "degraded"),
        (["sent", "started", "seen well"], "running"),
        (["sent", "seen troubled"], "starting"),
        (["sent", "started", "complete"], "completed"),
        (["sent", "fail"], "failed"),
        (["sent", "started", "stop asked"], "stopping"),
        (["sent", "started", "stop asked", "started", "seen well"], "stopping"),
        (["sent", "started", "stop asked", "seen troubled"], "stopping"),
        (["sent", "started", "stop asked", "abort"], "stopped"),
        (["stop asked"], "stopped"),
        (["sent", "started", "lost"], "lost"),
        (["sent", "started", "lost", "closed"], "failed"),
    ],
)
def test_events_bring_an_execution_to_a_state(names: list[str], state: State) -> None:
    assert execution_after(*names).state == state


def test_work_that_completed_before_the_stop_is_completed_without_a_stop() -> None:
    execution = execution_after("sent", "started", "stop asked", "complete")

    assert (execution.state, execution.stop) == ("completed", None)


def test_a_run_that_ended_as_aborted_without_an_order_is_stopped_for_no_other_reason() -> None:
    assert execution_after("sent", "started", "abort").stop == Stop("stopped")
    assert execution_after("sent", "started", "stop asked", "abort").stop == Stop("stopped", "ann", "closed")


def test_a_run_whose_start_was_reported_needs_an_end_even_if_it_is_stopped_before_that() -> None:
    assert execution_after("sent", "stop asked", "started").is_told
    assert not execution_after("sent", "stop asked").is_told


def test_the_newest_counters_are_kept_and_a_report_without_any_clears_none() -> None:
    reports: list[StateEvent] = [
        StatusReported({"rows": 1}, Health()),
        StatusReported({}, Health()),
        StatusReported({"rows": 2}, Health()),
        Ended("FAIL", "no such table", {}, Health()),
    ]
    running = execution_after("sent", "started")

    states = list(accumulate(reports, lambda one, report: after(one, report, NOON), initial=running))[1:]

    assert [one.counters for one in states] == [{"rows": 1}, {"rows": 1}, {"rows": 2}, {"rows": 2}]
    assert after(states[0], Ended("COMPLETE", None, {"rows": 9}, Health()), NOON).counters == {"rows": 9}


def test_the_first_stop_of_an_execution_is_recorded() -> None:
    execution = after(execution_after("sent", "started", "stop asked"), StopAsked(Stop("superseded")), NOON)

    assert execution.stop == Stop("stopped", "ann", "closed")


def test_a_lost_execution_ended_when_it_was_last_seen() -> None:
    execution = execution_after("sent", "started", "seen well", "lost", "closed")

    assert (execution.ended_at, execution.stop) == (NOON + timedelta(seconds=2), Stop("crashed"))


def test_a_lost_execution_whose_end_cannot_be_sent_has_an_error_that_its_run_stays_open() -> None:
    lost = after(after(after(PENDING, Dispatched(), NOON), StartReported(), NOON), Lost(), NOON)

    closed = after(lost, Closed("the environment variable SHOP is not set"), NOON)

    assert closed.state == "failed"
    assert "stays open" not in (execution_after("sent", "started", "lost", "closed").error or "")
    assert closed.error is not None
    assert "stays open in lineage: cannot send its end: the environment variable SHOP is not set" in closed.error


def test_a_lost_execution_gets_the_outcome_that_is_found_after_a_crash() -> None:
    assert execution_after("sent", "started", "lost", "complete").state == "completed"


def test_dropped_events_leave_an_execution_degraded() -> None:
    dropped = Health(delivered={"http": 5}, dropped={"spool_full": 1})

    assert after(execution_after("sent", "started"), StatusReported({}, dropped), NOON).state == "degraded"


def test_waiting_events_without_an_error_and_an_error_without_waiting_events_are_good_health() -> None:
    assert Health(waiting=2).is_good
    assert Health(last_error="timed out").is_good


@given(st.lists(st.sampled_from(sorted(EVENTS)), max_size=12), st.sampled_from(sorted(EVENTS)))
def test_any_order_of_events_makes_only_the_drawn_transitions(names: list[str], last: str) -> None:
    before = execution_after(*names)

    execution = after(before, EVENTS[last], NOON)

    assert execution.state == before.state or execution.state in MAY_FOLLOW[before.state]
    assert execution.is_over == (execution.state in ENDED) == (execution.ended_at is not None)


@given(st.lists(st.sampled_from(sorted(EVENTS)), max_size=12), st.sampled_from(sorted(EVENTS)))
def test_an_ended_execution_does_not_change(names: list[str], last: str) -> None:
    ended = execution_after(*names, "sent", "abort", "closed")

    assert not ended.is_over or after(ended, EVENTS[last], NOON + timedelta(hours=1)) is ended


@given(st.lists(st.sampled_from(sorted(EVENTS)), max_size=12))
def test_a_change_of_health_changes_nothing_else(names: list[str]) -> None:
    execution = execution_after(*names)

    assert (
        replace(after(execution, HealthChanged(TROUBLED), NOON + timedelta(hours=1)), health=execution.health)
        == execution
    )


def test_every_state_is_reached_and_drawn() -> None:
    assert set(MAY_FOLLOW) == set(get_args(State))
    assert {"pending"}.union(*MAY_FOLLOW.values()) == set(get_args(State))


def test_late_deliveries_reduce_the_waiting_and_the_last_clears_the_error() -> None:
    health = TROUBLED.after(DeliveryCounts({"http": 2}))

    assert health == Health({"http": 2}, 1, {}, "timed out")
    assert health.after(DeliveryCounts({"http": 1})) == Health({"http": 3})
    assert health.after(DeliveryCounts({"http": 1})).is_good


def test_an_event_that_is_refused_late_is_counted_as_dropped_with_the_reason() -> None:
    health = TROUBLED.after(DeliveryCounts({"http": 2}, refused=1, why="422 no such run"))

    assert health == Health({"http": 2}, 0, {"refused": 1}, "422 no such run")
    assert health.without_waiting() == health
    assert health.after(DeliveryCounts({"http": 1})).last_error == "422 no such run"
    assert TROUBLED.without_waiting() == Health()


def test_a_later_change_of_health_applies_to_ended_executions_only() -> None:
    over = after(execution_after("sent", "started"), Ended("COMPLETE", None, {}, TROUBLED), NOON)
    running = execution_after("sent", "started")

    assert after(over, HealthChanged(Health({"http": 3})), NOON).health == Health({"http": 3})
    assert after(running, HealthChanged(TROUBLED), NOON) is running


def test_waiting_events_of_a_crash_add_to_those_of_the_run() -> None:
    lost = after(after(execution_after("sent", "started"), StatusReported({}, TROUBLED), NOON), Lost(), NOON)

    assert after(lost, Closed(None, 2, "refused"), NOON).health == Health({}, 5, {}, "refused")
    assert after(lost, Closed(), NOON).health == TROUBLED
