import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from openlineage.client.event_v2 import Job, Run, RunState

from headwater.emit.config import EmitConfig, FileConfig
from headwater.emit.emitter import Emitter
from headwater.model.build import run_event
from headwater.signing.keys import NodeKey
from headwater.signing.sign import sign_event
from headwater.signing.verify import verify_event

LONG_S = 120.0


@pytest.fixture
def config(tmp_path: Path) -> EmitConfig:
    return EmitConfig(file=FileConfig(path=tmp_path / "events.jsonl"), spool=tmp_path / "spool", drain_timeout_s=LONG_S)


@pytest.fixture
def numbers(tmp_path: Path) -> Callable[[], list[int]]:
    """The numbers of the events in the file, in its order."""
    return lambda: [json.loads(line)["n"] for line in (tmp_path / "events.jsonl").read_bytes().splitlines()]


class HangingSigner:
    """Signs nothing until it is released, and tells when it hangs."""

    def __init__(self) -> None:
        self.hangs, self.is_released = threading.Event(), threading.Event()

    def __call__(self, unsigned: bytes) -> bytes:
        self.hangs.set()
        self.is_released.wait()
        return unsigned


@pytest.fixture
def hanging() -> Iterator[HangingSigner]:
    signer = HangingSigner()
    yield signer
    signer.is_released.set()


def event(n: int) -> bytes:
    return b'{"n":%d}' % n


def test_closing_delivers_everything_that_was_put(config: EmitConfig, numbers: Callable[[], list[int]]) -> None:
    with Emitter(config, sign=bytes) as emitter:
        for n in range(100):
            emitter.put(event(n))

    assert numbers() == list(range(100))
    stats = emitter.stats()
    assert (stats.delivered, stats.spooled, stats.dropped, stats.last_error) == ({"file": 100}, 0, {}, None)


def test_closing_twice_does_nothing_more(config: EmitConfig) -> None:
    emitter = Emitter(config, sign=bytes)
    emitter.put(event(0))
    emitter.close()

    emitter.close()

    assert emitter.stats().delivered == {"file": 1}
    assert emitter.drain(0)


def test_an_event_put_after_closing_is_counted_as_dropped(config: EmitConfig) -> None:
    emitter = Emitter(config, sign=bytes)
    emitter.close()

    emitter.put(event(0))

    assert emitter.stats().dropped == {"closed": 1}


@pytest.mark.parametrize("value", [None, 5, object()])
def test_putting_an_invalid_value_is_counted_and_does_not_raise(
    value: object, config: EmitConfig, numbers: Callable[[], list[int]]
) -> None:
    with Emitter(config, sign=bytes) as emitter:
        emitter.put(value)  # type: ignore[arg-type]
        emitter.put(event(1))

    assert emitter.stats().dropped == {"failed": 1}
    assert numbers() == [1]


def test_an_event_that_is_too_large_is_counted_and_dropped(tmp_path: Path, numbers: Callable[[], list[int]]) -> None:
    file = FileConfig(path=tmp_path / "events.jsonl")
    with Emitter(EmitConfig(file=file, event_max_mb=1 / 1024), sign=bytes) as emitter:
        emitter.put(b'{"padding":"%b"}' % (b"x" * 1024))
        emitter.put(event(1))
        assert emitter.drain(LONG_S)

    assert emitter.stats().dropped == {"too_large": 1}
    assert numbers() == [1]


def test_if_signing_fails_the_event_is_dropped_and_not_logged(
    config: EmitConfig, numbers: Callable[[], list[int]], caplog: pytest.LogCaptureFixture
) -> None:
    def sign(unsigned: bytes) -> bytes:
        if unsigned == event(1):
            raise ValueError(f"cannot sign {unsigned!r}")
        return unsigned

    with Emitter(config, sign) as emitter:
        for n in range(3):
            emitter.put(event(n))

    assert numbers() == [0, 2]
    assert emitter.stats().dropped == {"sign_failed": 1}
    assert emitter.stats().last_error == "ValueError"
    assert "cannot sign" not in caplog.text


def test_a_signal_handler_can_put_while_it_interrupts_a_put(
    config: EmitConfig, numbers: Callable[[], list[int]], tmp_path: Path
) -> None:
    small = EmitConfig(file=config.file, spool=config.spool, drain_timeout_s=LONG_S, queue_size=4)
    handler_numbers = iter(range(100_000, 200_000))
    with Emitter(small, sign=bytes) as emitter:
        before = signal.signal(signal.SIGALRM, lambda *_: emitter.put(event(next(handler_numbers))))
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        try:
            for n in range(10_000):
                emitter.put(event(n))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    assert [n for n in numbers() if n < 100_000] == list(range(10_000))
    assert sorted(n for n in numbers() if n >= 100_000) == list(range(100_000, next(handler_numbers)))


