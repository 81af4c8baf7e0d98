"""The graph of recorded events, part by part, against the truth that was written by hand."""

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


def test_jobs_read_and_write_what_their_events_say(recorded: Scenario, graph: Graph) -> None:
    told = {job(name): known or {} for name, known in recorded.truth["jobs"].items()}
    known = [name for name, found in graph.jobs.items() if found.is_known]

    assert {name: (set(graph.reads(name)), set(graph.writes(name))) for name in known} == {
        name: ({*map(dataset, ends.get("reads", ()))}, {*map(dataset, ends.get("writes", ()))})
        for name, ends in told.items()
    }


def test_jobs_are_part_of_the_jobs_that_parent_facets_name(recorded: Scenario, graph: Graph) -> None:
    told = {
        job(name): job(known["parent"]) if known and "parent" in known else None
        for name, known in recorded.truth["jobs"].items()
    }

    assert {
        name: parent_in(graph, activity(graph, name)) for name, found in graph.jobs.items() if found.is_known
    } == told


def test_runs_are_of_their_jobs_in_their_states_and_under_their_parents(recorded: Scenario, graph: Graph) -> None:
    found = {run_id: known_run(graph, run_id) for run_id in graph.runs}

    assert {
        run_id: [f"{run.job.namespace} {run.job.name}", run.state, *([run.parent.run_id] if run.parent else [])]
        for run_id, run in found.items()
        if run is not None
    } == recorded.truth["runs"]


def test_columns_come_from_where_facets_say(recorded: Scenario, graph: Graph) -> None:
    told = {
        (dataset(target), column, dataset(source[0]), *source[1:3], *(source[3:] or [""]))
        for target, columns in recorded.truth["columns"].items()
        for column, sources in columns.items()
        for source in sources
    }

    assert {
        (name, edge.target_column or "*", edge.source, edge.source_column, edge.kind, edge.subtype)
        for name in graph.shown_datasets()
        for edge in graph.column_edges_into(name)
    } == told


def test_names_are_one_where_the_evidence_says_so(recorded: Scenario, graph: Graph) -> None:
    told = {frozenset(map(dataset, names)) for names in recorded.truth.get("identity", ())}

    classes = {frozenset(graph.members(name)) for name in graph.datasets}
    assert {names for names in classes if len(names) > 1} == told


def test_names_that_no_evidence_places_stay_in_quarantine(recorded: Scenario, graph: Graph) -> None:
    mentioned = {DatasetId(each.namespace, each.name) for each in graph.quarantined.values()}

    unplaced = {name for name in mentioned if not graph.shown(name).is_complete}
    assert unplaced == {dataset(f"~ {name}") for name in recorded.truth.get("quarantined", ())}


def test_no_flow_of_control_is_told_of(recorded: Scenario, graph: Graph) -> None:
    told = {job(name): pair(other) for name, other in recorded.truth.get("control", {}).items()}

    assert graph.named_in_control == told
