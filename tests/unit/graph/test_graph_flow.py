"""Which datasets a dataset is made from: the precedence of evidence, and what explicit lineage means where it stands.

Source: OpenLineage, proposals/explicit_lineage_facet/ExplicitLineageGuide.md, "Semantic rules" and "Precedence rules"
"""

import json
from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from headwater.graph.flow import sources_of
from headwater.graph.lineage import Graph
from headwater.model.events import Stamp
from headwater.model.facts import Edit, JobFlow, RunOfJob
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from tests.unit.graph.test_graph_order import facts_of, graph_of

OWN, OTHER, THIRD = (JobId("etl", name) for name in ("load", "other", "third"))


def lake(name: str, **facets: object) -> dict[str, Any]:
    return {"namespace": "lake", "name": name, "facets": facets}


def source(name: str, **members: object) -> dict[str, Any]:
    return {"namespace": "lake", "name": name, "type": "DATASET", **members}


def job(name: str) -> dict[str, Any]:
    return {"namespace": "etl", "name": name, "type": "JOB"}


def entries(*found: dict[str, Any]) -> dict[str, Any]:
    return {"lineage": {"entries": list(found)}}


def run_event(second: int = 0, run: str = "r", facets: object = None, **members: object) -> dict[str, Any]:
    return {
        "eventType": "RUNNING",
        "eventTime": f"2026-05-22T14:23:{second:02d}Z",
        "producer": "p",
        "run": {"runId": run},
        "job": {"namespace": "etl", "name": "load", "facets": facets or {}},
        **members,
    }


def job_event(second: int, facets: object, **members: object) -> dict[str, Any]:
    body = run_event(second, facets=facets, **members)
    return {name: value for name, value in body.items() if name not in ("run", "eventType")}


def graph(*events: dict[str, Any]) -> Graph:
    return graph_of(facts_of(json.dumps(event).encode() for event in events))


def sources(found: Graph, name: str) -> set[tuple[str, str]]:
    return {(each.dataset.name, each.derivation) for each in sources_of(found, DatasetId("lake", name))}


BOTH_ENDS: dict[str, Any] = {"inputs": [lake("a"), lake("b")], "outputs": [lake("c"), lake("d")]}
PRODUCT = {("a", "inputs and outputs"), ("b", "inputs and outputs")}


def test_without_any_evidence_everything_read_feeds_everything_written() -> None:
    assert sources(graph(run_event(**BOTH_ENDS)), "c") == PRODUCT


def test_column_lineage_beats_the_product_and_explicit_lineage_beats_both() -> None:
    columns = {"fields": {"x": {"inputFields": [{"namespace": "lake", "name": "b", "field": "x"}]}}}
    by_columns = run_event(inputs=BOTH_ENDS["inputs"], outputs=[lake("c", columnLineage=columns)])
    explicit = run_event(1, facets=entries({**source("c"), "inputs": [source("a")]}))

    assert sources(graph(by_columns), "c") == {("b", "columnLineage")}
    assert sources(graph(by_columns, explicit), "c") == {("a", "lineage")}


def test_no_sources_means_that_there_are_none() -> None:
    found = graph(run_event(facets=entries({**source("c"), "inputs": []}), **BOTH_ENDS))

    assert sources(found, "c") == set()
    assert sources(found, "d") == PRODUCT


@pytest.mark.parametrize("make", [job_event, lambda second, facets, **ends: run_event(second, facets=facets, **ends)])
@pytest.mark.parametrize(
    ("facets", "of_job"),
    [
        ({"columnLineage": {"fields": {}}}, {}),
        ({"columnLineage": {"fields": {}, "dataset": []}}, {}),
        ({"lineage": {}}, {}),
        ({"lineage": {"fields": {}}}, {}),
        ({}, entries(source("c"))),
        ({}, entries({**source("c"), "fields": {}})),
    ],
)
def test_a_facet_with_neither_inputs_nor_fields_says_nothing(
    make: Callable[..., dict[str, Any]], facets: dict[str, Any], of_job: dict[str, Any]
) -> None:
    ends = {"inputs": BOTH_ENDS["inputs"], "outputs": [lake("c", **facets)]}
    weaker = {"inputs": BOTH_ENDS["inputs"], "outputs": [lake("c", **{"columnLineage": from_column("a")} | facets)]}

    assert sources(graph(make(0, of_job, **ends)), "c") == PRODUCT
    if "columnLineage" not in facets:
        assert sources(graph(make(0, of_job, **weaker)), "c") == {("a", "columnLineage")}


def test_a_column_that_comes_from_nowhere_is_told_of() -> None:
    constant = lake("c", columnLineage={"fields": {"x": {"inputFields": []}}})

    assert sources(graph(run_event(inputs=BOTH_ENDS["inputs"], outputs=[constant])), "c") == set()


