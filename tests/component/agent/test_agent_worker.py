"""A worker in a process of its own, which runs something by Spark, and is killed at the worst instants."""

import asyncio
import json
import os
import shutil
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from headwater.agent.engine import Engine
from headwater.agent.messages import Pipeline, Run
from headwater.agent.worker_settings import WorkerSettings

RUN = "01a1fd5c-bf4f-7259-9205-000000000001"
OFFLINE = """
name: daily
namespace: edge
input: {generate: {rows: 10}}
output: {file: {path: daily, format: json, mode: overwrite}}
lineage: {drain_timeout: 30s, http: {endpoint: "http://127.0.0.1:9/api/v1/lineage"}}
"""


async def kill_once_an_outcome_is_saved(home: Path) -> None:
    settings = WorkerSettings(home=home, master="local[1]", spark={"spark.driver.memory": "600m"}, stop_grace_s=1)
    is_gone = asyncio.Event()
    engine = Engine(settings, lambda _: None, is_gone.set)
    await engine.start()
    assert engine.pid is not None
    engine.send(Run(run_id=RUN, pipeline=Pipeline(source=OFFLINE, path=str(home / "daily.yaml"))))
    outcome = home / "agent" / "ended" / f"{RUN}.json"
    assert await asyncio.to_thread(appears, outcome)
    os.kill(engine.pid, signal.SIGKILL)
    await is_gone.wait()


def appears(path: Path) -> bool:
    """Whether the file appears; noticed within a millisecond."""
    until_s = time.monotonic() + 300
    while not path.exists() and time.monotonic() < until_s:
        time.sleep(0.001)
    return path.exists()


@pytest.mark.spark
def test_the_events_of_a_run_are_on_the_disk_before_it_counts_as_ended(tmp_path: Path) -> None:
    asyncio.run(kill_once_an_outcome_is_saved(tmp_path))

    (spool,) = tmp_path.glob("spool/http-*/*/events.db")
    copied = shutil.copy(spool, tmp_path / "as-after-a-power-cut.db")  # without the log that SQLite writes first
    with closing(sqlite3.connect(copied)) as db:
        events = [json.loads(body) for (body,) in db.execute("SELECT body FROM event ORDER BY seq")]
    assert {event["run"]["runId"] for event in events} == {RUN}
    assert [event["eventType"] for event in events][-1] == "COMPLETE"
