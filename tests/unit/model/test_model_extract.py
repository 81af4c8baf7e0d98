"""The facts that an event gives, by kind of fact."""

import json
from typing import Any, TypeVar

import pytest

from headwater.model.events import RunEvent, parse_event
from headwater.model.extract import facts
from headwater.model.facts import (
    ChainLink,
    Content,
    Declaration,
    DeclaredShape,
    DeclaredTimes,
    Ending,
    FacetReport,
    Fact,
    ObservedFacet,
    ParentRun,
    Quarantined,
    RunFacet,
    RunOfJob,
    RunTimes,
    UseEvidence,
)
from headwater.model.names import JobId
from headwater.model.nodes import Arrival
from headwater.signing.chain import Link
from tests.support.app import dataset, event, facet
from tests.support.chains import NODE, heartbeat, in_place

EPOCH = "018f0000-0000-7000-8000-000000000001"
RUN, ROOT = "0198f7d0-0000-7000-8000-000000000001", "0198f7d0-0000-7000-8000-000000000002"
FactT = TypeVar("FactT", bound=Fact)


def facts_of_kind(kind: type[FactT], body: dict[str, Any], arrival: Arrival | None = None) -> list[FactT]:
    """The facts of one kind that the event gives."""
    parsed = parse_event(json.dumps(body).encode())
    assert isinstance(parsed, RunEvent)
    return [fact for fact in facts(parsed, arrival) if isinstance(fact, kind)]


def test_an_event_with_a_place_in_a_chain_keeps_its_other_facets() -> None:
    run = {"runId": RUN, "facets": {"nominalTime": facet(nominalStartTime="2026-05-22T14:00:00Z")}}
    chained = json.loads(in_place(event(run=run), Link(NODE, EPOCH, 0, None)).raw)

    names = [each.name for each in facts_of_kind(RunFacet, chained, Arrival(7, "ok"))]

    assert sorted(names) == ["nominalTime", "signature"]
    assert [link.node for link in facts_of_kind(ChainLink, chained, Arrival(7, "ok"))] == [NODE]
    assert facts_of_kind(ChainLink, chained) == []


def test_a_heartbeat_gives_facts_about_its_node_and_no_run() -> None:
    parsed = parse_event(heartbeat(EPOCH, 0, None).raw)

    found = facts(parsed, Arrival(7, "ok"))

    assert [type(fact) for fact in found] == [ChainLink]


def test_every_report_of_a_schema_is_kept_and_only_the_last_of_most_other_facets() -> None:
    facets = {name: facet(x=1) for name in ("schema", "version", "documentation", "dataQualityMetrics")}

    body = event(outputs=[dataset("orders", **facets)])

    assert {each.name for each in facts_of_kind(FacetReport, body)} == {"schema", "version", "dataQualityMetrics"}
    assert {each.name for each in facts_of_kind(ObservedFacet, body)} == facets.keys()


@pytest.mark.parametrize("namespace", ["", "lake"])
def test_a_dataset_without_a_namespace_in_a_lineage_facet_is_quarantined(namespace: str) -> None:
    entry = {"type": "DATASET", "namespace": namespace, "name": "orders", "inputs": []}
    body = event(job={"namespace": "etl", "name": "load", "facets": {"lineage": facet(entries=[entry])}})

    found = [(each.direction, each.namespace, each.name) for each in facts_of_kind(Quarantined, body)]

    assert found == ([] if namespace else [("output", "", "orders")])
    assert facts_of_kind(UseEvidence, body) == []


def test_only_the_outputs_without_a_namespace_of_a_declared_job_are_quarantined() -> None:
    static = {"eventTime": "2026-05-22T14:23:11Z", "producer": "https://example.org/producer"}
    outputs = [
        {"namespace": "", "name": "orders"},
        {"namespace": "lake", "name": "orders"},
        {"namespace": "", "name": ""},
    ]
    body = {**static, "job": {"namespace": "etl", "name": "load"}, "outputs": outputs}

    found = [fact for fact in facts(parse_event(json.dumps(body).encode())) if isinstance(fact, Quarantined)]

    assert [(each.subject, each.direction, each.namespace, each.name) for each in found] == [
        ("job:etl:load", "output", "", "orders"),
        ("job:etl:load", "output", "", ""),
    ]