def test_what_a_run_tells_in_several_events_accumulates() -> None:
    first = run_event(0, facets=entries({**source("c"), "inputs": [source("a")]}), **BOTH_ENDS)
    second = run_event(1, facets=entries({**source("c"), "inputs": [source("b")]}))

    assert sources(graph(first, second), "c") == {("a", "lineage"), ("b", "lineage")}


@pytest.mark.parametrize("order", [1, -1])
def test_a_facet_that_a_run_takes_back_takes_back_no_edge_that_the_run_told(order: int) -> None:
    gone = {"_deleted": True}
    columns = run_event(0, inputs=BOTH_ENDS["inputs"], outputs=[lake("c", columnLineage=from_column("b")), lake("d")])
    explicit = run_event(1, facets=entries({**source("d"), "inputs": [source("a")]}))
    taken_back = run_event(2, facets={"lineage": gone}, outputs=[lake("c", columnLineage=gone)])

    found = graph(*[columns, explicit, taken_back][::order])

    assert sources(found, "c") == {("b", "columnLineage")}
    assert sources(found, "d") == {("a", "lineage")}


def test_what_a_job_event_declares_replaces_what_the_job_declared_before() -> None:
    first = job_event(0, entries({**source("c"), "inputs": [source("a")]}), **BOTH_ENDS)
    second = job_event(1, entries({**source("c"), "inputs": [source("b")]}), **BOTH_ENDS)

    assert sources(graph(second, first), "c") == {("b", "lineage")}


def from_column(name: str) -> dict[str, Any]:
    return {"fields": {"x": {"inputFields": [{"namespace": "lake", "name": name, "field": "x"}]}}}


def test_a_facet_that_is_taken_back_is_no_evidence_in_a_declaration() -> None:
    taken_back = {"_deleted": True, "inputs": []}
    without = job_event(0, {}, inputs=BOTH_ENDS["inputs"], outputs=[lake("c", lineage=taken_back)])
    weaker = lake("c", lineage=taken_back, columnLineage=from_column("a"))

    assert sources(graph(without), "c") == PRODUCT
    assert sources(graph({**without, "outputs": [weaker]}), "c") == {("a", "columnLineage")}


def test_a_job_event_may_move_lineage_from_the_dataset_to_the_job() -> None:
    moved = entries({**source("c"), "inputs": [source("b")]})
    output = lake("c", lineage={"_deleted": True})

    assert sources(graph(job_event(0, moved, inputs=BOTH_ENDS["inputs"], outputs=[output])), "c") == {("b", "lineage")}


@pytest.mark.parametrize("make", [job_event, lambda second, facets, **ends: run_event(second, facets=facets, **ends)])
def test_explicit_lineage_of_a_job_that_is_taken_back_says_nothing(make: Callable[..., dict[str, Any]]) -> None:
    told = entries({**source("c"), "inputs": [source("a")]}, {**job("other"), "inputs": [source("a")]})
    found = graph(make(0, {"lineage": {**told["lineage"], "_deleted": True}}, **BOTH_ENDS))

    assert sources(found, "c") == PRODUCT
    assert OTHER not in found.jobs


@pytest.mark.parametrize("make", [job_event, lambda second, facets, **ends: run_event(second, facets=facets, **ends)])
def test_what_is_told_of_a_dataset_by_another_of_its_names_beats_the_product(
    make: Callable[..., dict[str, Any]],
) -> None:
    told = entries({**source("table_c"), "inputs": [source("a")]})
    other_name = {"identifiers": [{"namespace": "lake", "name": "table_c", "type": "TABLE"}]}
    ends = {"inputs": BOTH_ENDS["inputs"], "outputs": [lake("c", symlinks=other_name)]}

    assert sources(graph(make(0, told, **ends)), "c") == {("a", "lineage")}


def test_a_declared_job_that_also_reads_what_it_writes_keeps_what_is_told_of_its_output() -> None:
    read = [lake("a"), lake("b"), lake("c", schema={"fields": []})]
    by_columns = job_event(0, {}, inputs=read, outputs=[lake("c", columnLineage=from_column("a"))])
    explicit = job_event(0, entries({**source("c"), "inputs": [source("b")]}), inputs=read, outputs=[lake("c")])

    assert sources(graph(by_columns), "c") == {("a", "columnLineage")}
    assert sources(graph(explicit), "c") == {("b", "lineage")}
    assert {*graph(by_columns).facets_of(DatasetId("lake", "c"))} == {"schema", "columnLineage"}


def test_a_dataset_event_derives_a_view_from_its_tables_without_a_job() -> None:
    def view(second: int, *tables: str) -> dict[str, Any]:
        lineage = {"inputs": [source(table) for table in tables]}
        return {
            "eventTime": f"2026-05-22T14:23:{second:02d}Z",
            "producer": "p",
            "dataset": lake("v", lineage=lineage),
        }

    assert sources(graph(view(1, "b"), view(0, "a", "c")), "v") == {("b", "lineage")}


