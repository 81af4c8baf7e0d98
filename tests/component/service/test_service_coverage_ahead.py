"""Coverage is computed ahead while the service is idle, and a query meanwhile has the same answer."""

import asyncio
import json
import time
from contextlib import closing
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.graph.lineage import Graph
from headwater.model.events import parse_event
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.request.access import Service
from headwater.service.shapes.coverage import Coverage
from headwater.service.views.coverage import CoverageQuery, coverage, look_ahead
from headwater.store.entries import Entry, entry_of
from headwater.store.sqlite import SqliteStore
from tests.support.app import START_US, serving
from tests.support.flights import FLIGHTS
from tests.support.logs import logs


def entries(log: list[bytes]) -> list[Entry]:
    return [entry_of(parse_event(raw), "unsigned", None, 0) for raw in log]


def loaded(store: SqliteStore) -> Knowledge:
    knowledge = Knowledge(store, Graph(store.content))
    knowledge.load()
    return knowledge


async def take_steps(knowledge: Knowledge, store: SqliteStore, number: int | None) -> None:
    for step in islice(look_ahead(knowledge, store.another_reader), number):
        if step is not None:
            await step


def ask(knowledge: Knowledge, store: SqliteStore) -> Coverage:
    return asyncio.run(coverage(knowledge, CoverageQuery(START_US, limit=1_000), store.another_reader))


@settings(max_examples=30)
@given(logs, st.integers(0, 10), st.integers(0, 20))
def test_a_query_while_coverage_is_computed_ahead_has_the_same_answer(
    log: list[bytes], known_before: int, steps: int
) -> None:
    with TemporaryDirectory() as folder, closing(SqliteStore(Path(folder) / "headwater.db")) as store:
        store.add(entries(log[:known_before]))
        knowledge = loaded(store)
        asyncio.run(take_steps(knowledge, store, steps))
        for stored in store.add(entries(log[known_before:])):
            if stored.is_new:
                knowledge.learn(stored.facts)

        answer = ask(knowledge, store)

        assert answer == ask(loaded(store), store)


def test_computing_ahead_leaves_nothing_for_the_first_query(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "headwater.db")) as store:
        store.add(entries([json.dumps(event).encode() for event in FLIGHTS]))
        knowledge = loaded(store)

        asyncio.run(take_steps(knowledge, store, None))

        assert not knowledge.gaps.wants_starts
        assert knowledge.verdicts.read == len(FLIGHTS)
        assert [*knowledge.gaps.catch_up(), *knowledge.verdicts.place()] == []


def test_an_idle_service_computes_coverage_of_its_store_ahead(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "headwater.db")) as store:
        store.add(entries([json.dumps(event).encode() for event in FLIGHTS]))

        with serving(store) as client:
            service: Service = client.app.state.service  # type: ignore[attr-defined]
            while service.knowledge.gaps.wants_starts:
                time.sleep(0.05)
