"""Runs that are only known because others name them as their parent or root."""

import json
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given

from headwater.model.facts import ParentRun
from headwater.model.names import JobId
from headwater.service.knowledge.activity import activity, known_run, parent_in
from tests.support.logs import logs
from tests.unit.graph.test_graph_order import facts_of, graph_of


@given(logs)
def test_the_children_of_a_run_are_those_whose_latest_events_name_it(log: list[bytes]) -> None:
    graph = graph_of(facts_of(log))

    expected: dict[str, dict[JobId, set[str]]] = {}
    for run_id, run in graph.runs.items():
        for parent_run in (run.of_job.parent, run.of_job.root) if run.of_job is not None else ():
            if parent_run is not None and parent_run.run_id != run_id:
                expected.setdefault(parent_run.run_id, {}).setdefault(parent_run.job, set()).add(run_id)
    assert {parent: claims for parent, claims in graph.child_runs.items() if claims} == expected


def child(second: int, parent: str, root: str | None = None, job: str = "load", key: str = "parent") -> bytes:
    facet: dict[str, Any] = run_and_job(parent, "dag") | ({"root": run_and_job(root, "trigger")} if root else {})
    body = {
        "eventType": "RUNNING",
        "eventTime": f"2026-05-22T14:23:0{second}Z",
        "producer": "https://example.org",
        "run": {"runId": "child", "facets": {key: facet}},
        "job": {"namespace": "etl", "name": job},
    }
    return json.dumps(body).encode()


def run_and_job(run: str, job: str) -> dict[str, Any]:
    return {"run": {"runId": run}, "job": {"namespace": "etl", "name": job}}


def test_a_parent_is_known_by_the_older_name_of_its_facet_too() -> None:
    graph = graph_of(facts_of([child(1, "p", key="parentRun")]))

    child_run = known_run(graph, "child")
    assert child_run is not None
    assert child_run.parent is not None
    assert (child_run.parent.run_id, parent_in(graph, activity(graph, child_run.job))) == ("p", JobId("etl", "dag"))


def test_the_newer_name_of_the_facet_beats_the_older_one() -> None:
    both = json.loads(child(1, "new"))
    both["run"]["facets"]["parentRun"] = run_and_job("old", "dag.load")

    graph = graph_of(facts_of([json.dumps(both).encode()]))

    assert graph.child_runs == {"new": {JobId("etl", "dag"): {"child"}}}


def test_a_child_that_later_names_another_parent_is_no_longer_of_the_first() -> None:
    graph = graph_of(facts_of([child(1, "first"), child(2, "second")]))

    assert (graph.child_runs["first"], graph.child_runs["second"]) == ({}, {JobId("etl", "dag"): {"child"}})


def test_a_root_that_only_a_child_names_is_a_run_of_its_job_and_the_root_of_the_parent_too() -> None:
    graph = graph_of(facts_of([child(1, "p", "r")]))

    root, parent, child_run = known_run(graph, "r"), known_run(graph, "p"), known_run(graph, "child")
    assert root is not None
    assert parent is not None
    assert child_run is not None
    assert (root.job, root.has_events, root.root) == (JobId("etl", "trigger"), False, None)
    assert (parent.job, parent.root) == (JobId("etl", "dag"), child_run.root)
    assert activity(graph, root.job).runs == ("r",)
    assert not any(known.reads or known.writes or known.feeds or known.fed_by for known in graph.jobs.values())


def test_a_root_that_is_the_parent_run_has_the_parents_job_whatever_its_name() -> None:
    event = json.loads(child(1, "app"))
    event["run"]["facets"]["parent"]["root"] = run_and_job("app", "Daily DAG")

    graph = graph_of(facts_of([json.dumps(event).encode()]))

    child_run = known_run(graph, "child")
    assert child_run is not None
    assert child_run.root == child_run.parent
    assert {job.name for job, known in graph.jobs.items() if known.is_known} == {"load", "dag"}


def test_an_event_that_names_only_the_parent_keeps_the_root() -> None:
    graph = graph_of(facts_of([child(1, "p", "r"), child(2, "p"), child(3, "p", job="ghost")]))

    assert graph.child_runs["r"] == {JobId("etl", "trigger"): {"child"}}
    assert {job.name for job, known in graph.jobs.items() if known.is_known} == {"load", "dag", "trigger"}


def test_a_parent_without_a_run_id_is_ignored() -> None:
    graph = graph_of(facts_of([child(1, "")]))

    assert graph.child_runs == {}


def test_a_run_is_not_its_own_parent() -> None:
    graph = graph_of(facts_of([child(1, "child", "child")]))

    assert {job.name for job, known in graph.jobs.items() if known.is_known} == {"load"}


def own_event(second: int, run: str, job: str, parent: str | None = None) -> bytes:
    """An event of this run itself, with its job."""
    event = json.loads(child(second, parent or "", job=job))
    event["run"]["runId"] = run
    return json.dumps(event).encode()


OWN, OF_CHILD = own_event(1, "p", "Daily DAG"), child(2, "p")


@pytest.mark.parametrize("log", [*map(list, permutations([OWN, OF_CHILD]))])
def test_the_job_of_a_parent_with_events_is_the_one_in_its_own_events(log: list[bytes]) -> None:
    graph = graph_of(facts_of(log))

    child_run = known_run(graph, "child")
    assert child_run is not None
    assert child_run.parent == ParentRun("p", JobId("etl", "Daily DAG"))
    assert parent_in(graph, activity(graph, child_run.job)) == JobId("etl", "Daily DAG")
    assert {job.name for job in graph.jobs if graph.has_job(job)} == {"Daily DAG", child_run.job.name}
    assert graph.parts_of(JobId("etl", "Daily DAG")) == {"child"}


def test_the_job_of_a_root_with_events_is_the_one_in_its_own_events() -> None:
    graph = graph_of(facts_of([child(1, "p", "r"), own_event(2, "r", "Trigger")]))

    for run_id in ("child", "p"):
        run = known_run(graph, run_id)
        assert run is not None
        assert run.root == ParentRun("r", JobId("etl", "Trigger"))


@pytest.mark.parametrize("raw_event", [own_event(3, "another", "dag"), child(3, "silent")])
def test_the_job_that_a_child_names_for_its_parent_exists_if_another_event_names_it(raw_event: bytes) -> None:
    event = json.loads(raw_event)
    event["run"]["runId"] = "another"

    graph = graph_of(facts_of([OWN, OF_CHILD, json.dumps(event).encode()]))

    assert graph.has_job(JobId("etl", "dag"))


def test_a_parent_whose_later_event_has_the_job_that_its_children_name_is_of_that_job() -> None:
    graph = graph_of(facts_of([OWN, OF_CHILD, own_event(3, "p", "dag")]))

    assert {job.name for job in graph.jobs if graph.has_job(job)} == {"load", "dag"}
    assert graph.misnamed == set()
