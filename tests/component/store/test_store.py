"""What every store keeps, compared with the fold, with which it must agree."""

import json
import os
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.errors import InvalidEventError
from headwater.graph.fold import fold
from headwater.model.events import parse_event
from headwater.model.extract import facts
from headwater.model.names import DatasetId
from headwater.store.entries import Entry, Stored, entry_of
from headwater.store.opening import open_store
from headwater.store.store import Store
from headwater.store.tables import TABLES, THEMSELVES
from headwater.store.writer import Outcome, WriterThread
from tests.support.app import dataset, facet
from tests.support.app import event as app_event
from tests.support.logs import RUN_IDS, events
from tests.support.postgres import Cluster
from tests.support.service import eventually
from tests.support.stores import empty_stores

LOGS = int(os.environ.get("HEADWATER_LOGS", "1000"))
"""How many generated logs the stores are compared with the fold on."""
LOGS_OF_A_POOL = 5
"""How many logs are made of the same events: generating events takes longer than storing them."""


def entry(raw: bytes, key_id: str | None = None) -> Entry:
    return entry_of(parse_event(raw), "unsigned", key_id, received_us=1)


def event(second: int = 0, run: int = 0) -> bytes:
    return (
        f'{{"eventType":"START","eventTime":"2026-05-22T14:23:{second:02d}Z","producer":"https://example.org",'
        f'"run":{{"runId":"{RUN_IDS[run]}"}},"job":{{"namespace":"etl","name":"load"}}}}'
    ).encode()


@pytest.fixture(scope="module")
def stores(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Store, Store]]:
    """A SQLite store, and two stores on one PostgreSQL database, as of two services."""
    url = cluster.new_database()
    file = tmp_path_factory.mktemp("store") / "headwater.db"
    with closing(open_store(file)) as sqlite, closing(open_store(url)) as first, closing(open_store(url)) as second:
        yield sqlite, first, second


