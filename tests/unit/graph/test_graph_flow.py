"""The datasets that a dataset is derived from: the precedence of evidence, and the meaning of explicit lineage.

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
from headwater.model.facts import Edit, Fact, JobFlow, RunOfJob
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from tests.support.app import without_run
from tests.unit.graph.test_graph_order import facts_of, graph_of

OWN, OTHER, THIRD = (JobId("etl", name) for name in ("load", "other", "third"))


def lake(name: str, **facets: object) -> dict[str, Any]:
    return {"namespace": "lake", "name": name, "facets": facets}


def source(name: str, **members: object) -> dict[str, Any]:
    return {"namespace": "lake", "name": name, "type": "DATASET", **members}


def job(name: str) -> dict[str, Any]:
    return {"namespace": "etl", "name": name, "type": "JOB"}


def entries(*items: dict[str, Any]) -> dict[str, Any]:
    return {"lineage": {"entries": list(items)}}


def run_event(second: int = 0, run: str = "r", facets: object = None, **members: object) -> dict[str, Any]:
    return {
        "eventType": "RUNNING",
        "eventTime": f"2026-05-22T14:23:{second:02d}Z",
        "producer": "p",
        "run": {"runId": run},
        "job": {"namespace": "etl", "name": "load", "facets": facets or {}},
        **members,
    }


def job_event(second: int, facets: object, **members: Any) -> dict[str, Any]:  # noqa: ANN401  JSON
    return without_run(run_event(second, facets=facets, **members))


def graph(*events: dict[str, Any]) -> Graph:
    return graph_of(facts_of(json.dumps(event).encode() for event in events))


def sources(of_graph: Graph, name: str) -> set[tuple[str, str]]:
    return {(each.dataset.name, each.derivation) for each in sources_of(of_graph, DatasetId("lake", name))}


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


def test_an_empty_list_of_sources_means_no_sources() -> None:
    loaded = graph(run_event(facets=entries({**source("c"), "inputs": []}), **BOTH_ENDS))

    assert sources(loaded, "c") == set()
    assert sources(loaded, "d") == PRODUCT


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
def test_a_facet_with_neither_inputs_nor_fields_is_not_evidence(
    make: Callable[..., dict[str, Any]], facets: dict[str, Any], of_job: dict[str, Any]
) -> None:
    ends = {"inputs": BOTH_ENDS["inputs"], "outputs": [lake("c", **facets)]}
    weaker = {"inputs": BOTH_ENDS["inputs"], "outputs": [lake("c", **{"columnLineage": from_column("a")} | facets)]}

    assert sources(graph(make(0, of_job, **ends)), "c") == PRODUCT
    if "columnLineage" not in facets:
        assert sources(graph(make(0, of_job, **weaker)), "c") == {("a", "columnLineage")}


def test_a_column_without_sources_is_evidence() -> None:
    constant = lake("c", columnLineage={"fields": {"x": {"inputFields": []}}})

    assert sources(graph(run_event(inputs=BOTH_ENDS["inputs"], outputs=[constant])), "c") == set()


def test_lineage_in_several_events_of_a_run_accumulates() -> None:
    first = run_event(0, facets=entries({**source("c"), "inputs": [source("a")]}), **BOTH_ENDS)
    second = run_event(1, facets=entries({**source("c"), "inputs": [source("b")]}))

    assert sources(graph(first, second), "c") == {("a", "lineage"), ("b", "lineage")}


@pytest.mark.parametrize("order", [1, -1])
def test_a_facet_that_a_run_deletes_removes_no_edge_of_that_run(order: int) -> None:
    deleted = {"_deleted": True}
    columns = run_event(0, inputs=BOTH_ENDS["inputs"], outputs=[lake("c", columnLineage=from_column("b")), lake("d")])
    explicit = run_event(1, facets=entries({**source("d"), "inputs": [source("a")]}))
    retracted = run_event(2, facets={"lineage": deleted}, outputs=[lake("c", columnLineage=deleted)])

    loaded = graph(*[columns, explicit, retracted][::order])

    assert sources(loaded, "c") == {("b", "columnLineage")}
    assert sources(loaded, "d") == {("a", "lineage")}


def test_a_job_event_replaces_the_jobs_former_declaration() -> None:
    first = job_event(0, entries({**source("c"), "inputs": [source("a")]}), **BOTH_ENDS)
    second = job_event(1, entries({**source("c"), "inputs": [source("b")]}), **BOTH_ENDS)

    assert sources(graph(second, first), "c") == {("b", "lineage")}


def from_column(name: str) -> dict[str, Any]:
    return {"fields": {"x": {"inputFields": [{"namespace": "lake", "name": name, "field": "x"}]}}}


def test_a_deleted_facet_in_a_declaration_is_not_evidence() -> None:
    deleted = {"_deleted": True, "inputs": []}
    without = job_event(0, {}, inputs=BOTH_ENDS["inputs"], outputs=[lake("c", lineage=deleted)])
    weaker = lake("c", lineage=deleted, columnLineage=from_column("a"))

    assert sources(graph(without), "c") == PRODUCT
    assert sources(graph({**without, "outputs": [weaker]}), "c") == {("a", "columnLineage")}


def test_a_job_event_can_move_lineage_from_the_dataset_to_the_job() -> None:
    moved = entries({**source("c"), "inputs": [source("b")]})
    output = lake("c", lineage={"_deleted": True})

    assert sources(graph(job_event(0, moved, inputs=BOTH_ENDS["inputs"], outputs=[output])), "c") == {("b", "lineage")}


@pytest.mark.parametrize("make", [job_event, lambda second, facets, **ends: run_event(second, facets=facets, **ends)])
def test_deleted_explicit_lineage_of_a_job_is_not_evidence(make: Callable[..., dict[str, Any]]) -> None:
    reported = entries({**source("c"), "inputs": [source("a")]}, {**job("other"), "inputs": [source("a")]})
    loaded = graph(make(0, {"lineage": {**reported["lineage"], "_deleted": True}}, **BOTH_ENDS))

    assert sources(loaded, "c") == PRODUCT
    assert OTHER not in loaded.jobs


@pytest.mark.parametrize("make", [job_event, lambda second, facets, **ends: run_event(second, facets=facets, **ends)])
def test_lineage_under_another_name_of_a_dataset_beats_the_product(
    make: Callable[..., dict[str, Any]],
) -> None:
    reported = entries({**source("table_c"), "inputs": [source("a")]})
    other_name = {"identifiers": [{"namespace": "lake", "name": "table_c", "type": "TABLE"}]}
    ends = {"inputs": BOTH_ENDS["inputs"], "outputs": [lake("c", symlinks=other_name)]}

    assert sources(graph(make(0, reported, **ends)), "c") == {("a", "lineage")}


def test_a_declared_job_that_also_reads_its_output_keeps_the_outputs_lineage() -> None:
    read = [lake("a"), lake("b"), lake("c", schema={"fields": []})]
    by_columns = job_event(0, {}, inputs=read, outputs=[lake("c", columnLineage=from_column("a"))])
    explicit = job_event(0, entries({**source("c"), "inputs": [source("b")]}), inputs=read, outputs=[lake("c")])

    assert sources(graph(by_columns), "c") == {("a", "columnLineage")}
    assert sources(graph(explicit), "c") == {("b", "lineage")}
    assert {*graph(by_columns).facets_of(DatasetId("lake", "c"))} == {"schema", "columnLineage"}


def test_a_dataset_that_a_job_writes_and_only_declares_to_read_is_not_made_from_the_declared_inputs() -> None:
    declared = job_event(0, {}, inputs=[lake("a"), lake("c")])
    writing = run_event(1, inputs=[lake("b")], outputs=[lake("c")])

    assert sources(graph(declared, writing), "c") == {("b", "inputs and outputs")}


def test_a_dataset_event_derives_a_view_from_its_tables_without_a_job() -> None:
    def view(second: int, *tables: str) -> dict[str, Any]:
        lineage = {"inputs": [source(table) for table in tables]}
        return {
            "eventTime": f"2026-05-22T14:23:{second:02d}Z",
            "producer": "p",
            "dataset": lake("v", lineage=lineage),
        }

    assert sources(graph(view(1, "b"), view(0, "a", "c")), "v") == {("b", "lineage")}


def test_a_dataset_event_names_the_writers_of_a_dataset_until_another_replaces_it() -> None:
    def derived(second: int, *inputs: dict[str, Any]) -> dict[str, Any]:
        time = f"2026-05-22T14:23:{second:02d}Z"
        return {"eventTime": time, "producer": "p", "dataset": lake("v", lineage={"inputs": list(inputs)})}

    first, second = derived(0, job("load"), {"type": "JOB"}, source("a")), derived(1, job("other"))

    loaded, replaced = graph(first), graph(second, first)
    assert [*loaded.writes(OWN)] == [DatasetId("lake", "v")]
    assert sources(loaded, "v") == {("a", "lineage")}
    assert loaded.writers(DatasetId("lake", "v")) == {OWN}
    assert replaced.writers(DatasetId("lake", "v")) == {OTHER}
    assert not (OWN in replaced.jobs and replaced.jobs[OWN].is_known)


def test_entries_that_name_other_jobs_are_edges_of_those_jobs() -> None:
    loaded = graph(
        run_event(
            facets=entries(
                {**source("c"), "inputs": [job("other")]},
                {**job("other"), "inputs": [source("a"), job("third")]},
            )
        )
    )

    assert set(loaded.writes(OTHER)) == {DatasetId("lake", "c")}
    assert set(loaded.reads(OTHER)) == {DatasetId("lake", "a")}
    assert (set(loaded.jobs[OTHER].fed_by), set(loaded.jobs[THIRD].feeds)) == ({THIRD}, {OTHER})
    assert loaded.reads(OWN) == loaded.writes(OWN) == {}


def test_an_entry_without_a_name_is_the_job_itself() -> None:
    loaded = graph(
        run_event(
            facets=entries(
                {"type": "JOB", "inputs": [source("a"), job("other")]},
                {**source("c"), "inputs": [], "fields": {"x": {"inputs": [{"type": "JOB"}]}}},
            )
        )
    )

    assert (set(loaded.reads(OWN)), set(loaded.writes(OWN))) == ({DatasetId("lake", "a")}, {DatasetId("lake", "c")})
    assert set(loaded.jobs[OWN].fed_by) == {OTHER}


@pytest.mark.parametrize("make", [job_event, lambda second, facets, **ends: run_event(second, facets=facets, **ends)])
@pytest.mark.parametrize(
    "inputs", [[], [source("a")], [job("other")]], ids=["from nothing", "from a dataset", "from a job"]
)
def test_an_entry_about_a_dataset_does_not_make_the_reporting_job_a_writer(
    make: Callable[..., dict[str, Any]], inputs: list[dict[str, Any]]
) -> None:
    loaded = graph(make(0, entries({**source("c"), "inputs": inputs}), inputs=[lake("b")], outputs=[lake("d")]))

    assert set(loaded.writes(OWN)) == {DatasetId("lake", "d")}
    assert set(loaded.writers(DatasetId("lake", "c"))) == ({OTHER} if inputs == [job("other")] else set())
    assert sources(loaded, "c") == ({("a", "lineage")} if inputs == [source("a")] else set())
    assert sources(loaded, "d") == {("b", "inputs and outputs")}


def test_a_declared_entry_about_another_dataset_is_removed_with_the_declaration() -> None:
    first = job_event(0, entries({**source("c"), "inputs": [source("a")]}))
    second = job_event(1, entries({**source("d"), "inputs": [source("b")]}))

    loaded = graph(first, second)

    assert (sources(loaded, "c"), sources(loaded, "d")) == (set(), {("b", "lineage")})
    assert not loaded.datasets[DatasetId("lake", "c")].is_known


def test_the_target_of_a_declared_entry_is_not_a_source_of_the_declared_outputs() -> None:
    declared = job_event(0, entries({**source("a"), "inputs": [source("b")]}), outputs=[lake("c")])
    reading = run_event(1, inputs=[lake("a")])

    assert sources(graph(declared, reading), "c") == set()


def test_a_declared_entry_about_another_job_is_removed_with_the_declaration() -> None:
    declared = job_event(0, entries({**source("c"), "inputs": [job("other")]}))
    replaced = job_event(1, {})

    assert set(graph(declared).writes(OTHER)) == {DatasetId("lake", "c")}
    assert not graph(declared, replaced).jobs[OTHER].is_known


def test_a_dataset_named_only_in_an_entry_about_another_job_is_there_as_long_as_the_declaration() -> None:
    declared = job_event(0, entries({**job("other"), "inputs": [source("a")]}))

    shown = [set(graph(*events).shown_datasets()) for events in ([declared], [declared, job_event(1, {})])]

    assert shown == [{DatasetId("lake", "a")}, set()]


def test_an_event_without_its_parent_facet_makes_no_new_job_even_with_lineage() -> None:
    parent = {"run": {"runId": "p"}, "job": {"namespace": "etl", "name": "dag"}}
    with_parent = run_event(0)
    with_parent["run"] = {"runId": "r", "facets": {"parent": parent}}
    ghost = run_event(1, facets=entries({"type": "JOB", "inputs": [job("other")]}))
    ghost["job"]["name"] = "ghost"

    loaded = graph(ghost, with_parent)

    assert {name.name for name, known in loaded.jobs.items() if known.is_known} == {"load", "dag", "other"}
    assert set(loaded.jobs[OWN].fed_by) == {OTHER}


def test_flow_that_names_a_job_stays_when_the_run_with_the_same_flow_moves_to_another_job() -> None:
    own, named = JobFlow("r", None, OTHER, Seen(1, 1)), JobFlow("r", OWN, OTHER, Seen(1, 1))
    first_job, last_job = (RunOfJob("r", job, None, None, Stamp(at, b"")) for at, job in enumerate((OWN, THIRD)))

    graphs = [graph_of(facts) for facts in ((first_job, own, named, last_job), (first_job, last_job, own, named))]

    assert [set(each.jobs[OTHER].fed_by) for each in graphs] == [{OWN, THIRD}] * 2


def test_a_run_that_moves_to_the_job_that_it_feeds_no_longer_feeds_it() -> None:
    handed = JobFlow("r", None, OTHER, Seen(1, 1))
    first_job, last_job = (RunOfJob("r", job, None, None, Stamp(at, b"")) for at, job in enumerate((OWN, OTHER)))

    facts: list[Fact] = [first_job, handed, last_job]
    graphs = [graph_of(order) for order in permutations(facts)]

    assert {(len(each.jobs[OTHER].fed_by), len(each.jobs[OTHER].feeds)) for each in graphs} == {(0, 0)}


def test_a_dataset_with_the_name_of_a_job_is_not_the_job() -> None:
    namesake = {**job("other"), "type": "DATASET", "inputs": [job("other")]}

    assert set(graph(run_event(facets=entries(namesake))).writes(OTHER)) == {DatasetId(*OTHER)}


def test_equal_values_of_many_runs_are_stored_once() -> None:
    loaded = graph(*(run_event(run=run, inputs=[lake("a")], outputs=[lake("b")]) for run in ("one", "two")))

    (first, of_first), (second, of_second) = ((run, run.of_job) for run in (loaded.runs["one"], loaded.runs["two"]))
    assert of_first is not None
    assert of_second is not None
    assert of_first.job is of_second.job
    assert all(mine is its for mine, its in zip(first.observed, second.observed, strict=True))


def test_a_deleted_dataset_is_not_a_source() -> None:
    loaded = graph(run_event(inputs=[lake("a"), lake("b")], outputs=[lake("c")]))
    seen = Seen(0, 0)
    loaded.add(Edit(("dataset", "lake", "a"), "deleted", b"true", 1, seen))

    assert sources(loaded, "c") == {("b", "inputs and outputs")}


@pytest.mark.parametrize("make", [run_event, lambda second, **ends: job_event(second, {}, **ends)])
def test_of_evidence_in_one_event_under_two_names_of_a_dataset_the_strongest_counts(
    make: Callable[..., dict[str, Any]],
) -> None:
    other_name = {"identifiers": [{"namespace": "lake", "name": "c", "type": "TABLE"}]}
    explicit, weaker = lake("c", lineage={"inputs": [source("a")]}), lake("C", columnLineage=from_column("b"))
    linked = {**weaker, "facets": {**weaker["facets"], "symlinks": other_name}}
    reporting = make(1, inputs=BOTH_ENDS["inputs"], outputs=[explicit, linked])

    loaded = graph(reporting)

    for name in ("c", "C"):
        into = {(edge.source.name, edge.source_column) for edge in loaded.column_edges_into(DatasetId("lake", name))}
        assert sources(loaded, name) == {("a", "lineage")}
        assert into == {("a", None)}
        assert loaded.count_column_edges_into(DatasetId("lake", name)) == (set(), 1)


def test_evidence_of_another_run_under_another_name_counts_too() -> None:
    other_name = {"identifiers": [{"namespace": "lake", "name": "c", "type": "TABLE"}]}
    explicit = run_event(1, outputs=[lake("c", lineage={"inputs": [source("a")]}, symlinks=other_name)])
    weaker = run_event(2, run="s", outputs=[lake("C", columnLineage=from_column("b"), symlinks=other_name)])

    assert sources(graph(weaker, explicit), "c") == {("a", "lineage"), ("b", "columnLineage")}


def test_an_entry_about_a_job_is_not_evidence_for_a_dataset_of_the_same_name() -> None:
    of_job = {**job("load"), "namespace": "lake", "inputs": [source("b")]}
    reported = entries({**source("load"), "inputs": [source("a")]}, of_job)

    loaded = graph(run_event(inputs=[lake("a"), lake("b")], outputs=[lake("load")], facets=reported))

    assert sources(loaded, "load") == {("a", "lineage")}


def test_a_run_that_reads_and_reports_the_same_read_of_another_run_of_its_job_counts_once() -> None:
    reported = entries({"type": "JOB", "runId": "other", "inputs": [source("in")]})
    loaded = graph(run_event(run="r", facets=reported, inputs=[lake("in")]), run_event(run="other"))

    assert loaded.counted_edges(OWN, "input")[DatasetId("lake", "in")].runs == 1
