"""The graph of recorded events, part by part, against hand-written expectations."""

import random
from pathlib import Path

import pytest

from headwater.graph.lineage import Graph
from headwater.model.names import DatasetId
from headwater.service.knowledge.activity import activity, known_run, parent_in
from tests.support.scenarios import NAMES, Scenario, dataset, job, pair, scenario
from tests.unit.graph.test_graph_order import facts_of, graph_of


@pytest.fixture(scope="module", params=NAMES)
def recorded(request: pytest.FixtureRequest, shared: Path) -> Scenario:
    return scenario(shared, request.param)


@pytest.fixture(scope="module", params=["as recorded", "shuffled"])
def graph(request: pytest.FixtureRequest, recorded: Scenario) -> Graph:
    events = list(recorded.events)
    if request.param == "shuffled":
        random.Random(7).shuffle(events)  # noqa: S311  a test's order, not a secret
    return graph_of(facts_of(events))


def test_jobs_read_and_write_the_datasets_of_their_events(recorded: Scenario, graph: Graph) -> None:
    expected = {job(name): known or {} for name, known in recorded.truth["jobs"].items()}
    known = [name for name, job_record in graph.jobs.items() if job_record.is_known]

    assert {name: (set(graph.reads(name)), set(graph.writes(name))) for name in known} == {
        name: ({*map(dataset, ends.get("reads", ()))}, {*map(dataset, ends.get("writes", ()))})
        for name, ends in expected.items()
    }


def test_jobs_are_part_of_the_jobs_that_parent_facets_name(recorded: Scenario, graph: Graph) -> None:
    expected = {
        job(name): job(members["parent"]) if members and "parent" in members else None
        for name, members in recorded.truth["jobs"].items()
    }

    assert {
        name: parent_in(graph, activity(graph, name)) for name, job_record in graph.jobs.items() if job_record.is_known
    } == expected


def test_runs_have_their_jobs_states_and_parents(recorded: Scenario, graph: Graph) -> None:
    runs = {run_id: known_run(graph, run_id) for run_id in graph.runs}

    assert {
        run_id: [f"{run.job.namespace} {run.job.name}", run.state, *([run.parent.run_id] if run.parent else [])]
        for run_id, run in runs.items()
        if run is not None
    } == recorded.truth["runs"]


def test_columns_have_the_sources_of_their_facets(recorded: Scenario, graph: Graph) -> None:
    expected = {
        (dataset(target), column, dataset(source[0]), *source[1:3], *(source[3:] or [""]))
        for target, columns in recorded.truth["columns"].items()
        for column, sources in columns.items()
        for source in sources
    }

    assert {
        (name, edge.target_column or "*", edge.source, edge.source_column, edge.kind, edge.subtype)
        for name in graph.shown_datasets()
        for edge in graph.column_edges_into(name)
    } == expected


def test_names_with_evidence_are_one_dataset(recorded: Scenario, graph: Graph) -> None:
    expected = {frozenset(map(dataset, names)) for names in recorded.truth.get("identity", ())}

    classes = {frozenset(graph.members(name)) for name in graph.datasets}
    assert {names for names in classes if len(names) > 1} == expected


def test_names_without_evidence_stay_in_quarantine(recorded: Scenario, graph: Graph) -> None:
    mentioned = {DatasetId(each.namespace, each.name) for each in graph.quarantined.values()}

    unplaced = {name for name in mentioned if not graph.shown(name).is_complete}
    assert unplaced == {dataset(f"~ {name}") for name in recorded.truth.get("quarantined", ())}


def test_control_flow_is_as_expected(recorded: Scenario, graph: Graph) -> None:
    expected = {job(name): pair(other) for name, other in recorded.truth.get("control", {}).items()}

    assert graph.named_in_control == expected
