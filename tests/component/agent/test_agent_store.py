"""The agent's store on a real SQLite file: the next process knows what was recorded."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headwater.agent.messages import Pipeline
from headwater.agent.states import Dispatched, Ended, Execution, Health, Stop, StopAsked, after
from headwater.agent.store import AgentStore, Job
from headwater.errors import NotFoundError, SetupError, UnavailableError

NOON = datetime(2026, 5, 22, 12, 0, 0, 123456, tzinfo=UTC)
PIPELINE = Pipeline(source="name: orders", path="/edge/orders.yaml", settings={"mode": "stream"})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AgentStore]:
    with AgentStore(tmp_path / "agent.db") as store:
        yield store


@pytest.fixture
def job(store: AgentStore) -> Job:
    return store.deploy("edge", "orders", PIPELINE, NOON, "ann")


def execution(job: Job, number: int) -> Execution:
    created_at = NOON + timedelta(seconds=number)
    return Execution(
        run_id=f"run-{number}", job_id=job.id, version=job.version, trigger="deploy", created_at=created_at
    )


def test_an_execution_is_read_as_recorded_when_the_file_is_opened_again(
    store: AgentStore, job: Job, tmp_path: Path
) -> None:
    sent = after(execution(job, 1), Dispatched(), NOON)
    stopping = after(sent, StopAsked(Stop("stopped", "ann", "closed")), NOON)
    recorded = replace(stopping, health=Health({"http": 3}, 1, {"refused": 2}, "timed out"), counters={"recordsOut": 7})

    store.record(NOON, recorded)

    with AgentStore(tmp_path / "agent.db") as other:
        assert other.execution("run-1") == recorded
        assert other.unfinished() == [recorded]


def test_only_a_new_state_is_a_transition(store: AgentStore, job: Job) -> None:
    pending = execution(job, 1)

    for at, state in enumerate(["pending", "starting", "starting", "running"]):
        store.record(NOON + timedelta(seconds=at), replace(pending, state=state))  # type: ignore[arg-type]

    transitions = [(step.state, (step.at - NOON).seconds) for step in store.transitions("run-1")]
    assert transitions == [
        ("pending", 0),
        ("starting", 1),
        ("running", 3),
    ]


def test_the_same_text_again_creates_no_new_version(store: AgentStore, job: Job) -> None:
    again = store.deploy("edge", "orders", PIPELINE, NOON + timedelta(hours=1), "bob")

    assert again == job
    assert [version.deployed_by for version in store.versions(job)] == ["ann"]


def test_another_text_or_another_setting_creates_a_new_version(store: AgentStore, job: Job) -> None:
    store.deploy("edge", "orders", replace(PIPELINE, settings={}), NOON, None)
    newest = store.deploy("edge", "orders", replace(PIPELINE, source="name:  orders"), NOON, None)

    assert newest.version == 3
    assert [version.version for version in store.versions(newest)] == [3, 2, 1]


def test_a_stopped_job_is_deployed_again_by_the_same_text(store: AgentStore, job: Job) -> None:
    store.want(job, "stopped")

    again = store.deploy("edge", "orders", PIPELINE, NOON, None)

    assert (again.version, again.wanted) == (2, "active")


def test_a_job_is_forgotten_with_its_executions_and_their_transitions(store: AgentStore, job: Job) -> None:
    store.record(NOON, execution(job, 1), execution(job, 2))

    forgotten = store.forget(job)

    assert sorted(forgotten) == ["run-1", "run-2"]
    assert (store.jobs(), store.executions(), store.transitions("run-1")) == ([], [], [])
    with pytest.raises(NotFoundError):
        store.job(job.id)


def test_only_old_executions_that_have_ended_are_pruned(store: AgentStore, job: Job) -> None:
    over = [
        after(after(execution(job, n), Dispatched(), NOON), Ended("FAIL", None, {}, Health()), NOON) for n in (2, 3, 4)
    ]
    store.record(NOON, execution(job, 1), *over)

    pruned = store.prune(job.id, keep=2)

    assert pruned == ["run-2"]
    assert [each.run_id for each in store.executions(job.id)] == ["run-4", "run-3", "run-1"]


def test_a_disk_that_cannot_be_written_is_reported_and_the_recorded_state_stays(store: AgentStore, job: Job) -> None:
    store.record(NOON, execution(job, 1))
    store._db.execute("PRAGMA query_only = ON")

    with pytest.raises(UnavailableError, match="cannot be written"):
        store.record(NOON, after(execution(job, 1), Dispatched(), NOON))

    store._db.execute("PRAGMA query_only = OFF")
    assert store.execution("run-1").state == "pending"


def test_executions_are_recorded_all_or_none_and_the_store_goes_on(store: AgentStore, job: Job) -> None:
    with pytest.raises(UnavailableError, match="cannot be written"):
        store.record(NOON, execution(job, 1), replace(execution(job, 2), job_id=job.id + 1))
    between = store.executions()

    store.record(NOON, execution(job, 3))

    assert between == []
    assert [each.run_id for each in store.executions()] == ["run-3"]


def test_a_database_of_a_newer_agent_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "newer.db"
    with AgentStore(path) as newer:
        newer._db.execute("PRAGMA user_version = 99")

    with pytest.raises(SetupError, match="written by a newer Headwater"):
        AgentStore(path)


def test_a_stream_that_is_degraded_for_months_keeps_its_first_and_its_newest_transitions(
    store: AgentStore, job: Job
) -> None:
    pending = execution(job, 1)
    store.record(NOON, pending)

    for _ in range(1_000):
        for state in ("running", "degraded"):
            store.record(NOON, replace(pending, state=state))

    states = [step.state for step in store.transitions(pending.run_id)]
    assert states[0] == "pending"
    assert 398 < len(states) < 403
    assert states[-2:] == ["running", "degraded"]


def test_executions_with_waiting_events_are_listed_and_their_pipelines_outlive_them(
    store: AgentStore, job: Job
) -> None:
    over = [replace(execution(job, n), state="completed", health=Health(waiting=n)) for n in range(3)]
    store.record(NOON, *over, replace(execution(job, 3), state="running", health=Health(waiting=3)))

    with_waiting_events = store.with_waiting_events()
    before = store.forgotten_with_waiting()
    store.prune(job.id, keep=2)
    pruned = store.forgotten_with_waiting()
    store.drop_forgotten(PIPELINE)
    dropped = store.forgotten_with_waiting()
    store.forget(job)

    assert with_waiting_events == over[1:]
    assert (before, pruned, dropped, store.forgotten_with_waiting()) == ([], [PIPELINE], [], [PIPELINE])


def test_a_database_of_an_older_agent_is_migrated(tmp_path: Path) -> None:
    path = tmp_path / "older.db"
    with AgentStore(path) as older:
        job = older.deploy("edge", "orders", PIPELINE, NOON, None)
        older._db.executescript("DROP TABLE left_by; DROP INDEX execution_that_owes; PRAGMA user_version = 1;")

    with AgentStore(path) as store:
        assert store.jobs() == [job]
        assert (store.with_waiting_events(), store.forgotten_with_waiting()) == ([], [])
