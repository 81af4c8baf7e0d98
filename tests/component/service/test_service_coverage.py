"""The gaps that coverage reports, for events with known gaps and for recorded events."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from headwater.signing.keys import NodeKey
from headwater.signing.sign import sign_event
from headwater.store.sqlite import SqliteStore
from tests.support.app import Body, dataset, event, facet, get, post, schema, serving, without_run
from tests.support.flights import FLIGHTS

COLUMNS = schema("id")
LATER = "2026-05-23T14:00:00Z"
KEY = NodeKey.from_seed("11111111-1111-1111-1111-111111111111", bytes(32))
STRANGER = NodeKey.from_seed("22222222-2222-2222-2222-222222222222", bytes(range(32)))


def run_event(kind: str, run: str, time: str = "2026-05-22T14:00:00Z", **changes: object) -> Body:
    facets = changes.pop("facets", {})
    about = {"run": {"runId": run, "facets": facets}, "job": {"namespace": "etl", "name": "load"}}
    return event(eventType=kind, eventTime=time, **{**about, **changes})


def ask(client: TestClient, **query: str) -> Body:
    return get(client, f"/api/v1/coverage?{urlencode(query)}")


def listed_gaps(answer: Body) -> list[tuple[str, str | None, str]]:
    return [(gap["kind"], gap["nodeId"], gap["namespace"]) for gap in answer["gaps"]]


def test_a_deleted_source_needs_no_columns_until_an_event_brings_it_back(client: TestClient) -> None:
    inputs, outputs = [dataset("raw")], [dataset("mart", schema=schema("id"))]
    post(client, run_event("START", "first", inputs=inputs, outputs=outputs), run_event("COMPLETE", "first"))
    assert client.delete("/api/v1/namespaces/lake/datasets/raw").status_code == 200

    gone = listed_gaps(ask(client, kind="edge-without-columns"))
    again = {"job": {"namespace": "etl", "name": "fill"}, "outputs": [dataset("raw")]}
    post(client, run_event("START", "second", "2026-06-22T14:00:00Z", **again))

    assert gone == []
    assert listed_gaps(ask(client, kind="edge-without-columns")) == [
        ("edge-without-columns", "dataset:lake:mart", "lake")
    ]


def test_complete_events_leave_no_gap(client: TestClient) -> None:
    post(client, run_event("START", "r1"), run_event("COMPLETE", "r1", outputs=[dataset("t", schema=COLUMNS)]))

    answer = ask(client, at=LATER)

    assert (answer["gaps"], answer["totalCount"]) == ([], 0)
    assert set(answer["total"]["gaps"].values()) == {0}
    assert (answer["total"]["jobs"], answer["total"]["runs"], answer["total"]["datasets"]) == (1, 1, 1)


def test_a_name_without_a_namespace_is_a_gap_of_the_run_that_names_it(client: TestClient) -> None:
    post(client, run_event("START", "r1"), run_event("COMPLETE", "r1", inputs=[dataset("orders", "")]))

    answer = ask(client)

    assert listed_gaps(answer) == [("quarantined-name", "run:r1", "etl")]
    assert (answer["gaps"][0]["words"], answer["gaps"][0]["related"]) == (
        "input 'orders' has no namespace",
        ["job:etl:load"],
    )


GHOST = [{"namespace": "", "name": "ghost", "type": "DATASET", "field": "id"}]
MADE = facet(entries=[{"namespace": "lake", "name": "t", "type": "DATASET", "inputs": GHOST}])
BY_FACET = [
    dataset("t", schema=COLUMNS, columnLineage=facet(fields={"id": {"inputFields": GHOST}})),
    dataset("t", schema=COLUMNS, lineage=facet(fields={"id": {"inputs": GHOST}})),
]
BY_JOB: dict[str, Any] = {
    "job": {"namespace": "etl", "name": "load", "facets": {"lineage": MADE}},
    "outputs": [dataset("t", schema=COLUMNS)],
}


@pytest.mark.parametrize(
    ("posted", "subject"),
    [
        *((run_event("COMPLETE", "r1", outputs=[target]), "run:r1") for target in BY_FACET),
        (run_event("COMPLETE", "r1", **BY_JOB), "run:r1"),
        *((without_run(run_event("COMPLETE", "r1", outputs=[target])), "job:etl:load") for target in BY_FACET),
        (without_run(run_event("COMPLETE", "r1", **BY_JOB)), "job:etl:load"),
        *(
            ({"eventTime": "2026-05-22T14:00:00Z", "producer": "https://example.org", "dataset": target}, None)
            for target in BY_FACET
        ),
    ],
)
def test_a_source_without_a_namespace_is_a_gap_of_the_run_or_job_that_names_it(
    client: TestClient, posted: Body, subject: str | None
) -> None:
    post(client, posted)

    (gap,) = ask(client, kind="Quarantined-Name")["gaps"]
    (quarantined,) = get(client, "/api/v1/quarantine")["quarantine"]

    assert (gap["nodeId"], gap["words"]) == (subject, "input 'ghost' has no namespace")
    assert (quarantined["namespace"], quarantined["name"]) == ("", "ghost")
    assert get(client, "/api/v1/flow?nodeId=dataset:lake:t")["sources"] == []
    (column,) = get(client, "/api/v1/column-lineage?nodeId=dataset:lake:t")["graph"]
    assert column["data"]["inputFields"] == []


def test_runs_without_a_start_and_runs_without_an_end_are_gaps(client: TestClient) -> None:
    post(client, run_event("COMPLETE", "r1"), run_event("START", "r2"))

    assert listed_gaps(ask(client)) == [("run-without-start", "run:r1", "etl")]
    assert listed_gaps(ask(client, at=LATER)) == [
        ("run-without-start", "run:r1", "etl"),
        ("run-without-end", "run:r2", "etl"),
    ]
    assert ask(client, at=LATER)["gaps"][1]["words"] == "a run of load has reported no end, and nothing since"


def test_a_run_may_be_silent_for_twice_as_long_as_the_longest_before_it_took(client: TestClient) -> None:
    post(
        client,
        run_event("START", "r1", time="2026-05-22T00:00:00Z"),
        run_event("COMPLETE", "r1", time="2026-05-22T05:00:00Z"),
    )
    post(client, run_event("START", "r2", time="2026-05-22T06:00:00Z"))

    assert listed_gaps(ask(client, at="2026-05-22T15:59:00Z")) == []
    assert listed_gaps(ask(client, at="2026-05-22T16:01:00Z")) == [("run-without-end", "run:r2", "etl")]


def test_a_run_is_not_silent_as_long_as_its_child_runs_report(client: TestClient) -> None:
    parent_run = {"run": {"runId": "r1"}, "job": {"namespace": "etl", "name": "dag"}}
    task = {"run": {"runId": "r2"}, "job": {"namespace": "etl", "name": "dag.task"}}
    of_task = facet(**task, root=parent_run)
    children = [("r2", "dag.task", facet(**parent_run)), ("r3", "spark", of_task)]
    post(client, event(eventTime="2026-05-22T09:00:00Z", **parent_run))
    for hour, (run_id, job, parent) in zip((10, 11), children, strict=True):
        about = {"run": {"runId": run_id, "facets": {"parent": parent}}, "job": {"namespace": "etl", "name": job}}
        post(client, event(eventTime=f"2026-05-22T{hour}:00:00Z", **about))

    gaps = [("run-without-end", f"run:r{number}", "etl") for number in (3, 2, 1)]
    for query in ({"at": "2026-05-22T12:00:00Z"}, {"asOf": "2026-05-22T12:00:00Z"}):
        assert listed_gaps(ask(client, **query)) == []
    assert listed_gaps(ask(client, at="2026-05-22T12:00:01Z")) == gaps
    assert listed_gaps(ask(client, at="2026-05-22T11:00:01Z", asOf="2026-05-22T10:30:00Z")) == gaps[1:]


def test_gaps_that_later_events_close_are_neither_listed_nor_counted_any_more(client: TestClient) -> None:
    raw, mart = dataset("raw"), dataset("mart")
    post(client, run_event("COMPLETE", "r1", inputs=[raw, dataset("orders", "")], outputs=[mart]))
    before = ask(client, at=LATER)
    made = facet(fields={"id": {"inputFields": [{"namespace": "lake", "name": "raw", "field": "id"}]}})
    orders = facet(identifiers=[{"namespace": "lake", "name": "orders", "type": "TABLE"}])

    post(
        client,
        run_event(
            "START",
            "r1",
            inputs=[dataset("raw", schema=COLUMNS), dataset("orders", "", symlinks=orders, schema=COLUMNS)],
            outputs=[dataset("mart", schema=COLUMNS, columnLineage=made)],
        ),
    )
    after = ask(client, at=LATER)

    assert {gap["kind"] for gap in before["gaps"]} == {
        "quarantined-name",
        "run-without-start",
        "edge-without-columns",
        "dataset-without-schema",
    }
    assert (after["gaps"], after["totalCount"]) == ([], 0)
    assert set(after["total"]["gaps"].values()) == {0}
    assert after["total"]["runs"] == before["total"]["runs"] == 1


def test_a_run_may_be_silent_for_longer_once_another_took_longer(client: TestClient) -> None:
    def took(run: str, begin: str, end: str) -> None:
        times = ("START", begin), ("COMPLETE", end)
        post(client, *(run_event(kind, run, time=f"2026-05-22T{time}:00Z") for kind, time in times))

    took("r1", "00:00", "01:00")
    post(client, run_event("START", "r2", time="2026-05-22T06:00:00Z"))
    silent = [("run-without-end", "run:r2", "etl")]
    assert listed_gaps(ask(client, at="2026-05-22T08:01:00Z")) == silent

    took("r3", "01:00", "03:00")

    assert listed_gaps(ask(client, at="2026-05-22T08:01:00Z")) == []
    assert listed_gaps(ask(client, at="2026-05-22T10:01:00Z")) == silent


def test_how_long_a_run_took_is_counted_from_its_start_and_not_from_when_it_was_created(client: TestClient) -> None:
    times = ("OTHER", "00:00"), ("START", "04:50"), ("COMPLETE", "05:00")
    post(client, *(run_event(kind, "r1", time=f"2026-05-22T{time}:00Z") for kind, time in times))
    post(client, run_event("START", "r2", time="2026-05-22T06:00:00Z"))

    assert listed_gaps(ask(client, at="2026-05-22T07:01:00Z")) == [("run-without-end", "run:r2", "etl")]


def test_when_all_producers_have_died_runs_are_silent_now_but_not_as_of_the_last_event(client: TestClient) -> None:
    pattern = {"eventTrigger": "PERIODIC", "eventContentMode": "COMPLETE_SNAPSHOT", "windowDuration": 300}
    kind = facet(processingType="STREAMING", integration="FLINK", emissionPattern=pattern)
    job = {"namespace": "etl", "name": "stream", "facets": {"jobType": kind}}
    last = "2026-05-22T13:00:00Z"  # the service's clock begins at 14:23:11
    post(client, run_event("START", "s1", time=last, job=job), run_event("START", "r1", time=last))
    both = [("run-without-end", "run:r1", "etl"), ("silent-stream", "run:s1", "etl")]

    now, then = ask(client), ask(client, asOf=last)

    assert (listed_gaps(now), now["at"] > "2026-05-22T14:23:11") == (both, True)
    assert (listed_gaps(then), then["at"]) == ([], "2026-05-22T13:00:00.000Z")
    assert listed_gaps(ask(client, asOf=last, at=LATER)) == both
    assert [each["run"] for each in get(client, "/api/v1/silent-streams")["silentStreams"]] == ["s1"]
    assert get(client, f"/api/v1/silent-streams?asOf={last}")["silentStreams"] == []


@pytest.mark.parametrize("processing", ["STREAMING", "SERVICE"])
def test_a_stream_is_silent_after_twice_its_declared_window(client: TestClient, processing: str) -> None:
    pattern = {"eventTrigger": "PERIODIC", "eventContentMode": "COMPLETE_SNAPSHOT", "windowDuration": 300}
    kind = facet(processingType=processing, integration="FLINK", emissionPattern=pattern)
    job = {"namespace": "etl", "name": "stream", "facets": {"jobType": kind}}
    post(client, run_event("START", "s1", job=job), run_event("RUNNING", "s1", time="2026-05-22T14:10:00Z", job=job))

    assert listed_gaps(ask(client, at="2026-05-22T14:20:00Z")) == []
    assert listed_gaps(ask(client, at="2026-05-22T14:20:01Z")) == [("silent-stream", "run:s1", "etl")]


@pytest.mark.parametrize("kind", ["STREAM", "SERVICE"])
def test_a_job_put_as_a_stream_or_service_is_not_expected_to_end(client: TestClient, kind: str) -> None:
    post(client, run_event("START", "r1"))
    assert listed_gaps(ask(client, at=LATER)) == [("run-without-end", "run:r1", "etl")]

    client.put("/api/v1/namespaces/etl/jobs/load", json={"type": kind}).raise_for_status()

    assert listed_gaps(ask(client, at=LATER)) == [("silent-stream", "run:r1", "etl")]
    assert listed_gaps(ask(client, at=LATER, asOf="2026-05-22T14:10:00Z")) == [("run-without-end", "run:r1", "etl")]


def test_a_window_counts_only_for_a_stream_that_reports_periodically(client: TestClient) -> None:
    pattern = {"eventTrigger": "EVENT_BASED", "eventContentMode": "COMPLETE_SNAPSHOT", "windowDuration": 5}
    kind = facet(processingType="STREAMING", integration="FLINK", emissionPattern=pattern)
    post(client, run_event("START", "s1", job={"namespace": "etl", "name": "stream", "facets": {"jobType": kind}}))

    assert listed_gaps(ask(client, at="2026-05-22T15:00:00Z")) == []
    assert listed_gaps(ask(client, at="2026-05-22T15:00:01Z")) == [("silent-stream", "run:s1", "etl")]
    assert get(client, f"/api/v1/silent-streams?asOf={LATER}")["silentStreams"] == []


def test_lineage_that_could_not_be_extracted_is_a_gap(client: TestClient) -> None:
    failure = facet(totalTasks=5, failedTasks=2, errors=[{"errorMessage": "no such table"}])
    post(client, run_event("START", "r1"), run_event("COMPLETE", "r1", facets={"extractionError": failure}))

    answer = ask(client)

    assert listed_gaps(answer) == [("extraction-error", "run:r1", "etl")]
    assert answer["gaps"][0]["words"] == "a run of load: the lineage of 2 of 5 tasks could not be extracted"


def test_a_run_without_datasets_of_an_unread_operator_is_a_gap(client: TestClient) -> None:
    unread = facet(unknownItems=[{"name": "BashOperator", "properties": {"bash_command": "curl s3cret"}}])
    odd = facet(unknownItems=[{"name": "curl s3cret"}])
    post(client, *(run_event("START", run, facets={"unknownSourceAttribute": unread}) for run in ("r1", "r2", "r3")))
    assert listed_gaps(ask(client)) == []

    post(
        client,
        run_event("COMPLETE", "r1"),
        run_event("COMPLETE", "r2", outputs=[{"namespace": "lake", "name": "orders"}]),
    )
    post(client, run_event("FAIL", "r3", time="2026-05-22T14:00:01Z", facets={"unknownSourceAttribute": odd}))

    answer = ask(client, kind="unread-operator")
    assert listed_gaps(answer) == [("unread-operator", "run:r3", "etl"), ("unread-operator", "run:r1", "etl")]
    assert [gap["words"] for gap in answer["gaps"]] == [
        "a run of load reported no input and no output: its operator could not be read",
        "a run of load reported no input and no output: BashOperator could not be read",
    ]
    assert answer["total"]["gaps"]["unreadOperators"] == 2


def test_an_extraction_without_errors_is_not_a_gap(client: TestClient) -> None:
    flawless = facet(totalTasks=5, failedTasks=0, errors=[])
    post(client, run_event("START", "r1"), run_event("COMPLETE", "r1", facets={"extractionError": flawless}))

    assert listed_gaps(ask(client)) == []


def test_an_edge_without_column_lineage_and_a_dataset_without_a_schema_are_gaps(client: TestClient) -> None:
    post(client, *FLIGHTS)

    answer = ask(client, namespace="lake")

    assert listed_gaps(answer) == [
        ("edge-without-columns", "dataset:lake:flights_copy", "lake"),
        ("dataset-without-schema", "dataset:lake:flights_copy", "lake"),
    ]
    assert answer["gaps"][0]["words"] == "copy derives it from 1 dataset, and no event reports column lineage"
    assert answer["gaps"][0]["related"] == ["job:etl:copy", "dataset:lake:flights"]


@pytest.mark.parametrize("is_asked_before", [True, False])
def test_a_dataset_without_a_schema_is_a_gap_also_if_only_a_symlink_tells_its_full_name(
    client: TestClient, *, is_asked_before: bool
) -> None:
    symlink = facet(identifiers=[{"namespace": "hive", "name": "s.t", "type": "TABLE"}])
    if is_asked_before:
        ask(client)
    post(client, event(outputs=[dataset("t", "", symlinks=symlink)]))

    for when in ({}, {"asOf": "2026-05-22T14:30:00Z"}):
        assert ("dataset-without-schema", "dataset:hive:s.t", "hive") in listed_gaps(ask(client, **when))


def test_a_target_reported_to_have_no_source_is_not_a_gap(client: TestClient) -> None:
    nothing = dataset("t", schema=COLUMNS, lineage=facet(inputs=[]))
    post(
        client,
        run_event("START", "r1"),
        run_event("COMPLETE", "r1", inputs=[dataset("s", schema=COLUMNS)], outputs=[nothing]),
    )

    assert listed_gaps(ask(client)) == []


def entries(*pairs: tuple[str, str]) -> Body:
    """A job's facet `lineage` in which each target is made from a whole source."""
    named = [[{"namespace": "lake", "name": name, "type": "DATASET"} for name in pair] for pair in pairs]
    return facet(entries=[{**target, "inputs": [source]} for target, source in named])


