"""The backlog of one target, with spools on a real disk: order, limits, and what becomes of a damaged spool."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from headwater.emit.backlog import MAX_ADOPTED, MEMORY_MAX_BYTES, TOGETHER_MAX, Backlog
from headwater.emit.metrics import EmitMetrics
from headwater.emit.spool import Outgoing

PLENTY = 1 << 30


def events(first: int, last: int, size: int = 1) -> list[Outgoing]:
    return [Outgoing(float(n), b"%d" % n * size) for n in range(first, last + 1)]


def backlog_in(directory: Path | None, metrics: EmitMetrics | None = None, max_bytes: int = PLENTY) -> Backlog:
    return Backlog("http", directory, max_bytes, metrics or EmitMetrics())


def delivered(backlog: Backlog) -> list[int]:
    numbers = []
    while (waiting := backlog.peek()) is not None:
        numbers += [int(event.body) for event in waiting.events]
        backlog.remove(waiting)
    return numbers


def leave(directory: Path, waiting: Sequence[Outgoing]) -> None:
    """Leave a spool with these events, as an ended process does."""
    backlog = backlog_in(directory)
    backlog.add(waiting)
    backlog.close()


def change(directory: Path, *numbers: int) -> None:
    """Change the bodies of events in the directory's only spool, as a failing disk may."""
    (file,) = directory.glob("[0-9]*/events.db")
    with closing(sqlite3.connect(file)) as db:
        for number in numbers:
            db.execute("UPDATE event SET body = zeroblob(length(body)) WHERE put_at = ?", (number,))
        db.commit()


def folders(directory: Path) -> list[str]:
    return sorted(path.name.partition("-")[0] for path in directory.iterdir())


def test_events_of_ended_processes_go_first_the_oldest_process_first(tmp_path: Path) -> None:
    leave(tmp_path, events(0, 2))
    leave(tmp_path, events(3, 4))
    backlog = backlog_in(tmp_path)
    backlog.add(events(5, 6))

    assert not backlog.is_empty
    assert delivered(backlog) == [0, 1, 2, 3, 4, 5, 6]
    assert backlog.is_empty
    backlog.close()
    assert folders(tmp_path) == []


def test_all_spools_of_ended_processes_are_delivered_though_only_some_are_open_at_once(tmp_path: Path) -> None:
    for n in range(MAX_ADOPTED + 1):
        leave(tmp_path, events(n, n))
    backlog = backlog_in(tmp_path)

    backlog.adopt()
    adopted = len(backlog)

    assert (adopted, backlog.is_empty) == (MAX_ADOPTED, False)
    assert delivered(backlog) == [*range(MAX_ADOPTED + 1)]
    assert backlog.is_empty
    backlog.close()


def test_a_delivery_has_a_limited_number_of_events(tmp_path: Path) -> None:
    backlog = backlog_in(tmp_path)
    backlog.add(events(1, TOGETHER_MAX + 1))

    waiting = backlog.peek()

    assert waiting is not None
    assert len(waiting.events) == TOGETHER_MAX
    backlog.close()


def test_every_event_that_can_be_read_of_our_own_damaged_spool_is_delivered_at_once(tmp_path: Path) -> None:
    metrics = EmitMetrics()
    backlog = backlog_in(tmp_path, metrics)
    backlog.add(events(0, 99))
    change(tmp_path, 0, 50, 51)

    assert delivered(backlog) == [*range(1, 50), *range(52, 100)]
    assert metrics.stats().dropped == {"spool_damaged": 3}
    assert metrics.registry.get_sample_value("lineage_spools_set_aside_total") == 1
    assert backlog.is_empty
    backlog.close()
    assert folders(tmp_path) == ["damaged"]


def test_events_added_after_a_spool_was_damaged_come_after_those_that_could_be_read_of_it(tmp_path: Path) -> None:
    backlog = backlog_in(tmp_path)
    backlog.add(events(0, 9))
    change(tmp_path, 0)
    first = backlog.peek()
    backlog.add(events(10, 11))

    assert first is not None
    assert delivered(backlog) == [*range(1, 12)]
    backlog.close()


def test_events_that_were_delivered_before_the_damage_are_not_delivered_again(tmp_path: Path) -> None:
    metrics = EmitMetrics()
    backlog = backlog_in(tmp_path, metrics)
    backlog.add(events(0, 99))
    waiting = backlog.peek()
    assert waiting is not None
    backlog.remove(waiting)
    change(tmp_path, 99)

    assert delivered(backlog) == [*range(TOGETHER_MAX, 99)]
    assert metrics.stats().dropped == {"spool_damaged": 1}
    backlog.close()


