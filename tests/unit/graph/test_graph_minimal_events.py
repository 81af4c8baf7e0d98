"""Of many events a few say together what all of them say."""

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


def merged(told: Iterable[tuple[Fact, ...]]) -> object:
    """What the facts come to, but for what each event says of itself alone."""
    return fold(fact for each in told for fact in each if not isinstance(fact, Content | ChainLink))


@given(st.lists(logs.events, min_size=1, max_size=30))
def test_the_events_that_are_needed_say_what_all_say(log: list[bytes]) -> None:
    told = [facts(parse_event(raw)) for raw in log]
    events = MinimalEvents()
    for place, each in enumerate(told):
        events.add(place, each)

    needed = events.positions()

    assert merged(told[place] for place in needed) == merged(told)


def test_of_a_stream_that_says_the_same_again_and_again_its_ends_are_needed() -> None:
    events = MinimalEvents()
    for place in range(500):
        told = event(
            eventType="START" if place == 0 else "RUNNING",
            eventTime=f"2026-05-22T14:{place // 60:02d}:{place % 60:02d}Z",
            inputs=[dataset("topic", schema=schema("id"))],
            outputs=[dataset("table", schema=schema("id") if place < 200 else schema("id", "price"))],
        )
        events.add(place, facts(parse_event(json.dumps(told).encode())))

    assert events.positions() == {0, 199, 200, 499}