def test_a_declared_inputs_facets_are_completed_from_its_input_facets_without_lineage() -> None:
    own, of_input, quality = facet(x="own"), facet(x="of reading"), facet(x="quality")
    lineage = facet(fields={"id": {"inputFields": [{"namespace": "lake", "name": "raw", "field": "id"}]}})
    input_facets = {"dataQualityMetrics": quality, "schema": of_input, "columnLineage": lineage}
    static = {"eventTime": "2026-05-22T14:23:11Z", "producer": "https://example.org/producer"}
    inputs = [{**dataset("orders", schema=own), "inputFacets": input_facets}]
    body = {**static, "job": {"namespace": "etl", "name": "load"}, "inputs": inputs}

    found = facts(parse_event(json.dumps(body).encode()))

    contents = {fact.digest: json.loads(fact.body) for fact in found if isinstance(fact, Content)}
    (declared,) = (contents[fact.content] for fact in found if isinstance(fact, Declaration))
    facets = declared["inputs"][0]["facets"]
    assert {name: contents[bytes.fromhex(digest)] for name, digest in facets.items()} == {
        "schema": own,
        "dataQualityMetrics": quality,
    }


@pytest.mark.parametrize(
    ("namespace", "name", "kinds"),
    [
        ("", "", [Quarantined]),
        ("", "orders", [Quarantined, Content, Declaration, DeclaredTimes, DeclaredShape]),
        ("lake", "orders", [Content, Declaration, DeclaredTimes, DeclaredShape]),
    ],
)
def test_a_declared_dataset_without_a_namespace_is_quarantined_and_without_a_name_not_declared_either(
    namespace: str, name: str, kinds: list[type]
) -> None:
    static = {"eventTime": "2026-05-22T14:23:11Z", "producer": "https://example.org/producer"}
    body = {**static, "dataset": {"namespace": namespace, "name": name}}

    assert [type(fact) for fact in facts(parse_event(json.dumps(body).encode()))] == kinds


def test_a_declared_dataset_names_the_jobs_that_make_it_with_their_runs() -> None:
    makers = [{"type": "JOB", "namespace": "etl", "name": "load", "runId": run_id} for run_id in (RUN, None)]
    static = {"eventTime": "2026-05-22T14:23:11Z", "producer": "https://example.org/producer"}
    body = {**static, "dataset": dataset("orders", lineage=facet(inputs=makers))}

    found = facts(parse_event(json.dumps(body).encode()))

    contents = {fact.digest: json.loads(fact.body) for fact in found if isinstance(fact, Content)}
    (declared,) = (contents[fact.content] for fact in found if isinstance(fact, Declaration))
    assert declared["jobs"] == [["etl", "load"], ["etl", "load", RUN]]


def test_an_input_of_the_job_itself_is_evidence_of_use() -> None:
    entry = {"type": "JOB", "inputs": [{"type": "DATASET", "namespace": "lake", "name": "orders", "field": "id"}]}
    body = event(job={"namespace": "etl", "name": "load", "facets": {"lineage": facet(entries=[entry])}})

    assert len(facts_of_kind(UseEvidence, body)) == 1


@pytest.mark.parametrize("is_inferred", [False, True])
def test_an_end_that_was_inferred_from_silence_is_not_an_ending(is_inferred: bool) -> None:
    run = {"runId": RUN, "facets": {"headwater_run": facet(isInferred=is_inferred)}}
    body = event(eventType="ABORT", run=run)

    (times,) = facts_of_kind(RunTimes, body)

    assert [each.state for each in facts_of_kind(Ending, body)] == ([] if is_inferred else ["ABORT"])
    assert times.state[0] == facts_of_kind(RunTimes, event(eventType="RUNNING" if is_inferred else "FAIL"))[0].state[0]
    assert times.started_us is None


def test_a_parent_counts_only_if_it_is_complete_and_not_deleted() -> None:
    complete = {"run": {"runId": ROOT.upper()}, "job": {"namespace": "etl", "name": "dag"}}

    def parent_and_root(**facets: object) -> tuple[ParentRun | None, ParentRun | None]:
        (found,) = facts_of_kind(RunOfJob, event(run={"runId": RUN, "facets": facets}))
        return found.parent, found.root

    dag = ParentRun(ROOT, JobId("etl", "dag"))
    assert parent_and_root(parent=facet(**complete)) == (dag, None)
    assert parent_and_root(parentRun=facet(**complete)) == (dag, None)
    assert parent_and_root(parent=facet(**complete, root=complete)) == (dag, dag)
    assert parent_and_root(parent=facet(**complete, root={"run": {"runId": ROOT}})) == (dag, None)
    assert parent_and_root(parent=facet(**complete, _deleted=True)) == (None, None)
    incomplete: list[dict[str, Any]] = [
        {"run": {}},
        {"run": {"runId": ""}},
        {"job": {"namespace": "etl"}},
        {"job": None},
    ]
    for members in incomplete:
        assert parent_and_root(parent=facet(**{**complete, **members})) == (None, None)
