import json
import os
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from openlineage.client.event_v2 import Job, Run, RunState

from headwater.emit.backlog import MEMORY_MAX_BYTES
from headwater.emit.config import EmitConfig, FileConfig, HttpConfig
from headwater.emit.emitter import Emitter
from headwater.emit.metrics import EmitMetrics
from headwater.errors import MalformedJsonError
from headwater.model.build import run_event
from headwater.signing.keys import NodeKey
from tests.component.emit.emit_processes import Pipeline, Service
from tests.component.emit.emit_receiver import Receiver
from tests.support.service import eventually

LONG_S = 120.0
DOWN = "http://127.0.0.1:9/api/v1/lineage"
"""The discard port: nobody listens there."""


def event(n: int, padding: int = 0) -> bytes:
    return b'{"n":%d,"padding":"%b"}' % (n, b"x" * padding)


def emitter_to(url: str, spool: Path | None, *, metrics: EmitMetrics | None = None, **settings: float) -> Emitter:
    config = EmitConfig(http=HttpConfig(endpoint=url), spool=spool, drain_timeout_s=0.1, **settings)  # type: ignore[arg-type]
    return Emitter(config, sign=bytes, metrics=metrics)


def no_courier_is_alive() -> bool:
    """Whether every closed emitter has released its spool: `close` does not wait for a busy one."""
    return not any(thread.name.startswith("headwater-emit") for thread in threading.enumerate())


