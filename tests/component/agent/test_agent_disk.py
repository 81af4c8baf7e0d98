"""What the agent and its worker do where the disk is full, or returns other bytes than were written."""

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


def record_running(agent: Agent) -> None:
    """Record an execution that is running."""
    job = agent.store.deploy("edge", "orders", PIPELINE, NOW, None)
    execution = Execution(run_id=RUN, job_id=job.id, version=1, trigger="deploy", created_at=NOW)
    agent.store.record(NOW, replace(execution, state="running", started_at=NOW, last_seen=NOW))


def fill_disk(agent: Agent, *, is_full: bool = True) -> None:
    agent.store._db.execute(f"PRAGMA query_only = {is_full}")


@contextlib.asynccontextmanager
async def serving(agent: Agent) -> AsyncIterator[None]:
    task = asyncio.create_task(agent.serve())
    await asyncio.sleep(0.1)
    yield
    agent.shut_down()
    await task


async def comes_to(agent: Agent, state: str) -> bool:
    for _ in range(600):
        if agent.store.execution(RUN).state == state:
            return True
        await asyncio.sleep(0.1)
    return False


def test_a_report_of_the_worker_is_recorded_once_the_disk_has_room(agent: Agent) -> None:
    async def reported() -> bool:
        async with serving(agent):
            record_running(agent)
            fill_disk(agent)
            agent._on_report(OVER)
            await asyncio.sleep(0.1)
            fill_disk(agent, is_full=False)
            return await comes_to(agent, "completed")

    assert asyncio.run(reported())


def test_an_agent_that_starts_on_a_full_disk_closes_what_a_crash_left_open_once_it_can(agent: Agent) -> None:
    record_running(agent)
    fill_disk(agent)

    async def closed() -> bool:
        async with serving(agent):
            fill_disk(agent, is_full=False)
            return await comes_to(agent, "failed")

    assert asyncio.run(closed())


def test_an_agent_ends_on_a_full_disk(agent: Agent) -> None:
    async def served() -> None:
        async with serving(agent):
            record_running(agent)
            fill_disk(agent)

    asyncio.run(asyncio.wait_for(served(), 60))


def test_an_agent_takes_the_lock_although_a_full_disk_cannot_store_its_process_id() -> None:
    with _only_agent(Path("/dev/full")):
        pass


@pytest.mark.parametrize("do_damage", [Path.touch, Path.mkdir], ids=["emptied", "unreadable"])
def test_an_outcome_that_the_disk_damaged_does_not_prevent_a_start(
    tmp_path: Path, do_damage: Callable[[Path], None]
) -> None:
    save_outcome(tmp_path, OVER)
    damaged = tmp_path / "agent" / "ended" / "01a1fd5c-bf4f-7259-9205-000000000000.json"
    do_damage(damaged)

    outcomes = [list(unrecorded_outcomes(tmp_path)) for _ in range(2)]

    assert outcomes == [[OVER], [OVER]]
    assert damaged.with_suffix(".damaged").exists()


def test_an_outcome_that_cannot_be_written_does_not_raise_an_error(tmp_path: Path) -> None:
    (tmp_path / "agent").write_text("no folder")

    save_outcome(tmp_path, OVER)


def full_log(home: Path) -> None:
    path = log_of(home, RUN)
    path.parent.mkdir(parents=True)
    path.symlink_to("/dev/full")


def no_folder_for_logs(home: Path) -> None:
    (home / "agent").write_text("no folder")


@pytest.mark.parametrize("broken", [full_log, no_folder_for_logs])
def test_an_execution_without_room_for_its_log_reports_its_end(tmp_path: Path, broken: Callable[[Path], None]) -> None:
    broken(tmp_path)
    reports: list[Report] = []
    worker = Worker(WorkerSettings(home=tmp_path, master="local[1]", spark={}, stop_grace_s=1), reports.append)

    worker.obey(Run(run_id=RUN, pipeline=replace(PIPELINE, source="refused")))

    assert eventually(lambda: bool(reports))
    assert [(report.run_id, report.end) for report in reports if isinstance(report, RunEnded)] == [(RUN, "FAIL")]


def test_a_log_is_bounded_and_its_last_lines_are_found_also_just_after_a_new_file_was_begun(tmp_path: Path) -> None:
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


def test_the_printed_output_of_pipelines_is_bounded_while_they_keep_printing(tmp_path: Path) -> None:
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
def test_the_printed_output_of_pipelines_is_readable_by_the_agents_user_only_also_where_it_was_not(
    tmp_path: Path, is_there: bool
) -> None:
    folder = tmp_path / "log"
    path = folder / "worker.log"
    if is_there:
        folder.mkdir(mode=0o755)
        path.write_bytes(b"x" * 9_000_000)
        path.chmod(0o644)

    async def started() -> None:
        worker_engine = engine(tmp_path, lambda _: None, lambda: None)
        await worker_engine.start()
        worker_engine.tidy()
        await worker_engine.end()

    before = os.umask(0o022)
    try:
        asyncio.run(started())
    finally:
        os.umask(before)

    assert mode(folder) == 0o700
    assert {mode(file) for file in folder.iterdir()} == {0o600}
    assert len(list(folder.iterdir())) == 1 + is_there


def test_the_settings_of_spark_are_not_in_the_workers_command_line(tmp_path: Path) -> None:
    reports: list[Report] = []

    async def running_command() -> list[str]:
        has_reported = asyncio.Event()

        def take(report: Report) -> None:
            reports.append(report)
            has_reported.set()

        worker_engine = engine(tmp_path, take, lambda: None, secret="s3cret")  # noqa: S106  of this test alone
        await worker_engine.start()
        assert worker_engine.pid is not None
        worker_engine.send(Close(run_id=RUN, pipeline=PIPELINE, is_told=True, started_at=NOW, last_seen=NOW))
        await asyncio.wait_for(has_reported.wait(), 60)
        command = psutil.Process(worker_engine.pid).cmdline()  # it has none before it runs
        await worker_engine.end()
        return command

    command = asyncio.run(running_command())

    assert "headwater.agent.worker" in command
    assert "s3cret" not in " ".join(command)
    assert isinstance(reports[0], ClosedRun)


def test_a_worker_reads_the_settings_that_the_agent_wrote(tmp_path: Path) -> None:
    settings = WorkerSettings(
        home=tmp_path,
        master="local[2]",
        spark={"spark.a": "b\nc"},
        stop_grace_s=1.5,
        allowed_endpoints=("s3://landing",),
    )

    assert read_settings(settings_line(settings)) == settings


def test_a_worker_process_that_cannot_be_started_is_reported(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("no folder")

    with pytest.raises(UnavailableError, match="cannot start the worker process"):
        asyncio.run(engine(tmp_path, lambda _: None, lambda: None).start())


def test_a_worker_whose_report_is_not_understood_ends_and_its_end_is_noticed(tmp_path: Path) -> None:
    def is_not_understood(_: Report) -> None:
        raise ValueError

    async def ends() -> None:
        has_ended = asyncio.Event()
        worker_engine = engine(tmp_path, is_not_understood, has_ended.set)
        await worker_engine.start()
        worker_engine.send(Close(run_id=RUN, pipeline=PIPELINE, is_told=True, started_at=NOW, last_seen=NOW))
        await asyncio.wait_for(has_ended.wait(), 60)
        assert not worker_engine.is_running

    asyncio.run(ends())