def test_a_damaged_file_that_is_kept_takes_no_room_from_events(tmp_path: Path) -> None:
    backlog = backlog_in(tmp_path, max_bytes=4 << 20)
    backlog.add(events(0, 3, size=1 << 20))
    change(tmp_path, 0)
    while (waiting := backlog.peek()) is not None:
        backlog.remove(waiting)

    backlog.add(events(4, 7, size=1 << 20))

    assert "damaged" in folders(tmp_path)
    assert (len(backlog), backlog.is_safe) == (4, True)
    backlog.close()


def damage_the_table(directory: Path) -> None:
    (file,) = directory.glob("[0-9]*/events.db")
    with closing(sqlite3.connect(file)) as db:
        db.execute("ALTER TABLE event RENAME COLUMN put_at TO elsewhere")


def test_a_spool_that_turns_out_to_be_damaged_when_events_are_added_is_not_forgotten(tmp_path: Path) -> None:
    metrics = EmitMetrics()
    backlog = backlog_in(tmp_path, metrics)
    backlog.add(events(0, 9))
    damage_the_table(tmp_path)

    backlog.add(events(10, 10))

    assert not backlog.is_empty
    assert delivered(backlog) == [10]
    assert metrics.stats().dropped == {"spool_damaged": 10}
    backlog.close()


def test_events_that_no_longer_fit_into_a_damaged_spool_come_after_those_that_can_be_read_of_it(tmp_path: Path) -> None:
    backlog = backlog_in(tmp_path)
    backlog.add(events(0, 9))
    (file,) = tmp_path.glob("[0-9]*/events.db")
    with closing(sqlite3.connect(file)) as db:
        db.execute("CREATE TRIGGER broken BEFORE INSERT ON event BEGIN INSERT INTO missing VALUES (1); END")

    backlog.add(events(10, 11))

    assert delivered(backlog) == [*range(12)]
    backlog.close()


def test_what_can_be_read_of_an_ended_process_s_damaged_spool_still_goes_first(tmp_path: Path) -> None:
    for n in (0, 10):
        leave(tmp_path, events(n, n + 9))
    backlog = backlog_in(tmp_path)
    backlog.adopt()
    backlog.add(events(20, 29))
    for file in tmp_path.glob("[0-9]*/events.db"):
        with closing(sqlite3.connect(file)) as db:
            db.execute("UPDATE event SET body = zeroblob(2) WHERE put_at IN (0, 10)")
            db.commit()

    assert delivered(backlog) == [*range(1, 10), *range(11, 30)]
    assert folders(tmp_path).count("damaged") == 2
    backlog.close()


def test_a_damaged_spool_whose_events_were_not_saved_before_the_end_is_left_to_the_next_process(tmp_path: Path) -> None:
    metrics = EmitMetrics()
    backlog = backlog_in(tmp_path, metrics)
    backlog.add(events(0, 9))
    damage_the_table(tmp_path)
    backlog.add(events(10, 10))

    backlog.close()

    assert metrics.stats().dropped == {}
    next_backlog = backlog_in(tmp_path)
    assert delivered(next_backlog) == [10]
    next_backlog.close()
    assert folders(tmp_path) == ["damaged"]


@pytest.mark.parametrize("directory", ["spool", None])
def test_what_exceeds_the_limit_of_the_disk_waits_in_memory_and_what_exceeds_that_is_dropped(
    directory: str | None, tmp_path: Path
) -> None:
    metrics = EmitMetrics()
    backlog = backlog_in(tmp_path / directory if directory else None, metrics, max_bytes=10 << 20)
    fitting = MEMORY_MAX_BYTES + (10 << 20 if directory else 0) >> 20

    for n in range(1, 31):
        backlog.add([Outgoing(float(n), b"%d" % n + b" " * ((1 << 20) - len(str(n))))])

    assert len(backlog) == fitting
    assert metrics.stats().dropped == {"spool_full": 30 - fitting}
    assert not backlog.is_safe
    assert delivered(backlog) == [*range(1, fitting + 1)]
    assert backlog.is_safe
    backlog.close()


def test_all_spools_of_a_target_share_the_limit_of_the_disk(tmp_path: Path) -> None:
    leave(tmp_path, [Outgoing(1.0, b" " * (3 << 20))])
    backlog = backlog_in(tmp_path, max_bytes=4 << 20)

    backlog.add([Outgoing(2.0, b" " * (2 << 20))])
    fits_beside_it = backlog.is_safe
    backlog.adopt()
    adopted = backlog.peek()
    assert adopted is not None
    backlog.remove(adopted)
    backlog.flush_memory()

    assert not fits_beside_it
    assert backlog.is_safe
    backlog.close()


def test_events_after_the_end_are_dropped_and_counted(tmp_path: Path) -> None:
    metrics = EmitMetrics()
    backlog = backlog_in(tmp_path, metrics)
    backlog.close()

    backlog.add(events(1, 2))

    assert metrics.stats().dropped == {"closed": 2}
    assert len(backlog) == 0