def declared(lineage: Body) -> Body:
    """A dataset event with lineage of `t`."""
    about = {"eventTime": "2026-05-22T15:00:00Z", "producer": "https://example.org/catalog"}
    return {**about, "dataset": dataset("t", **lineage)}


def without_columns(client: TestClient) -> list[tuple[str, str]]:
    """The edges of `load` without column lineage: the names of each target and its sources."""
    found = []
    for gap in ask(client, kind="edge-without-columns")["gaps"]:
        target, job, *made_from = (node_id.rpartition(":")[2] for node_id in (gap["nodeId"], *gap["related"]))
        assert (job, gap["words"].split()[4]) == ("load", str(len(made_from)))
        found.append((target, "".join(made_from)))
    return sorted(found)


READS_TWO: Body = {"inputs": [dataset("a"), dataset("b")], "outputs": [dataset("c"), dataset("d")]}


def test_only_the_sources_that_explicit_lineage_names_lack_columns(
    client: TestClient,
) -> None:
    post(client, run_event("START", "r1", **READS_TWO))
    assert without_columns(client) == [("c", "ab"), ("d", "ab")]

    job = {"namespace": "etl", "name": "load", "facets": {"lineage": entries(("c", "a"), ("d", "b"))}}
    post(client, run_event("COMPLETE", "r1", time="2026-05-22T14:01:00Z", job=job))

    assert without_columns(client) == [("c", "a"), ("d", "b")]
    post(client, run_event("COMPLETE", "r2", time="2026-05-22T14:02:00Z", **READS_TWO))
    assert without_columns(client) == [("c", "ab"), ("d", "ab")]


