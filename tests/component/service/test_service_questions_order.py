"""The answers to questions are the same for any order of arrival and any repetition of events."""

import asyncio
import random
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.graph.impact.change import Change
from headwater.graph.lineage import Graph
from headwater.model.events import parse_event
from headwater.model.names import DatasetId, JobId
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.views.causes import Question, root_cause
from headwater.service.views.coverage import CoverageQuery, coverage
from headwater.service.views.impact import Page, impact
from headwater.store.entries import entry_of
from headwater.store.sqlite import SqliteStore
from tests.support.app import START_US
from tests.support.logs import logs


@contextmanager
def known(log: list[bytes]) -> Iterator[Knowledge]:
    with TemporaryDirectory() as folder, closing(SqliteStore(Path(folder) / "headwater.db")) as store:
        store.add([entry_of(parse_event(raw), "unsigned", None, 0) for raw in log])
        knowledge = Knowledge(store, Graph(store.content))
        knowledge.load()
        yield knowledge


def answers(knowledge: Knowledge) -> dict[str, object]:
    nodes: list[DatasetId | JobId] = [
        *knowledge.graph.shown_datasets(),
        *filter(knowledge.is_job, knowledge.graph.jobs),
    ]
    page = Page(1000)
    found: dict[str, object] = {"coverage": asyncio.run(coverage(knowledge, CoverageQuery(START_US, limit=1000)))}
    for node in nodes:
        found[f"impact {node.node_id}"] = asyncio.run(impact(knowledge, node, None, page))
        found[f"cause {node.node_id}"] = _without_places(asyncio.run(root_cause(knowledge, Question(node, None, 20))))
        if isinstance(node, DatasetId):
            found[f"drop {node.node_id}"] = asyncio.run(impact(knowledge, node, Change("drop"), page))
    return found


def _without_places(answer: Any) -> Any:  # noqa: ANN401  JSON
    """The answer without the events' indexes in the log, which depend on the order of arrival."""
    if isinstance(answer, Mapping):
        return {key: _without_places(value) for key, value in answer.items() if key != "logIndex"}
    return [_without_places(each) for each in answer] if isinstance(answer, list) else answer


@settings(max_examples=30)
@given(logs, st.integers())
def test_answers_do_not_depend_on_the_order_of_arrival(log: list[bytes], seed: int) -> None:
    generator = random.Random(seed)  # noqa: S311  a test's order, not a secret
    shuffled = log + [raw for raw in log if generator.random() < 0.3]
    generator.shuffle(shuffled)

    with known(log) as ordered, known(shuffled) as reordered:
        assert answers(ordered) == answers(reordered)
