"""Programs that do not mention Headwater, each in a process of its own: how they are started, and how they end."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.component.capture_spark.captured import CapturedRun, runs_of

pytestmark = pytest.mark.spark

PROGRAM = """
import sys, time
from pyspark.sql import SparkSession, functions as F

folder, then = sys.argv[1:]
settings = {"spark.ui.enabled": "false", "spark.driver.memory": "600m", "spark.log.level": "OFF"}
settings["spark.headwater.file"] = f"{folder}/events.jsonl"
spark = SparkSession.builder.master("local[2]").appName("nightly").config(map=settings).getOrCreate()
spark.range(5).write.parquet(f"{folder}/five")
if then == "exit":
    spark.stop()
    sys.exit(3)
slow = F.udf(lambda number: time.sleep(600) or number, "BIGINT")
five = spark.newSession().read.parquet(f"{folder}/five")
five.select(slow("id").alias("id")).write.parquet(f"{folder}/never")
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    file = tmp_path / "nightly.py"
    file.write_text(PROGRAM)
    return file


@contextmanager
def started(command: list[str]) -> Iterator["subprocess.Popen[str]"]:
    environment = {**os.environ, "HEADWATER_HOME": f"{command[-2]}/home", "PYSPARK_PYTHON": sys.executable}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def runs_by_job(folder: Path) -> dict[str, CapturedRun]:
    return {run.job: run for run in runs_of((folder / "events.jsonl").read_bytes().splitlines())}


def wait_for(folder: Path, job: str) -> None:
    """Wait until a job has an event."""
    for _ in range(600):
        if (folder / "events.jsonl").exists() and job in runs_by_job(folder):
            return
        time.sleep(0.2)
    raise AssertionError(f"no event of {job}")


def states_by_job(folder: Path) -> dict[str, list[str]]:
    return {
        name.removeprefix("nightly").removeprefix(f".{folder}"): run.states for name, run in runs_by_job(folder).items()
    }


def test_sigterm_aborts_the_capture_and_the_programs_own_runs(program: Path) -> None:
    folder = program.parent
    own_run = "import headwater\nwith headwater.run('nightly.own', file=f'{folder}/events.jsonl'): "
    program.write_text(PROGRAM.replace("five.select(", f"{own_run}five.select("))
    with started([sys.executable, "-m", "headwater.spark", str(program), str(folder), "sleep"]) as process:
        wait_for(folder, f"nightly.{folder}/never")

        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=60)

    assert process.returncode == -signal.SIGTERM, out
    assert {job: states[-1] for job, states in states_by_job(folder).items()} == {
        "": "ABORT",
        "/five": "COMPLETE",
        "/never": "ABORT",
        ".own": "ABORT",
    }


def test_sigterm_aborts_the_programs_open_runs_and_ends_the_program(program: Path) -> None:
    folder = program.parent
    with started([sys.executable, "-m", "headwater.spark", str(program), str(folder), "sleep"]) as process:
        wait_for(folder, f"nightly.{folder}/never")

        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=60)

    assert process.returncode == -signal.SIGTERM, out
    assert states_by_job(folder) == {
        "": ["START", "ABORT"],
        "/five": ["START", "COMPLETE"],
        "/never": ["START", "ABORT"],
    }
    last: dict[str, Any] = runs_by_job(folder)["nightly"].last
    assert last["run"]["facets"]["headwater_run"]["stopReason"] == "SIGTERM"
    assert "signature" in last["run"]["facets"]
    never = runs_by_job(folder)[f"nightly.{folder}/never"]
    assert never.inputs() == [f"{folder.name}/five"]


def test_a_setting_of_spark_submit_captures_a_program_and_its_exit_code(program: Path) -> None:
    folder = program.parent
    python = folder / "headwater-spark"  # what the package installs, but over this source
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m headwater.spark "$@"\n')
    python.chmod(0o755)
    submit = str(Path(sys.executable).parent / "spark-submit")
    setting = ["--conf", f"spark.pyspark.driver.python={python}", "--conf", "spark.headwater.namespace=night"]
    with started([submit, *setting, str(program), str(folder), "exit"]) as process:
        out, _ = process.communicate(timeout=120)

    assert process.returncode == 3, out
    assert states_by_job(folder) == {"": ["START", "FAIL"], "/five": ["START", "COMPLETE"]}
    first: dict[str, Any] = json.loads((folder / "events.jsonl").read_bytes().splitlines()[0])
    assert first["job"]["namespace"] == "night"
