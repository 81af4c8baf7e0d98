"""Which version of a dataset a run met: always one of the versions that the dataset has."""

import json
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from tests.support.app import Body, dataset, event, facet, get, post, schema, served
from tests.support.lineage_events import LAKE, job, run_event, symlinks


def declared(second: int, **facets: object) -> Body:
    """A dataset event about `t`."""
    made = event(eventTime=f"2026-05-22T14:23:{second:02d}Z", dataset=dataset("t", **facets))
    return {key: made[key] for key in made.keys() - {"eventType", "run", "job", "inputs", "outputs"}}


def version(number: int) -> Body:
    return facet(datasetVersion=str(number))


def read(run: str, second: int, **facets: object) -> Body:
    return run_event(run, "COMPLETE", second, job=job("read"), inputs=[dataset("t", **facets)])


def written(run: str, second: int, **facets: object) -> Body:
    return run_event(run, "COMPLETE", second, outputs=[dataset("t", **facets)])


def ids(versions: list[Any]) -> list[str]:
    return [each["version"] for each in versions]


def listed(client: TestClient) -> list[str]:
    """The versions of `t`, oldest first."""
    return ids(get(client, f"{LAKE}/t/versions")["versions"])[::-1]


def met(client: TestClient, run: str, as_of: str = "") -> list[str]:
    shown = get(client, f"/api/v1/jobs/runs/{run}{as_of}")
    return ids([each["datasetVersionId"] for side in ("input", "output") for each in shown[f"{side}DatasetVersions"]])


def test_a_run_from_before_any_schema_was_reported_met_a_version_without_one_then_and_now(client: TestClient) -> None:
    post(client, read("early", 1))
    then = met(client, "early")
    before = listed(client)

    post(client, written("w", 2, schema=schema("a")), written("w2", 3, schema=schema("b")))

    versions = get(client, f"{LAKE}/t/versions")["versions"]
    assert [[field["name"] for field in each["fields"]] for each in versions] == [["b"], ["a"], []]
    assert versions[-1]["createdAt"][17:19] == "01"
    assert then == before == ids(versions[2:]) == met(client, "early")
    assert then == [each["version"] for each in get(client, f"{LAKE}/t/versions?asOf=2026-05-22T14:23:01Z")["versions"]]


@pytest.mark.parametrize("declared_at", [1, 4])
def test_a_run_met_a_listed_version_whenever_its_job_is_declared_to_read_the_dataset(
    client: TestClient, declared_at: int
) -> None:
    declaration = event(eventTime=f"2026-05-22T14:23:0{declared_at}Z", job=job("read"), inputs=[dataset("t")])
    post(
        client,
        run_event("r", "COMPLETE", 2, job=job("read"), outputs=[dataset("u")]),
        written("w", 3, schema=schema("a")),
        {key: declaration[key] for key in declaration.keys() - {"eventType", "run"}},
    )

    (run,) = get(client, "/api/v1/runlineage/upstream?runId=r")["runs"]

    assert [each["version"] for each in run["inputs"]] == listed(client)[:1]
    versions = get(client, f"{LAKE}/t/versions")["versions"]
    assert [each["createdAt"][17:19] for each in versions] == ["03", f"0{min(declared_at, 2)}"]


def test_a_dataset_that_only_a_declared_input_names_lists_the_version_that_a_run_met(client: TestClient) -> None:
    declaration = event(eventTime="2026-05-22T14:23:01Z", job=job("read"), inputs=[dataset("t")])
    post(
        client,
        {key: declaration[key] for key in declaration.keys() - {"eventType", "run"}},
        run_event("r", "COMPLETE", 2, job=job("read"), outputs=[dataset("u")]),
    )

    (run,) = get(client, "/api/v1/runlineage/upstream?runId=r")["runs"]

    assert [each["version"] for each in run["inputs"]] == listed(client)
    assert [get(client, f"{LAKE}/t")["currentVersion"]] == listed(client)


def test_a_schema_that_was_declared_and_withdrawn_leaves_a_current_version_without_one(client: TestClient) -> None:
    post(client, declared(1, schema=schema("a")), declared(2))

    _, newest = listed(client)

    assert newest == get(client, f"{LAKE}/t")["currentVersion"]


def test_a_schema_that_a_run_reports_after_its_start_makes_one_version(client: TestClient) -> None:
    post(client, run_event("w", "START", 1, outputs=[dataset("t")]), written("w", 2, schema=schema("a")))

    assert met(client, "w") == listed(client)


def test_a_run_met_the_version_of_its_own_report_if_another_run_changed_the_dataset_since(client: TestClient) -> None:
    post(
        client,
        run_event("long", "START", 1, outputs=[dataset("t", schema=schema("a"))]),
        written("short", 2, schema=schema("b"), version=version(2)),
        run_event("long", "COMPLETE", 3, outputs=[dataset("t")]),
    )

    first, _ = listed(client)

    assert met(client, "long") == [first]


def test_a_run_met_the_version_that_was_declared_then_and_withdrawn_since(client: TestClient) -> None:
    post(client, declared(1, schema=schema("a"), version=version(1)), read("r", 2), declared(3, schema=schema("a")))

    first, _ = listed(client)

    assert met(client, "r") == [first]


