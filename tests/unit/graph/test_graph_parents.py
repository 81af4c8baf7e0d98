"""Runs that are only known because others name them as their parent."""

import json

from hypothesis import given

from headwater.model.events import parse_event
from headwater.model.extract import facts
from headwater.model.names import JobId
from tests.support.logs import logs
from tests.unit.graph.test_graph_order import facts_of, graph_of


@given(logs)
def test_a_run_has_as_children_just_those_that_name_it_in_the_end(log: list[bytes]) -> None:
    graph = graph_of(facts_of(log))

    named: dict[str, dict[JobId, set[str]]] = {}
    for run_id, run in graph.runs.items():
        if run.of_job is not None and run.of_job.parent is not None:
            parent = run.of_job.parent
            named.setdefault(parent.run_id, {}).setdefault(parent.job, set()).add(run_id)
    assert {parent: claims for parent, claims in graph.child_runs.items() if claims} == named


def test_a_child_that_names_another_parent_later_leaves_the_first() -> None:
    def child(second: int, parent: str) -> bytes:
        facet = {"run": {"runId": parent}, "job": {"namespace": "etl", "name": "dag"}}
        body = {
            "eventType": "RUNNING",
            "eventTime": f"2026-05-22T14:23:0{second}Z",
            "producer": "https://example.org",
            "run": {"runId": "child", "facets": {"parent": facet}},
            "job": {"namespace": "etl", "name": "load"},
        }
        return json.dumps(body).encode()

    graph = graph_of(fact for raw in (child(1, "first"), child(2, "second")) for fact in facts(parse_event(raw)))

    assert (graph.child_runs["first"], graph.child_runs["second"]) == ({}, {JobId("etl", "dag"): {"child"}})
