"""What the agent and its worker do where the disk takes nothing, or gives back what was not written."""

import asyncio
import contextlib
import logging
import os
import stat
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from headwater.agent.config import AgentConfig
from headwater.agent.engine import Engine
from headwater.agent.logs import bound_log, last_lines, log_of, remove_logs, written_log
from headwater.agent.loop import Agent, AgentContext
from headwater.agent.messages import Close, ClosedRun, Pipeline, Report, Run, RunEnded
from headwater.agent.outcomes import save_outcome, unrecorded_outcomes
from headwater.agent.program import _only_agent
from headwater.agent.states import Execution, Health
from headwater.agent.store import AgentStore
from headwater.agent.worker import Worker
from headwater.agent.worker_settings import WorkerSettings, read_settings, settings_line
from headwater.emission import new_run_id
from headwater.errors import UnavailableError
from tests.support.service import eventually

NOW = datetime(2026, 5, 22, 14, 0, tzinfo=UTC)
RUN = "01a1fd5c-bf4f-7259-9205-000000000001"
PIPELINE = Pipeline(
    source="{name: orders, namespace: edge, input: {generate: {rows: 1}}, output: {stdout: {}}, "
    "lineage: {enabled: false}, agent: {restart: never}}",
    path="/edge/orders.yaml",
)
OVER = RunEnded(run_id=RUN, end="COMPLETE", error=None, counters={}, health=Health(), at=NOW)


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    config = AgentConfig(drain_timeout=0.2)
    with AgentStore(tmp_path / "agent.db") as store:
        yield Agent(
            store, AgentContext(home=tmp_path, config=config, now=lambda: datetime.now(UTC), new_run_id=new_run_id)
        )


def running(agent: Agent) -> None:
    """An execution is under way."""
    job = agent.store.deploy("edge", "orders", PIPELINE, NOW, None)
    one = Execution(run_id=RUN, job_id=job.id, version=1, trigger="deploy", created_at=NOW)
    agent.store.record(NOW, replace(one, state="running", started_at=NOW, last_seen=NOW))


def full_disk(agent: Agent, *, is_full: bool = True) -> None:
    agent.store._db.execute(f"PRAGMA query_only = {is_full}")


@contextlib.asynccontextmanager
async def serving(agent: Agent) -> AsyncIterator[None]:
    serving = asyncio.create_task(agent.serve())
    await asyncio.sleep(0.1)
    yield
    agent.shut_down()
    await serving


async def comes_to(agent: Agent, state: str) -> bool:
    for _ in range(600):
        if agent.store.execution(RUN).state == state:
            return True
        await asyncio.sleep(0.1)
    return False


def test_what_the_worker_reported_is_recorded_once_the_disk_takes_it(agent: Agent) -> None:
    async def reported() -> bool:
        async with serving(agent):
            running(agent)
            full_disk(agent)
            agent._on_report(OVER)
            await asyncio.sleep(0.1)
            full_disk(agent, is_full=False)
            return await comes_to(agent, "completed")

    assert asyncio.run(reported())


def test_an_agent_that_starts_on_a_full_disk_closes_what_a_crash_left_open_once_it_can(agent: Agent) -> None:
    running(agent)
    full_disk(agent)

    async def closed() -> bool:
        async with serving(agent):
            full_disk(agent, is_full=False)
            return await comes_to(agent, "failed")

    assert asyncio.run(closed())


def test_an_agent_ends_on_a_full_disk(agent: Agent) -> None:
    async def served() -> None:
        async with serving(agent):
            running(agent)
            full_disk(agent)

    asyncio.run(served())


def test_a_full_disk_that_does_not_take_who_holds_the_lock_keeps_no_agent_from_holding_it() -> None:
    with _only_agent(Path("/dev/full")):
        pass


def test_an_end_that_the_disk_has_damaged_holds_up_no_start(tmp_path: Path) -> None:
    save_outcome(tmp_path, OVER)
    damaged = tmp_path / "agent" / "ended" / "01a1fd5c-bf4f-7259-9205-000000000000.json"
    damaged.write_bytes(b"")

    kept = [list(unrecorded_outcomes(tmp_path)) for _ in range(2)]

    assert kept == [[OVER], [OVER]]
    assert damaged.with_suffix(".damaged").exists()


def test_an_end_that_the_disk_does_not_take_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "agent").write_text("no folder")

    save_outcome(tmp_path, OVER)


def full_log(home: Path) -> None:
    path = log_of(home, RUN)
    path.parent.mkdir(parents=True)
    path.symlink_to("/dev/full")


def no_folder_for_logs(home: Path) -> None:
    (home / "agent").write_text("no folder")