def test_closing_does_not_wait_for_a_hanging_signer_and_leaves_events_to_the_next_emitter(
    tmp_path: Path, numbers: Callable[[], list[int]], hanging: HangingSigner
) -> None:
    config = EmitConfig(file=FileConfig(path=tmp_path / "events.jsonl"), spool=tmp_path / "spool", drain_timeout_s=0.05)
    emitter = Emitter(config, hanging)
    emitter.put(event(0))
    assert hanging.hangs.wait(LONG_S)
    for n in range(1, 10):
        emitter.put(event(n))

    emitter.close()

    with Emitter(config, sign=bytes) as following:
        assert following.drain(LONG_S)
    assert numbers() == list(range(10))


def test_events_of_a_dead_process_that_a_hanging_signer_has_in_hand_are_left_to_the_next_emitter_before_later_ones(
    tmp_path: Path, numbers: Callable[[], list[int]], hanging: HangingSigner
) -> None:
    config = EmitConfig(file=FileConfig(path=tmp_path / "events.jsonl"), spool=tmp_path / "spool", drain_timeout_s=0.05)
    for first in (0, 5):
        hanging.hangs.clear()
        emitter = Emitter(config, hanging)
        for n in range(first, first + 5):
            emitter.put(event(n))
        assert hanging.hangs.wait(LONG_S)
        emitter.close()

    with Emitter(config, sign=bytes) as following:
        assert following.drain(LONG_S)
    hanging.is_released.set()
    emitter._worker.join(LONG_S)

    assert numbers() == list(range(10))


@pytest.mark.parametrize("queue_size", [1, 100], ids=["in the overflow", "in memory"])
def test_events_that_a_hanging_signer_has_in_hand_are_left_to_the_next_emitter_and_not_counted_as_dropped(
    tmp_path: Path, numbers: Callable[[], list[int]], queue_size: int
) -> None:
    at_first, at_fifth, are_put, is_released = (threading.Event() for _ in range(4))

    def sign(unsigned: bytes) -> bytes:
        if unsigned == event(0):
            at_first.set()
            are_put.wait()
        if unsigned == event(5):
            at_fifth.set()
            is_released.wait()
        return unsigned

    config = EmitConfig(
        file=FileConfig(path=tmp_path / "events.jsonl"),
        spool=tmp_path / "spool",
        drain_timeout_s=0.05,
        queue_size=queue_size,
    )
    emitter = Emitter(config, sign)
    emitter.put(event(0))
    assert at_first.wait(LONG_S)
    for n in range(1, 10):
        emitter.put(event(n))
    are_put.set()
    assert at_fifth.wait(LONG_S)

    emitter.close()
    is_released.set()
    emitter._worker.join(LONG_S)

    assert emitter.stats().dropped == {}
    with Emitter(config, sign=bytes) as following:
        assert following.drain(LONG_S)
    assert numbers() == list(range(10))


def test_closing_leaves_unsent_events_in_the_overflow_to_the_next_emitter_in_order(
    tmp_path: Path, numbers: Callable[[], list[int]]
) -> None:
    def sign(unsigned: bytes) -> bytes:
        time.sleep(0.0005)
        return unsigned

    config = EmitConfig(
        file=FileConfig(path=tmp_path / "events.jsonl"), spool=tmp_path / "spool", drain_timeout_s=0.05, queue_size=4
    )
    emitter = Emitter(config, sign)
    for n in range(3000):
        emitter.put(event(n))

    emitter.close()
    before = len(numbers())
    with Emitter(config, sign=bytes) as following:
        assert following.drain(LONG_S)

    assert before < 3000
    assert [*dict.fromkeys(numbers())] == list(range(3000))
    assert emitter.stats().dropped == {}


def test_disabled_lineage_starts_no_thread() -> None:
    program = "import threading, headwater.emit.emitter; print(threading.active_count())"

    threads = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout

    assert threads == "1\n"


def test_events_that_are_built_signed_and_written_verify_line_by_line(tmp_path: Path) -> None:
    key = NodeKey.from_seed("edge-1", bytes(32))
    config = EmitConfig(file=FileConfig(path=tmp_path / "events.jsonl"), drain_timeout_s=LONG_S)
    now = datetime(2013, 1, 1, tzinfo=UTC)
    run, job = Run("0190b6c3-6f2e-7a3c-8a55-4d0f9d4f6f11"), Job("Zürich", "a name\u2028over two lines\n")
    with Emitter(config, lambda unsigned: sign_event(unsigned, key)) as emitter:
        for state in (RunState.START, RunState.RUNNING, RunState.COMPLETE):
            emitter.put(run_event(state, now, run, job))

    lines = (tmp_path / "events.jsonl").read_bytes().removesuffix(b"\n").split(b"\n")
    assert [verify_event(line, {key.key_id: key.public_key}).verdict for line in lines] == ["ok"] * 3
    assert [json.loads(line)["eventType"] for line in lines] == ["START", "RUNNING", "COMPLETE"]