@given(st.lists(events, min_size=5, max_size=14), st.randoms(use_true_random=False))
@settings(max_examples=LOGS // LOGS_OF_A_POOL)
def test_each_store_keeps_the_facts_that_the_fold_keeps_for_any_order_repetition_and_batching(
    stores: tuple[Store, Store, Store], pool: list[bytes], generator: random.Random
) -> None:
    for _ in range(LOGS_OF_A_POOL):
        log = generator.choices(pool, k=generator.randint(1, 2 * len(pool)))  # in any order, some more than once

        empty_stores(*stores)
        store_in_batches(log, stores, generator)

        folded = fold(fact for raw in set(log) for fact in facts(parse_event(raw)))
        assert [{fact.key: fact for fact in store.facts()} for store in stores[:2]] == [folded] * 2


@given(st.lists(events, min_size=20, max_size=30))
@settings(max_examples=10)
def test_rows_with_names_in_place_of_ids_match_the_facts(stores: tuple[Store, Store, Store], log: list[bytes]) -> None:
    empty_stores(*stores)
    for store in stores[:2]:
        store.add([entry(raw) for raw in log])

    named = [{kind: sorted(map(repr, rows)) for kind, rows in store.named_rows()} for store in stores[:2]]

    folded = fold(fact for raw in log for fact in facts(parse_event(raw))).values()
    made = [
        (table.kind, [table.row(fact, THEMSELVES) for fact in folded if type(fact) is table.kind]) for table in TABLES
    ]
    assert named == [{kind: sorted(map(repr, rows)) for kind, rows in made}] * 2


def store_in_batches(log: list[bytes], stores: tuple[Store, Store, Store], generator: random.Random) -> None:
    """Store the log in SQLite, and in PostgreSQL by either of two services; facts are stored later, in steps."""
    sqlite, *postgres = stores
    while log:
        size = generator.randint(1, 5)
        part, log = [entry(raw) for raw in log[:size]], log[size:]
        sqlite.add(part)
        generator.choice(postgres).add(part)
        for store in stores:
            steps = generator.randint(0, 6)
            store.catch_up(iter([False] * steps + [True] * 99).__next__)
    for store in stores:
        store.follow()


def test_the_same_bytes_are_stored_once_also_within_one_group(store: Store) -> None:
    added = store.add([entry(event()), entry(event()), entry(event(1))]) + store.add([entry(event())])

    assert [(stored.log_index, stored.is_new) for stored in added] == [(0, True), (0, False), (1, True), (0, False)]
    assert store.size() == 2


def test_raw_bytes_are_read_back_unchanged(store: Store) -> None:
    raw = b"  " + event().replace(b'"START"', b'"\\u0053TART"') + b"\n"
    store.add([entry(raw)])

    assert store.raw(parse_event(raw).stamp.digest) == raw


def test_a_closed_store_opens_again_with_everything(database: str | Path) -> None:
    with closing(open_store(database)) as store:
        store.add([entry(event())])
    with closing(open_store(database)) as store:
        added = store.add([entry(event(1))])

        assert added[0].log_index == 1
        assert [logged.log_index for logged in store.run_events(RUN_IDS[0])] == [0, 1]


NUL = ["n\0", "n\0b", "n\1\0\1\2\0"]
ODD = [*NUL, "\1", "\1\1", "\1\2", "x" * 100_000, "\\", "\\x41", "%s", "?", "é\U0001f41f\ufffd", "'; --"]


@pytest.mark.parametrize("odd", ODD, ids=[repr(odd)[:12] for odd in ODD])
def test_any_text_can_be_stored_as_any_name_and_is_read_back_unchanged(store: Store, odd: str) -> None:
    name = odd.replace("\0", "")  # in names, NUL is refused
    datasets = {"outputs": [dataset(name, name, **{odd: facet(n=1)})], "inputs": [{"namespace": "", "name": name}]}
    job = {"namespace": name, "name": name, "facets": {odd: facet()}}
    raw = json.dumps(app_event(run={"runId": name, "facets": {odd: facet()}}, job=job, **datasets)).encode()

    store.add([entry(raw, key_id=odd)])

    assert {fact.key: fact for fact in store.facts()} == fold(facts(parse_event(raw)))
    assert [logged.raw for logged in store.run_events(name)] == [raw]
    assert store.verdicts().rows == [(name, "unsigned", odd, 1)]
    assert json.loads(store.dataset_facets(name, "output", DatasetId(name, name))[odd]) == facet(n=1)


def test_names_sort_by_their_bytes(store: Store) -> None:
    names = ["", "\0", "\0\0", "\0\1", "\1", "\1\0", "\2", "B", "a", "b", "é", "\uffff", "\U00010000"]
    outputs = [dataset("t", **{name: facet() for name in names})]
    store.add([entry(json.dumps(app_event(run={"runId": "r"}, outputs=outputs)).encode())])

    assert list(store.dataset_facets("r", "output", DatasetId("lake", "t"))) == names


def test_the_earliest_and_latest_times_of_events_are_read_back_unchanged(store: Store) -> None:
    times = ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"]
    raws = [json.dumps(app_event(eventTime=time)).encode() for time in times]

    store.add([entry(raw) for raw in raws])

    assert {fact.key: fact for fact in store.facts()} == fold(f for raw in raws for f in facts(parse_event(raw)))
    assert store.newest_us() == 253_402_300_799_999_999


def test_a_content_as_large_as_an_event_may_be_is_read_back_unchanged(store: Store) -> None:
    raw = json.dumps(app_event(run={"runId": "r", "facets": {"large": facet(text="no end " * 500_000)}})).encode()

    store.add([entry(raw)])

    assert {fact.key: fact for fact in store.facts()} == fold(facts(parse_event(raw)))


def test_a_log_of_thousands_is_read_in_order(store: Store) -> None:
    raws = [json.dumps(app_event(run={"runId": str(number)})).encode() for number in range(4_500)]
    store.add([entry(raw) for raw in raws])

    assert [logged.raw for logged in store.logged(range(1_000, 4_400))] == raws[1_000:4_400]


def test_group_commit_delivers_every_outcome_in_order(store: Store) -> None:
    delivered: list[tuple[int, Outcome]] = []
    writer = WriterThread[int](store.add, store.catch_up, delivered.extend)
    for second in range(20):
        writer.submit(entry(event(second)), second)
    writer.close()

    assert [(ticket, outcome.log_index) for ticket, outcome in delivered if isinstance(outcome, Stored)] == [
        (number, number) for number in range(20)
    ]


def test_a_post_while_facts_are_stored_does_not_wait_for_all_of_them(store: Store) -> None:
    delivered: list[tuple[int, Outcome]] = []
    is_busy, was_asked_to_yield = threading.Event(), threading.Event()

    def catch_up(should_yield: Callable[[], bool], _: int) -> None:
        if delivered and not is_busy.is_set():
            is_busy.set()
            if eventually(should_yield):
                was_asked_to_yield.set()

    writer = WriterThread[int](store.add, catch_up, delivered.extend)
    writer.submit(entry(event(0)), 0)
    is_busy.wait(60)
    writer.submit(entry(event(1)), 1)
    writer.close()

    assert was_asked_to_yield.is_set()
    assert [ticket for ticket, _ in delivered] == [0, 1]


def test_an_event_that_cannot_be_stored_does_not_affect_its_group(store: Store) -> None:
    delivered: list[tuple[str, Outcome]] = []
    may_begin = threading.Event()

    def add(entries: Sequence[Entry]) -> list[Stored]:
        may_begin.wait(60)
        return store.add(entries)

    writer = WriterThread[str](add, store.catch_up, delivered.extend)
    writer.submit(entry(event(0)), "first")  # the others gather behind it, into one group
    writer.submit(entry(event(1)), "intact")
    writer.submit(entry(event(2))._replace(verdict=None), "broken")  # type: ignore[arg-type]  # the column is NOT NULL
    writer.submit(entry(event(3)), "intact too")
    may_begin.set()
    writer.close()

    assert store.size() == 3
    outcomes = dict(delivered)
    assert isinstance(outcomes["broken"], InvalidEventError)
    assert [isinstance(outcomes[ticket], Stored) for ticket in ("first", "intact", "intact too")] == [True, True, True]
