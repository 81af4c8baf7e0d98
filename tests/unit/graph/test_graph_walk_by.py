"""The neighbourhood of a node at a past time, walked by the edges of a later graph."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.graph.derived import Derivations
from headwater.graph.past.walk_by import past_neighbourhood
from headwater.graph.walk import neighbourhood
from headwater.model.names import DatasetId, JobId
from tests.unit.graph.test_graph_order import facts_of, graph_of

PRODUCER = "https://example.org/producer"
BEGIN_US = 1_779_459_780_000_000
"""2026-05-22T14:23:00Z: second 0 of the events."""
SOURCE = {"namespace": "lake", "name": "t0"}
TARGET = {"namespace": "lake", "name": "t1"}


def event_at(second: int, **members: object) -> bytes:
    """An event at that second."""
    time = f"2026-05-22T14:23:{second:02d}Z"
    return json.dumps({"eventTime": time, "producer": PRODUCER, "schemaURL": f"{PRODUCER}/OL", **members}).encode()


def run_event(second: int, number: int, inputs: Iterable[object], outputs: Iterable[object] = ()) -> bytes:
    """An event of a run; of six runs, two each have the same job."""
    run, job = {"runId": f"0198f7d0-0000-7000-8000-{number:012d}"}, {"namespace": "etl", "name": f"job{number % 3}"}
    ends = {"inputs": [*inputs], "outputs": [*outputs]}
    return event_at(second, eventType="RUNNING", run=run, job=job, **ends)


_datasets = st.lists(st.integers(0, 4).map(lambda number: {"namespace": "lake", "name": f"t{number}"}), max_size=2)
_logs = st.lists(st.tuples(st.integers(0, 59), st.integers(0, 5), _datasets, _datasets), min_size=1, max_size=15)


@given(log=_logs, second=st.integers(0, 59), max_hops=st.integers(0, 3))
def test_the_past_neighbourhood_of_a_node_is_that_in_the_graph_of_then(
    log: list[Any], second: int, max_hops: int
) -> None:
    now = graph_of(facts_of(run_event(*each) for each in log))
    then = graph_of(facts_of(run_event(*each) for each in log if each[0] <= second))
    nodes: list[JobId | DatasetId] = [*then.jobs, *then.datasets]

    for node in nodes:
        past = past_neighbourhood(now, BEGIN_US + second * 1_000_000, _all_are_alone, node, max_hops)

        assert past is not None
        expected = neighbourhood(then, Derivations(then), node, max_hops)
        assert (sorted(past.jobs), past.derived) == (sorted(expected.jobs), expected.derived)


DECLARED = event_at(50, job={"namespace": "etl", "name": "job1"}, inputs=[TARGET], outputs=[])
ENTRY = {**TARGET, "type": "DATASET", "inputs": [{"namespace": "etl", "name": "job1", "type": "JOB"}]}
ABOUT_ANOTHER_JOB = {"_producer": PRODUCER, "_schemaURL": f"{PRODUCER}/lineage", "entries": [ENTRY]}
REPORTED_BY_ANOTHER = event_at(
    50,
    eventType="COMPLETE",
    run={"runId": "0198f7d0-0000-7000-8000-000000000099"},
    job={"namespace": "etl", "name": "other", "facets": {"lineage": ABOUT_ANOTHER_JOB}},
    inputs=[],
    outputs=[],
)


@pytest.mark.parametrize("later_event", [DECLARED, REPORTED_BY_ANOTHER], ids=["declared", "reported by another job"])
def test_the_past_is_unknown_from_edges_if_others_than_the_jobs_runs_report_them(later_event: bytes) -> None:
    log = [run_event(10, 0, [SOURCE], [TARGET]), run_event(20, 1, [TARGET])]
    now, node = graph_of(facts_of([*log, later_event])), DatasetId("lake", "t0")

    assert past_neighbourhood(now, BEGIN_US + 30_000_000, _all_are_alone, node, 2) is None
    assert past_neighbourhood(now, BEGIN_US + 30_000_000, _all_are_alone, JobId("etl", "job1"), 2) is None


def test_the_past_is_unknown_from_edges_if_a_dataset_has_several_names() -> None:
    now = graph_of(facts_of([run_event(10, 0, [SOURCE], [TARGET])]))

    past = past_neighbourhood(
        now, BEGIN_US + 30_000_000, lambda name: name != DatasetId("lake", "t1"), JobId("etl", "job0"), 2
    )

    assert past is None


def _all_are_alone(name: DatasetId) -> bool:
    return True