@pytest.mark.parametrize("broken", [full_log, no_folder_for_logs])
def test_an_execution_without_room_for_its_log_tells_its_end(tmp_path: Path, broken: Callable[[Path], None]) -> None:
    broken(tmp_path)
    reports: list[Report] = []
    worker = Worker(WorkerSettings(home=tmp_path, master="local[1]", spark={}, stop_grace_s=1), reports.append)

    worker.obey(Run(run_id=RUN, pipeline=replace(PIPELINE, source="refused")))

    assert eventually(lambda: bool(reports))
    assert [(one.run_id, one.end) for one in reports if isinstance(one, RunEnded)] == [(RUN, "FAIL")]


def test_a_log_is_bounded_and_its_end_is_found_also_where_it_was_just_begun_anew(tmp_path: Path) -> None:
    path = log_of(tmp_path, RUN)
    log = logging.getLogger("headwater.test")

    with written_log(path, RUN):
        for number in range(12_000):
            log.warning("%d %s", number, "x" * 1_000, extra={"run_id": RUN})

    assert sum(each.stat().st_size for each in path.parent.iterdir()) < 16_000_000
    assert [line.split()[2] for line in last_lines(path, 3)] == ["11997", "11998", "11999"]
    path.write_text("the first line of a new file\n")
    assert [line.split()[0] for line in last_lines(path, 2)][1] == "the"
    remove_logs(tmp_path, [RUN])
    assert list(path.parent.iterdir()) == []


def test_what_pipelines_print_is_bounded_while_they_go_on_printing(tmp_path: Path) -> None:
    path = tmp_path / "worker.log"

    with path.open("ab", buffering=0) as printing:
        for number in range(30):
            printing.write(b"%d %s\n" % (number, b"x" * 1_000_000))
            bound_log(path)

    assert sum(each.stat().st_size for each in tmp_path.iterdir()) < 20_000_000
    assert last_lines(path, 1)[0].endswith("xxx")


def engine(home: Path, on_report: Callable[[Report], None], on_exit: Callable[[], None], **spark: str) -> Engine:
    return Engine(WorkerSettings(home=home, master="local[1]", spark=spark, stop_grace_s=1), on_report, on_exit)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("is_there", [False, True])
def test_what_pipelines_print_is_for_the_agents_own_user_also_where_it_was_for_others(
    tmp_path: Path, is_there: bool
) -> None:
    folder = tmp_path / "log"
    path = folder / "worker.log"
    if is_there:
        folder.mkdir(mode=0o755)
        path.write_bytes(b"x" * 9_000_000)
        path.chmod(0o644)

    async def started() -> None:
        one = engine(tmp_path, lambda _: None, lambda: None)
        await one.start()
        one.tidy()
        await one.end()

    before = os.umask(0o022)
    try:
        asyncio.run(started())
    finally:
        os.umask(before)

    assert mode(folder) == 0o700
    assert {mode(file) for file in folder.iterdir()} == {0o600}
    assert len(list(folder.iterdir())) == 1 + is_there


def test_what_spark_is_to_be_started_with_does_not_stand_in_the_workers_command_line(tmp_path: Path) -> None:
    reports: list[Report] = []

    async def shown() -> list[str]:
        told = asyncio.Event()

        def take(report: Report) -> None:
            reports.append(report)
            told.set()

        one = engine(tmp_path, take, lambda: None, secret="s3cret")  # noqa: S106  of this test alone
        await one.start()
        assert one.pid is not None
        one.send(Close(run_id=RUN, pipeline=PIPELINE, is_told=True, started_at=NOW, last_seen=NOW))
        await asyncio.wait_for(told.wait(), 60)
        command = psutil.Process(one.pid).cmdline()  # until it runs it has none
        await one.end()
        return command

    command = asyncio.run(shown())

    assert "headwater.agent.worker" in command
    assert "s3cret" not in " ".join(command)
    assert isinstance(reports[0], ClosedRun)


def test_a_worker_reads_the_settings_that_the_agent_wrote(tmp_path: Path) -> None:
    settings = WorkerSettings(home=tmp_path, master="local[2]", spark={"spark.a": "b\nc"}, stop_grace_s=1.5)

    assert read_settings(settings_line(settings)) == settings


def test_a_worker_that_the_machine_has_no_room_for_is_told_as_that(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("no folder")

    with pytest.raises(UnavailableError, match="cannot start the worker process"):
        asyncio.run(engine(tmp_path, lambda _: None, lambda: None).start())


def test_a_worker_that_is_not_understood_ends_and_that_is_told(tmp_path: Path) -> None:
    def is_not_understood(_: Report) -> None:
        raise ValueError

    async def heard() -> None:
        ended = asyncio.Event()
        one = engine(tmp_path, is_not_understood, ended.set)
        await one.start()
        one.send(Close(run_id=RUN, pipeline=PIPELINE, is_told=True, started_at=NOW, last_seen=NOW))
        await asyncio.wait_for(ended.wait(), 60)
        assert not one.is_running

    asyncio.run(heard())
