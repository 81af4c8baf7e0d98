"""A few of many events contain all the facts of the many."""

import json
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from headwater.graph.fold import fold
from headwater.graph.minimal_events import MinimalEvents
from headwater.model.events import parse_event
from headwater.model.extract import facts
from headwater.model.facts import ChainLink, Content, Fact
from tests.support import logs
from tests.support.app import dataset, event, schema


def merged(fact_lists: Iterable[tuple[Fact, ...]]) -> object:
    """The merged facts, except those about the event itself."""
    return fold(fact for each in fact_lists for fact in each if not isinstance(fact, Content | ChainLink))


@given(st.lists(logs.events, min_size=1, max_size=30))
def test_the_needed_events_contain_the_facts_of_all(log: list[bytes]) -> None:
    fact_lists = [facts(parse_event(raw)) for raw in log]
    events = MinimalEvents()
    for index, each in enumerate(fact_lists):
        events.add(index, each)

    needed = events.positions()

    assert merged(fact_lists[index] for index in needed) == merged(fact_lists)


def test_of_a_repetitive_stream_the_first_and_last_events_of_each_content_are_needed() -> None:
    events = MinimalEvents()
    for index in range(500):
        raw_event = event(
            eventType="START" if index == 0 else "RUNNING",
            eventTime=f"2026-05-22T14:{index // 60:02d}:{index % 60:02d}Z",
            inputs=[dataset("topic", schema=schema("id"))],
            outputs=[dataset("table", schema=schema("id") if index < 200 else schema("id", "price"))],
        )
        events.add(index, facts(parse_event(json.dumps(raw_event).encode())))

    assert events.positions() == {0, 199, 200, 499}
