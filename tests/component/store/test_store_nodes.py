"""Nodes' records in the stores: the same as in memory, for any order, repetition and batching."""

import json
import random
from collections.abc import Iterator
from contextlib import closing

import pytest

from headwater.graph.nodes import Nodes
from headwater.model.events import parse_event
from headwater.model.facts import ChainLink, Fact
from headwater.store.entries import Entry, entry_of
from headwater.store.opening import open_store
from headwater.store.store import Store
from headwater.store.temporary import TemporaryStore
from tests.support.chains import head, heartbeat, record
from tests.support.postgres import Cluster

E1, E2 = "018f0000-0000-7000-8000-000000000001", "018f0000-0000-7000-8000-000000000002"
FIRST_RECORD = record(E1, 5)
LOG = [
    each.raw
    for each in (
        *FIRST_RECORD,
        *record(E1, 3, salt="x"),
        *record(E2, 2, follows=(head(E1, FIRST_RECORD),)),
        heartbeat(E2, 2, None),
        FIRST_RECORD[1]._replace(raw=json.dumps(json.loads(FIRST_RECORD[1].raw), indent=1).encode()),
    )
]


def entry(raw: bytes) -> Entry:
    number = LOG.index(raw)
    return entry_of(parse_event(raw), "ok" if number % 3 else "unknown-key", None, received_us=number)


def epochs(facts: Iterator[Fact]) -> object:
    nodes = Nodes()
    for fact in facts:
        if isinstance(fact, ChainLink):
            nodes.add(fact)
    return nodes.epochs


EXPECTED = epochs(fact for raw in LOG for fact in entry(raw).facts)


@pytest.mark.parametrize("seed", range(3))
def test_a_store_keeps_the_links_of_the_events(store: Store, seed: int) -> None:
    generator = random.Random(seed)  # noqa: S311  a test's order, not a secret
    log = LOG + generator.choices(LOG, k=5)
    generator.shuffle(log)
    while log:
        size = generator.randint(1, 4)
        store.add([entry(raw) for raw in log[:size]])
        log = log[size:]

    memory = TemporaryStore(store)
    memory.add_logged(list(store.logged(range(store.size()))))

    assert epochs(store.graph_facts()) == EXPECTED
    assert epochs(memory.graph_facts()) == EXPECTED


def test_another_service_derives_the_links_of_events_that_it_did_not_store(cluster: Cluster) -> None:
    url = cluster.new_database()
    with closing(open_store(url)) as store:
        store.add([entry(raw) for raw in LOG])
        with closing(open_store(url)) as another:
            assert epochs(another.graph_facts()) == EXPECTED
