"""Edits in the store: every fact follows from the log, entry by entry."""

import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.errors import InvalidEventError
from headwater.model.edits import EditEntry, EditItem, FactsInOrder, edit_entry, parse_edit, tag
from headwater.model.events import Event, parse_event
from headwater.store.backlog import FactBacklog
from headwater.store.entries import Entry, entry_of
from headwater.store.opening import open_store
from headwater.store.packing import unpacked
from headwater.store.store import Store
from tests.support.logs import DATASETS, events
from tests.support.postgres import Cluster
from tests.support.stores import empty_stores

TARGETS = [
    *(("dataset", each["namespace"], each["name"]) for each in DATASETS[:4]),
    *(("job", "etl", name) for name in ("load", "mart", "dag")),
    ("namespace", "lake"),
    ("field", "lake", "t0", "a"),
]
_items = st.builds(EditItem, st.sampled_from(TARGETS), st.sampled_from(["deleted", tag("A"), tag("B")]), st.booleans())
_edits = st.builds(
    edit_entry, st.uuids().map(str), st.integers(0, 10**15), st.none(), st.lists(_items, min_size=1, max_size=3)
)
logs = st.lists(st.one_of(events.map(parse_event), _edits), min_size=1, max_size=14)


def entries(log: list[Event | EditEntry]) -> Iterator[Entry]:
    return (entry_of(each, "unsigned", None, received_us=1) for each in log)


def forget_pending_facts(store: Store) -> None:
    """As a crash does."""
    store._backlog = FactBacklog(store._writer)


def folded(store: Store) -> dict[tuple[object, ...], Any]:
    """The facts that follow from the log alone."""
    in_order, merged = FactsInOrder(()), dict[tuple[object, ...], Any]()
    for index, kind, frame in store._rows("SELECT idx, event_type, packed FROM log ORDER BY idx"):
        parse = parse_edit if kind == "EDIT" else parse_event
        for fact in in_order.facts(parse(unpacked(frame)), index):
            merged[fact.key] = merged[fact.key].merge(fact) if fact.key in merged else fact
    return merged


@pytest.fixture(scope="module")
def shared_database(cluster: Cluster) -> str:
    return cluster.new_database()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
@given(logs, st.integers(1, 5), st.integers(0, 14), st.integers(0, 20))
@settings(max_examples=60)
def test_the_store_keeps_what_follows_from_its_log_for_any_batching_and_after_a_crash_while_facts_are_stored(
    shared_database: str, kind: str, log: list[Event | EditEntry], size: int, crash_at: int, steps: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = shared_database if kind == "postgres" else Path(folder) / "headwater.db"
        with closing(open_store(database)) as store:
            empty_stores(store)
        for part in (log[:crash_at], log[crash_at:]):
            with closing(open_store(database)) as store:
                for start in range(0, len(part), size):
                    store.add([*entries(part[start : start + size]), *entries(part[:1])])
                    store.catch_up(iter([False] * steps + [True]).__next__)
                forget_pending_facts(store)
        with closing(open_store(database)) as store:
            assert {fact.key: fact for fact in store.facts()} == folded(store)


def test_an_edit_is_read_back_from_the_log_unchanged(store: Store) -> None:
    items = (
        EditItem(("dataset", "a.b", "c"), tag("GOLD"), True),
        EditItem(("tag", "GOLD"), "described", {"description": None}),
    )
    entry = edit_entry("7", 1_779_459_791_000_001, "ann", items)
    store.add([*entries([entry])])

    (logged,), total = store.edits(10, 0)

    assert (total, logged.event_type, logged.event_us) == (1, "EDIT", 1_779_459_791_000_001)
    assert parse_edit(logged.raw) == entry
    assert parse_edit(logged.raw).edits == items


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"{}", "headwater: "),
        (b'{"headwater": "edit/2"}', "headwater: "),
        (b'{"headwater": "edit/1", "id": "1", "time": "2026-05-22T14:23:11Z", "by": null, "edits": [{}]}', "edits.0."),
        (b"[]", "edit: "),
    ],
)
def test_an_invalid_edit_is_refused_with_the_path_of_the_error(raw: bytes, message: str) -> None:
    with pytest.raises(InvalidEventError, match=f"^{message}"):
        parse_edit(raw)
