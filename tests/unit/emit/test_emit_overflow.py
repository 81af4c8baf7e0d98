"""The file that takes the events for which the queue is full."""

import errno
import io
import os
from collections.abc import Iterable
from itertools import islice, pairwise
from pathlib import Path

import pytest

from headwater.emit.intake import Intake
from headwater.emit.lines import SECTOR_BYTES
from headwater.emit.metrics import EmitMetrics
from headwater.emit.overflow import BATCH, Batch, Overflow, left_behind
from headwater.emit.spool import Outgoing

EVENTS = [Outgoing(float(n), b'{"n":%d}' % n) for n in range(3 * BATCH)]
"""Three batches."""


def signed(batch: Batch, signer: str) -> list[Outgoing]:
    """The events as they are sent."""
    if batch.is_signed:
        return [*batch.events]
    return [
        Outgoing(event.put_at, event.body.replace(b"}", b',"by":"%b"}' % signer.encode())) for event in batch.events
    ]


def passed_on(batches: Iterable[Batch], signer: str) -> list[Outgoing]:
    """The events that are sent if all are signed, saved and passed on."""
    sent: list[Outgoing] = []
    for batch in batches:
        events = signed(batch, signer)
        batch.keep(events)
        sent += events
    return sent


def filled_overflow(directory: Path) -> Overflow:
    overflow = Overflow(directory, 1 << 20, wake=lambda: None, lose=lambda: None)
    for event in EVENTS:
        overflow.append(event)
    return overflow


@pytest.mark.parametrize("batches_passed_on", [0, 1, 2])
def test_events_signed_before_a_kill_are_sent_as_the_same_bytes(tmp_path: Path, batches_passed_on: int) -> None:
    overflow = filled_overflow(tmp_path)
    batches = overflow.take()
    before = [event for _ in range(batches_passed_on) for event in passed_on([next(batches)], "first")]
    batch = next(batches)
    batch.keep(signed(batch, "first"))  # and it is unknown whether it was passed on
    overflow.close()

    after = passed_on(left_behind(tmp_path), "second")

    assert [event.body for event in before] == [b'{"n":%d,"by":"first"}' % n for n in range(batches_passed_on * BATCH)]
    end = (batches_passed_on + 1) * BATCH
    assert [event.body for event in after] == [
        b'{"n":%d,"by":"%b"}' % (n, b"first" if n < end else b"second")
        for n in range(batches_passed_on * BATCH, 3 * BATCH)
    ]
    assert list(tmp_path.iterdir()) == []


def test_passed_on_events_are_not_sent_again_after_a_kill_in_the_next_batch(tmp_path: Path) -> None:
    overflow = filled_overflow(tmp_path)
    batches = overflow.take()
    sent = passed_on([next(batches)], "first")
    next(batches)
    overflow.close()

    for signer in ("second", "third"):
        leftover = left_behind(tmp_path)
        sent += passed_on([next(leftover)], signer)
        if signer == "second":
            next(leftover)
        else:
            assert list(leftover) == []
        leftover.close()

    assert [event.put_at for event in sent] == [event.put_at for event in EVENTS]


def test_if_a_power_cut_destroyed_the_mark_the_whole_file_is_sent(tmp_path: Path) -> None:
    overflow = filled_overflow(tmp_path)
    batches = overflow.take()
    passed_on([next(batches)], "first")
    overflow.close()
    (mark,) = tmp_path.rglob("*.signed")
    mark.write_bytes(b"")

    assert len(passed_on(left_behind(tmp_path), "second")) == len(EVENTS)


def test_if_the_disk_does_not_return_the_mark_the_whole_file_is_sent(tmp_path: Path) -> None:
    overflow = filled_overflow(tmp_path)
    passed_on([next(overflow.take())], "first")
    overflow.close()
    (mark,) = tmp_path.rglob("*.signed")
    mark.unlink()
    mark.symlink_to("/proc/self/mem")  # whose first bytes the kernel refuses as a disk does: EIO

    sent = passed_on(left_behind(tmp_path), "second")

    assert [event.put_at for event in sent] == [event.put_at for event in EVENTS]
    assert list(tmp_path.iterdir()) == []


def test_a_mark_that_cannot_be_written_raises_and_the_events_are_still_sent(tmp_path: Path) -> None:
    overflow = filled_overflow(tmp_path)
    batches = overflow.take()
    batch = next(batches)
    (path,) = tmp_path.rglob("*.events")
    path.with_suffix(".new").mkdir()

    with pytest.raises(OSError, match="directory"):
        batch.keep(signed(batch, "first"))
    path.with_suffix(".new").rmdir()

    assert len(passed_on(batches, "first")) == 2 * BATCH
    overflow.close()
    assert list(tmp_path.iterdir()) == []


