"""Old raw events move into segment files, from which the very same bytes come back."""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from headwater.errors import SetupError, UnavailableError
from headwater.model.events import parse_event
from headwater.store.copying import copy
from headwater.store.entries import Entry, entry_of
from headwater.store.erasing import Erasure, erase
from headwater.store.opening import open_store
from headwater.store.packing import packed
from headwater.store.retiring import retire
from headwater.store.segments import Segments
from headwater.store.store import Store
from tests.support.app import event, facet
from tests.support.disk import full_disk
from tests.support.postgres import Cluster

OLD_US = 1_000
EACH = 128
"""Events in a segment: fewer than in production."""
EVENTS = [
    json.dumps(event(run={"runId": f"run {number % 100}", "facets": {"n": facet(n=number)}})).encode()
    for number in range(3 * EACH)
]


ERASURE = Erasure(5, "run.facets.n", "asked for", "ann", "1", 7)


def entries(new: int = EACH // 2) -> Iterator[Entry]:
    """All events, of which the last `new` were received later than the others."""
    for number, raw in enumerate(EVENTS):
        yield entry_of(parse_event(raw), "unsigned", None, OLD_US if number < len(EVENTS) - new else 9_000)


@pytest.fixture
def segments(database: str | Path, tmp_path: Path) -> Path:
    return Path(f"{database}.segments") if isinstance(database, Path) else tmp_path / "segments"


@pytest.fixture
def store(database: str | Path, segments: Path) -> Iterator[Store]:
    with closing(open_store(database, segments)) as store:
        store.add(list(entries()))
        yield store


def test_a_file_that_is_not_a_segment_is_skipped_and_logged_once(
    store: Store, segments: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store.catch_up()
    retire(store, OLD_US + 1, each=EACH)
    (segment, *_) = sorted(segments.glob("*.segment"))
    shutil.copy(segment, segment.with_name(f"{segment.stem} (copy).segment"))
    shutil.copy(segment, segment.with_name("of-ours.segment"))

    ranges = [Segments(segments).ranges(), store.segments.ranges(), store.segments.ranges()][-1]

    assert ranges == [range(EACH), range(EACH, 2 * EACH)]
    assert [logged.raw for logged in store.logged(range(len(EVENTS)))] == EVENTS
    records = [record for record in caplog.records if "ignoring a file" in record.message]
    assert len(records) == 4  # each of the two files, once by each of the two readers


def test_events_received_while_the_clock_was_ahead_do_not_prevent_a_move(database: str | Path, segments: Path) -> None:
    ahead = {5, *range(EACH - 3, EACH + 30)}
    with closing(open_store(database, segments)) as store:
        store.add(
            [
                entry_of(parse_event(raw), "unsigned", None, 10**15 if number in ahead else OLD_US)
                for number, raw in enumerate(EVENTS)
            ]
        )
        store.catch_up()

        assert retire(store, OLD_US + 1, each=EACH) == len(EVENTS)


def in_database(store: Store) -> int:
    return sum(bool(frame) for (frame,) in store._rows("SELECT packed FROM log"))


def test_old_events_are_read_from_segments_unchanged(store: Store, segments: Path) -> None:
    before = list(store.logged(range(len(EVENTS)))), dict.fromkeys(store.facts())

    store.catch_up()
    moved = retire(store, OLD_US + 1, each=EACH)

    assert moved == 2 * EACH  # only full segments are written
    assert in_database(store) == EACH
    assert (list(store.logged(range(len(EVENTS)))), dict.fromkeys(store.facts())) == before
    digest = parse_event(EVENTS[5]).stamp.digest
    assert store.raw(digest) == EVENTS[5]
    assert [logged.raw for logged in store.run_events("run 99")] == EVENTS[99::100]
    assert sorted(path.name for path in segments.iterdir()) == [
        "000000000000-000000000128.segment",
        "000000000128-000000000256.segment",
    ]
    assert sum(path.stat().st_size for path in segments.iterdir()) < len(b"".join(EVENTS[: 2 * EACH])) / 5


def test_a_segment_ends_with_fewer_events_once_they_take_enough_bytes(store: Store, segments: Path) -> None:
    store.catch_up()
    enough = sum(map(len, EVENTS[:10]))

    moved = retire(store, OLD_US + 1, each=EACH, enough_bytes=enough)

    ranges = Segments(segments).ranges()
    assert ranges[0] == range(10)
    assert {len(indexes) for indexes in ranges} <= {9, 10, 11}
    assert [index for indexes in ranges for index in indexes] == list(range(moved))
    assert 2 * EACH < moved <= len(EVENTS) - EACH // 2
    assert in_database(store) == len(EVENTS) - moved
    assert [logged.raw for logged in store.logged(range(len(EVENTS)))] == EVENTS


def test_large_events_take_little_memory_to_be_written_and_read(tmp_path: Path) -> None:
    mega = 1 << 20
    raws = [os.urandom(mega // 2) for _ in range(40)]
    tracemalloc.start()

    Segments(tmp_path).write(0, raws)
    wrote = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    read = Segments(tmp_path).raw(39)
    took = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert read == raws[39]
    assert wrote < 8 * mega
    assert took < 4 * mega


def test_a_segment_whose_blocks_have_64_events_each_however_large_is_read(tmp_path: Path) -> None:
    raws = [b"%d" % number * 10_000 for number in range(150)]
    content, index = b"headwater segment 1\n", []
    for begin in range(0, 150, 64):
        frame = packed(b"".join(raws[begin : begin + 64]))
        index.append([len(content), len(frame), [len(raw) for raw in raws[begin : begin + 64]]])
        content += frame
    frame = packed(json.dumps(index).encode())
    content += frame + len(frame).to_bytes(8, "big")
    (tmp_path / "000000000007-000000000157.segment").write_bytes(content + hashlib.sha256(content).digest())

    assert [Segments(tmp_path).raw(7 + number) for number in range(150)] == raws


def test_rows_of_a_database_that_is_older_than_its_segments_are_emptied(store: Store) -> None:
    store.catch_up()
    older = list(store._rows("SELECT packed, idx FROM log"))
    retire(store, OLD_US + 1, each=EACH)
    for row in [*older[3:5], *older[EACH + 60 :]]:
        store._writer.execute("UPDATE log SET packed = ? WHERE idx = ?", row)

    moved = retire(store, OLD_US + 1, each=EACH)

    assert moved == 0
    assert in_database(store) == EACH
    assert [logged.raw for logged in store.logged(range(len(EVENTS)))] == EVENTS


def test_swapped_segments_are_read_as_soon_as_they_are_swapped_back(store: Store, segments: Path) -> None:
    store.catch_up()
    retire(store, OLD_US + 1, each=EACH)
    one, other = sorted(segments.iterdir())

    def swap() -> None:
        one.rename(segments / "meanwhile")
        other.rename(one)
        (segments / "meanwhile").rename(other)

    swap()
    with pytest.raises(UnavailableError, match="different bytes than were logged"):
        store.at([5])
    swap()

    assert store.at([5])[5].raw == EVENTS[5]


def test_events_that_are_stored_or_new_stay_where_they_are(store: Store) -> None:
    store.catch_up()
    retire(store, OLD_US + 1, each=EACH)

    again = store.add(list(entries())[:3])

    assert [(answer.log_index, answer.is_new) for answer in again] == [(0, False), (1, False), (2, False)]
    assert retire(store, OLD_US + 1, each=EACH) == 0
    assert retire(store, 10_000, each=EACH) == EACH


def test_events_whose_facts_are_pending_stay_in_the_database(store: Store) -> None:
    assert retire(store, OLD_US + 1, each=EACH) == 0


def test_a_store_with_segments_opens_again_and_is_copied_completely(
    database: str | Path, segments: Path, tmp_path: Path
) -> None:
    with closing(open_store(database, segments)) as store:
        store.add(list(entries()))
        store.catch_up()
        retire(store, OLD_US + 1, each=EACH)

    with closing(open_store(database, segments)) as source, closing(open_store(tmp_path / "copy.db")) as target:
        result = copy(source, target, lambda *_: None)

        assert result.is_same
        assert [logged.raw for logged in target.logged(range(len(EVENTS)))] == EVENTS


def test_a_move_interrupted_between_file_and_database_is_completed_by_the_next(store: Store, segments: Path) -> None:
    store.catch_up()
    Segments(segments).write(0, EVENTS[:EACH])  # the first step alone
    (segments / ".writing-x").write_bytes(b"half")  # and half of another

    moved = retire(store, OLD_US + 1, each=EACH)

    assert moved == EACH
    assert in_database(store) == EACH
    assert [logged.raw for logged in store.logged(range(len(EVENTS)))] == EVENTS


def test_segments_of_another_log_remove_nothing_from_this_one(store: Store, segments: Path) -> None:
    store.catch_up()
    Segments(segments).write(0, EVENTS[1 : EACH + 1])

    with pytest.raises(UnavailableError, match="to another log"):
        retire(store, OLD_US + 1, each=EACH)

    assert in_database(store) == len(EVENTS)


@pytest.mark.parametrize("damage", ["one byte", "cut short", "gone"])
def test_a_damaged_segment_is_reported_and_never_served(store: Store, segments: Path, damage: str) -> None:
    store.catch_up()
    retire(store, OLD_US + 1, each=EACH)
    path = min(segments.iterdir())
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    match damage:
        case "one byte":
            path.write_bytes(content)
        case "cut short":
            path.write_bytes(content[:-10])
        case _:
            path.unlink()
    digest = parse_event(EVENTS[5]).stamp.digest

    with pytest.raises(UnavailableError, match="segment"):
        store.raw(digest)

    assert store.raw(parse_event(EVENTS[-1]).stamp.digest) == EVENTS[-1]


def test_a_facet_is_erased_from_its_segment_too(store: Store, segments: Path) -> None:
    store.catch_up()
    retire(store, OLD_US + 1, each=EACH)

    erase(store, ERASURE)

    assert b'{"n": {"_deleted":true}}' in Segments(segments).raw(5)
    assert Segments(segments).raw(5) == store.at([5])[5].raw


def test_a_facet_is_not_erased_where_its_segment_cannot_be_written(cluster: Cluster, tmp_path: Path) -> None:
    with closing(open_store(cluster.new_database(), tmp_path / "segments")) as store:
        store.add(list(entries()))
        store.catch_up()
        retire(store, OLD_US + 1, each=EACH)

        with full_disk(), pytest.raises(UnavailableError, match="cannot write a segment"):
            erase(store, ERASURE)

        assert [logged.raw for logged in store.logged(range(store.size()))] == EVENTS
        erase(store, ERASURE)
        assert Segments(tmp_path / "segments").raw(5) == store.at([5])[5].raw != EVENTS[5]


def erase_killed(database: str | Path, segments: Path, erasure: Erasure, at: tuple[str, str, int]) -> None:
    """Begin an erasure in a process that is killed at the nth call of a function, or return from it."""
    when, function, count = at
    code = (
        "import os, sys; from pathlib import Path\n"
        "from headwater.store.erasing import Erasure, erase; from headwater.store.opening import open_store\n"
        f"store, left = open_store({str(database)!r}, Path({str(segments)!r})), {count}\n"
        "def look(frame, event, _):\n"
        "    global left\n"
        f"    if event == {when!r} and frame.f_code.co_name == {function!r}:\n"
        "        left -= 1\n"
        "        left or os.kill(os.getpid(), 9)\n"
        f"sys.setprofile(look); erase(store, {erasure!r})"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL


def retired(database: str | Path, segments: Path) -> None:
    """Store all events, and move two segments of them out of the database."""
    with closing(open_store(database, segments)) as store:
        store.add(list(entries()))
        store.catch_up()
        retire(store, OLD_US + 1, each=EACH)


@pytest.mark.parametrize("place", [5, EACH + 5])
def test_an_erasure_interrupted_between_segment_and_database_has_no_effect(
    database: str | Path, segments: Path, place: int
) -> None:
    retired(database, segments)
    erasure = ERASURE._replace(log_index=place)
    erase_killed(database, segments, erasure, ("return", "write_whole", 1))
    assert b"_deleted" in Segments(segments).raw(place)

    with closing(open_store(database, segments)) as store:
        assert [logged.raw for logged in store.logged(range(store.size()))] == EVENTS
        assert retire(store, 10_000, each=EACH) == EACH
        assert [logged.raw for logged in store.logged(range(store.size()))] == EVENTS

        erase(store, erasure)

        assert store.at([place])[place].raw == Segments(segments).raw(place) != EVENTS[place]
        assert store.size() == len(EVENTS) + 1


def test_an_erasure_restores_the_segment_of_an_earlier_interrupted_one(database: str | Path, segments: Path) -> None:
    retired(database, segments)
    erase_killed(database, segments, ERASURE, ("return", "write_whole", 1))

    with closing(open_store(database, segments)) as store:
        erase(store, ERASURE._replace(log_index=6))

    assert Segments(segments).raw(5) == EVENTS[5]
    assert b"_deleted" in Segments(segments).raw(6)


def test_an_erased_facet_is_in_no_file_after_a_kill(tmp_path: Path) -> None:
    database, segments = tmp_path / "headwater.db", tmp_path / "headwater.db.segments"
    retired(database, segments)
    half = segments / ".writing-x"
    half.write_bytes(EVENTS[5])  # left by a killed process
    frame = packed(EVENTS[5])
    erase_killed(database, segments, ERASURE, ("call", "forget_freed", 2))  # committed, with the old bytes in its files
    assert frame in b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())

    with closing(open_store(database)) as store:
        assert frame not in b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
        assert b"_deleted" in store.at([5])[5].raw
    assert not half.exists()


def test_a_store_without_a_folder_for_segments_moves_nothing(cluster: Cluster, tmp_path: Path) -> None:
    with (
        closing(open_store(cluster.new_database())) as store,
        pytest.raises(SetupError, match="segment folder is unknown"),
    ):
        retire(store, 1)


def test_nothing_is_lost_when_the_process_is_killed_while_it_moves(database: str | Path, segments: Path) -> None:
    with closing(open_store(database, segments)) as store:
        store.add(list(entries(new=0)))
        store.catch_up()
    code = (
        "import sys; from pathlib import Path; from headwater.store.opening import open_store\n"
        "from headwater.store.retiring import retire\n"
        f"where = {str(database)!r}; store = open_store(where, Path({str(segments)!r}))\n"
        f"print('ready', flush=True); retire(store, {OLD_US + 1}, each={EACH})"
    )
    generator = random.Random()  # noqa: S311  any instants will do
    for _ in range(3):
        mover = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        assert mover.stdout is not None
        assert mover.stdout.readline() == b"ready\n"
        time.sleep(generator.uniform(0, 0.05))
        os.kill(mover.pid, signal.SIGKILL)
        mover.wait()
        mover.stdout.close()

    with closing(open_store(database, segments)) as store:
        assert [logged.raw for logged in store.logged(range(len(EVENTS)))] == EVENTS
        retire(store, OLD_US + 1, each=EACH)
        assert in_database(store) == 0
        assert [logged.raw for logged in store.logged(range(len(EVENTS)))] == EVENTS