def test_a_dataset_event_names_the_jobs_that_make_a_dataset_until_another_replaces_it() -> None:
    def derived(second: int, *inputs: dict[str, Any]) -> dict[str, Any]:
        time = f"2026-05-22T14:23:{second:02d}Z"
        return {"eventTime": time, "producer": "p", "dataset": lake("v", lineage={"inputs": list(inputs)})}

    first, second = derived(0, job("load"), {"type": "JOB"}, source("a")), derived(1, job("other"))

    found, replaced = graph(first), graph(second, first)
    assert [*found.writes(OWN)] == [DatasetId("lake", "v")]
    assert sources(found, "v") == {("a", "lineage")}
    assert found.writers(DatasetId("lake", "v")) == {OWN}
    assert replaced.writers(DatasetId("lake", "v")) == {OTHER}
    assert not (OWN in replaced.jobs and replaced.jobs[OWN].is_known)


def test_entries_that_name_other_jobs_are_edges_of_those_jobs() -> None:
    found = graph(
        run_event(
            facets=entries(
                {**source("c"), "inputs": [job("other")]},
                {**job("other"), "inputs": [source("a"), job("third")]},
            )
        )
    )

    assert set(found.writes(OTHER)) == {DatasetId("lake", "c")}
    assert set(found.reads(OTHER)) == {DatasetId("lake", "a")}
    assert (set(found.jobs[OTHER].fed_by), set(found.jobs[THIRD].feeds)) == ({THIRD}, {OTHER})
    assert found.reads(OWN) == found.writes(OWN) == {}


def test_an_entry_without_a_name_is_the_job_itself() -> None:
    found = graph(
        run_event(
            facets=entries(
                {"type": "JOB", "inputs": [source("a"), job("other")]},
                {**source("c"), "inputs": [], "fields": {"x": {"inputs": [{"type": "JOB"}]}}},
            )
        )
    )

    assert (set(found.reads(OWN)), set(found.writes(OWN))) == ({DatasetId("lake", "a")}, {DatasetId("lake", "c")})
    assert set(found.jobs[OWN].fed_by) == {OTHER}


@pytest.mark.parametrize("make", [job_event, lambda second, facets, **ends: run_event(second, facets=facets, **ends)])
@pytest.mark.parametrize(
    "inputs", [[], [source("a")], [job("other")]], ids=["from nothing", "from a dataset", "from a job"]
)
def test_an_entry_about_a_dataset_does_not_make_the_job_that_tells_it_a_writer(
    make: Callable[..., dict[str, Any]], inputs: list[dict[str, Any]]
) -> None:
    found = graph(make(0, entries({**source("c"), "inputs": inputs}), inputs=[lake("b")], outputs=[lake("d")]))

    assert set(found.writes(OWN)) == {DatasetId("lake", "d")}
    assert set(found.writers(DatasetId("lake", "c"))) == ({OTHER} if inputs == [job("other")] else set())
    assert sources(found, "c") == ({("a", "lineage")} if inputs == [source("a")] else set())
    assert sources(found, "d") == {("b", "inputs and outputs")}


def test_what_a_job_event_tells_of_a_dataset_that_its_job_does_not_write_goes_when_it_is_replaced() -> None:
    first = job_event(0, entries({**source("c"), "inputs": [source("a")]}))
    second = job_event(1, entries({**source("d"), "inputs": [source("b")]}))

    found = graph(first, second)

    assert (sources(found, "c"), sources(found, "d")) == (set(), {("b", "lineage")})
    assert not found.datasets[DatasetId("lake", "c")].is_known


def test_what_a_job_event_tells_the_sources_of_is_no_source_of_what_the_job_is_declared_to_write() -> None:
    declared = job_event(0, entries({**source("a"), "inputs": [source("b")]}), outputs=[lake("c")])
    reading = run_event(1, inputs=[lake("a")])

    assert sources(graph(declared, reading), "c") == set()


def test_what_a_job_event_declares_of_other_jobs_goes_when_it_is_replaced() -> None:
    declared = job_event(0, entries({**source("c"), "inputs": [job("other")]}))
    replaced = job_event(1, {})

    assert set(graph(declared).writes(OTHER)) == {DatasetId("lake", "c")}
    assert not graph(declared, replaced).jobs[OTHER].is_known