def files_in(directory: Path) -> list[Path]:
    return [path for path in directory.rglob("*") if path.is_file() and path.name != "lock"]


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 512 kB of its own."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(disk)], capture_output=True)
    if mount.returncode != 0:
        pytest.skip(f"a small file system cannot be mounted here: {mount.stderr.decode().strip()}")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def fill(disk: Path) -> Path:
    """Take all the remaining room."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as out:
        try:
            while True:
                out.write(b"\0" * 4096)
        except OSError:
            return filler


def test_a_full_disk_loses_nothing_while_the_service_accepts_events(receiver: Receiver, tiny_disk: Path) -> None:
    fill(tiny_disk)
    with emitter_to(receiver.url, tiny_disk / "spool", queue_size=1000) as emitter:
        for n in range(500):
            emitter.put(event(n, 5000))
        assert emitter.drain(LONG_S)

    assert receiver.numbers == list(range(500))
    assert emitter.stats().dropped == {}
    assert "full" in (emitter.stats().last_error or "")


def test_a_disk_that_fills_up_under_the_spool_loses_and_reorders_nothing_that_memory_holds(
    receiver: Receiver, tiny_disk: Path
) -> None:
    receiver.is_open.clear()
    with emitter_to(receiver.url, tiny_disk / "spool", queue_size=10_000) as emitter:
        for n in range(1000):
            emitter.put(event(n, 2000))
        assert eventually(lambda: emitter.stats().spooled == 1000)
        receiver.is_open.set()
        assert emitter.drain(LONG_S)

    assert receiver.numbers == list(range(1000))
    assert emitter.stats().dropped == {}


def test_events_that_neither_a_full_disk_nor_memory_can_hold_are_counted_and_the_caller_goes_on(
    tiny_disk: Path,
) -> None:
    fill(tiny_disk)
    fitting = MEMORY_MAX_BYTES // len(event(10, 1 << 20))
    with emitter_to(DOWN, tiny_disk / "spool") as emitter:
        for n in range(fitting + 5):
            emitter.put(event(n, 1 << 20))
        assert eventually(lambda: emitter.stats().dropped == {"spool_failed": 5})
        assert emitter.stats().spooled == fitting

    assert emitter.stats().dropped == {"spool_failed": fitting + 5}  # closing could not write them to disk either
    assert emitter.stats().spooled == 0


def test_events_in_memory_are_written_once_the_disk_has_room_again(receiver: Receiver, tiny_disk: Path) -> None:
    filler = fill(tiny_disk)
    with emitter_to(DOWN, tiny_disk / "spool") as emitter:
        for n in range(20):
            emitter.put(event(n))
        assert eventually(lambda: emitter.stats().spooled == 20)
        filler.unlink()

    assert emitter.stats().dropped == {}
    assert emitter.stats().spooled == 20


def test_a_full_queue_on_a_full_disk_drops_and_counts(tiny_disk: Path) -> None:
    with emitter_to(DOWN, tiny_disk / "spool", queue_size=1) as emitter:
        fill(tiny_disk)
        for n in range(2000):
            emitter.put(event(n, 5000))
        assert eventually(
            lambda: emitter.stats().spooled + sum(emitter.stats().dropped.values()) == 2000,
        )

    assert emitter.stats().dropped["queue_full"] > 0


def test_a_limit_on_file_size_drops_and_counts_and_the_process_goes_on(
    service: Service, pipeline: Callable[..., Pipeline], tmp_path: Path
) -> None:
    process = pipeline(tmp_path / "spool", service.url, "spool_max_mb=256")
    process.request("limit", 300_000)

    process.request("put", 0, 19_999)  # of 1 kB: more than the limit and memory together

    spooled, delivered, dropped = map(int, process.request("settle", 20_000).split())
    assert (delivered, spooled + dropped) == (0, 20_000)
    assert dropped > 0
    service.start()
    assert process.request("drain") == "True"
    assert service.numbers == sorted(set(service.numbers))
    assert len(service.numbers) == spooled


def test_a_spool_is_bounded(tmp_path: Path) -> None:
    with emitter_to(DOWN, tmp_path / "spool", spool_max_mb=1) as emitter:
        for n in range(30):
            emitter.put(event(n, 100_000))
        assert eventually(lambda: emitter.stats().spooled + emitter.stats().dropped.get("spool_full", 0) == 30)

    assert emitter.stats().dropped["spool_full"] == 20  # ten fit into 1 MB
    assert sum(path.stat().st_size for path in files_in(tmp_path / "spool")) < 2 << 20


def test_without_a_spool_directory_events_wait_in_memory(receiver: Receiver) -> None:
    receiver.is_open.clear()
    with emitter_to(receiver.url, None, queue_size=10_000) as emitter:
        for n in range(100):
            emitter.put(event(n))
        receiver.is_open.set()
        assert emitter.drain(LONG_S)

    assert receiver.numbers == list(range(100))


def test_a_spool_directory_that_is_a_file_loses_nothing_while_the_service_accepts_events(
    receiver: Receiver, tmp_path: Path
) -> None:
    (tmp_path / "spool").write_text("in the way")
    with emitter_to(receiver.url, tmp_path / "spool") as emitter:
        for n in range(10):
            emitter.put(event(n))
        assert emitter.drain(LONG_S)

    assert receiver.numbers == list(range(10))


def write_garbage(file: Path) -> None:
    file.write_bytes(os.urandom(20_000))


def cut_in_half(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def overwrite_pages(file: Path) -> None:
    # All but the first, which describes the database: whichever page holds the first event, it is gone.
    with file.open("r+b") as pages:
        pages.seek(4096)
        pages.write(b"\xff" * (file.stat().st_size - 4096))


def has_spooled(emitter: Emitter, count: int) -> bool:
    return emitter.stats().spooled == count


def replace_the_table(file: Path) -> None:
    with closing(sqlite3.connect(file)) as db:
        db.execute("ALTER TABLE event RENAME COLUMN put_at TO elsewhere")


@pytest.mark.parametrize("do_damage", [write_garbage, cut_in_half, overwrite_pages, replace_the_table])
def test_a_damaged_spool_is_moved_aside_and_counted_and_the_others_are_delivered(
    do_damage: Callable[[Path], None], service: Service, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    spool = tmp_path / "spool"
    with ExitStack() as open_emitters:  # each has a spool of its own, since the others are still open
        for first in (0, 1000, 2000):
            emitter = open_emitters.enter_context(emitter_to(service.url, spool))
            for n in range(first, first + 100):
                emitter.put(event(n, 1000))
            assert eventually(partial(has_spooled, emitter, 100))  # so the spools' ages differ
    assert eventually(no_courier_is_alive)
    do_damage(sorted(spool.rglob("events.db"))[1])
    service.start()
    metrics = EmitMetrics()

    with emitter_to(service.url, spool, metrics=metrics) as emitter:
        assert emitter.drain(LONG_S)

    assert service.numbers == [*range(100), *range(2000, 2100)]
    assert metrics.registry.get_sample_value("lineage_spools_set_aside_total") == 1
    assert any(message.startswith("moved a damaged lineage spool aside to ") for message in caplog.messages)
    (aside,) = spool.rglob("events.db")
    assert aside.parent.name.startswith("damaged-")


def overwrite_one_page(file: Path) -> None:
    with file.open("r+b") as pages:
        pages.seek(file.stat().st_size // 4096 // 2 * 4096)
        pages.write(b"\xff" * 4096)


def change_one_event(file: Path) -> None:
    with closing(sqlite3.connect(file)) as db:
        db.execute("UPDATE event SET body = zeroblob(length(body)) WHERE seq = 100")
        db.commit()


@pytest.mark.parametrize("do_damage", [overwrite_one_page, change_one_event])
def test_of_a_dead_processs_spool_every_event_that_can_be_read_is_delivered(
    do_damage: Callable[[Path], None], service: Service, tmp_path: Path
) -> None:
    spool = tmp_path / "spool"
    with emitter_to(service.url, spool) as emitter:
        for n in range(200):
            emitter.put(event(n, 1000))
        assert eventually(partial(has_spooled, emitter, 200))
    assert eventually(no_courier_is_alive)
    (file,) = spool.rglob("events.db")
    do_damage(file)
    service.start()

    with emitter_to(service.url, spool) as emitter:
        assert emitter.drain(LONG_S)

    assert 195 < len(service.numbers) < 200  # a page holds up to four
    assert service.numbers == sorted(set(service.numbers))
    (aside,) = spool.rglob("events.db")
    assert aside.parent.name.startswith("damaged-")


@pytest.mark.parametrize("do_damage", [overwrite_one_page, change_one_event])
def test_of_a_spool_that_is_damaged_in_use_only_events_that_cannot_be_read_are_lost(
    do_damage: Callable[[Path], None], service: Service, tmp_path: Path
) -> None:
    spool = tmp_path / "spool"
    with emitter_to(service.url, spool) as emitter:
        for n in range(2000):
            emitter.put(event(n, 1000))
        assert emitter.secure(LONG_S)
        (file,) = spool.rglob("events.db")
        do_damage(file)
        service.start()
        assert emitter.drain(LONG_S)
        emitter.put(event(2000))
        assert emitter.drain(LONG_S)

    assert service.numbers == sorted(set(service.numbers))
    assert service.numbers[-1] == 2000
    assert emitter.stats().dropped == {"spool_damaged": 2001 - len(service.numbers)}
    assert 0 < emitter.stats().dropped["spool_damaged"] < 5  # a page holds up to four


def test_a_spool_that_is_damaged_in_use_is_moved_aside_and_counted_and_a_new_one_begun(
    service: Service, tmp_path: Path
) -> None:
    spool = tmp_path / "spool"
    with emitter_to(service.url, spool) as emitter:
        for n in range(2000):
            emitter.put(event(n, 5000))
        assert eventually(lambda: emitter.stats().spooled == 2000)
        (file,) = spool.rglob("events.db")
        file.with_name("events.db-wal").write_bytes(b"")
        file.write_bytes(os.urandom(file.stat().st_size))

        emitter.put(event(2000))
        service.start()
        assert emitter.drain(LONG_S)
        emitter.put(event(2001))
        assert emitter.drain(LONG_S)

    assert service.numbers[-1] == 2001
    assert emitter.stats().dropped.keys() == {"spool_damaged"}
    assert len(service.numbers) + emitter.stats().dropped["spool_damaged"] == 2002


def test_an_empty_spool_that_is_damaged_is_not_a_gap(service: Service, tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    service.start()
    with emitter_to(service.url, spool) as emitter:
        emitter.put(event(0))
        assert emitter.drain(LONG_S)
        (file,) = spool.rglob("events.db")
        replace_the_table(file)

        emitter.put(event(1))
        assert emitter.drain(LONG_S)

    assert service.numbers == [0, 1]
    assert any(path.name.startswith("damaged-") for path in spool.rglob("*"))
    assert emitter.stats().dropped == {}


def test_lines_damaged_in_the_overflow_are_counted_by_the_signer(service: Service, tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    service.start()
    with emitter_to(service.url, spool) as emitter:
        pass
    (overflow,) = spool.glob("overflow-*")
    leftover = overflow / "1-dead"
    leftover.mkdir()
    (leftover / "lock").touch()
    (leftover / "000000.events").write_bytes(b'1.5 {"n":0}\n\xff\xfe\n2.5 {"n":1}\n3.5 {"n":')

    def sign(event: bytes) -> bytes:
        if not event.startswith(b"{"):
            raise MalformedJsonError("no JSON at byte 0")
        return event

    with Emitter(EmitConfig(http=HttpConfig(endpoint=service.url), spool=spool), sign) as emitter:
        assert emitter.drain(LONG_S)

    assert service.numbers == [0, 1]
    assert emitter.stats().dropped == {"sign_failed": 1}
    assert not leftover.exists()


def test_secured_events_are_on_the_disk_before_anything_else_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: set[int] = set()
    fsync = os.fsync

    def noting_fsync(fd: int) -> None:
        synced.add(os.fstat(fd).st_ino)
        fsync(fd)

    monkeypatch.setattr(os, "fsync", noting_fsync)
    out = FileConfig(path=tmp_path / "out" / "events.jsonl")
    config = EmitConfig(file=out, http=HttpConfig(endpoint=DOWN), spool=tmp_path / "spool", drain_timeout_s=0.1)
    run = Run(runId="0198f7d0-1111-7222-8333-444455556666")
    completion = run_event(RunState.COMPLETE, datetime(2026, 5, 22, tzinfo=UTC), run, Job("edge", "orders"))
    with Emitter.of_node(config, NodeKey.from_seed("edge-1", bytes(32))) as emitter:
        emitter.put(completion)
        assert emitter.drain(0.0) is False

        assert emitter.secure(10.0)

        (spool,) = tmp_path.glob("spool/http-*/*/events.db")
        copied = shutil.copy(spool, tmp_path / "as-after-a-power-cut.db")  # without the log that SQLite writes first
        (head,) = tmp_path.glob("spool/chain-*/*/head")
        paths = [head, *head.parents[:4], *spool.parents[:4]]
        assert [path for path in paths if path.stat().st_ino not in synced] == []
        assert eventually(lambda: out.path.exists() and out.path.stat().st_size > 0)
        emitter.secure(10.0)
        assert out.path.stat().st_ino in synced
    with closing(sqlite3.connect(copied)) as db:
        ((body,),) = db.execute("SELECT body FROM event").fetchall()
    assert json.loads(body)["eventType"] == "COMPLETE"
