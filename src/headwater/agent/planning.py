"""When a job is to start next: a pure function of its policy, its history and the time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Literal
from zoneinfo import ZoneInfo

from cronsim import CronSim

from headwater.agent.states import SHUTDOWN, UNDER_WAY, Execution, Trigger
from headwater.pipeline.spec import AgentSpec, Backoff, Schedule

Wanted = Literal["active", "stopped", "deleted"]


@dataclass(frozen=True, slots=True)
class Start:
    """The next start of a job."""

    at: datetime
    trigger: Trigger


def next_start(policy: AgentSpec, wanted: Wanted, deployed_at: datetime, history: Sequence[Execution]) -> Start | None:
    """When the job is to start next; None if it runs or waits for a person.

    Starts that were missed, because the agent was down or an execution took long, are made up for by one start.

    Args:
        policy: the policy of the job's current version.
        wanted: the state that people want the job in.
        deployed_at: when the current version was deployed.
        history: the executions of the current version, newest first.
    """
    if wanted != "active":
        return None
    if not history:
        return _first_start(policy.schedule, deployed_at)
    newest = history[0]
    if not newest.is_over or newest.ended_at is None:
        return None
    starts = [*_again(policy, history, newest.ended_at), *_scheduled(policy.schedule, newest.created_at)]
    return min(starts, key=lambda start: start.at, default=None)


def as_known_by(one: Execution, latest: datetime) -> Execution:
    """The execution with its times capped at `latest`: later ones are from before the clock was set back."""
    ended_at = None if one.ended_at is None else min(one.ended_at, latest)
    return replace(one, created_at=min(one.created_at, latest), ended_at=ended_at)


def dispatchable(unfinished: Sequence[Execution], most: int | None) -> Sequence[Execution]:
    """The pending executions that may start now, in the given order, so that at most `most` are under way."""
    pending = [one for one in unfinished if one.state == "pending"]
    under_way = sum(one.state in UNDER_WAY for one in unfinished)
    return pending if most is None else pending[: max(most - under_way, 0)]


def wait_s(backoff: Backoff, failures: int) -> float:
    """Seconds to wait after this many failures in a row, at least 1."""
    doublings = min(max(failures, 1) - 1, 64)
    return min(backoff.first * 2.0**doublings, backoff.most)


def failures_in_a_row(backoff: Backoff, history: Iterable[Execution]) -> int:
    """The number of executions that failed since the last healthy one; `history` is newest first."""
    count = 0
    for one in takewhile(lambda one: one.state == "failed", history):
        count += 1
        if _ran_s(one) > backoff.most:
            break
    return count


def _first_start(schedule: Schedule | None, deployed_at: datetime) -> Start:
    if schedule is not None and schedule.cron is not None:
        return Start(_next_by_cron(schedule.cron, schedule.timezone, deployed_at), "schedule")
    return Start(deployed_at, "deploy")


def _again(policy: AgentSpec, history: Sequence[Execution], ended_at: datetime) -> Iterable[Start]:
    """The restart after the newest execution, if its end and the policy call for one."""
    newest = history[0]
    if newest.stop is not None and newest.stop.reason == SHUTDOWN:
        yield Start(ended_at, "resume")
    elif newest.state == "failed" and policy.restart != "never":
        wait = wait_s(policy.backoff, failures_in_a_row(policy.backoff, history))
        yield Start(ended_at + timedelta(seconds=wait), "restart")
    elif newest.state == "completed" and policy.restart == "always":
        yield Start(ended_at + timedelta(seconds=policy.backoff.first), "restart")


def _scheduled(schedule: Schedule | None, after: datetime) -> Iterable[Start]:
    if schedule is None:
        return
    if schedule.every is not None:
        yield Start(after + timedelta(seconds=schedule.every), "schedule")
    elif schedule.cron is not None:
        yield Start(_next_by_cron(schedule.cron, schedule.timezone, after), "schedule")


def _next_by_cron(expression: str, timezone: str, after: datetime) -> datetime:
    return next(CronSim(expression, after.astimezone(ZoneInfo(timezone)))).astimezone(UTC)


def _ran_s(one: Execution) -> float:
    if one.started_at is None or one.ended_at is None:
        return 0.0
    return (one.ended_at - one.started_at).total_seconds()