def test_events_that_the_disk_could_not_read_remain_after_later_ones_are_sent(tmp_path: Path) -> None:
    overflow = filled_overflow(tmp_path)
    batches = overflow.take()
    sent = passed_on([next(batches)], "first")
    (mark,) = tmp_path.rglob("*.signed")
    mark.rename(mark.with_suffix(".away"))
    with pytest.raises(OSError, match="No such file"):
        next(batches)
    mark.with_suffix(".away").rename(mark)
    overflow.append(Outgoing(7_000.0, b"{}"))
    later = passed_on(overflow.take(), "first")
    overflow.close()

    sent += passed_on(left_behind(tmp_path), "second")

    assert [event.put_at for event in later] == [7_000.0]
    assert [*dict.fromkeys(event.put_at for event in sent)] == [event.put_at for event in EVENTS]


def test_an_overflow_that_the_disk_cannot_read_does_not_hold_up_those_of_other_processes(tmp_path: Path) -> None:
    for n in range(3):
        overflow = Overflow(tmp_path, 1 << 20, wake=lambda: None, lose=lambda: None)
        overflow.append(Outgoing(float(n), b"{}"))
        overflow.close()
    unreadable = sorted(tmp_path.rglob("*.events"))[1]
    unreadable.rename(unreadable.with_suffix(".away"))
    unreadable.mkdir()
    sent: list[Outgoing] = []

    with pytest.raises(OSError, match="directory"):
        sent += (event for batch in left_behind(tmp_path) for event in batch.events)

    unreadable.rmdir()
    unreadable.with_suffix(".away").rename(unreadable)
    later = passed_on(left_behind(tmp_path), "second")
    assert [event.put_at for event in sent] == [0.0, 2.0]
    assert [event.put_at for event in later] == [1.0]


class BadDisk(io.FileIO):
    """A file of which the disk does not return some sectors."""

    bad: frozenset[int] = frozenset()

    def read(self, size: int | None = -1, /) -> bytes:
        """Read, within one sector."""
        if self.tell() // SECTOR_BYTES in self.bad:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return super().read(-1 if size is None else size)


@pytest.mark.parametrize("bad", [{0}, {1}, {1, 3}, {2, 3}])
def test_what_the_disk_returns_around_a_bad_sector_is_sent_in_order_and_once(bad: set[int], tmp_path: Path) -> None:
    overflow = Overflow(tmp_path, 1 << 20, wake=lambda: None, lose=lambda: None)
    for number in range(3 * BATCH):
        overflow.append(Outgoing(float(number), b'{"pad":"%b"}' % (b"x" * (number % 90))))
    overflow.close()
    (path,) = tmp_path.rglob("*.events")
    content = path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(content) if byte == ord("\n")]
    whole = [
        float(number)
        for number, (begin, end) in enumerate(pairwise([0, *ends]))
        if not any(begin < (sector + 1) * SECTOR_BYTES and end > sector * SECTOR_BYTES for sector in bad)
    ]
    disk = type("Disk", (BadDisk,), {"bad": frozenset(bad)})

    sent: list[float] = []
    for _ in range(2):  # each process is killed while it passes on its second batch
        batches = left_behind(tmp_path, disk)
        for batch in islice(batches, 2):
            batch.keep(batch.events)
            sent += (event.put_at for event in batch.events if event.body)
        batches.close()
    sent += (event.put_at for event in passed_on(left_behind(tmp_path, disk), "last") if event.body.startswith(b"{"))

    assert [*dict.fromkeys(sent)] == whole
    assert [each.name[:8] for each in tmp_path.iterdir()] == ["damaged-"]
    assert [each.read_bytes() for each in tmp_path.rglob("*.damaged")] == [content]


def test_an_overflow_of_which_the_disk_returns_nothing_more_is_left_to_the_next_process(tmp_path: Path) -> None:
    overflow = filled_overflow(tmp_path)
    overflow.close()
    disk = type("Disk", (BadDisk,), {"bad": frozenset(range(1, 100))})
    sent: list[Outgoing] = []

    with pytest.raises(OSError, match="Input/output"):
        sent += (event for batch in left_behind(tmp_path, disk) for event in batch.events)
    later = passed_on(left_behind(tmp_path), "second")

    assert 0 < len(sent) < len(EVENTS)
    assert [*dict.fromkeys(event.put_at for event in [*sent, *later])] == [event.put_at for event in EVENTS]
    assert list(tmp_path.iterdir()) == []


def test_the_files_of_one_process_are_sent_in_the_order_in_which_they_were_written(tmp_path: Path) -> None:
    overflow = Overflow(tmp_path, 1 << 20, wake=lambda: None, lose=lambda: None)
    for n in range(12):
        overflow.append(Outgoing(float(n), b"{}"))
        next(overflow.take())  # and it is never passed on
    overflow.close()

    sent = passed_on(left_behind(tmp_path), "second")

    assert [event.put_at for event in sent] == [float(n) for n in range(12)]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".events", ".signed"])
