"""What a run read and wrote, and which runs handed data to it, where others tell it or name the runs.

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


def ends(found: Graph, run_id: str, job_id: JobId = OWN) -> set[tuple[str, DatasetId]]:
    return {*ends_of(found, run_id, reported_ends(found, job_id))}


def test_a_run_that_names_nothing_on_a_side_goes_there_by_what_its_job_is_declared_to_do() -> None:
    declared = job_event(0, {}, inputs=[lake("a")], outputs=[lake("c")])

    found = graph(declared, run_event(run="r"), run_event(run="s", outputs=[lake("d")]))

    assert ends(found, "r") == {("input", A), ("output", C)}
    assert ends(found, "s") == {("input", A), ("output", DatasetId("lake", "d"))}
    assert [has_written(found, run_id, [("output", C)], is_of_job=True) for run_id in "rs"] == [True, False]


def test_what_is_said_of_one_run_is_of_no_other_run_of_its_job_and_beside_what_it_names() -> None:
    told = entries({**source("c"), "inputs": [of_run("r", "other")]}, {**of_run("r", "other"), "inputs": [source("a")]})
    runs = [run_event(run=run, outputs=outputs) for run, outputs in (("r", [lake("d")]), ("s", []))]
    for each in runs:
        each["job"] = {"namespace": "etl", "name": "other", "facets": {}}

    found = graph(*runs, run_event(run="teller", facets=told))

    assert reported_ends(found, OTHER) == frozenset()
    assert ends(found, "r", OTHER) == {("output", DatasetId("lake", "d")), ("input", A), ("output", C)}
    assert ends(found, "s", OTHER) == set()
    assert set(found.writes(OTHER)) == {DatasetId("lake", "d"), C}


def test_what_is_said_of_a_job_and_then_of_one_of_its_runs_is_said_of_both() -> None:
    told = [entries({**source("c"), "inputs": [each]}) for each in (job("other"), of_run("r", "other"))]

    found = graph(*(run_event(second, facets=each) for second, each in enumerate(told)))

    assert reported_ends(found, OTHER) == {("output", C)}


def test_the_run_that_tells_may_name_itself_and_another_run_of_its_job_is_that_one() -> None:
    told = entries({**source("c"), "inputs": [of_run("r")]}, {**source("d"), "inputs": [of_run("s")]})

    found = graph(run_event(run="s"), run_event(run="r", facets=told))

    assert ends(found, "r") == {("output", C)}
    assert ends(found, "s") == {("output", DatasetId("lake", "d"))}
    assert reported_ends(found, OWN) == frozenset()


def test_a_job_that_takes_data_from_a_run_of_its_own_is_not_fed_by_itself() -> None:
    found = graph(run_event(run="r", facets=entries({"type": "JOB", "inputs": [of_run("s"), of_run("s", "load")]})))

    assert (found.jobs[OWN].fed_by, runs_handing_to(found, "r")) == ({}, {})


def test_a_run_was_handed_data_by_the_runs_that_it_or_others_name() -> None:
    own = entries({"type": "JOB", "inputs": [of_run("x", "other"), job("third")]})
    others = entries({**of_run("r", "load"), "inputs": [of_run("y", "third"), {"type": "JOB"}]})
    teller = run_event(run="teller", facets=others)
    teller["job"]["name"] = "other"

    found = graph(run_event(run="r", facets=own), teller)

    assert runs_handing_to(found, "r") == {OTHER: {"x", "teller"}, JobId("etl", "third"): {"y"}}
    assert runs_handing_to(found, "another") == {}


def test_a_declaration_may_name_runs_until_it_is_replaced() -> None:
    declared = job_event(0, entries({**of_run("r"), "inputs": [of_run("x", "other"), source("a")]}))
    of_dataset = {**declared, "dataset": lake("c", lineage={"inputs": [of_run("r", "load"), of_run("r")]})}
    del of_dataset["job"]

    found = graph(declared, of_dataset, run_event(run="r"))
    replaced = graph(declared, of_dataset, run_event(run="r"), job_event(1, {}))

    assert runs_handing_to(found, "r") == {OTHER: {"x"}}
    assert ends(found, "r") == {("input", A), ("output", C)}
    assert set(found.jobs) == {OWN, OTHER}
    assert (runs_handing_to(replaced, "r"), ends(replaced, "r")) == ({}, {("output", C)})