def test_only_the_sources_that_explicit_lineage_of_a_job_event_names_lack_columns(
    client: TestClient,
) -> None:
    job = {"namespace": "etl", "name": "load", "facets": {"lineage": entries(("c", "a"))}}
    common = {key: event()[key] for key in ("eventTime", "producer", "schemaURL")}

    post(client, {**common, "job": job, **READS_TWO})

    assert without_columns(client) == [("c", "a"), ("d", "ab")]


COLUMN_OF_S = {"namespace": "lake", "name": "s", "type": "DATASET", "field": "id"}


@pytest.mark.parametrize(
    ("lineage", "gaps"),
    [
        ({"lineage": facet(inputs=[])}, [("t", "s")]),
        ({"lineage": facet(fields={"id": {"inputs": [{**COLUMN_OF_S, "name": "v"}]}})}, [("t", "s")]),
        ({"columnLineage": facet(fields={"id": {"inputFields": [{**COLUMN_OF_S, "name": "v"}]}})}, [("t", "s")]),
        ({"lineage": facet(fields={"id": {"inputs": [COLUMN_OF_S]}})}, []),
        ({"columnLineage": facet(fields={"id": {"inputFields": [COLUMN_OF_S]}})}, []),
    ],
    ids=["from nothing", "from another", "columns of another", "from the source", "columns of the source"],
)
def test_a_dataset_event_fills_the_gap_of_an_edge_only_with_columns_of_its_source(
    client: TestClient, lineage: Body, gaps: list[tuple[str, str]]
) -> None:
    post(client, run_event("COMPLETE", "r1", inputs=[dataset("s")], outputs=[dataset("t")]))
    assert without_columns(client) == [("t", "s")]

    post(client, declared(lineage))

    assert without_columns(client) == gaps


