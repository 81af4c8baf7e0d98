"""The file that the queue runs over into."""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from headwater.emit.overflow import BATCH, Batch, Overflow, left_behind
from headwater.emit.spool import Outgoing

EVENTS = [Outgoing(float(n), b'{"n":%d}' % n) for n in range(3 * BATCH)]
"""Three batches."""


def signed(batch: Batch, by: str) -> list[Outgoing]:
    """The events as they go out."""
    if batch.is_signed:
        return [*batch.events]
    return [Outgoing(event.put_at, event.body.replace(b"}", b',"by":"%b"}' % by.encode())) for event in batch.events]


def passed_on(batches: Iterable[Batch], by: str) -> list[Outgoing]:
    """What goes out, if all of it is signed, kept and passed on."""
    out: list[Outgoing] = []
    for batch in batches:
        events = signed(batch, by)
        batch.keep(events)
        out += events
    return out


def run_over(directory: Path) -> Overflow:
    overflow = Overflow(directory, 1 << 20, wake=lambda: None, lose=lambda: None)
    for event in EVENTS:
        overflow.append(event)
    return overflow


@pytest.mark.parametrize("batches_passed_on", [0, 1, 2])
def test_what_was_signed_before_a_kill_goes_out_as_the_same_bytes(tmp_path: Path, batches_passed_on: int) -> None:
    overflow = run_over(tmp_path)
    batches = overflow.take()
    before = [event for _ in range(batches_passed_on) for event in passed_on([next(batches)], "first")]
    batch = next(batches)
    batch.keep(signed(batch, "first"))  # and whether it was passed on nobody knows
    overflow.close()

    after = passed_on(left_behind(tmp_path), "second")

    assert [event.body for event in before] == [b'{"n":%d,"by":"first"}' % n for n in range(batches_passed_on * BATCH)]
    end = (batches_passed_on + 1) * BATCH
    assert [event.body for event in after] == [
        b'{"n":%d,"by":"%b"}' % (n, b"first" if n < end else b"second")
        for n in range(batches_passed_on * BATCH, 3 * BATCH)
    ]
    assert list(tmp_path.iterdir()) == []


def test_what_was_passed_on_does_not_go_out_again_after_a_kill_in_the_next_batch(tmp_path: Path) -> None:
    overflow = run_over(tmp_path)
    batches = overflow.take()
    out = passed_on([next(batches)], "first")
    next(batches)
    overflow.close()

    for by in ("second", "third"):
        left = left_behind(tmp_path)
        out += passed_on([next(left)], by)
        if by == "second":
            next(left)
        else:
            assert list(left) == []
        left.close()

    assert [event.put_at for event in out] == [event.put_at for event in EVENTS]


def test_a_mark_that_a_power_cut_took_has_the_whole_file_go_out(tmp_path: Path) -> None:
    overflow = run_over(tmp_path)
    batches = overflow.take()
    passed_on([next(batches)], "first")
    overflow.close()
    (mark,) = tmp_path.rglob("*.signed")
    mark.write_bytes(b"")

    assert len(passed_on(left_behind(tmp_path), "second")) == len(EVENTS)


def test_a_disk_that_keeps_no_mark_says_so_and_the_events_go_on(tmp_path: Path) -> None:
    overflow = run_over(tmp_path)
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


def test_what_the_disk_did_not_give_back_stays_though_what_came_later_was_worked_off(tmp_path: Path) -> None:
    overflow = run_over(tmp_path)
    batches = overflow.take()
    out = passed_on([next(batches)], "first")
    (mark,) = tmp_path.rglob("*.signed")
    mark.rename(mark.with_suffix(".away"))
    with pytest.raises(OSError, match="No such file"):
        next(batches)
    mark.with_suffix(".away").rename(mark)
    overflow.append(Outgoing(7_000.0, b"{}"))
    later = passed_on(overflow.take(), "first")
    overflow.close()

    out += passed_on(left_behind(tmp_path), "second")

    assert [event.put_at for event in later] == [7_000.0]
    assert [*dict.fromkeys(event.put_at for event in out)] == [event.put_at for event in EVENTS]


def test_who_looks_in_after_it_was_closed_finds_nothing_and_closes_no_file_of_others(tmp_path: Path) -> None:
    overflow = Overflow(tmp_path / "overflow", 1 << 20, wake=lambda: None, lose=lambda: None)
    overflow.append(Outgoing(1.0, b"{}"))
    overflow.close()
    with (tmp_path / "of others").open("wb") as others:  # it has the number that the overflow's had
        taken = list(overflow.take())

        assert os.fstat(others.fileno()).st_size == 0
    assert taken == []
    assert [batch.events for batch in left_behind(tmp_path / "overflow")] == [[Outgoing(1.0, b"{}")]]
