"""Which jobs and datasets a `lineage` facet names, by the schema of OpenLineage's LineageFacet 1-0-0.

A job without namespace and name is the event's own; one with only one of them is invalid.
"""

from typing import Any

import pytest

from headwater.model.flow_facts import (
    Flow,
    Maker,
    control_flow,
    explicit_flows,
    explicit_makers,
    explicit_targets,
    reports_uses,
)
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId

OWN, OTHER = JobId("etl", "load"), JobId("etl", "clean")
ORDERS = DatasetId("lake", "orders")
RUN, OTHER_RUN = "0198f7d0-0000-7000-8000-000000000001", "0198f7d0-0000-7000-8000-000000000002"

DATASET: dict[str, Any] = {"type": "DATASET", "namespace": "lake", "name": "orders"}
OWN_JOB: dict[str, Any] = {"type": "JOB"}
OTHER_JOB: dict[str, Any] = {"type": "JOB", "namespace": "etl", "name": "clean"}


def flows(*entries: object) -> list[Flow]:
    """The flows that a run of the job reports."""
    return [*explicit_flows({"entries": [*entries]}, OWN, RUN)]


def test_an_unnamed_job_is_the_events_own_and_so_is_one_with_its_name() -> None:
    named = {"type": "JOB", "namespace": "etl", "name": "load"}

    unnamed = {"type": "JOB", "namespace": None, "name": None}
    jobs = (OWN_JOB, unnamed, named, {**named, "runId": RUN.upper()})

    found = [flows({**each, "inputs": [DATASET]}) for each in jobs]

    assert found == [[Flow(ORDERS, None)]] * 4


@pytest.mark.parametrize("member", ["namespace", "name"])
def test_a_job_with_a_namespace_or_a_name_alone_is_skipped(member: str) -> None:
    incomplete = {"type": "JOB", member: "etl"}

    assert flows({**incomplete, "inputs": [DATASET]}, {**DATASET, "inputs": [incomplete]}) == []


@pytest.mark.parametrize("kind", ["DATASET", "JOB"])
@pytest.mark.parametrize("wrong", [{"namespace": 7}, {"name": 7}, {"name": ""}, {"type": "TABLE"}])
def test_an_entry_without_a_readable_name_is_skipped(kind: str, wrong: dict[str, object]) -> None:
    unreadable = {"type": kind, "namespace": "lake", "name": "x", **wrong}

    found = flows({**OTHER_JOB, "inputs": [unreadable, DATASET]}, {**unreadable, "inputs": [OTHER_JOB, DATASET]})

    assert found == [Flow(ORDERS, OTHER)]


def test_a_dataset_may_lack_a_namespace_and_a_job_may_not() -> None:
    inputs = [{**DATASET, "namespace": ""}, {**OTHER_JOB, "namespace": ""}]

    assert flows({**OWN_JOB, "inputs": inputs}) == [Flow(DatasetId("", "orders"), None)]


def test_the_events_job_and_run_fill_the_unnamed_end_of_a_flow() -> None:
    assert Flow(ORDERS, None).between(OWN, RUN) == Flow(ORDERS, OWN, None, RUN)
    assert Flow(None, ORDERS).between(OWN, RUN) == Flow(OWN, ORDERS, RUN)
    assert Flow(OTHER, None, OTHER_RUN).between(OWN, RUN) == Flow(OTHER, OWN, OTHER_RUN, RUN)


def test_another_run_of_the_events_job_is_named_like_a_run_of_another_job() -> None:
    found = flows({**DATASET, "inputs": [{**OWN_JOB, "runId": OTHER_RUN.upper()}, {**OTHER_JOB, "runId": RUN}]})

    assert found == [Flow(OWN, ORDERS, OTHER_RUN), Flow(OTHER, ORDERS, RUN)]


@pytest.mark.parametrize("run_id", ["", None, 7])
def test_an_invalid_run_id_is_ignored(run_id: object) -> None:
    assert flows({**OTHER_JOB, "runId": run_id, "inputs": [DATASET]}) == [Flow(ORDERS, OTHER)]


def test_a_repeated_flow_is_listed_once_and_one_from_a_job_to_itself_not_at_all() -> None:
    found = flows({**OTHER_JOB, "inputs": [DATASET, DATASET, OTHER_JOB, OWN_JOB]}, {**OWN_JOB, "inputs": [OWN_JOB]})

    assert found == [Flow(ORDERS, OTHER), Flow(None, OTHER)]


def test_lineage_between_datasets_is_not_a_flow_of_a_job() -> None:
    assert flows({**DATASET, "inputs": [{**DATASET, "name": "raw"}]}) == []


def test_a_source_of_a_column_is_a_source_of_the_dataset() -> None:
    assert flows({**DATASET, "fields": {"id": {"inputs": [OTHER_JOB]}, "no entry": None}}) == [Flow(OTHER, ORDERS)]


def test_only_datasets_with_a_list_of_sources_are_targets_even_if_it_is_empty() -> None:
    entries = [{**DATASET, "inputs": []}, {**OTHER_JOB, "inputs": [DATASET]}, {**DATASET, "name": "silent"}]

    assert [*explicit_targets({"entries": entries})] == [ORDERS]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([{**DATASET, "inputs": [DATASET]}, {**OWN_JOB, "inputs": [DATASET]}], True),
        ([{**OWN_JOB, "inputs": []}], False),
        ([{**DATASET, "inputs": [OTHER_JOB]}], False),
    ],
)
def test_a_facet_reports_uses_if_an_entry_of_a_job_has_inputs(entries: list[object], expected: bool) -> None:
    assert reports_uses({"entries": entries}) is expected


def test_a_dataset_is_made_by_the_named_jobs_among_its_inputs() -> None:
    inputs = [{**OTHER_JOB, "runId": RUN}, OTHER_JOB, OWN_JOB, {**OWN_JOB, "runId": RUN}, DATASET]

    assert [*explicit_makers({"inputs": inputs})] == [Maker(OTHER, RUN), Maker(OTHER)]


def test_dependencies_are_the_completely_named_jobs_each_with_its_type_if_it_has_one() -> None:
    job = {"namespace": "etl", "name": "clean"}
    upstream = [{"job": job, "dependency_type": "DIRECT_INVOCATION"}, {"job": {"name": "clean"}}, {"job": None}]

    found = control_flow(RUN, {"upstream": upstream, "downstream": [{"job": job, "dependency_type": 7}]}, Seen(1, 1))

    assert [(each.direction, each.job, each.dependency) for each in found] == [
        ("upstream", OTHER, "DIRECT_INVOCATION"),
        ("downstream", OTHER, ""),
    ]