def test_declared_column_lineage_of_a_job_counts_for_all_its_runs(client: TestClient) -> None:
    common = {key: event()[key] for key in ("eventTime", "producer", "schemaURL", "job")}
    columns = {"columnLineage": facet(fields={"id": {"inputFields": [COLUMN_OF_S]}})}
    post(client, run_event("COMPLETE", "r1", inputs=[dataset("s"), dataset("currencies")], outputs=[dataset("t")]))

    post(client, {**common, "inputs": [dataset("s")], "outputs": [dataset("t", **columns)]})

    assert without_columns(client) == []


def test_a_source_named_only_in_explicit_lineage_is_shown_by_its_current_name(
    client: TestClient,
) -> None:
    outputs = [dataset("t", lineage=facet(inputs=[{"namespace": "lake", "name": "v", "type": "DATASET"}]))]
    post(client, run_event("COMPLETE", "r1", outputs=outputs))
    assert without_columns(client) == [("t", "v")]

    other_name = facet(identifiers=[{"namespace": "lake", "name": "v", "type": "TABLE"}])
    post(client, run_event("COMPLETE", "r2", outputs=[dataset("a-table", symlinks=other_name)]))

    assert without_columns(client) == [("t", "a-table")]


def test_a_catalog_of_a_query_engine_is_not_a_gap(client: TestClient) -> None:
    meant = facet(type="glue", warehouseUri="s3://warehouse")
    catalog = dataset("lake", "trino://t:8080", headwater_engine_catalog=meant)
    post(client, {"eventTime": "2026-05-22T14:00:00Z", "producer": "https://example.org/trino", "dataset": catalog})

    assert listed_gaps(ask(client)) == []


