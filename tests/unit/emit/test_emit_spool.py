import os
import signal
import sqlite3
import stat
import subprocess
import sys
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


def test_events_come_out_in_the_order_they_went_in(tmp_path: Path) -> None:
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


def test_together_come_as_many_as_fit_and_one_at_least(tmp_path: Path) -> None:
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


def test_what_was_not_removed_is_there_after_closing_and_claiming_it_again(tmp_path: Path) -> None:
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


def test_a_batch_is_added_whole_or_not_at_all(tmp_path: Path) -> None:
    spool = Spool(Claim.create(tmp_path))

    with pytest.raises(UnavailableError):
        spool.add([outgoing(0), Outgoing(None, b"1")])  # type: ignore[arg-type]

    assert spool.peek(1, PLENTY) == []
    assert spool.event_count == 0
    spool.close()


def test_a_large_spool_that_was_emptied_gives_its_room_back(tmp_path: Path) -> None:
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


def test_a_claimed_directory_is_nobody_elses_until_it_is_released(tmp_path: Path) -> None:
    claim = Claim.create(tmp_path)
    while_claimed = list(orphans(tmp_path))

    claim.release()
    (found,) = orphans(tmp_path)

    assert while_claimed == []
    assert found.path == claim.path
    found.remove()
    assert list(tmp_path.iterdir()) == []


def test_only_its_owner_may_look_into_a_claimed_directory(tmp_path: Path) -> None:
    claim = Claim.create(tmp_path)

    assert stat.S_IMODE(claim.path.stat().st_mode) == 0o700
    claim.remove()


def test_orphans_come_oldest_first_and_strangers_are_let_be(tmp_path: Path) -> None:
    claims = [Claim.create(tmp_path) for _ in range(5)]
    for claim in reversed(claims):
        claim.release()
    (tmp_path / "1-a-file").touch()
    (tmp_path / "2-no-lock").mkdir()
    (tmp_path / "lost+found").mkdir()

    found = list(orphans(tmp_path))

    assert [claim.path for claim in found] == [claim.path for claim in claims]
    for claim in found:
        claim.release()


def test_what_was_set_aside_is_no_orphan(tmp_path: Path) -> None:
    aside = Claim.create(tmp_path).set_aside()

    assert aside.is_dir()
    assert list(orphans(tmp_path)) == []


def test_a_directory_that_nobody_made_has_no_orphans(tmp_path: Path) -> None:
    assert list(orphans(tmp_path / "missing")) == []


class Caller:
    """Makes an overflow, and counts what it calls back."""

    def __init__(self, directory: Path, max_bytes: int = 1 << 20) -> None:
        self.wakes = 0
        self.losses = 0
        self.overflow = Overflow(directory, max_bytes, self._wake, self._lose)

    def _wake(self) -> None:
        self.wakes += 1

    def _lose(self) -> None:
        self.losses += 1


def test_the_overflow_gives_back_what_ran_over_and_keeps_no_file(tmp_path: Path) -> None:
    caller = Caller(tmp_path)
    for n in range(600):
        caller.overflow.append(outgoing(n))

    taken = [event for batch in caller.overflow.take() for event in batch.events]

    assert taken == [outgoing(n) for n in range(600)]
    assert (caller.wakes, caller.losses) == (1, 0)
    assert not caller.overflow.is_active
    caller.overflow.close()
    assert list(tmp_path.iterdir()) == []


def test_the_overflow_keeps_a_batch_on_disk_until_the_next_is_asked_for(tmp_path: Path) -> None:
    overflow = Caller(tmp_path).overflow
    overflow.append(outgoing(0))

    batches = overflow.take()
    assert next(batches).events == [outgoing(0)]
    while_dealt_with = list(tmp_path.rglob("*.events"))
    assert next(batches, None) is None

    assert len(while_dealt_with) == 1
    assert list(tmp_path.rglob("*.events")) == []
    overflow.close()


def test_an_event_written_over_several_lines_is_one_line_in_the_overflow(tmp_path: Path) -> None:
    overflow = Caller(tmp_path).overflow
    overflow.append(Outgoing(1.5, b'{\n  "n": 1\n}'))

    assert [batch.events for batch in overflow.take()] == [[Outgoing(1.5, b'{   "n": 1 }')]]
    overflow.close()


def test_the_overflow_is_bounded(tmp_path: Path) -> None:
    caller = Caller(tmp_path, max_bytes=100)
    caller.overflow.append(outgoing(1, size=60))

    caller.overflow.append(outgoing(2, size=60))

    assert caller.losses == 1
    assert [batch.events for batch in caller.overflow.take()] == [[outgoing(1, size=60)]]
    caller.overflow.append(outgoing(3, size=60))
    assert [batch.events for batch in caller.overflow.take()] == [[outgoing(3, size=60)]]
    assert (caller.wakes, caller.losses) == (2, 1)
    caller.overflow.close()


def test_what_nobody_took_from_an_overflow_is_left_to_the_next_process(tmp_path: Path) -> None:
    for n in range(2):
        overflow = Caller(tmp_path).overflow
        overflow.append(outgoing(n))
        overflow.close()

    assert [batch.events for batch in left_behind(tmp_path)] == [[outgoing(0)], [outgoing(1)]]
    assert list(left_behind(tmp_path)) == []


def test_an_event_on_disk_that_was_changed_is_not_given_out(tmp_path: Path) -> None:
    claim = Claim.create(tmp_path)
    spool = Spool(claim)
    spool.add([outgoing(1, size=100)])
    with closing(sqlite3.connect(claim.path / "events.db")) as disk:
        disk.execute("UPDATE event SET body = zeroblob(100)")
        disk.commit()

    with pytest.raises(DamagedSpoolError, match="changed"):
        spool.peek(1, PLENTY)

    spool.close()


def test_what_a_process_leaves_is_not_held_by_its_forked_children(tmp_path: Path) -> None:
    spool = Spool(Claim.create(tmp_path))
    spool.add([outgoing(1)])
    holds, forked = os.pipe(), os.pipe()
    if not (child := os.fork()):
        os.write(forked[1], b".")
        os.close(holds[1])
        os.read(holds[0], 1)
        os._exit(0)
    os.read(forked[0], 1)
    assert list(orphans(tmp_path)) == []

    spool.close()

    (claim,) = orphans(tmp_path)
    left = Spool(claim)
    assert delivered(left) == [b"1"]
    left.close()
    os.close(holds[1])
    os.waitpid(child, 0)
    for each in (holds[0], *forked):
        os.close(each)


def test_a_child_may_have_spools_though_it_was_forked_while_other_threads_were_in_theirs() -> None:
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
    # In a session of its own: a child that hangs ends with it.
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            said, _ = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            said = "hung"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    assert said == "none hung\n"
