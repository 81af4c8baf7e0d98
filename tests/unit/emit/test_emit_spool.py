import os
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.emit.claim import Claim, orphans
from headwater.emit.overflow import Overflow, left_behind
from headwater.emit.spool import DamagedSpoolError, Outgoing, Spool
from headwater.errors import UnavailableError

PLENTY = 1 << 30


def outgoing(n: int, size: int = 1) -> Outgoing:
    return Outgoing(float(n), b"%d" % n * size)


def delivered(spool: Spool) -> list[bytes]:
    bodies = []
    while events := spool.peek(2, PLENTY):
        bodies += [event.body for event in events]
        spool.remove(events)
    return bodies


def test_events_are_read_in_the_order_they_were_added(tmp_path: Path) -> None:
    spool = Spool(Claim.create(tmp_path))
    spool.add([outgoing(0), outgoing(1)])
    spool.add([outgoing(2)])

    assert delivered(spool) == [b"0", b"1", b"2"]
    assert (spool.event_count, spool.event_bytes) == (0, 0)
    spool.close()


@given(st.lists(st.one_of(st.none(), st.lists(st.binary(max_size=20), max_size=4)), max_size=20))
def test_a_spool_is_a_queue(actions: list[list[bytes] | None]) -> None:
    spool, model = Spool(None), list[bytes]()
    for action in actions:
        if action is not None:
            spool.add([Outgoing(0.0, body) for body in action])
            model += action
        elif events := spool.peek(2, PLENTY):
            assert [event.body for event in events] == model[:2]
            spool.remove(events[:1])
            model.pop(0)

    assert [event.body for event in spool.all()] == model
    assert (spool.event_count, spool.event_bytes) == (len(model), sum(map(len, model)))
    spool.close()


def test_peek_returns_as_many_events_as_fit_and_at_least_one(tmp_path: Path) -> None:
    spool = Spool(None)
    spool.add([Outgoing(0.0, b"x" * size) for size in (5, 1, 2, 3, 1)])

    def sizes(count: int, size_bytes: int) -> list[int]:
        return [len(event.body) for event in spool.peek(count, size_bytes)]

    assert (sizes(9, 4), sizes(9, 5), sizes(9, 8), sizes(9, 10), sizes(2, 10)) == (
        [5],
        [5],
        [5, 1, 2],
        [5, 1, 2],
        [5, 1],
    )
    spool.close()


def test_events_that_were_not_removed_are_there_after_closing_and_claiming_again(tmp_path: Path) -> None:
    first = Spool(Claim.create(tmp_path))
    first.add([outgoing(n) for n in range(3)])
    first.remove(first.peek(1, PLENTY))
    first.close()

    (claim,) = orphans(tmp_path)
    second = Spool(claim)

    assert (second.event_count, second.event_bytes) == (2, 2)
    assert delivered(second) == [b"1", b"2"]
    second.close()
    assert list(tmp_path.iterdir()) == []


def test_a_batch_is_added_completely_or_not_at_all(tmp_path: Path) -> None:
    spool = Spool(Claim.create(tmp_path))

    with pytest.raises(UnavailableError):
        spool.add([outgoing(0), Outgoing(None, b"1")])  # type: ignore[arg-type]

    assert spool.peek(1, PLENTY) == []
    assert spool.event_count == 0
    spool.close()


def test_an_emptied_large_spool_releases_its_disk_space(tmp_path: Path) -> None:
    claim = Claim.create(tmp_path)
    spool = Spool(claim)
    spool.add([outgoing(1, size=1 << 20) for _ in range(10)])
    with closing(sqlite3.connect(claim.path / "events.db")) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    large = (claim.path / "events.db").stat().st_size

    delivered(spool)
    spool.add([outgoing(2)])
    with closing(sqlite3.connect(claim.path / "events.db")) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    assert large > 10 << 20
    assert (claim.path / "events.db").stat().st_size < 1 << 20
    spool.close()


def test_a_claimed_directory_is_not_an_orphan_until_it_is_released(tmp_path: Path) -> None:
    claim = Claim.create(tmp_path)
    while_claimed = list(orphans(tmp_path))

    claim.release()
    (orphan,) = orphans(tmp_path)

    assert while_claimed == []
    assert orphan.path == claim.path
    orphan.remove()
    assert list(tmp_path.iterdir()) == []