def test_a_complete_without_its_parent_facet_makes_no_new_job_also_where_it_tells_of_flow() -> None:
    parent = {"run": {"runId": "p"}, "job": {"namespace": "etl", "name": "dag"}}
    named = run_event(0)
    named["run"] = {"runId": "r", "facets": {"parent": parent}}
    ghost = run_event(1, facets=entries({"type": "JOB", "inputs": [job("other")]}))
    ghost["job"]["name"] = "ghost"

    found = graph(ghost, named)

    assert {name.name for name, known in found.jobs.items() if known.is_known} == {"load", "dag", "other"}
    assert set(found.jobs[OWN].fed_by) == {OTHER}


def test_flow_that_names_a_job_stays_when_a_run_that_told_the_same_of_its_own_job_turns_out_to_be_anothers() -> None:
    own, named = JobFlow("r", None, OTHER, Seen(1, 1)), JobFlow("r", OWN, OTHER, Seen(1, 1))
    at_first, in_the_end = (RunOfJob("r", job, None, None, Stamp(at, b"")) for at, job in enumerate((OWN, THIRD)))

    found = [graph_of(told) for told in ([at_first, own, named, in_the_end], [at_first, in_the_end, own, named])]

    assert [set(each.jobs[OTHER].fed_by) for each in found] == [{OWN, THIRD}] * 2


def test_a_run_that_turns_out_to_be_of_the_job_that_it_hands_data_to_hands_it_none() -> None:
    told = JobFlow("r", None, OTHER, Seen(1, 1))
    at_first, in_the_end = (RunOfJob("r", job, None, None, Stamp(at, b"")) for at, job in enumerate((OWN, OTHER)))

    found = [graph_of(order) for order in permutations([at_first, told, in_the_end])]

    assert {(len(each.jobs[OTHER].fed_by), len(each.jobs[OTHER].feeds)) for each in found} == {(0, 0)}


def test_a_dataset_that_is_called_as_its_job_is_not_the_job() -> None:
    namesake = {**job("other"), "type": "DATASET", "inputs": [job("other")]}

    assert set(graph(run_event(facets=entries(namesake))).writes(OTHER)) == {DatasetId(*OTHER)}


def test_what_many_runs_say_alike_is_held_once() -> None:
    found = graph(*(run_event(run=run, inputs=[lake("a")], outputs=[lake("b")]) for run in ("one", "two")))

    (one, of_one), (two, of_two) = ((run, run.of_job) for run in (found.runs["one"], found.runs["two"]))
    assert of_one is not None
    assert of_two is not None
    assert of_one.job is of_two.job
    assert all(mine is its for mine, its in zip(one.observed, two.observed, strict=True))


def test_a_source_that_is_deleted_is_none() -> None:
    told = graph(run_event(inputs=[lake("a"), lake("b")], outputs=[lake("c")]))
    seen = Seen(0, 0)
    told.add(Edit(("dataset", "lake", "a"), "deleted", b"true", 1, seen))

    assert sources(told, "c") == {("b", "inputs and outputs")}


@pytest.mark.parametrize("make", [run_event, lambda second, **ends: job_event(second, {}, **ends)])
def test_of_what_is_told_at_once_under_two_names_of_a_dataset_the_strongest_counts(
    make: Callable[..., dict[str, Any]],
) -> None:
    other_name = {"identifiers": [{"namespace": "lake", "name": "c", "type": "TABLE"}]}
    explicit, weaker = lake("c", lineage={"inputs": [source("a")]}), lake("C", columnLineage=from_column("b"))
    linked = {**weaker, "facets": {**weaker["facets"], "symlinks": other_name}}
    told = make(1, inputs=BOTH_ENDS["inputs"], outputs=[explicit, linked])

    found = graph(told)

    for name in ("c", "C"):
        into = {(edge.source.name, edge.source_column) for edge in found.column_edges_into(DatasetId("lake", name))}
        assert sources(found, name) == {("a", "lineage")}
        assert into == {("a", None)}
        assert found.count_column_edges_into(DatasetId("lake", name)) == (set(), 1)


def test_what_another_run_tells_under_another_name_counts_beside_it() -> None:
    other_name = {"identifiers": [{"namespace": "lake", "name": "c", "type": "TABLE"}]}
    explicit = run_event(1, outputs=[lake("c", lineage={"inputs": [source("a")]}, symlinks=other_name)])
    weaker = run_event(2, run="s", outputs=[lake("C", columnLineage=from_column("b"), symlinks=other_name)])

    assert sources(graph(weaker, explicit), "c") == {("a", "lineage"), ("b", "columnLineage")}


def test_an_entry_about_a_job_tells_nothing_of_a_dataset_of_the_same_name() -> None:
    of_job = {**job("load"), "namespace": "lake", "inputs": [source("b")]}
    told = entries({**source("load"), "inputs": [source("a")]}, of_job)

    found = graph(run_event(inputs=[lake("a"), lake("b")], outputs=[lake("load")], facets=told))

    assert sources(found, "load") == {("a", "lineage")}
