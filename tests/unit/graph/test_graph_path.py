"""The path of the data through a job or dataset, only as far as events report it."""

from typing import Any

import pytest

from headwater.graph.lineage import Graph
from headwater.graph.path import Path, path
from headwater.model.facts import Edit
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from tests.unit.graph.test_graph_flow import entries, graph, job, lake, run_event, source


def ran(name: str, reads: tuple[str, ...], writes: dict[str, str | None], run: str = "") -> dict[str, Any]:
    """A run of a job; `writes` has for each output its only source by `columnLineage`, if any."""
    facets = {
        target: {"columnLineage": {"fields": {"x": {"inputFields": [{**source(fed), "field": "x"}]}}}} if fed else {}
        for target, fed in writes.items()
    }
    ends: dict[str, Any] = {
        "inputs": [lake(each) for each in reads],
        "outputs": [lake(each, **facets[each]) for each in writes],
    }
    return {**run_event(run=run or name, **ends), "job": {"namespace": "etl", "name": name}}


def path_of(of_graph: Graph, start: DatasetId | JobId, max_hops: int = 20, max_nodes: int = 1_000) -> Path:
    steps = path(of_graph, start, max_hops, max_nodes)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Path = end.value
            return result


def edges(of_graph: Graph, start: str | JobId, max_hops: int = 20) -> set[str]:
    node = start if isinstance(start, JobId) else DatasetId("lake", start)
    return {f"{origin.name}>{end.name}" for origin, end in path_of(of_graph, node, max_hops).edges}


PAIRED = ran("pair", ("in0", "in1"), {"out0": "in0", "out1": "in1"})


def test_inputs_that_a_job_does_not_put_into_a_dataset_are_not_on_its_path() -> None:
    loaded = graph(ran("load", ("raw",), {"in1": None}), PAIRED, ran("use", ("out0", "out1"), {"mart": None}))

    assert edges(loaded, "out0") == {"in0>pair", "pair>out0", "out0>use", "use>mart"}
    assert edges(loaded, "in1") == {"raw>load", "load>in1", "in1>pair", "pair>out1", "out1>use", "use>mart"}


def test_all_inputs_and_outputs_of_a_job_are_on_its_path() -> None:
    loaded = graph(ran("load", ("raw",), {"in0": None}), PAIRED)

    assert edges(loaded, JobId("etl", "pair")) == {
        *("raw>load", "load>in0"),
        *("in0>pair", "in1>pair", "pair>out0", "pair>out1"),
    }


def test_a_reader_that_does_not_write_the_data_is_on_the_path() -> None:
    assert edges(graph(ran("look", ("in0", "in1"), {"out0": "in0"})), "in1") == {"in1>look"}


def test_of_two_jobs_between_two_datasets_only_the_one_that_moves_the_data_is_on_the_path() -> None:
    other = ran("other", ("in0", "in1"), {"out0": "in1", "out1": "in0"})

    assert edges(graph(PAIRED, other), "out0") == {"in0>pair", "in1>other", "pair>out0", "other>out0"}


def test_the_path_continues_through_a_source_without_a_job() -> None:
    view: dict[str, Any] = {
        "eventTime": "2026-05-22T14:23:00Z",
        "producer": "p",
        "dataset": lake("view", lineage={"inputs": []}),
    }
    view["dataset"]["facets"]["lineage"]["inputs"] = [source("out0")]

    assert edges(graph(PAIRED, view), "view") == {"in0>pair", "pair>out0", "out0>view"}
    assert edges(graph(PAIRED, view), "in0") == {"in0>pair", "pair>out0", "out0>view"}


def test_a_dataset_that_is_its_own_source_has_no_path() -> None:
    itself = {"fields": {"x": {"inputFields": [{**source("t"), "field": "x"}]}}}
    made_from_itself = {
        "eventTime": "2026-05-22T14:23:00Z",
        "producer": "p",
        "dataset": lake("t", columnLineage=itself),
    }

    assert edges(graph(made_from_itself), "t") == set()


@pytest.mark.parametrize(("fed", "reached"), [(None, {"take>mine"}), ("in9", set[str]())])
def test_data_handed_to_a_job_goes_into_its_outputs_without_reported_sources(
    fed: str | None, reached: set[str]
) -> None:
    handed = run_event(run="h", facets=entries({"type": "JOB", "inputs": [job("give")]}))
    handed["job"]["name"] = "take"
    loaded = graph(ran("give", ("raw",), {}), ran("take", ("in9",), {"mine": fed}), handed)

    assert edges(loaded, "raw") == {"raw>give", "give>take"} | reached
    upstream = {"in9>take", "take>mine"} | ({"raw>give", "give>take"} if reached else set())
    assert edges(loaded, "mine") == upstream


def test_cycles_end_and_deleted_datasets_are_left_out() -> None:
    loaded = graph(ran("turn", ("a",), {"b": None}), ran("back", ("b",), {"a": None}))
    assert edges(loaded, "a") == {"a>turn", "turn>b", "b>back", "back>a"}

    loaded.add(Edit(("dataset", "lake", "b"), "deleted", b"true", 1, Seen(0, 0)))

    assert edges(loaded, "a") == {"a>turn", "back>a"}


def test_a_path_is_limited_by_hops_and_by_nodes_and_reports_if_it_is_cut() -> None:
    loaded = graph(*(ran(f"j{index}", (f"d{index}",), {f"d{index + 1}": None}) for index in range(4)))
    start = DatasetId("lake", "d0")

    assert edges(loaded, "d0", 1) == {"d0>j0", "j0>d1", "d1>j1", "j1>d2"}
    assert [path_of(loaded, start, hops).is_cut for hops in (1, 4)] == [True, False]
    assert [path_of(loaded, start, max_nodes=max_nodes).is_cut for max_nodes in (2, 5)] == [True, False]


def test_a_path_that_ends_with_the_last_allowed_node_is_not_cut() -> None:
    runs = [ran(f"j{index}", ("hub",), {f"d{index}": None}) for index in range(9)]
    further = ran("on", ("d8",), {"beyond": None})
    start = DatasetId("lake", "hub")

    paths = [path_of(graph(*events), start, max_nodes=6) for events in (runs, [*runs, further])]

    assert [(len(path.edges), path.is_cut) for path in paths] == [(18, False), (18, True)]