def test_gaps_are_counted_by_namespace_and_filtered_by_kind_and_page(client: TestClient) -> None:
    post(client, *FLIGHTS)

    answer = ask(client)

    counts = {each["namespace"]: each["gaps"] for each in answer["namespaces"]}
    assert counts.keys() == {"etl", "lake"}
    assert counts["etl"]["runsWithoutStart"] == 5
    assert (counts["lake"]["edgesWithoutColumns"], counts["lake"]["datasetsWithoutSchema"]) == (1, 1)
    assert (answer["totalCount"], sum(answer["total"]["gaps"].values())) == (7, 7)
    of_kind = ask(client, kind="run-without-start", limit="2", offset="1")
    assert (len(of_kind["gaps"]), of_kind["totalCount"]) == (2, 5)
    assert of_kind["total"] == answer["total"]


def test_signatures_are_counted_by_namespace_and_by_key(tmp_path: Path) -> None:
    good = sign_event(json.dumps(run_event("START", "r1")).encode(), KEY)
    changed = sign_event(json.dumps(run_event("RUNNING", "r1")).encode(), KEY).replace(b"RUNNING", b"COMPLETE")
    strange = sign_event(json.dumps(run_event("START", "r2")).encode(), STRANGER)
    declared = {key: event()[key] for key in ("eventTime", "producer", "schemaURL", "job")}
    with (
        closing(SqliteStore(tmp_path / "headwater.db")) as store,
        serving(store, {KEY.key_id: KEY.public_key}) as client,
    ):
        for raw in (good, changed, strange):
            client.post("/api/v1/lineage", content=raw)
        post(client, run_event("COMPLETE", "r1"), declared)

        answer = ask(client)

    none = {"events": 0, "verified": 0, "unsigned": 0, "unknownKey": 0, "tampered": 0, "malformed": 0}
    assert answer["total"]["signatures"] == {
        **none, "events": 5, "verified": 1, "unsigned": 2, "unknownKey": 1, "tampered": 1, "verifiedShare": 0.2
    }  # fmt: skip
    (etl,) = answer["namespaces"]
    assert etl["signatures"]["events"] == 4  # the declaration belongs to no run
    by_key = {each["keyId"]: each["signatures"] for each in answer["signers"]}
    assert [each["keyId"] for each in answer["signers"]][-1] is None
    assert by_key[KEY.key_id] == {**none, "events": 2, "verified": 1, "tampered": 1, "verifiedShare": 0.5}
    assert by_key[STRANGER.key_id] == {**none, "events": 1, "unknownKey": 1, "verifiedShare": 0.0}
    assert by_key[None]["unsigned"] == 2