def test_only_its_owner_can_read_a_claimed_directory(tmp_path: Path) -> None:
    claim = Claim.create(tmp_path)

    assert stat.S_IMODE(claim.path.stat().st_mode) == 0o700
    claim.remove()


def test_orphans_are_listed_oldest_first_and_other_entries_are_ignored(tmp_path: Path) -> None:
    claims = [Claim.create(tmp_path) for _ in range(5)]
    for claim in reversed(claims):
        claim.release()
    (tmp_path / "1-a-file").touch()
    (tmp_path / "2-no-lock").mkdir()
    (tmp_path / "lost+found").mkdir()

    listed = list(orphans(tmp_path))

    assert [claim.path for claim in listed] == [claim.path for claim in claims]
    for claim in listed:
        claim.release()


def test_an_orphan_that_cannot_be_claimed_does_not_hide_the_others(tmp_path: Path) -> None:
    claims = [Claim.create(tmp_path) for _ in range(3)]
    for claim in claims:
        claim.release()
    (claims[1].path / "lock").unlink()
    (claims[1].path / "lock").mkdir()
    listed: list[Claim] = []

    with pytest.raises(IsADirectoryError):
        listed += orphans(tmp_path)

    assert [claim.path for claim in listed] == [claims[0].path, claims[2].path]
    for claim in listed:
        claim.remove()


def test_what_a_process_left_that_was_killed_while_removing_its_directory_is_removed(tmp_path: Path) -> None:
    claim = Claim.create(tmp_path)
    claim.release()
    (claim.path / "lock").unlink()

    assert list(orphans(tmp_path)) == []

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("end", [Claim.release, Claim.remove, Claim.set_aside])
def test_a_claim_that_is_over_leaves_no_descriptor_open_and_its_process_closes_no_other_at_a_fork(
    end: Callable[[Claim], object], tmp_path: Path
) -> None:
    before = set(os.listdir("/proc/self/fd"))
    claim = Claim.create(tmp_path)
    end(claim)
    after = set(os.listdir("/proc/self/fd"))

    with (tmp_path / "of others").open("w") as others:  # it has the file descriptor that the lock had
        child = os.fork()
        if child == 0:
            with suppress(OSError):
                os.fstat(others.fileno())
                os._exit(0)
            os._exit(1)
        _, status = os.waitpid(child, 0)

    assert after == before
    assert status == 0


def test_a_directory_that_cannot_get_its_name_leaves_nothing_open(tmp_path: Path) -> None:
    if subprocess.run(["chattr", "+a", str(tmp_path)], capture_output=True).returncode != 0:
        pytest.skip("no folder can be made here in which nothing can be renamed")
    before = set(os.listdir("/proc/self/fd"))

    try:
        with pytest.raises(PermissionError):
            Claim.create(tmp_path)
        after = set(os.listdir("/proc/self/fd"))
    finally:
        subprocess.run(["chattr", "-a", str(tmp_path)], check=True)

    assert after == before


def test_a_spool_that_was_set_aside_is_not_an_orphan(tmp_path: Path) -> None:
    aside = Claim.create(tmp_path).set_aside()

    assert aside.is_dir()
    assert list(orphans(tmp_path)) == []


def test_a_missing_directory_has_no_orphans(tmp_path: Path) -> None:
    assert list(orphans(tmp_path / "missing")) == []


class Caller:
    """Creates an overflow, and counts its callbacks."""

    def __init__(self, directory: Path, max_bytes: int = 1 << 20) -> None:
        self.wakes = 0
        self.losses = 0
        self.overflow = Overflow(directory, max_bytes, self._wake, self._lose)

    def _wake(self) -> None:
        self.wakes += 1

    def _lose(self) -> None:
        self.losses += 1


