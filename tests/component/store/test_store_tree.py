"""The Merkle tree over the log is written with it, in whichever database and by whichever process."""

from contextlib import closing
from pathlib import Path

import pytest

from headwater.errors import SetupError, UnavailableError
from headwater.graph.fold import fold
from headwater.model.events import parse_event
from headwater.model.extract import facts
from headwater.model.facts import Edit
from headwater.signing.leaf import Found, leaf_data, seal
from headwater.signing.merkle import (
    EMPTY,
    Growth,
    consistency_proof,
    inclusion_proof,
    is_consistent,
    is_included,
    leaf_hash,
)
from headwater.store.copying import copy
from headwater.store.entries import entry_of
from headwater.store.erasing import Erasure, erase
from headwater.store.opening import open_store
from headwater.store.postgres import PostgresStore
from headwater.store.reader import Reader
from headwater.store.sqlite import SqliteStore
from headwater.store.store import Store
from headwater.store.temporary import TemporaryStore
from tests.component.store.test_store import entry, event
from tests.support.postgres import Cluster
from tests.support.stores import binary, edit

SALT = bytes(range(16))


def many(count: int) -> list[bytes]:
    return [event().replace(b"load", b"load %d" % number) for number in range(count)]


def leaves(store: Reader) -> list[bytes]:
    """The leaves, computed again from the log."""
    logged = list(store.logged(range(store.size())))
    seals = store.tree.seals(range(store.size()))
    computed = [
        seal(each.raw, Found("event", each.received_us, each.verdict, each.key_id), sealed.salt)
        for each, sealed in zip(logged, seals, strict=True)
    ]
    assert computed == seals
    return [each.leaf for each in computed]


def test_each_entry_has_its_leaf_in_the_order_of_the_log(store: Store) -> None:
    store.add([entry_of(parse_event(event()), "ok", "a key", 5, SALT)])
    store.add([entry(event(1)), entry(event()), entry(event(2))])

    (sealed, *_) = store.tree.seals(range(3))

    assert sealed == seal(event(), Found("event", 5, "ok", "a key"), SALT)
    assert sealed.leaf == leaf_hash(leaf_data(sealed.commitment, Found("event", 5, "ok", "a key")))
    assert store.tree.frontier() == Growth(EMPTY, leaves(store)).frontier == store.growth.frontier
    assert store.tree.size() == store.size() == 3


def test_each_leaf_has_a_salt_of_its_own(store: Store) -> None:
    store.add([entry(raw) for raw in many(10)])

    assert len({sealed.salt for sealed in store.tree.seals(range(10))}) == 10


