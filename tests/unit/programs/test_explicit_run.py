"""`headwater.run`: one START, and one end, whatever happens in the block."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import headwater
from tests.support.spec import Specification

Event = dict[str, Any]


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that events go to."""
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path / "home"))
    return tmp_path / "events.jsonl"


def events(file: Path) -> list[Event]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def states(file: Path) -> list[str]:
    return [event["eventType"] for event in events(file)]


def test_a_block_that_ends_is_complete_with_its_inputs_and_outputs(told: Path, shared: Path) -> None:
    with headwater.run("load", namespace="etl", inputs=["s3a://raw/orders/"], file=told) as run:
        run.writes(("postgres://db:5432", "shop.public.orders"), "kafka://broker:9092/orders")
        run.running()

    start, running, complete = events(told)
    assert [start["eventType"], running["eventType"], complete["eventType"]] == ["START", "RUNNING", "COMPLETE"]
    assert (complete["job"]["namespace"], complete["job"]["name"]) == ("etl", "load")
    assert complete["run"]["runId"] == start["run"]["runId"] == run.run_id
    assert [(one["namespace"], one["name"]) for one in complete["inputs"]] == [("s3://raw", "orders")]
    assert [(one["namespace"], one["name"]) for one in complete["outputs"]] == [
        ("postgres://db:5432", "shop.public.orders"),
        ("kafka://broker:9092", "orders"),
    ]
    assert "signature" in complete["run"]["facets"]
    specification = Specification(shared / "openlineage")
    assert [complaint for line in told.read_bytes().splitlines() for complaint in specification.complaints(line)] == []


def test_a_block_that_raises_fails_without_the_exceptions_text_and_raises_on(told: Path) -> None:
    with pytest.raises(ValueError, match="4929"), headwater.run("load", file=told):
        raise ValueError("card 4929-1234")

    assert states(told) == ["START", "FAIL"]
    message = events(told)[-1]["run"]["facets"]["errorMessage"]["message"]
    assert message.startswith("ValueError in test_a_block_that_raises_fails")
    assert "4929-1234" not in told.read_text()  # shorter, it may stand in a digest


def test_an_interrupted_block_is_aborted(told: Path) -> None:
    with pytest.raises(KeyboardInterrupt), headwater.run("load", file=told):
        raise KeyboardInterrupt

    assert states(told) == ["START", "ABORT"]


def test_a_block_may_say_itself_that_it_was_stopped(told: Path) -> None:
    with headwater.run("load", file=told) as run:
        run.abort("nothing to load")

    assert events(told)[-1]["run"]["facets"]["headwater_run"]["stopReason"] == "nothing to load"
    assert states(told) == ["START", "ABORT"]


@pytest.mark.parametrize(("code", "end"), [(0, "COMPLETE"), (3, "FAIL")])
def test_how_a_block_exits_is_how_its_run_ends(told: Path, code: int, end: str) -> None:
    with pytest.raises(SystemExit), headwater.run("load", file=told):
        sys.exit(code)

    assert states(told) == ["START", end]


def test_running_is_told_by_itself(told: Path) -> None:
    with headwater.run("load", file=told, running_every_s=0.02):
        until = time.monotonic() + 10
        while "RUNNING" not in (told.read_text() if told.exists() else "") and time.monotonic() < until:
            time.sleep(0.02)

    assert states(told)[1] == "RUNNING"
    assert states(told)[-1] == "COMPLETE"


def test_a_program_that_gets_sigterm_aborts_its_run_and_dies_of_it(told: Path) -> None:
    # Many sleeps: a signal that comes just before one does not end it.
    block = "    print('in', flush=True)\n    for _ in range(600): time.sleep(0.1)"
    text = f"import headwater, time\nwith headwater.run('load', file={str(told)!r}):\n{block}"
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        program.stdout.readline()

        program.send_signal(signal.SIGTERM)

        assert program.wait(30) == -signal.SIGTERM
    assert states(told) == ["START", "ABORT"]
    assert events(told)[-1]["run"]["facets"]["headwater_run"]["stopReason"] == "SIGTERM"