def test_the_overflow_returns_its_events_and_leaves_no_file(tmp_path: Path) -> None:
    caller = Caller(tmp_path)
    for n in range(600):
        caller.overflow.append(outgoing(n))

    returned = [event for batch in caller.overflow.take() for event in batch.events]

    assert returned == [outgoing(n) for n in range(600)]
    assert (caller.wakes, caller.losses) == (1, 0)
    assert not caller.overflow.is_active
    caller.overflow.close()
    assert list(tmp_path.iterdir()) == []


def test_the_overflow_keeps_a_batch_on_disk_until_the_next_is_requested(tmp_path: Path) -> None:
    overflow = Caller(tmp_path).overflow
    overflow.append(outgoing(0))

    batches = overflow.take()
    assert next(batches).events == [outgoing(0)]
    during_batch = list(tmp_path.rglob("*.events"))
    assert next(batches, None) is None

    assert len(during_batch) == 1
    assert list(tmp_path.rglob("*.events")) == []
    overflow.close()


def test_an_event_written_over_several_lines_is_one_line_in_the_overflow(tmp_path: Path) -> None:
    overflow = Caller(tmp_path).overflow
    overflow.append(Outgoing(1.5, b'{\n  "n": 1\n}'))

    assert [batch.events for batch in overflow.take()] == [[Outgoing(1.5, b'{   "n": 1 }')]]
    overflow.close()


def test_the_overflow_has_a_size_limit(tmp_path: Path) -> None:
    caller = Caller(tmp_path, max_bytes=100)
    caller.overflow.append(outgoing(1, size=60))

    caller.overflow.append(outgoing(2, size=60))

    assert caller.losses == 1
    assert [batch.events for batch in caller.overflow.take()] == [[outgoing(1, size=60)]]
    caller.overflow.append(outgoing(3, size=60))
    assert [batch.events for batch in caller.overflow.take()] == [[outgoing(3, size=60)]]
    assert (caller.wakes, caller.losses) == (2, 1)
    caller.overflow.close()


def test_events_left_in_an_overflow_are_for_the_next_process(tmp_path: Path) -> None:
    for n in range(2):
        overflow = Caller(tmp_path).overflow
        overflow.append(outgoing(n))
        overflow.close()

    assert [batch.events for batch in left_behind(tmp_path)] == [[outgoing(0)], [outgoing(1)]]
    assert list(left_behind(tmp_path)) == []


def test_an_event_that_was_changed_on_disk_is_not_returned(tmp_path: Path) -> None:
    claim = Claim.create(tmp_path)
    spool = Spool(claim)
    spool.add([outgoing(1, size=100)])
    with closing(sqlite3.connect(claim.path / "events.db")) as disk:
        disk.execute("UPDATE event SET body = zeroblob(100)")
        disk.commit()

    with pytest.raises(DamagedSpoolError, match="changed"):
        spool.peek(1, PLENTY)

    spool.close()


def test_a_forked_child_does_not_hold_its_parents_spool(tmp_path: Path) -> None:
    spool = Spool(Claim.create(tmp_path))
    spool.add([outgoing(1)])
    pipe, forked = os.pipe(), os.pipe()
    if not (child := os.fork()):
        os.write(forked[1], b".")
        os.close(pipe[1])
        os.read(pipe[0], 1)
        os._exit(0)
    os.read(forked[0], 1)
    assert list(orphans(tmp_path)) == []

    spool.close()

    (claim,) = orphans(tmp_path)
    next_spool = Spool(claim)
    assert delivered(next_spool) == [b"1"]
    next_spool.close()
    os.close(pipe[1])
    os.waitpid(child, 0)
    for each in (pipe[0], *forked):
        os.close(each)


def test_a_child_forked_while_other_threads_use_spools_can_have_its_own() -> None:
    program = """
import os, threading
from headwater.emit.spool import Outgoing, Spool

def fill_and_close():
    while True:
        spool = Spool(None)
        spool.add([Outgoing(0.0, b"x" * 1000)] * 10)
        spool.close()

for _ in range(3):
    threading.Thread(target=fill_and_close, daemon=True).start()
for _ in range(30):
    if not (child := os.fork()):
        Spool(None).close()
        os._exit(0)
    os.waitpid(child, 0)
print("none hung")
"""
    # In its own session, so that a hanging child is killed with it.
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            output, _ = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            output = "hung"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    assert output == "none hung\n"
