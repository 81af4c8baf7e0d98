"""What an event made new: the state of its run, edges, and schemas."""

import json
from collections.abc import Mapping
from typing import Any

from headwater.graph.lineage import Graph
from headwater.model.events import parse_event
from headwater.model.extract import facts
from headwater.model.facts import Content
from headwater.service.feed.news import News, noticing
from tests.support.app import dataset, event, facet, schema


def told(*events: dict[str, Any]) -> list[tuple[str | None, list[str], list[str]]]:
    """Of each event: its run's state, the new edges as `from > to`, and the datasets with another schema; by name."""
    bodies: dict[bytes, bytes] = {}

    def content(digest: bytes) -> Mapping[str, Any]:
        read: Mapping[str, Any] = json.loads(bodies[digest])
        return read

    graph, found = Graph(content), list[News]()
    for each in events:
        said = facts(parse_event(json.dumps(each).encode()))
        bodies.update((fact.digest, fact.body) for fact in said if isinstance(fact, Content))
        news = noticing(graph, said)
        graph.add_all(said)
        found.append(news())
    return [(news.state, [*map(_edge, news.edges)], [name.name for name in news.schemas]) for news in found]


def _edge(edge: tuple[Any, str, Any]) -> str:
    job, way, name = edge
    return f"{name.name} > {job.name}" if way == "input" else f"{job.name} > {name.name}"


def _lineage(name: str, *, of_job: dict[str, Any], fed_by: dict[str, Any]) -> dict[str, Any]:
    """The facets of a job whose explicit lineage says that data flows from the one to the other."""
    return {"namespace": "etl", "name": name, "facets": {"lineage": facet(entries=[{**of_job, "inputs": [fed_by]}])}}


def _job(name: str) -> dict[str, Any]:
    return {"namespace": "etl", "name": name, "type": "JOB"}


def test_a_runs_state_and_each_edge_once() -> None:
    ends = {"inputs": [dataset("a")], "outputs": [dataset("b")]}
    later = "2026-05-22T14:24:11Z"

    started, ended, again = told(
        event(**ends),
        event(eventType="FAIL", eventTime=later, outputs=[dataset("b"), dataset("c")]),
        event(eventTime=later, run={"runId": "other"}, **ends),
    )

    assert started == ("RUNNING", ["a > load", "load > b"], [])
    assert ended == ("FAILED", ["load > c"], [])
    assert again == ("RUNNING", [], [])


def test_a_schema_is_news_when_it_is_another_one_than_the_newest() -> None:
    def writing(minute: int, *columns: str) -> dict[str, Any]:
        return event(eventTime=f"2026-05-22T14:{minute:02d}:00Z", outputs=[dataset("t", schema=schema(*columns))])

    first, same, other, late = told(writing(1, "x"), writing(3, "x"), writing(5, "x", "y"), writing(4, "z"))

    assert [schemas for _, _, schemas in (first, same, other, late)] == [["t"], [], ["t"], []]


def test_a_schema_that_another_producer_tells_is_none() -> None:
    def writing(minute: int, **members: object) -> dict[str, Any]:
        said = schema("x") | members
        return event(eventTime=f"2026-05-22T14:{minute:02d}:00Z", outputs=[dataset("t", schema=said)])

    found = told(writing(1), writing(2, _producer="https://example.org/2"), writing(3), writing(4, fields=[]))

    assert [schemas for _, _, schemas in found] == [["t"], [], [], ["t"]]


def test_an_edge_under_another_name_of_the_dataset_is_not_new() -> None:
    names = facet(identifiers=[{"namespace": "lake", "name": "t", "type": "TABLE"}])

    _, other_name = told(event(outputs=[dataset("t")]), event(outputs=[dataset("files/t", symlinks=names)]))

    assert other_name == ("RUNNING", [], [])


def test_what_a_job_event_declares_is_news_until_it_is_declared_again() -> None:
    declared = event(outputs=[dataset("t", schema=schema("x"))])
    body = {name: value for name, value in declared.items() if name not in ("run", "eventType")}

    first, again = told(body, {**body, "eventTime": "2026-05-22T14:24:11Z"})

    assert first == (None, ["load > t"], ["t"])
    assert again == (None, [], [])


def test_data_that_one_job_hands_to_another_is_news_once_whoever_tells_of_it() -> None:
    own = _lineage("load", of_job={"type": "JOB"}, fed_by=_job("fetch"))
    others = _lineage("watch", of_job=_job("load"), fed_by=_job("fetch"))
    declared = event(job=_lineage("load", of_job={"type": "JOB"}, fed_by=_job("ask")))
    del declared["run"], declared["eventType"]

    found = told(event(job=own), event(job=own), event(run={"runId": "w"}, job=others), declared, declared)

    assert [edges for _, edges, _ in found] == [["fetch > load"], [], [], ["ask > load"], []]


def test_an_edge_of_a_job_that_another_one_tells_of_is_news() -> None:
    table = {"namespace": "lake", "name": "a", "type": "DATASET"}
    others = _lineage("watch", of_job=_job("load"), fed_by=table)

    found = told(event(job=others), event(run={"runId": "l"}, inputs=[dataset("a")], outputs=[dataset("b")]))

    assert [edges for _, edges, _ in found] == [["a > load"], ["load > b"]]


def test_what_a_job_read_before_its_run_was_another_jobs_is_not_news() -> None:
    ends = {"inputs": [dataset("a")]}
    parent = facet(run={"runId": "p"}, job={"namespace": "etl", "name": "dag"})
    owned = event(
        run={"runId": "r", "facets": {"parent": parent}}, job={"namespace": "etl", "name": "dag.load"}, **ends
    )
    unowned = event(run={"runId": "r"}, **ends)

    found = told(owned, unowned)

    assert [edges for _, edges, _ in found] == [["a > dag.load"], []]
