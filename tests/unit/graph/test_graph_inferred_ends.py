"""An end that was inferred from silence counts until the run reports again."""

import json
from itertools import permutations
from typing import Any

from headwater.graph.lineage import Graph
from headwater.model.events import parse_event
from headwater.model.extract import facts
from headwater.model.facts import Content

RUN = "01a1fd63-6104-72d6-a825-d5132f7ddac9"
ERROR = {"message": "not heard of for 5 s", "programmingLanguage": "JAVA"}


def event(event_type: str, second: int, **facets: object) -> bytes:
    job = {"namespace": "flink-jobs", "name": "stats"}
    body = {"eventTime": f"2026-05-22T14:23:{second:02d}Z", "eventType": event_type, "producer": "p", "job": job}
    return json.dumps({**body, "run": {"runId": RUN, "facets": facets}}).encode()


def lost(second: int) -> bytes:
    return event("FAIL", second, headwater_run={"isInferred": True}, errorMessage=ERROR)


def ends(*events: bytes) -> set[tuple[str, int]]:
    """The run's state and its second, for every order of the events; a single one if the order does not matter."""
    states = set()
    for order in permutations(events):
        contents: dict[bytes, Any] = {}
        graph = Graph(contents.__getitem__)
        for fact in (fact for raw in order for fact in facts(parse_event(raw))):
            if isinstance(fact, Content):
                contents[fact.digest] = json.loads(fact.body)
            graph.add(fact)
        end = graph.end_of(graph.runs[RUN])
        assert end is not None
        assert end.mended is None
        states.add((end.event_type, end.time_us // 1_000_000 % 60))
    return states


def test_a_run_that_did_not_report_again_has_ended() -> None:
    assert ends(event("START", 1), event("RUNNING", 5), lost(10)) == {("FAIL", 10)}


def test_a_later_event_of_the_run_retracts_the_end() -> None:
    assert ends(event("START", 1), lost(10), event("RUNNING", 12)) == {("RUNNING", 12)}


def test_a_second_silence_ends_it_again() -> None:
    assert ends(event("START", 1), lost(10), event("RUNNING", 12), lost(20)) == {("FAIL", 20)}


def test_an_end_that_the_run_reported_itself_counts_even_if_earlier() -> None:
    assert ends(event("START", 1), event("COMPLETE", 9), lost(10), event("RUNNING", 12)) == {("COMPLETE", 9)}
