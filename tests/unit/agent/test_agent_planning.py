"""When a job starts next: by its schedule, its restart policy and how its executions ended."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.agent.planning import Start, as_known_by, dispatchable, failures_in_a_row, next_start, wait_s
from headwater.agent.states import Execution, State, Stop
from headwater.pipeline.spec import AgentSpec, Backoff, Schedule

NOON = datetime(2026, 5, 22, 12, tzinfo=UTC)
BACKOFF = Backoff(first=2.0, most=60.0)


def seconds(count: float) -> datetime:
    return NOON + timedelta(seconds=count)


def execution(state: State, created_s: float, ended_s: float, stop: str | None = None) -> Execution:
    return Execution(
        run_id="r",
        job_id=1,
        version=1,
        trigger="schedule",
        created_at=seconds(created_s),
        started_at=seconds(created_s),
        ended_at=seconds(ended_s),
        state=state,
        stop=None if stop is None else Stop(stop),
    )


def test_a_job_without_a_schedule_starts_once_it_is_deployed() -> None:
    assert next_start(AgentSpec(), "active", NOON, []) == Start(NOON, "deploy")


def test_a_completed_batch_without_a_schedule_is_not_started_again() -> None:
    assert next_start(AgentSpec(), "active", NOON, [execution("completed", 0, 5)]) is None


def test_an_interval_counts_from_start_to_start() -> None:
    policy = AgentSpec(schedule=Schedule(every=600.0))

    assert next_start(policy, "active", NOON, []) == Start(NOON, "deploy")
    assert next_start(policy, "active", NOON, [execution("completed", 30, 50)]) == Start(seconds(630), "schedule")


def test_cron_uses_the_wall_clock_of_its_time_zone_also_at_the_change_to_summer_time() -> None:
    # On 29 March 2026 Berlin goes from UTC+1 to UTC+2: 6:30 is 5:30 UTC on the 28th, and 4:30 on the 29th.
    policy = AgentSpec(schedule=Schedule(cron="30 6 * * *", timezone="Europe/Berlin"))
    deployed_at = datetime(2026, 3, 28, 12, tzinfo=UTC)

    assert next_start(policy, "active", deployed_at, []) == Start(datetime(2026, 3, 29, 4, 30, tzinfo=UTC), "schedule")


def test_a_crashed_execution_restarts_by_the_policy_and_one_that_the_agents_end_stopped_goes_on_at_once() -> None:
    policy = AgentSpec(restart="on-failure", backoff=BACKOFF)
    crashed = execution("failed", 0, 10, stop="crashed")
    shut_down = execution("stopped", 0, 10, stop="shutdown")

    assert next_start(policy, "active", NOON, [crashed]) == Start(seconds(12), "restart")
    assert next_start(AgentSpec(restart="never"), "active", NOON, [crashed]) is None
    assert next_start(AgentSpec(restart="never"), "active", NOON, [shut_down]) == Start(seconds(10), "resume")


def test_times_from_before_the_clock_was_set_back_count_as_now() -> None:
    ahead = execution("completed", 500, 900)
    behind = execution("completed", -500, -100)

    known = as_known_by(ahead, NOON)

    assert (known.created_at, known.ended_at) == (NOON, NOON)
    assert as_known_by(behind, NOON) == behind
    assert as_known_by(replace(behind, ended_at=None), NOON).ended_at is None


def test_missed_starts_are_made_up_for_once() -> None:
    policy = AgentSpec(schedule=Schedule(cron="0 * * * *"))
    a_day_ago = execution("completed", -86_400, -86_000)

    start = next_start(policy, "active", NOON, [a_day_ago])

    assert start == Start(seconds(-86_400 + 3_600), "schedule")


@pytest.mark.parametrize(
    ("restart", "state", "expected"),
    [
        ("on-failure", "failed", Start(seconds(12), "restart")),
        ("on-failure", "completed", None),
        ("always", "failed", Start(seconds(12), "restart")),
        ("always", "completed", Start(seconds(12), "restart")),
        ("never", "failed", None),
        ("never", "completed", None),
    ],
)
def test_the_restart_policy_decides_whether_a_job_starts_after_an_end(
    restart: str, state: State, expected: Start | None
) -> None:
    policy = AgentSpec(restart=restart, backoff=BACKOFF)  # type: ignore[arg-type]  # one of the three

    assert next_start(policy, "active", NOON, [execution(state, 0, 10)]) == expected


def test_a_failed_batch_starts_by_restart_or_schedule_whichever_is_first() -> None:
    policy = AgentSpec(schedule=Schedule(every=11.0), backoff=BACKOFF)

    assert next_start(policy, "active", NOON, [execution("failed", 0, 10)]) == Start(seconds(11), "schedule")


def test_a_job_resumes_after_a_shutdown_whatever_its_policy() -> None:
    policy = AgentSpec(restart="never")

    start = next_start(policy, "active", NOON, [execution("stopped", 0, 10, stop="shutdown")])

    assert start == Start(seconds(10), "resume")


@pytest.mark.parametrize("desired_state", ["stopped", "deleted"])
def test_a_job_that_a_user_stopped_is_not_started(desired_state: str) -> None:
    policy = AgentSpec(schedule=Schedule(every=600.0), restart="always")

    assert next_start(policy, desired_state, NOON, []) is None  # type: ignore[arg-type]  # one of the three


def test_nothing_starts_while_an_execution_is_running() -> None:
    running = Execution(run_id="r", job_id=1, version=1, trigger="deploy", created_at=NOON, state="running")

    assert next_start(AgentSpec(schedule=Schedule(every=1.0)), "active", NOON, [running]) is None


@pytest.mark.parametrize(("failures", "wait"), [(1, 2), (2, 4), (3, 8), (5, 32), (6, 60), (1000, 60)])
def test_the_wait_doubles_up_to_the_limit(failures: int, wait: float) -> None:
    assert wait_s(BACKOFF, failures) == wait


def test_an_execution_that_ran_for_long_counts_as_healthy_before_it_failed() -> None:
    quick, long = execution("failed", 100, 101), execution("failed", 0, 90)

    assert failures_in_a_row(BACKOFF, [quick, quick, long, quick]) == 3
    assert failures_in_a_row(BACKOFF, [quick, execution("completed", 0, 1), quick]) == 1


@given(st.integers(1, 200), st.floats(0.001, 1e6), st.floats(1, 1e6))
def test_a_wait_never_decreases_and_never_exceeds_the_limit(failures: int, first: float, factor: float) -> None:
    backoff = Backoff(first=first, most=first * factor)

    assert first <= wait_s(backoff, failures) <= wait_s(backoff, failures + 1) <= backoff.most


@pytest.mark.parametrize(
    ("most", "states", "started"),
    [
        (None, ["running", "pending", "pending"], [1, 2]),
        (2, ["running", "pending", "pending"], [1]),
        (2, ["pending", "pending", "pending"], [0, 1]),
        (2, ["stopping", "degraded", "pending"], []),
        (1, ["lost", "pending", "pending"], [1]),
        (1, ["starting", "running", "pending"], []),
    ],
)
def test_executions_up_to_the_limit_are_dispatched_oldest_first(
    most: int | None, states: list[State], started: list[int]
) -> None:
    unfinished = [execution(state, number, number) for number, state in enumerate(states)]

    assert dispatchable(unfinished, most) == [unfinished[index] for index in started]