def test_proofs_are_made_from_tiles_for_any_size_that_the_log_had(store: Store) -> None:
    for begin in range(0, 600, 150):
        store.add([entry(raw) for raw in many(600)[begin : begin + 150]])
    all_leaves = leaves(store)
    head = Growth(EMPTY, all_leaves).frontier

    assert store.tree.tile(1, 0, 2) == [Growth(EMPTY, all_leaves[at : at + 256]).frontier.root for at in (0, 256)]
    for size in (1, 255, 256, 257, 512, 599, 600):
        then = store.tree.frontier(size)
        assert then == Growth(EMPTY, all_leaves[:size]).frontier
        proof = consistency_proof(size, 600, store.tree.node)
        assert is_consistent(size, then.root, 600, head.root, proof)
        for index in {0, size // 2, size - 1}:
            proof = inclusion_proof(index, size, store.tree.node)
            assert is_included(all_leaves[index], index, size, proof, then.root)


def test_an_event_that_is_stored_twice_is_in_the_tree_once(store: Store) -> None:
    store.add([entry(event())])
    head = store.growth.frontier

    store.add([entry(event())])

    assert store.growth.frontier == head


def test_hashes_that_a_tree_lacks_are_reported(store: Store) -> None:
    with pytest.raises(UnavailableError, match="the tree lacks hashes 0 to 5 of level 0"):
        store.tree.tile(0, 0, 5)


def test_two_services_append_to_one_tree(cluster: Cluster) -> None:
    url = cluster.new_database()
    with closing(open_store(url)) as one, closing(open_store(url)) as other:
        for number, raw in enumerate(many(20)):
            (other if number % 3 else one).add([entry(raw)])
        one.add([entry(many(20)[1])])  # stored before, by the other

        assert one.growth.frontier == other.growth.frontier == Growth(EMPTY, leaves(one)).frontier


def test_a_log_that_was_begun_without_a_tree_gets_one_once(database: str | Path) -> None:
    events = many(700)
    with closing(_opened_without_a_tree(database)) as store:
        store.add([entry(raw) for raw in events])

    with closing(open_store(database)) as store:
        first = store.tree.frontier()
        assert [logged.raw for logged in store.logged(range(700))] == events
        assert first == Growth(EMPTY, leaves(store)).frontier
        store.add([entry(event(7))])
        assert store.tree.size() == 701
    with closing(open_store(database)) as store:
        assert store.tree.frontier(700) == first


def _opened_without_a_tree(database: str | Path) -> Store:
    """A store of the first version, which had no tree."""
    kind = type("Treeless", (SqliteStore if isinstance(database, Path) else PostgresStore,), {"has_tree": False})
    store: Store = kind(database)
    return store


def test_a_log_whose_last_entries_were_removed_takes_no_more_events(database: str | Path) -> None:
    """Otherwise new events would have the leaves of the removed ones."""
    with closing(open_store(database)) as before:
        before.add([entry(raw) for raw in many(5)])
    edit(database, "DELETE FROM log WHERE idx = 4")

    with closing(open_store(database)) as store:
        with pytest.raises(UnavailableError, match="the log has 4 entries, but its tree 5: the last ones were removed"):
            store.add([entry(event(5))])

        assert (store.size(), store.tree.size()) == (4, 5)


def test_a_log_without_some_entries_gets_no_tree(database: str | Path) -> None:
    with closing(_opened_without_a_tree(database)) as store:
        store.add([entry(raw) for raw in many(5)])
    edit(database, "DELETE FROM log WHERE idx = 3")

    with pytest.raises(SetupError, match="the log lacks an entry from 0 on, but has later ones"):
        open_store(database)


@pytest.mark.parametrize("table", ["log", "leaf"])
def test_leaves_without_an_entry_are_not_left_out_of_a_tile(database: str | Path, table: str) -> None:
    """The leaves behind would be those of other entries, and tiles are cached for ever."""
    with closing(open_store(database)) as store:
        store.add([entry(raw) for raw in many(5)])
        assert len(store.tree.leaf_data(range(5))) == 5
        edit(database, f"DELETE FROM {table} WHERE idx = 3")  # noqa: S608  words of ours

        with pytest.raises(UnavailableError, match="the log lacks one of the entries 0 to 5, or its leaf"):
            store.tree.leaf_data(range(5))


def test_leaves_that_a_tree_lacks_are_reported(database: str | Path) -> None:
    with closing(open_store(database)) as store:
        store.add([entry(raw) for raw in many(5)])
        edit(database, "DELETE FROM leaf WHERE idx = 3")

        with pytest.raises(UnavailableError, match="the tree lacks leaves of entries 2 to 5"):
            store.tree.seals(range(2, 5))


def test_a_damaged_head_of_a_tree_is_reported(database: str | Path) -> None:
    with closing(open_store(database)) as before:
        before.add([entry(raw) for raw in many(5)])
    edit(database, "UPDATE tree SET frontier = substr(frontier, 1, 32)")

    with pytest.raises(SetupError, match="the right edge of the log's tree is not that of 5 entries"):
        open_store(database)


@pytest.mark.parametrize(
    ("damage", "size"),
    [("DELETE FROM tree", 0), ("UPDATE tree SET size = 4, frontier = substr(frontier, 1, 32)", 4)],
)
def test_a_tree_with_more_leaves_than_its_head_says_is_reported(database: str | Path, damage: str, size: int) -> None:
    with closing(open_store(database)) as before:
        before.add([entry(raw) for raw in many(5)])
    edit(database, damage)

    with pytest.raises(SetupError, match=f"the leaves of 5 entries, but the right edge of {size}: was it restored in"):
        open_store(database)


@pytest.mark.parametrize(("damage", "leaves"), [("DELETE FROM leaf", 0), ("DELETE FROM leaf WHERE idx >= 3", 3)])
def test_a_tree_that_lost_its_last_leaves_is_reported(database: str | Path, damage: str, leaves: int) -> None:
    with closing(open_store(database)) as before:
        before.add([entry(raw) for raw in many(5)])
    edit(database, damage)

    with pytest.raises(
        SetupError, match=f"the leaves of {leaves} entries, but the right edge of 5: was it restored in"
    ):
        open_store(database)


@pytest.mark.parametrize("salts", ["00", "7b7d", b"[1,2]".hex()])
def test_damaged_salts_are_reported(database: str | Path, salts: str) -> None:
    with closing(open_store(database)) as store:
        store.add([entry(raw) for raw in many(5)])
        edit(database, f"UPDATE leaf SET salt = {binary(database, salts)} WHERE idx = 3")  # noqa: S608  words of ours

        assert len(store.tree.seals(range(3))) == 3
        with pytest.raises(UnavailableError, match="the salts of entry 3 are damaged: was it restored in part"):
            store.tree.seals(range(5))


def test_an_old_service_that_appends_alongside_a_new_one_does_not_break_the_tree(
    database: str | Path,
) -> None:
    with closing(open_store(database)) as before:
        before.add([entry(raw) for raw in many(3)])
    edit(database, "DELETE FROM leaf WHERE idx = 2", "UPDATE tree SET size = 2, frontier = substr(frontier, 1, 32)")

    with closing(open_store(database)) as store:
        store.add([entry(event(5))])

        assert store.tree.size() == 4
        assert store.tree.frontier() == Growth(EMPTY, leaves(store)).frontier


def test_copying_keeps_the_tree(store: Store, tmp_path: Path) -> None:
    store.add([entry(raw) for raw in many(5)])

    with closing(open_store(tmp_path / "copy.db")) as copied:
        result = copy(store, copied, lambda done, total: None)

        assert result.is_same
        assert copied.tree.seals(range(5)) == store.tree.seals(range(5))
        assert result.target.tree == store.tree.frontier().root.hex()


def test_a_past_needs_no_tree(store: Store) -> None:
    store.add([entry(event())])

    with closing(TemporaryStore(store)) as past:
        past.add_logged(list(store.logged(range(1))))

        assert past.tree.size() == 0


def test_a_facet_is_erased_wherever_it_is_stored(store: Store) -> None:
    raws = [event().replace(b'"run":{', b'"run":{"facets":{"owner":{"n":%d}},' % number) for number in range(4)]
    store.add([entry(raw) for raw in raws])
    head = store.growth.frontier

    erased_paths, log_index = erase(store, Erasure(2, "run.facets.owner", "asked for", "ann", "1", 7))

    assert (erased_paths, log_index) == (["run.facets.owner"], 4)
    erased = raws[2].replace(b'{"n":2}', b'{"_deleted":true}')
    log = [*raws[:2], erased, raws[3]]
    assert [logged.raw for logged in store.logged(range(4))] == log
    assert store.tree.frontier(4) == head
    sealed = store.tree.seals(range(2, 3))[0]
    assert sealed.leaf == leaf_hash(leaf_data(sealed.commitment, Found("event", 1, "unsigned", None)))
    event_facts = [fact for fact in store.facts() if not isinstance(fact, Edit)]
    assert {fact.key: fact for fact in event_facts} == fold(fact for raw in log for fact in facts(parse_event(raw)))
