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
def test_a_run_has_as_children_just_those_that_name_it_in_the_end(log: list[bytes]) -> None:
    graph = graph_of(facts_of(log))

    named: dict[str, dict[JobId, set[str]]] = {}
    for run_id, run in graph.runs.items():
        for whole in (run.of_job.parent, run.of_job.root) if run.of_job is not None else ():
            if whole is not None and whole.run_id != run_id:
                named.setdefault(whole.run_id, {}).setdefault(whole.job, set()).add(run_id)
    assert {parent: claims for parent, claims in graph.child_runs.items() if claims} == named


def child(second: int, parent: str, root: str | None = None, job: str = "load", key: str = "parent") -> bytes:
    facet: dict[str, Any] = whole(parent, "dag") | ({"root": whole(root, "trigger")} if root else {})
    body = {
        "eventType": "RUNNING",
        "eventTime": f"2026-05-22T14:23:0{second}Z",
        "producer": "https://example.org",
        "run": {"runId": "child", "facets": {key: facet}},
        "job": {"namespace": "etl", "name": job},
    }
    return json.dumps(body).encode()


def whole(run: str, job: str) -> dict[str, Any]:
    return {"run": {"runId": run}, "job": {"namespace": "etl", "name": job}}


def test_a_parent_is_known_by_the_older_name_of_its_facet_too() -> None:
    graph = graph_of(facts_of([child(1, "p", key="parentRun")]))

    part = known_run(graph, "child")
    assert part is not None
    assert part.parent is not None
    assert (part.parent.run_id, parent_in(graph, activity(graph, part.job))) == ("p", JobId("etl", "dag"))


def test_the_newer_name_of_the_facet_beats_the_older_one() -> None:
    both = json.loads(child(1, "new"))
    both["run"]["facets"]["parentRun"] = whole("old", "dag.load")

    graph = graph_of(facts_of([json.dumps(both).encode()]))

    assert graph.child_runs == {"new": {JobId("etl", "dag"): {"child"}}}


def test_a_child_that_names_another_parent_later_leaves_the_first() -> None:
    graph = graph_of(facts_of([child(1, "first"), child(2, "second")]))

    assert (graph.child_runs["first"], graph.child_runs["second"]) == ({}, {JobId("etl", "dag"): {"child"}})


def test_a_root_that_only_a_part_names_is_a_run_of_its_job_and_the_root_of_what_lies_between() -> None:
    graph = graph_of(facts_of([child(1, "p", "r")]))

    root, parent, part = known_run(graph, "r"), known_run(graph, "p"), known_run(graph, "child")
    assert root is not None
    assert parent is not None
    assert part is not None
    assert (root.job, root.has_events, root.root) == (JobId("etl", "trigger"), False, None)
    assert (parent.job, parent.root) == (JobId("etl", "dag"), part.root)
    assert activity(graph, root.job).runs == ("r",)
    assert not any(known.reads or known.writes or known.feeds or known.fed_by for known in graph.jobs.values())


def test_a_root_that_is_the_parents_own_run_is_of_the_parents_job_however_it_is_called() -> None:
    event = json.loads(child(1, "app"))
    event["run"]["facets"]["parent"]["root"] = whole("app", "Daily DAG")

    graph = graph_of(facts_of([json.dumps(event).encode()]))

    part = known_run(graph, "child")
    assert part is not None
    assert part.root == part.parent
    assert {job.name for job, known in graph.jobs.items() if known.is_known} == {"load", "dag"}


def test_an_event_that_names_the_parent_alone_does_not_take_the_root_away() -> None:
    graph = graph_of(facts_of([child(1, "p", "r"), child(2, "p"), child(3, "p", job="ghost")]))

    assert graph.child_runs["r"] == {JobId("etl", "trigger"): {"child"}}
    assert {job.name for job, known in graph.jobs.items() if known.is_known} == {"load", "dag", "trigger"}


def test_a_parent_without_a_run_id_is_none() -> None:
    graph = graph_of(facts_of([child(1, "")]))

    assert graph.child_runs == {}


def test_a_run_is_no_part_of_itself() -> None:
    graph = graph_of(facts_of([child(1, "child", "child")]))

    assert {job.name for job, known in graph.jobs.items() if known.is_known} == {"load"}


def speaking(second: int, run: str, job: str, parent: str | None = None) -> bytes:
    """A run that tells itself whose it is."""
    event = json.loads(child(second, parent or "", job=job))
    event["run"]["runId"] = run
    return json.dumps(event).encode()


OWN, OF_PART = speaking(1, "p", "Daily DAG"), child(2, "p")


@pytest.mark.parametrize("log", [*map(list, permutations([OWN, OF_PART]))])
def test_the_job_of_a_parent_that_speaks_is_the_one_that_it_tells_itself(log: list[bytes]) -> None:
    graph = graph_of(facts_of(log))

    part = known_run(graph, "child")
    assert part is not None
    assert part.parent == ParentRun("p", JobId("etl", "Daily DAG"))
    assert parent_in(graph, activity(graph, part.job)) == JobId("etl", "Daily DAG")
    assert {job.name for job in graph.jobs if graph.has_job(job)} == {"Daily DAG", part.job.name}
    assert graph.parts_of(JobId("etl", "Daily DAG")) == {"child"}


def test_a_root_that_speaks_is_of_the_job_that_it_tells_itself() -> None:
    graph = graph_of(facts_of([child(1, "p", "r"), speaking(2, "r", "Trigger")]))

    for run_id in ("child", "p"):
        run = known_run(graph, run_id)
        assert run is not None
        assert run.root == ParentRun("r", JobId("etl", "Trigger"))


@pytest.mark.parametrize("told", [speaking(3, "another", "dag"), child(3, "silent")])
def test_what_others_call_a_parents_job_is_a_job_where_anything_else_tells_of_it(told: bytes) -> None:
    event = json.loads(told)
    event["run"]["runId"] = "another"

    graph = graph_of(facts_of([OWN, OF_PART, json.dumps(event).encode()]))

    assert graph.has_job(JobId("etl", "dag"))


def test_a_parent_that_turns_out_to_be_of_the_job_that_its_parts_name_is_of_that_job() -> None:
    graph = graph_of(facts_of([OWN, OF_PART, speaking(3, "p", "dag")]))

    assert {job.name for job in graph.jobs if graph.has_job(job)} == {"load", "dag"}
    assert graph.misnamed == set()
