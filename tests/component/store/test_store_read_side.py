"""A store that is lent to another process: what is known of it goes along, and what is not is told."""

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
    """As another process has it."""
    return handover if handover.lock is None else handover._replace(lock=os.dup(handover.lock))


def entries() -> list[Entry]:
    """An event, an edit that deletes its job, and another event that brings it back."""
    deletion = edit_entry("1", 5, None, [EditItem(JOB, "deleted", True)])
    return [entry(event()), entry_of(deletion, "unsigned", None, 6), entry(event(2, run=1))]


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_who_knows_of_the_first_entries_is_told_what_the_others_say_though_it_is_stored(
    database: str | Path, size: int
) -> None:
    with closing(open_store(database)) as store:
        first = store.add(entries()[:size])
        known = store.known
        told = store.add(entries()[size:])
        head, last_head = store.tree.frontier(size), store.tree.frontier(3)
        store.catch_up()
        handover = store.hand_over_writing()
        news: list[Stored] = []
        with closing(open_as_writer(inherited(handover), known)) as there:
            there.watch(news.extend, lambda: None)
            last = there.known

    assert known == Known(size, frozenset([JOB] if size == 2 else []), head)
    assert last == Known(3, frozenset(), last_head)
    assert news == told
    assert sum(isinstance(fact, Edit) for stored in (*first, *news) for fact in stored.facts) == 2


def test_a_store_that_holds_other_events_than_are_known_is_not_borrowed(database: str | Path) -> None:
    with closing(open_store(database)) as store:
        store.add(entries())
        handover, head = store.hand_over_writing(), Growth(EMPTY, [bytes(32)] * 2).frontier
        with pytest.raises(SetupError, match="has different events than before"):
            open_as_writer(inherited(handover), Known(2, frozenset(), head))


def test_a_store_that_holds_less_than_is_known_is_not_borrowed(database: str | Path) -> None:
    with closing(open_store(database)) as store:
        store.add(entries()[:1])
        handover = store.hand_over_writing()
        with pytest.raises(SetupError, match="has fewer events than before"):
            open_as_writer(inherited(handover), Known(2, frozenset(), EMPTY))


class Slow:
    """A writer process that stores facts when it is asked, and perhaps not even then."""

    def __init__(self, there: Store) -> None:
        self.there = there
        self.asked = 0
        self.is_away = False

    def store_facts(self) -> int:
        self.asked += 1
        if self.is_away:
            raise UnavailableError("away")
        self.there.catch_up()
        return self.there.facts_stored

    def empty(self, places: range) -> None:
        self.there.empty(places)


@contextmanager
def both_sides(database: str | Path) -> Iterator[tuple[ReadSideStore, Store, Slow]]:
    """The read side of a store that is empty, the store as its writer has it, and how the one asks the other."""
    with (
        closing(open_store(database)) as store,
        closing(open_as_writer(inherited(store.hand_over_writing()), None)) as there,
    ):
        writer = Slow(there)
        with closing(ReadSideStore(store, writer)) as here:
            here.begin(there.known)
            yield here, there, writer


def heard(here: ReadSideStore, there: Store, stored: Sequence[Stored]) -> None:
    for each in stored:
        here.note_stored(each)
    here.note_head(there.head)


def test_facts_are_asked_for_only_where_some_may_wait(database: str | Path) -> None:
    with both_sides(database) as (here, there, writer):
        assert list(here.facts()) == []
        asked = writer.asked
        heard(here, there, there.add(entries()))

        assert {fact.key: fact for fact in here.facts()} == {fact.key: fact for fact in there.facts()}
        assert writer.asked > asked
        asked = writer.asked
        assert list(here.facts())
        assert writer.asked == asked
        assert here.known == there.known


def test_who_needs_facts_that_cannot_be_stored_now_is_told_so_and_not_everybody_tries_again(
    database: str | Path,
) -> None:
    with both_sides(database) as (here, there, writer):
        here.size()  # so that it is connected
        heard(here, there, there.add(entries()))
        writer.is_away = True
        asked = writer.asked

        reads: list[Callable[[], object]] = [
            lambda: list(here.graph_facts()),
            here.another_reader,
            lambda: here.bodies([b"any"]),
            lambda: here.run_facets(["any"]),
        ]
        for read in reads:
            with pytest.raises(UnavailableError, match="away"):
                read()

        assert writer.asked == asked + 1
        assert here.size() == 3
        writer.is_away = False
        assert eventually(lambda: there_are_facts(here), within_s=10)


def there_are_facts(here: ReadSideStore) -> bool:
    try:
        return bool(list(here.graph_facts()))
    except UnavailableError:
        return False


def test_contents_that_wait_are_known_also_while_the_other_process_is_away(database: str | Path) -> None:
    with both_sides(database) as (here, there, writer):
        here.size()  # so that it is connected
        raw = json.dumps(app_event(outputs=[dataset("orders", orders=schema("id"))])).encode()
        stored = there.add([entry(raw)])
        heard(here, there, stored)
        writer.is_away = True

        contents = [fact for fact in stored[0].facts if isinstance(fact, Content)]
        assert contents
        assert all(here.content(fact.digest) for fact in contents)
        writer.is_away = False
        assert list(here.graph_facts())
        here.content.cache_clear()
        assert all(here.content(fact.digest) for fact in contents)