def test_edits_over_the_api_are_not_counted_as_unsigned_events(client: TestClient) -> None:
    post(client, run_event("COMPLETE", "r1"))
    before = ask(client)
    assert client.post("/api/v1/namespaces/etl/jobs/load/tags/gold").status_code < 300

    assert ask(client)["total"]["signatures"] == before["total"]["signatures"]
    assert ask(client, logSize="2")["total"]["signatures"] == before["total"]["signatures"]
    assert ask(client, asOf="2099-01-01T00:00:00Z")["total"]["signatures"] == before["total"]["signatures"]
    assert get(client, "/api/v1/summary")["events"]["unsigned"] == 1


@pytest.mark.parametrize(
    ("name", "kind", "at", "jobs"),
    [
        # Counted in the recorded lines: runs without a START event, and runs without a final event.
        ("spark-batch", "run-without-start", "", ["batch_orders.drop_table"]),
        ("spark-stream", "run-without-start", "", ["stream_orders.drop_table", "stream_orders.drop_table"]),
        ("flink", "run-without-start", "", []),
        ("flink", "silent-stream", "", []),  # the newest line is six minutes after the killed job's last event
        ("flink", "silent-stream", "2026-11-21T12:00:00Z", ["sqlclient-job"]),
        ("trino", "run-without-end", "2026-11-21T12:00:00Z", []),
    ],
)
def test_gaps_in_the_events_of_real_producers(
    client: TestClient, shared: Path, name: str, kind: str, at: str, jobs: list[str]
) -> None:
    lines = (shared / "observed" / f"{name}.jsonl").read_text().splitlines()
    post(client, *map(json.loads, lines))

    answer = ask(client, kind=kind, **({"at": at} if at else {}))

    assert sorted(gap["related"][0].split(":")[-1] for gap in answer["gaps"]) == jobs