def test_an_event_that_was_cut_short_is_not_sent(suffix: str, tmp_path: Path) -> None:
    overflow = filled_overflow(tmp_path)
    batch = next(overflow.take())
    batch.keep(signed(batch, "first"))
    overflow.close()
    (path,) = tmp_path.rglob(f"*{suffix}")
    path.write_bytes(path.read_bytes() + b'7000.0 {"n":7')

    sent = passed_on(left_behind(tmp_path), "second")

    assert [event.put_at for event in sent] == [event.put_at for event in EVENTS]


def test_an_event_beyond_the_limit_is_lost_alone_and_the_worker_is_woken_once_for_those_that_wait(
    tmp_path: Path,
) -> None:
    calls: list[str] = []
    size = len(b"1.0 {}\n")
    overflow = Overflow(tmp_path, 3 * size, wake=lambda: calls.append("wake"), lose=lambda: calls.append("lose"))

    for body in (b"{}", b"{}", b'{"too":"large"}', b"{}", b"{}"):
        overflow.append(Outgoing(1.0, body))
    first = passed_on(overflow.take(), "by")
    overflow.append(Outgoing(2.0, b"{}"))
    second = passed_on(overflow.take(), "by")

    assert calls == ["wake", "lose", "lose", "wake"]
    assert ([event.put_at for event in first], [event.put_at for event in second]) == ([1.0] * 3, [2.0])
    overflow.close()


def test_taking_from_a_closed_overflow_gives_nothing_and_closes_no_other_file(tmp_path: Path) -> None:
    overflow = Overflow(tmp_path / "overflow", 1 << 20, wake=lambda: None, lose=lambda: None)
    overflow.append(Outgoing(1.0, b"{}"))
    overflow.close()
    with (tmp_path / "of others").open("wb") as others:  # it has the file descriptor that the overflow had
        batches = list(overflow.take())

        assert os.fstat(others.fileno()).st_size == 0
    assert batches == []
    assert [batch.events for batch in left_behind(tmp_path / "overflow")] == [[Outgoing(1.0, b"{}")]]


def opened_intake(directory: Path, max_bytes: int = 1 << 20) -> tuple[Intake, EmitMetrics]:
    """An intake with room for four events in memory, and where it counts its losses."""
    metrics = EmitMetrics()
    return Intake(4, directory, max_bytes, metrics), metrics


def left_to_the_next(directory: Path) -> list[Outgoing]:
    return [event for batch in left_behind(directory) for event in batch.events]


def test_events_queued_before_those_of_the_overflow_are_left_before_them(tmp_path: Path) -> None:
    intake, metrics = opened_intake(tmp_path)
    for event in EVENTS[:10]:
        intake.put(event)

    intake.stop()
    intake.close()

    assert left_to_the_next(tmp_path) == EVENTS[:10]
    assert metrics.stats().dropped == {}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("takes", [1, 2])
def test_events_queued_between_two_overflows_are_left_between_them(tmp_path: Path, takes: int) -> None:
    intake, metrics = opened_intake(tmp_path)
    batches = intake.batches()
    put = iter(EVENTS)

    def put_until(end: int) -> None:
        for event in put:
            intake.put(event)
            if event == EVENTS[end - 1]:
                return

    sent: list[Outgoing] = []
    end = 0
    for _ in range(takes):
        put_until(end + 10)
        sent += next(batches).events
        assert intake.may_pass_on()
        end += 10
        in_hand = next(batches).events  # of the overflow, which takes no more
        assert intake.may_pass_on()
        sent += in_hand
    put_until(end + 10)

    intake.stop()
    intake.close()

    assert sent == EVENTS[:end]
    assert left_to_the_next(tmp_path) == EVENTS[end - len(in_hand) : end + 10]
    assert metrics.stats().dropped == {}
    assert list(tmp_path.iterdir()) == []


def test_queued_events_for_which_the_disk_has_no_room_are_counted_when_it_closes(tmp_path: Path) -> None:
    intake, metrics = opened_intake(tmp_path, max_bytes=1)
    for event in EVENTS[:3]:
        intake.put(event)

    intake.stop()
    intake.close()

    assert metrics.stats().dropped == {"queue_full": 3}
    assert list(tmp_path.iterdir()) == []


def test_an_overflow_that_fills_up_while_the_worker_looks_for_events_does_not_overtake_the_queue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    intake, _ = opened_intake(tmp_path)
    queue = intake._queue
    waiting = [*EVENTS[1:11]]

    def fill_up() -> None:
        if sent:
            while waiting:
                intake.put(waiting.pop(0))

    class BusyQueue:
        """The queue, which fills up right after the worker found it empty."""

        def __getattr__(self, name: str) -> object:
            return getattr(queue, name)

        def empty(self) -> bool:
            was_empty = queue.empty()
            fill_up()
            return was_empty

    monkeypatch.setattr(intake, "_queue", BusyQueue())
    sent: list[Outgoing] = []
    intake.put(EVENTS[0])
    batches = intake.batches(fill_up)
    while len(sent) < 11:
        sent += next(batches).events

    assert sent == EVENTS[:11]
