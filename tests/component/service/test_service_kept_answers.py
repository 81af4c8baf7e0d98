"""What is kept between answers never shows: each answer is the one that a fresh look at the same log gives."""

import json
from collections.abc import Coroutine, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.graph.lineage import Graph
from headwater.model.events import parse_event
from headwater.model.names import DatasetId, JobId
from headwater.service.knowledge import Knowledge
from headwater.service.views.lineage import lineage
from headwater.store.entries import Entry
from headwater.store.sqlite import SqliteStore
from tests.support.logs import logs
from tests.support.slow_lineage import Body, slow_lineage

_HOPS = st.integers(0, 3)


def learn(store: SqliteStore, knowledge: Knowledge, events: Sequence[bytes]) -> None:
    for raw in events:
        for stored in store.add([Entry(parse_event(raw), "unsigned", None, 0)]):
            if stored.is_new:
                knowledge.learn(stored.facts)


def fresh(store: SqliteStore) -> Knowledge:
    knowledge = Knowledge(store, Graph(store.content))
    knowledge.load()
    return knowledge


def nodes(knowledge: Knowledge) -> list[DatasetId | JobId]:
    jobs = [job for job in knowledge.graph.jobs if knowledge.is_job(job)]
    return [*sorted(knowledge.graph.shown_datasets()), *sorted(jobs)]


def finished(answer: Coroutine[None, None, bytes]) -> bytes:
    """What comes of it; each time that it lets others go on, nobody does."""
    while True:
        try:
            answer.send(None)
        except StopIteration as end:
            return bytes(end.value)


def quick_answers(knowledge: Knowledge, max_hops: int) -> list[Body]:
    return [json.loads(finished(lineage(knowledge, node, max_hops))) for node in nodes(knowledge)]


def slow_answers(knowledge: Knowledge, max_hops: int) -> list[Body]:
    return [orjson.loads(orjson.dumps(slow_lineage(knowledge, node, max_hops))) for node in nodes(knowledge)]


@given(logs, logs, _HOPS)
@settings(deadline=None, max_examples=60)
def test_lineage_asked_for_before_and_after_events_is_that_of_a_fresh_look_at_the_log(
    log: list[bytes], later: list[bytes], max_hops: int
) -> None:
    with TemporaryDirectory() as folder, closing(SqliteStore(Path(folder) / "headwater.db")) as store:
        knowledge = Knowledge(store, Graph(store.content))
        learn(store, knowledge, log)
        for raw in later:
            quick_answers(knowledge, max_hops)
            learn(store, knowledge, [raw])

        answers = quick_answers(knowledge, max_hops)

        assert answers == slow_answers(fresh(store), max_hops)
