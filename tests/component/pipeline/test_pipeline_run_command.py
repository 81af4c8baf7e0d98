"""`headwater run` as scripts see it: exit status, output, signals at any moment, the events that were sent."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

pytestmark = pytest.mark.spark

HEADWATER = [sys.executable, "-m", "headwater.cli.main"]

FOREVER = """
    import time

    def slow(frame):
        return frame.rdd.map(lambda row: time.sleep(600) or row).toDF(frame.schema)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "orders.csv").write_text("order_id,price\n1,2.5\n2,x\n")
    (tmp_path / "steps.py").write_text("\n".join(line[4:] for line in FOREVER.splitlines()))
    return tmp_path


def pipeline(folder: Path, text: str) -> Path:
    file = folder / "orders.yaml"
    lines = [
        "name: orders",
        "namespace: test",
        "schema_version: 1",
        *(line.strip() for line in text.strip().splitlines()),
    ]
    options = "lineage: {transport: file, file: {path: events.jsonl}}"
    file.write_text("\n".join([*lines, options, "spark: {spark.driver.memory: 600m}", ""]))
    return file


def started(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*HEADWATER, "run", str(folder / "orders.yaml"), "--master", "local[2]", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HEADWATER_HOME": str(folder / "home")},
        start_new_session=True,
    )


def events(folder: Path) -> list[dict[str, Any]]:
    file = folder / "events.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def lines_until(process: "subprocess.Popen[str]", awaited: str) -> Iterator[str]:
    assert process.stderr is not None
    for line in process.stderr:
        yield line
        if awaited in line:
            return


def test_a_complete_run_exits_0_and_prints_its_result_as_json(folder: Path) -> None:
    pipeline(folder, "input: {generate: {rows: 7}}\noutput: {iceberg: {table: lake.a.t}}")
    process = started(folder, "--json")

    out, err = process.communicate(timeout=300)

    assert process.returncode == 0, err
    result = json.loads(out)
    assert (result["state"], result["counters"]["recordsOut"]) == ("COMPLETE", 7)
    assert [event["eventType"] for event in events(folder)][-1] == "COMPLETE"
    assert all("signature" in event["run"]["facets"] for event in events(folder))
    assert {event["run"]["runId"] for event in events(folder)} == {result["runId"]}


def test_a_failed_run_exits_1_and_prints_no_value(folder: Path) -> None:
    (folder / "orders.csv").write_text("card\n4929-1234\n")
    pipeline(
        folder,
        """input: {file: {paths: [orders.csv], format: csv, options: {header: 'true'}}}
        pipeline: {processors: [mapping: {columns: {n: CAST(card AS INT)}}]}
        output: {iceberg: {table: lake.a.t}}""",
    )
    process = started(folder)

    out, err = process.communicate(timeout=300)

    assert process.returncode == 1
    assert "CAST_INVALID_INPUT" in err
    assert "4929-1234" not in out + err + (folder / "events.jsonl").read_text()
    spark_log = folder / "home/log/spark.log"
    assert "4929-1234" not in spark_log.read_text()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (spark_log, spark_log.parent)] == [0o600, 0o700]
    assert events(folder)[-1]["eventType"] == "FAIL"


def test_a_master_with_which_spark_does_not_start_is_named(folder: Path) -> None:
    pipeline(folder, "input: {generate: {rows: 7}}\noutput: {stdout: }")
    process = started(folder, "--master", "local[many]")

    _, err = process.communicate(timeout=300)

    assert process.returncode == 1
    assert "orders: failed: Spark does not start with the master local[many]: " in err


def test_a_further_attempt_to_start_spark_uses_the_same_jvm(tmp_path: Path) -> None:
    program = """
        import os, pathlib, subprocess, sys
        from headwater.pipeline.session import open_session

        for master in ("local[many]", "local[1]"):
            try:
                session = open_session(pathlib.Path(sys.argv[1]), master=master)
            except Exception:
                session = None
        children = subprocess.check_output(["ps", "--ppid", str(os.getpid()), "-o", "comm="], text=True).split()
        print(session.range(3).count(), children.count("java"))
    """

    done = subprocess.run(
        [sys.executable, "-c", dedent(program), str(tmp_path)], capture_output=True, text=True, timeout=120, check=True
    )

    assert done.stdout == "3 1\n"


def test_an_option_whose_value_spark_does_not_accept_fails_the_run_by_name(folder: Path) -> None:
    pipeline(folder, "input: {generate: {rows: 7}}\noutput: {stdout: }")
    process = started(folder, "--set", 'spark."spark.sql.shuffle.partitions"=many')

    _, err = process.communicate(timeout=120)

    assert process.returncode == 1
    assert "orders: failed: Spark does not accept the value of spark.sql.shuffle.partitions" in err


def test_a_refused_file_exits_2_with_every_problem_and_starts_nothing(folder: Path) -> None:
    pipeline(folder, "input: {generate: {rows: none}}\noutput: {iceberg: {tabel: lake.a.t}}")
    process = started(folder)

    _, err = process.communicate(timeout=300)

    assert process.returncode == 2
    assert "input.generate.rows" in err
    assert "tabel" in err
    assert not (folder / "home").exists()
    assert events(folder) == []


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_a_signal_in_the_middle_of_a_job_aborts_the_run(folder: Path, sent: signal.Signals, status: int) -> None:
    pipeline(
        folder,
        """input: {generate: {rows: 4}}
        pipeline: {processors: [python: {function: "steps:slow"}]}
        output: {iceberg: {table: lake.a.t}}""",
    )
    process = started(folder)
    list(lines_until(process, "writing"))
    time.sleep(2)

    os.killpg(process.pid, sent)  # as a terminal does: to the whole group
    _, err = process.communicate(timeout=300)

    assert process.returncode == status, err
    assert [event["eventType"] for event in events(folder)][-1] == "ABORT"
    assert events(folder)[-1]["run"]["facets"]["headwater_run"]["stopReason"] == sent.name


def test_a_signal_while_spark_starts_aborts_the_run_too(folder: Path) -> None:
    pipeline(folder, "input: {generate: {rows: 4}}\noutput: {iceberg: {table: lake.a.t}}")
    process = started(folder)
    list(lines_until(process, "starting Spark"))

    process.terminate()
    _, err = process.communicate(timeout=300)

    assert process.returncode == 143, err
    assert [event["eventType"] for event in events(folder)] == ["START", "ABORT"]


def test_without_java_a_run_fails_and_says_what_to_install(folder: Path) -> None:
    pipeline(folder, "input: {generate: {rows: 4}}\noutput: {iceberg: {table: lake.a.t}}")
    process = subprocess.run(
        [*HEADWATER, "run", str(folder / "orders.yaml")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={"HEADWATER_HOME": str(folder / "home"), "PATH": str(folder), "HOME": str(folder)},
    )

    assert process.returncode == 1
    assert "Java is missing: install Java 17 or newer" in process.stderr
    assert [event["eventType"] for event in events(folder)] == ["START", "FAIL"]
