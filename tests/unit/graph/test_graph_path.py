"""The way of the data through a job or dataset: no further than events say that it goes."""

from typing import Any

import pytest

from headwater.graph.lineage import Graph
from headwater.graph.path import Path, path
from headwater.model.facts import Edit
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from tests.unit.graph.test_graph_flow import entries, graph, job, lake, run_event, source


def ran(name: str, reads: tuple[str, ...], writes: dict[str, str | None], run: str = "") -> dict[str, Any]:
    """A run of a job; of what it writes, the one source that `columnLineage` names, if it does."""
    told = {
        target: {"columnLineage": {"fields": {"x": {"inputFields": [{**source(fed), "field": "x"}]}}}} if fed else {}
        for target, fed in writes.items()
    }
    ends = {"inputs": [lake(each) for each in reads], "outputs": [lake(each, **told[each]) for each in writes]}
    return {**run_event(run=run or name, **ends), "job": {"namespace": "etl", "name": name}}


def found(given: Graph, start: DatasetId | JobId, max_hops: int = 20, most: int = 1_000) -> Path:
    steps = path(given, start, max_hops, most)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            outcome: Path = end.value
            return outcome


def edges(given: Graph, start: str | JobId, max_hops: int = 20) -> set[str]:
    node = start if isinstance(start, JobId) else DatasetId("lake", start)
    return {f"{origin.name}>{end.name}" for origin, end in found(given, node, max_hops).edges}


PAIRED = ran("pair", ("in0", "in1"), {"out0": "in0", "out1": "in1"})


def test_what_a_job_does_not_put_into_a_dataset_is_not_on_its_path() -> None:
    given = graph(ran("load", ("raw",), {"in1": None}), PAIRED, ran("use", ("out0", "out1"), {"mart": None}))

    assert edges(given, "out0") == {"in0>pair", "pair>out0", "out0>use", "use>mart"}
    assert edges(given, "in1") == {"raw>load", "load>in1", "in1>pair", "pair>out1", "out1>use", "use>mart"}


def test_of_a_job_all_that_it_reads_and_writes_is_on_its_path() -> None:
    given = graph(ran("load", ("raw",), {"in0": None}), PAIRED)

    assert edges(given, JobId("etl", "pair")) == {
        *("raw>load", "load>in0"),
        *("in0>pair", "in1>pair", "pair>out0", "pair>out1"),
    }


def test_a_reader_that_puts_the_data_nowhere_is_on_the_path() -> None:
    assert edges(graph(ran("look", ("in0", "in1"), {"out0": "in0"})), "in1") == {"in1>look"}


def test_of_two_jobs_between_two_datasets_that_one_is_on_the_path_which_takes_the_data() -> None:
    other = ran("other", ("in0", "in1"), {"out0": "in1", "out1": "in0"})

    assert edges(graph(PAIRED, other), "out0") == {"in0>pair", "in1>other", "pair>out0", "other>out0"}


def test_a_source_without_a_job_leads_on() -> None:
    view = {"eventTime": "2026-05-22T14:23:00Z", "producer": "p", "dataset": lake("view", lineage={"inputs": []})}
    view["dataset"]["facets"]["lineage"]["inputs"] = [source("out0")]

    assert edges(graph(PAIRED, view), "view") == {"in0>pair", "pair>out0", "out0>view"}
    assert edges(graph(PAIRED, view), "in0") == {"in0>pair", "pair>out0", "out0>view"}


def test_a_dataset_that_is_told_to_be_made_from_itself_leads_nowhere() -> None:
    itself = {"fields": {"x": {"inputFields": [{**source("t"), "field": "x"}]}}}
    told = {"eventTime": "2026-05-22T14:23:00Z", "producer": "p", "dataset": lake("t", columnLineage=itself)}

    assert edges(graph(told), "t") == set()


@pytest.mark.parametrize(("fed", "reached"), [(None, {"take>mine"}), ("in9", set[str]())])
def test_what_a_job_hands_to_another_goes_into_what_that_one_tells_no_sources_of(
    fed: str | None, reached: set[str]
) -> None:
    handed = run_event(run="h", facets=entries({"type": "JOB", "inputs": [job("give")]}))
    handed["job"]["name"] = "take"
    given = graph(ran("give", ("raw",), {}), ran("take", ("in9",), {"mine": fed}), handed)

    assert edges(given, "raw") == {"raw>give", "give>take"} | reached
    upstream = {"in9>take", "take>mine"} | ({"raw>give", "give>take"} if reached else set())
    assert edges(given, "mine") == upstream


def test_cycles_end_and_what_is_deleted_is_left_out() -> None:
    given = graph(ran("turn", ("a",), {"b": None}), ran("back", ("b",), {"a": None}))
    assert edges(given, "a") == {"a>turn", "turn>b", "b>back", "back>a"}

    given.add(Edit(("dataset", "lake", "b"), "deleted", b"true", 1, Seen(0, 0)))

    assert edges(given, "a") == {"a>turn", "back>a"}


def test_it_goes_on_over_as_many_jobs_and_from_as_many_nodes_as_asked_for_and_says_if_there_is_more() -> None:
    given = graph(*(ran(f"j{at}", (f"d{at}",), {f"d{at + 1}": None}) for at in range(4)))
    start = DatasetId("lake", "d0")

    assert edges(given, "d0", 1) == {"d0>j0", "j0>d1", "d1>j1", "j1>d2"}
    assert [found(given, start, hops).is_cut for hops in (1, 4)] == [True, False]
    assert [found(given, start, most=most).is_cut for most in (2, 5)] == [True, False]


def test_there_is_no_more_where_it_ends_with_the_last_node_that_was_asked_for() -> None:
    runs = [ran(f"j{at}", ("hub",), {f"d{at}": None}) for at in range(9)]
    further = ran("on", ("d8",), {"beyond": None})
    start = DatasetId("lake", "hub")

    paths = [found(graph(*told), start, most=6) for told in (runs, [*runs, further])]

    assert [(len(path.edges), path.is_cut) for path in paths] == [(18, False), (18, True)]
