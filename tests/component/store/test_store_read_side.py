"""A store whose writing is handed over to another process, which is notified of what is not yet known."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from headwater.errors import SetupError, UnavailableError
from headwater.model.edits import EditItem, edit_entry
from headwater.model.facts import Content, Edit
from headwater.signing.merkle import EMPTY, Growth
from headwater.store.entries import Entry, Stored, entry_of
from headwater.store.opening import open_as_writer, open_store
from headwater.store.read_side import ReadSideStore
from headwater.store.store import Known, Store, WriterHandover
from tests.component.store.test_store import entry, event
from tests.support.app import dataset, schema
from tests.support.app import event as app_event
from tests.support.service import eventually

JOB = ("job", "etl", "load")


def inherited(handover: WriterHandover) -> WriterHandover:
    """The handover as another process inherits it."""
    return handover if handover.lock is None else handover._replace(lock=os.dup(handover.lock))


def entries() -> list[Entry]:
    """An event, an edit that deletes its job, and another event that brings it back."""
    deletion = edit_entry("1", 5, None, [EditItem(JOB, "deleted", True)])
    return [entry(event()), entry_of(deletion, "unsigned", None, 6), entry(event(2, run=1))]


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_a_process_that_knows_the_first_entries_is_notified_of_the_others_although_they_are_stored(
    database: str | Path, size: int
) -> None:
    with closing(open_store(database)) as store:
        first = store.add(entries()[:size])
        known = store.known
        added = store.add(entries()[size:])
        head, last_head = store.tree.frontier(size), store.tree.frontier(3)
        store.catch_up()
        handover = store.hand_over_writing()
        notified: list[Stored] = []
        with closing(open_as_writer(inherited(handover), known)) as writer_store:
            writer_store.watch(notified.extend, lambda: None)
            last = writer_store.known

    assert known == Known(size, frozenset([JOB] if size == 2 else []), head)
    assert last == Known(3, frozenset(), last_head)
    assert notified == added
    assert sum(isinstance(fact, Edit) for stored in (*first, *notified) for fact in stored.facts) == 2


def test_a_handover_of_a_store_with_other_events_than_known_is_refused(database: str | Path) -> None:
    with closing(open_store(database)) as store:
        store.add(entries())
        handover, head = store.hand_over_writing(), Growth(EMPTY, [bytes(32)] * 2).frontier
        with pytest.raises(SetupError, match="has different events than before"):
            open_as_writer(inherited(handover), Known(2, frozenset(), head))


def test_a_handover_of_a_store_with_fewer_events_than_known_is_refused(database: str | Path) -> None:
    with closing(open_store(database)) as store:
        store.add(entries()[:1])
        handover = store.hand_over_writing()
        with pytest.raises(SetupError, match="has fewer events than before"):
            open_as_writer(inherited(handover), Known(2, frozenset(), EMPTY))


class Writer:
    """A writer process that stores facts only on request, unless it is away."""

    def __init__(self, writer_store: Store) -> None:
        self.store = writer_store
        self.requests = 0
        self.is_away = False

    def store_facts(self) -> int:
        self.requests += 1
        if self.is_away:
            raise UnavailableError("away")
        self.store.catch_up()
        return self.store.facts_stored

    def empty(self, places: range) -> None:
        self.store.empty(places)


@contextmanager
def both_sides(database: str | Path) -> Iterator[tuple[ReadSideStore, Store, Writer]]:
    """The read side of an empty store, the store of its writer process, and the requests from one to the other."""
    with (
        closing(open_store(database)) as store,
        closing(open_as_writer(inherited(store.hand_over_writing()), None)) as writer_store,
    ):
        writer = Writer(writer_store)
        with closing(ReadSideStore(store, writer)) as read_side:
            read_side.begin(writer_store.known)
            yield read_side, writer_store, writer


def notify(read_side: ReadSideStore, writer_store: Store, stored: Sequence[Stored]) -> None:
    for each in stored:
        read_side.note_stored(each)
    read_side.note_head(writer_store.head)


def test_facts_are_requested_only_where_some_may_be_pending(database: str | Path) -> None:
    with both_sides(database) as (read_side, writer_store, writer):
        assert list(read_side.facts()) == []
        requests = writer.requests
        notify(read_side, writer_store, writer_store.add(entries()))

        assert {fact.key: fact for fact in read_side.facts()} == {fact.key: fact for fact in writer_store.facts()}
        assert writer.requests > requests
        requests = writer.requests
        assert list(read_side.facts())
        assert writer.requests == requests
        assert read_side.known == writer_store.known


def test_a_read_of_facts_that_cannot_be_stored_now_fails_and_not_every_read_tries_again(
    database: str | Path,
) -> None:
    with both_sides(database) as (read_side, writer_store, writer):
        read_side.size()  # so that it is connected
        notify(read_side, writer_store, writer_store.add(entries()))
        writer.is_away = True
        requests = writer.requests

        reads: list[Callable[[], object]] = [
            lambda: list(read_side.graph_facts()),
            read_side.another_reader,
            lambda: read_side.bodies([b"any"]),
            lambda: read_side.run_facets(["any"]),
        ]
        for read in reads:
            with pytest.raises(UnavailableError, match="away"):
                read()

        assert writer.requests == requests + 1
        assert read_side.size() == 3
        writer.is_away = False
        assert eventually(lambda: has_facts(read_side))


def has_facts(read_side: ReadSideStore) -> bool:
    try:
        return bool(list(read_side.graph_facts()))
    except UnavailableError:
        return False


def test_pending_contents_are_known_while_the_writer_process_is_away(database: str | Path) -> None:
    with both_sides(database) as (read_side, writer_store, writer):
        read_side.size()  # so that it is connected
        raw = json.dumps(app_event(outputs=[dataset("orders", orders=schema("id"))])).encode()
        stored = writer_store.add([entry(raw)])
        notify(read_side, writer_store, stored)
        writer.is_away = True

        contents = [fact for fact in stored[0].facts if isinstance(fact, Content)]
        assert contents
        assert all(read_side.content(fact.digest) for fact in contents)
        writer.is_away = False
        assert list(read_side.graph_facts())
        read_side.content.cache_clear()
        assert all(read_side.content(fact.digest) for fact in contents)
