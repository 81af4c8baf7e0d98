"""The SQLite store against the fold it must agree with."""

import random
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.errors import InvalidEventError, SetupError
from headwater.graph.fold import fold
from headwater.model.events import parse_event
from headwater.model.extract import facts
from headwater.store.entries import Entry, Stored, entry_of
from headwater.store.sqlite import SqliteStore
from headwater.store.writer import GroupCommit, Outcome
from tests.support.logs import RUN_IDS, logs


@contextmanager
def opened(path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(path)
    try:
        yield store
    finally:
        store.close()


def entry(raw: bytes) -> Entry:
    return entry_of(parse_event(raw), "unsigned", None, received_us=1)


def event(second: int = 0, run: int = 0) -> bytes:
    return (
        f'{{"eventType":"START","eventTime":"2026-05-22T14:23:{second:02d}Z","producer":"https://example.org",'
        f'"run":{{"runId":"{RUN_IDS[run]}"}},"job":{{"namespace":"etl","name":"load"}}}}'
    ).encode()


@given(logs, st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_the_store_keeps_the_facts_that_the_fold_keeps_for_any_order_and_batching(
    log: list[bytes], generator: random.Random
) -> None:
    shaken = log + [raw for raw in log if generator.random() < 0.3]
    generator.shuffle(shaken)

    with tempfile.TemporaryDirectory() as folder, opened(Path(folder) / "headwater.db") as store:
        while shaken:
            size = generator.randint(1, 5)
            store.add([entry(raw) for raw in shaken[:size]])
            shaken = shaken[size:]
        kept = {fact.key: fact for fact in store.facts()}

    assert kept == fold(fact for raw in log for fact in facts(parse_event(raw)))


def test_the_same_bytes_are_stored_once_also_within_one_group(tmp_path: Path) -> None:
    with opened(tmp_path / "headwater.db") as store:
        answers = store.add([entry(event()), entry(event()), entry(event(1))]) + store.add([entry(event())])

        assert [(answer.log_index, answer.is_new) for answer in answers] == [
            (0, True),
            (0, False),
            (1, True),
            (0, False),
        ]
        assert store.size() == 2


def test_raw_bytes_come_back_as_they_came(tmp_path: Path) -> None:
    raw = b"  " + event().replace(b'"START"', b'"\\u0053TART"') + b"\n"
    with opened(tmp_path / "headwater.db") as store:
        store.add([entry(raw)])

        assert store.raw(parse_event(raw).stamp.digest) == raw


def test_a_closed_store_opens_again_with_everything(tmp_path: Path) -> None:
    with opened(tmp_path / "headwater.db") as store:
        store.add([entry(event())])
    with opened(tmp_path / "headwater.db") as store:
        answers = store.add([entry(event(1))])

        assert answers[0].log_index == 1
        assert [logged.log_index for logged in store.run_events(RUN_IDS[0])] == [0, 1]


def test_facts_that_a_crash_took_are_folded_again_from_the_log(tmp_path: Path) -> None:
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    raws = [event(second, run) for second in range(3) for run in range(2)]
    with opened(tmp_path / "headwater.db") as store:
        store.add([entry(raw) for raw in raws])
        for file in tmp_path.glob("headwater.db*"):  # as they are on disk before the facts follow
            shutil.copy(file, crashed)
    with sqlite3.connect(crashed / "headwater.db") as database:
        assert database.execute("SELECT events, (SELECT count(*) FROM run_times) FROM folded").fetchone() == (0, 0)
    database.close()

    with opened(crashed / "headwater.db") as store:
        kept = {fact.key: fact for fact in store.facts()}

    assert kept == fold(fact for raw in raws for fact in facts(parse_event(raw)))


def test_a_second_process_on_one_database_is_told_so(tmp_path: Path) -> None:
    with opened(tmp_path / "headwater.db"), pytest.raises(SetupError, match=r"another process \(number \d+\) serves"):
        SqliteStore(tmp_path / "headwater.db")


def test_a_database_of_a_newer_shape_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "headwater.db"
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()

    with pytest.raises(SetupError, match="shape 99"):
        SqliteStore(path)


def test_a_file_that_is_no_database_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "headwater.db"
    path.write_bytes(b"no database at all" * 100)

    with pytest.raises(SetupError, match="is it a Headwater database"):
        SqliteStore(path)


def test_group_commit_answers_every_post_in_order(tmp_path: Path) -> None:
    delivered: list[tuple[int, Outcome]] = []
    with opened(tmp_path / "headwater.db") as store:
        writer = GroupCommit[int](store.add, store.catch_up, delivered.extend)
        for second in range(20):
            writer.submit(entry(event(second)), second)
        writer.close()

    assert [(ticket, outcome.log_index) for ticket, outcome in delivered if isinstance(outcome, Stored)] == [
        (number, number) for number in range(20)
    ]


def test_an_event_that_cannot_be_stored_does_not_take_its_group_with_it(tmp_path: Path) -> None:
    delivered: list[tuple[str, Outcome]] = []
    may_begin = threading.Event()
    with opened(tmp_path / "headwater.db") as store:

        def add(entries: Sequence[Entry]) -> list[Stored]:
            may_begin.wait(10)
            return store.add(entries)

        writer = GroupCommit[str](add, store.catch_up, delivered.extend)
        writer.submit(entry(event(0)), "first")  # the others gather behind it, into one group
        writer.submit(entry(event(1)), "whole")
        writer.submit(entry(event(2))._replace(verdict=None), "broken")  # type: ignore[arg-type]  the column is NOT NULL
        writer.submit(entry(event(3)), "whole too")
        may_begin.set()
        writer.close()

        assert store.size() == 3
    answers = dict(delivered)
    assert isinstance(answers["broken"], InvalidEventError)
    assert [isinstance(answers[ticket], Stored) for ticket in ("first", "whole", "whole too")] == [True, True, True]
