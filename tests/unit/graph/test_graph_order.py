"""Rule 2: the graph is the same for any order of arrival, any repetition and any batching."""

import json
import random
from collections.abc import Iterable, Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import UnavailableError
from headwater.graph.ends import ends_of, reported_ends, runs_handing_to
from headwater.graph.fold import fold
from headwater.graph.lineage import Graph
from headwater.model.events import parse_event
from headwater.model.extract import facts
from headwater.model.facts import Alias, Content, Fact, Observation
from headwater.model.merging import Seen
from headwater.model.names import DatasetId
from tests.support.logs import logs


def facts_of(log: Iterable[bytes]) -> list[Fact]:
    return [fact for raw in log for fact in facts(parse_event(raw))]


def graph_of(all_facts: Iterable[Fact]) -> Graph:
    bodies: dict[bytes, bytes] = {}

    def content(digest: bytes) -> Mapping[str, Any]:
        read: Mapping[str, Any] = json.loads(bodies[digest])
        return read

    graph = Graph(content)
    for fact in all_facts:
        if isinstance(fact, Content):
            bodies[fact.digest] = fact.body
        graph.add(fact)
    return graph


def picture(graph: Graph) -> dict[str, object]:
    """Everything that can be read of the graph."""
    jobs = {job: record for job, record in graph.jobs.items() if record.is_known}
    shown = sorted(graph.shown_datasets())
    return {
        "runs": graph.runs,
        "states": {run_id: graph.end_of(run) for run_id, run in graph.runs.items()},
        "jobs": {
            job: (record.runs, record.facets, record.declaration, record.children) for job, record in jobs.items()
        },
        "used": {job: graph.used_by(job) for job in jobs},
        "uses": {job: {**record.uses} for job, record in jobs.items()},
        "reported": {
            job: (record.reported, record.reported_without_run, record.feeds, record.fed_by)
            for job, record in jobs.items()
        },
        "reported ends": {job: reported_ends(graph, job) for job in jobs},
        "ends": {run_id: {*ends_of(graph, run_id, ())} for run_id in graph.runs},
        "handed": {run_id: runs_handing_to(graph, run_id) for run_id in graph.runs},
        "control": {job: runs for job, runs in graph.named_in_control.items() if runs},
        "identity": {name: graph.identities.links(name) for name in shown},
        "reads": {job: graph.reads(job) for job in jobs},
        "writes": {job: graph.writes(job) for job in jobs},
        "datasets": {name: graph.members(name) for name in shown},
        "declared": {job: record.declared_over for job, record in jobs.items()},
        "seen": {name: graph.datasets[name].seen for name in shown if name in graph.datasets},
        "facets": {name: graph.facets_of(name) for name in shown},
        "digests": {name: graph.digests_of(name) for name in shown},
        "job digests": {job: graph.job_digests(job) for job in jobs},
        "readers": {name: graph.readers(name) & jobs.keys() for name in shown},
        "writers": {name: graph.writers(name) & jobs.keys() for name in shown},
        "columns": {name: graph.column_edges_into(name) for name in shown},
        "quarantined": graph.quarantined,
    }


def shuffled(log: list[bytes], seed: int) -> list[bytes]:
    """The log in another order, with some events repeated."""
    generator = random.Random(seed)  # noqa: S311  a test's order, not a secret
    repeated = log + [raw for raw in log if generator.random() < 0.3]
    generator.shuffle(repeated)
    return repeated


@given(logs, st.integers())
def test_facts_fold_to_the_same_in_any_order_and_with_repetitions(log: list[bytes], seed: int) -> None:
    assert fold(facts_of(shuffled(log, seed))) == fold(facts_of(log))


@given(logs, st.integers())
def test_a_graph_grown_event_by_event_is_the_graph_of_any_other_order(log: list[bytes], seed: int) -> None:
    assert picture(graph_of(facts_of(shuffled(log, seed)))) == picture(graph_of(facts_of(log)))


@given(logs, st.integers())
def test_a_fact_that_could_not_be_added_can_be_added_again(log: list[bytes], seed: int) -> None:
    all_facts = facts_of(shuffled(log, seed))
    bodies = {fact.digest: fact.body for fact in all_facts if isinstance(fact, Content)}
    available: set[bytes] = set()

    def content(digest: bytes) -> Mapping[str, Any]:
        if digest not in available:
            available.add(digest)
            raise UnavailableError("the database does not answer")
        read: Mapping[str, Any] = json.loads(bodies[digest])
        return read

    graph = Graph(content)
    for fact in all_facts:
        available.clear()
        add_with_retries(graph, fact)
    available.update(bodies)

    assert picture(graph) == picture(graph_of(all_facts))


def add_with_retries(graph: Graph, fact: Fact) -> None:
    while True:
        try:
            graph.add(fact)
        except UnavailableError:
            continue
        return


@given(logs)
def test_a_graph_of_merged_facts_is_the_graph_of_all_facts(log: list[bytes]) -> None:
    merged = sorted(fold(facts_of(log)).values(), key=lambda fact: not isinstance(fact, Content))

    assert picture(graph_of(merged)) == picture(graph_of(facts_of(log)))


@given(logs)
def test_the_count_of_runs_that_name_a_dataset_equals_their_list(log: list[bytes]) -> None:
    graph = graph_of(facts_of(log))

    assert {name: graph.count_runs_naming(name) for name in graph.datasets} == {
        name: len({*graph.runs_naming(name)}) for name in graph.datasets
    }


@given(logs, logs)
def test_every_edge_remains_when_more_events_arrive(log: list[bytes], later: list[bytes]) -> None:
    runs_before = {run_id: set(run.observed) for run_id, run in graph_of(facts_of(log)).runs.items()}

    grown = graph_of(facts_of(log + later))

    assert all(seen <= set(grown.runs[run_id].observed) for run_id, seen in runs_before.items())


def test_an_unused_spelling_is_shown_under_its_datasets_current_name() -> None:
    of_lake, of_store = DatasetId("lake", "t"), DatasetId("s3://bucket", "t")
    graph = graph_of(
        [Alias(of_store, of_lake, "symlinks", Seen(1, 1)), Observation("r", "input", of_store, Seen(1, 1))]
    )
    spelt = DatasetId("s3a://bucket", "/t")
    before = graph.shown(spelt)

    graph.add(Observation("s", "input", of_lake, Seen(2, 2)))

    assert (before, graph.shown(spelt)) == (of_store, of_lake)
