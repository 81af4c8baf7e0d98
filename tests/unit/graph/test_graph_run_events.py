"""A few of a run's events contain all the facts of the many, up to any time."""

import json
from collections.abc import Iterable
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from headwater.graph.fold import fold
from headwater.graph.run_events import RunEvents
from headwater.model.events import parse_event
from headwater.model.extract import facts
from headwater.model.facts import ChainLink, Content, FacetReport, Fact, RunTimes, happened_us
from tests.support import logs
from tests.support.app import dataset, event, schema


def merged(fact_lists: Iterable[tuple[Fact, ...]]) -> object:
    """The merged facts, except those about the event itself, and retained reports."""
    ignored = Content, ChainLink, FacetReport
    return fold(fact for each in fact_lists for fact in each if not isinstance(fact, ignored))


@given(st.lists(logs.events, min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_the_needed_events_contain_the_facts_of_all_up_to_each_time(log: list[bytes], chance: Random) -> None:
    fact_lists = [
        each for each in map(facts, map(parse_event, log)) if any(isinstance(fact, RunTimes) for fact in each)
    ]
    times = [*map(happened_us, fact_lists)]
    events = RunEvents()
    order = [*range(len(fact_lists))]
    chance.shuffle(order)
    for index in order:
        events.add(index, times[index], fact_lists[index])

    for until_us in {*times, *(time_us - 1 for time_us in times)}:
        then = {index for index, time_us in enumerate(times) if time_us <= until_us}
        latest_first = [*events.latest_first(until_us)]

        assert events.needed(until_us) <= then
        assert merged(fact_lists[index] for index in events.needed(until_us)) == merged(fact_lists[i] for i in then)
        assert {index for together in latest_first for index in together} == then
        assert [{times[index] for index in together} for together in latest_first] == [
            {time_us} for time_us in sorted({times[index] for index in then}, reverse=True)
        ]


def test_of_a_repetitive_stream_the_first_and_last_events_of_each_kind_are_needed() -> None:
    events = RunEvents()
    for index in range(500):
        raw_event = event(
            eventType="START" if index == 0 else "RUNNING",
            eventTime=f"2026-05-22T14:{index // 60:02d}:{index % 60:02d}Z",
            inputs=[dataset("topic", schema=schema("id"))],
            outputs=[dataset("table" if index < 200 else "table2", schema=schema(f"c{index}"))],
        )
        events.add(index, index, facts(parse_event(json.dumps(raw_event).encode())))

    assert events.needed(499) == {0, 1, 199, 200, 499}
    assert events.needed(150) == {0, 1, 150}
    assert events.size_bytes < 25_000
