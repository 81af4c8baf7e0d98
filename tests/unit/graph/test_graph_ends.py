"""A run's inputs and outputs, and the runs that handed data to it, where others report these.

Source: OpenLineage LineageFacet 1-0-0, `runId` of `LineageJobEntry` and `LineageJobInput`
"""

from typing import Any

from headwater.graph.ends import ends_of, has_written, reported_ends, runs_handing_to
from headwater.graph.lineage import Graph
from headwater.model.names import DatasetId, JobId
from tests.unit.graph.test_graph_flow import OTHER, OWN, entries, graph, job, job_event, lake, run_event, source

A, C = DatasetId("lake", "a"), DatasetId("lake", "c")


def of_run(run_id: str, name: str | None = None) -> dict[str, Any]:
    return {**(job(name) if name else {"type": "JOB"}), "runId": run_id}


def ends(loaded: Graph, run_id: str, job_id: JobId = OWN) -> set[tuple[str, DatasetId]]:
    return {*ends_of(loaded, run_id, reported_ends(loaded, job_id))}


def test_a_run_without_inputs_or_outputs_has_those_that_its_job_declares() -> None:
    declared = job_event(0, {}, inputs=[lake("a")], outputs=[lake("c")])

    loaded = graph(declared, run_event(run="r"), run_event(run="s", outputs=[lake("d")]))

    assert ends(loaded, "r") == {("input", A), ("output", C)}
    assert ends(loaded, "s") == {("input", A), ("output", DatasetId("lake", "d"))}
    assert [has_written(loaded, run_id, [("output", C)], is_of_job=True) for run_id in "rs"] == [True, False]


def test_ends_reported_for_a_run_are_its_own_only_and_are_added_to_those_it_names() -> None:
    reported = entries(
        {**source("c"), "inputs": [of_run("r", "other")]}, {**of_run("r", "other"), "inputs": [source("a")]}
    )
    runs = [run_event(run=run, outputs=outputs) for run, outputs in (("r", [lake("d")]), ("s", []))]
    for each in runs:
        each["job"] = {"namespace": "etl", "name": "other", "facets": {}}

    loaded = graph(*runs, run_event(run="reporter", facets=reported))

    assert reported_ends(loaded, OTHER) == frozenset()
    assert ends(loaded, "r", OTHER) == {("output", DatasetId("lake", "d")), ("input", A), ("output", C)}
    assert ends(loaded, "s", OTHER) == set()
    assert set(loaded.writes(OTHER)) == {DatasetId("lake", "d"), C}


def test_an_end_reported_for_a_job_stays_the_jobs_if_reported_for_a_run_too() -> None:
    reported = [entries({**source("c"), "inputs": [each]}) for each in (job("other"), of_run("r", "other"))]

    loaded = graph(*(run_event(second, facets=each) for second, each in enumerate(reported)))

    assert reported_ends(loaded, OTHER) == {("output", C)}


def test_a_run_can_report_ends_of_itself_and_of_another_run_of_its_job() -> None:
    reported = entries({**source("c"), "inputs": [of_run("r")]}, {**source("d"), "inputs": [of_run("s")]})

    loaded = graph(run_event(run="s"), run_event(run="r", facets=reported))

    assert ends(loaded, "r") == {("output", C)}
    assert ends(loaded, "s") == {("output", DatasetId("lake", "d"))}
    assert reported_ends(loaded, OWN) == frozenset()


def test_a_job_that_reads_from_its_own_run_is_not_fed_by_itself() -> None:
    loaded = graph(run_event(run="r", facets=entries({"type": "JOB", "inputs": [of_run("s"), of_run("s", "load")]})))

    assert (loaded.jobs[OWN].fed_by, runs_handing_to(loaded, "r")) == ({}, {})


def test_data_is_handed_over_by_the_runs_that_a_run_or_others_name() -> None:
    own = entries({"type": "JOB", "inputs": [of_run("x", "other"), job("third")]})
    others = entries({**of_run("r", "load"), "inputs": [of_run("y", "third"), {"type": "JOB"}]})
    reporter = run_event(run="reporter", facets=others)
    reporter["job"]["name"] = "other"

    loaded = graph(run_event(run="r", facets=own), reporter)

    assert runs_handing_to(loaded, "r") == {OTHER: {"x", "reporter"}, JobId("etl", "third"): {"y"}}
    assert runs_handing_to(loaded, "another") == {}


def test_a_declaration_can_name_runs_until_it_is_replaced() -> None:
    declared = job_event(0, entries({**of_run("r"), "inputs": [of_run("x", "other"), source("a")]}))
    of_dataset = {**declared, "dataset": lake("c", lineage={"inputs": [of_run("r", "load"), of_run("r")]})}
    del of_dataset["job"]

    loaded = graph(declared, of_dataset, run_event(run="r"))
    replaced = graph(declared, of_dataset, run_event(run="r"), job_event(1, {}))

    assert runs_handing_to(loaded, "r") == {OTHER: {"x"}}
    assert ends(loaded, "r") == {("input", A), ("output", C)}
    assert set(loaded.jobs) == {OWN, OTHER}
    assert (runs_handing_to(replaced, "r"), ends(replaced, "r")) == ({}, {("output", C)})