@pytest.mark.parametrize("other", ["dataset event", "job event", "other name"])
def test_a_schema_that_runs_report_again_after_another_was_declared_is_a_version_again(
    client: TestClient, other: str
) -> None:
    named = dataset("u", schema=schema("b"), symlinks=symlinks(("lake", "t")))
    job_event = event(eventTime="2026-05-22T14:23:02Z", job=job("declared"), outputs=[dataset("t", schema=schema("b"))])
    between = {
        "dataset event": declared(2, schema=schema("b")),
        "job event": {key: job_event[key] for key in job_event.keys() - {"eventType", "run"}},
        "other name": run_event("u", "COMPLETE", 2, outputs=[named]),
    }
    post(client, written("w1", 1, schema=schema("a")), between[other], written("w3", 3, schema=schema("a")))

    versions = get(client, f"{LAKE}/t/versions")["versions"]

    assert [each["createdAt"][17:19] for each in versions] == ["03", "02", "01"]
    assert versions[0]["version"] == get(client, f"{LAKE}/t")["currentVersion"]
    post(client, written("w3", 9, schema=schema("a")))  # now, w3 has events on both sides of the time below
    assert get(client, f"{LAKE}/t/versions?asOf=2026-05-22T14:23:05Z")["versions"] == versions


def test_a_schema_that_a_running_job_reports_again_is_a_version_again_as_of_a_time_between_its_reports(
    client: TestClient,
) -> None:
    def reports(kind: str, second: int) -> Body:
        return run_event("stream", kind, second, outputs=[dataset("t", schema=schema("a"))])

    post(client, reports("START", 1), declared(2, schema=schema("b")), reports("RUNNING", 3))
    then = listed(client)
    post(client, reports("RUNNING", 9))

    versions = ids(get(client, f"{LAKE}/t/versions?asOf=2026-05-22T14:23:05Z")["versions"])

    assert len(then) == 3
    assert versions[::-1] == then


def test_a_late_report_changes_the_version_that_a_run_met_though_runs_reported_it_before(client: TestClient) -> None:
    post(client, written("w1", 1, schema=schema("a")), declared(2, schema=schema("b")), read("r", 5))
    (before,) = get(client, "/api/v1/namespaces/etl/jobs/read/runs")["runs"]

    post(client, written("late", 3, schema=schema("a")))

    (after,) = get(client, "/api/v1/namespaces/etl/jobs/read/runs")["runs"]
    shown = [run["inputDatasetVersions"][0]["datasetVersionId"]["version"] for run in (before, after)]
    assert shown == listed(client)[1:]


def test_a_late_report_changes_the_version_that_the_latest_run_as_of_a_time_met(client: TestClient) -> None:
    def shown() -> str:
        graph = get(client, "/api/v1/lineage?nodeId=job:etl:read&asOf=2026-05-22T14:23:05Z")["graph"]
        (run,) = (node["data"]["latestRun"] for node in graph if node["id"] == "job:etl:read")
        version: str = run["inputDatasetVersions"][0]["datasetVersionId"]["version"]
        return version

    post(client, read("r", 5, version=version(1)), read("later", 7, version=version(2)))
    before = shown()

    post(client, written("late", 1, schema=schema("a")))

    assert before != shown() == listed(client)[1]


def test_a_schema_of_a_single_write_makes_no_version_of_the_dataset(client: TestClient) -> None:
    table = {**dataset("t", schema=schema("a")), "outputFacets": {"schema": schema("b"), "version": version(1)}}
    post(client, run_event("w", "COMPLETE", 1, outputs=[table]))

    (only,) = get(client, f"{LAKE}/t/versions")["versions"]

    assert [field["name"] for field in only["fields"]] == ["a"]
    assert only["version"] == get(client, f"{LAKE}/t")["currentVersion"]
    assert met(client, "w") == [only["version"]]


SHAPES = st.fixed_dictionaries(
    {}, optional={"schema": st.sampled_from("abc").map(schema), "version": st.integers(1, 3).map(version)}
)
SECONDS = st.integers(1, 9)
ENDS = st.lists(SHAPES, max_size=1).map(lambda shapes: [dataset("t", **shape) for shape in shapes])
REPORTS = st.builds(
    lambda run, kind, second, inputs, outputs: run_event(run, kind, second, inputs=inputs, outputs=outputs),
    st.sampled_from(["r1", "r2", "r3"]),
    st.sampled_from(["START", "RUNNING", "COMPLETE"]),
    SECONDS,
    ENDS,
    ENDS,
)
DECLARED = st.builds(lambda second, shape: declared(second, **shape), SECONDS, SHAPES)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(REPORTS | DECLARED, max_size=6, unique_by=json.dumps), st.permutations(["r1", "r2", "r3"]))
def test_every_version_that_a_run_met_is_listed_now_and_then(events: list[Body], runs: list[str]) -> None:
    with TemporaryDirectory() as folder, served(Path(folder)) as client:
        post(client, *events)
        for as_of in ("", "?asOf=2026-05-22T14:23:05Z"):
            versions = client.get(f"{LAKE}/t/versions{as_of}").json().get("versions", [])
            known = [run for run in runs if client.get(f"/api/v1/jobs/runs/{run}{as_of}").status_code == 200]

            assert {*chain.from_iterable(met(client, run, as_of) for run in known)} <= {*ids(versions)}
            if versions:
                assert client.get(f"{LAKE}/t{as_of}").json()["currentVersion"] == versions[0]["version"]
