"""Past states: `asOf` and `logSize` on every read."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from headwater.graph.diff.compare import GraphDiff, Layout
from headwater.graph.lineage import Graph
from headwater.model.edits import (
    APART,
    DELETED,
    EditItem,
    edit_entry,
    parse_edit,
    tag,
    target_of,
    target_of_names,
)
from headwater.model.events import parse_event
from headwater.model.names import DatasetId, JobId
from headwater.service.past import cut_past
from headwater.store.entries import Entry, entry_of, entry_today
from headwater.store.sqlite import SqliteStore
from tests.support import logs
from tests.support.app import RUN, Body, dataset, event, facet, get, post, schema, served, serving, without_run
from tests.support.disk import full_disk
from tests.support.reads import read_everything, without_members

PER_SERVICE = {"index", "logIndex", "receivedAt"}
"""Members of an answer that differ between services with the same events, by what else they received and when."""


@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(log=logs.logs, second=st.none() | st.integers(-1, 60), size=st.none() | st.integers(0, 15))
def test_a_past_state_answers_like_a_service_with_only_its_events(
    log: list[bytes], second: int | None, size: int | None
) -> None:
    as_of = None if second is None else f"2026-05-22T14:{23 + second // 60:02d}:{second % 60:02d}.000Z"
    bounds = {key: value for key, value in (("asOf", as_of), ("logSize", size)) if value is not None}
    counted = [raw for raw in dict.fromkeys(log)][:size]
    counted = [raw for raw in counted if as_of is None or json.loads(raw)["eventTime"] <= as_of]

    past = _answers(log, bounds)

    assert past == _answers(counted, {key: value for key, value in bounds.items() if key == "asOf"})


@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(log=logs.of_many_runs, second=st.integers(0, 59), other=st.integers(0, 59))
def test_a_past_state_answered_from_the_cached_present_equals_what_was_answered_then(
    log: list[bytes], second: int, other: int
) -> None:
    as_of, also = (f"2026-05-22T14:23:{each:02d}.000Z" for each in (second, other))
    with TemporaryDirectory() as folder, served(Path(folder)) as client:
        _send(client, log)
        read_everything(client)
        read_everything(client, asOf=also)
        past = _comparable(read_everything(client, asOf=as_of))

    counted = [raw for raw in dict.fromkeys(log) if json.loads(raw)["eventTime"] <= as_of]
    assert past == _answers(counted, {"asOf": as_of})  # the present there, except for the time of silence


@pytest.mark.parametrize("schemas", ["SSSS", "STSS", "STST", "SSST", "SSTT", "TSSS"])
def test_a_run_read_the_same_version_then_whatever_a_still_running_run_reported_since(
    tmp_path: Path, schemas: str
) -> None:
    def orders(columns: str) -> list[dict[str, Any]]:
        return [dataset("orders", schema=schema(columns))]

    first, other, second, last = [*schemas]
    reader = {"job": {"namespace": "etl", "name": "reader"}, "inputs": [dataset("orders")]}
    log = [
        _at(5, run={"runId": "writer"}, outputs=orders(first)),
        _at(7, run={"runId": "other"}, job={"namespace": "etl", "name": "other"}, outputs=orders(other)),
        _at(9, run={"runId": "writer"}, outputs=orders(second)),
        _at(10, run={"runId": "met"}, **reader),
        _at(11, run={"runId": "met"}, eventType="COMPLETE", **reader),
        _at(20, run={"runId": "writer"}, eventType="COMPLETE", outputs=orders(last)),
    ]

    past, alone = _answers_before_the_last(tmp_path, log)

    assert past == alone


@pytest.mark.parametrize("known", [{}, {"lifecycleStateChange": facet(lifecycleStateChange="CREATE")}])
def test_a_source_that_a_job_reads_only_since_had_no_job_then(tmp_path: Path, known: Body) -> None:
    source, target = {"namespace": "lake", "name": "t1"}, {"namespace": "s3a://lake", "name": "s/t1/"}
    columns = facet(fields={"a": {"inputFields": [{**source, "field": "a"}]}})
    write = event(eventTime="2026-05-22T14:23:02.000Z", outputs=[{**target, "facets": {"columnLineage": columns}}])
    since = event(
        run={"runId": "0198f7d0-0000-7000-8000-000000000119"},
        eventTime="2026-05-22T14:23:19.000Z",
        inputs=[{**source, "facets": known}],
    )
    log = [json.dumps(each).encode() for each in (write, since)]
    with served(tmp_path) as client:
        _send(client, log)
        read_everything(client)
        past = _comparable(read_everything(client, asOf="2026-05-22T14:23:11.000Z"))

    assert past == _answers(log[:1], {})


def test_a_source_has_no_job_once_the_run_that_read_it_is_another_jobs(tmp_path: Path) -> None:
    source, run = {"namespace": "lake", "name": "t1"}, {"runId": "0198f7d0-0000-7000-8000-000000000119"}
    columns = facet(fields={"a": {"inputFields": [{**source, "field": "a"}]}})
    target = {"namespace": "lake", "name": "t2", "facets": {"columnLineage": columns}}
    reads = event(run=run, eventTime="2026-05-22T14:23:01.000Z", inputs=[source])
    writes = event(eventTime="2026-05-22T14:23:02.000Z", outputs=[target])
    moves = event(run=run, eventTime="2026-05-22T14:23:03.000Z", job={"namespace": "etl", "name": "mart"})
    log = [json.dumps(each).encode() for each in (reads, writes, moves)]
    with served(tmp_path) as client:
        _send(client, log[:2])
        read_everything(client)
        _send(client, log[2:])
        answers = [
            _comparable(read_everything(client, **bounds))
            for bounds in ({}, {"asOf": "2026-05-22T14:23:02.000Z"}, {"logSize": 2})
        ]

    assert answers == [_answers(log, {}), _answers(log[:2], {}), _answers(log[:2], {})]


def _of_stream(second: int, version: int, schemas: int, state: str = "RUNNING") -> bytes:
    """An event of a stream that reads one dataset and writes another."""
    shape = {"version": facet(datasetVersion=str(version)), "schema": schema(*"abc"[:schemas])}
    checks = facet(assertions=[{"assertion": "fresh", "success": version % 2 == 0}])
    raw = event(
        eventType=state,
        eventTime=f"2026-05-22T14:23:{second:02d}.000Z",
        inputs=[dataset("topic", version=shape["version"])],
        outputs=[dataset("table", **shape, dataQualityAssertions=checks)],
    )
    return json.dumps(raw).encode()


_events_of_stream = st.builds(
    _of_stream, st.integers(0, 59), st.integers(0, 4), st.integers(1, 2), st.sampled_from(["RUNNING"] * 3 + ["FAIL"])
)


@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    log=st.lists(_events_of_stream, min_size=20, max_size=40),
    later=st.lists(_events_of_stream, max_size=5),
    seconds=st.lists(st.integers(0, 59), min_size=2, max_size=2),
)
def test_past_states_of_a_stream_have_what_it_reported_by_then_whatever_it_repeats_later(
    log: list[bytes], later: list[bytes], seconds: list[int]
) -> None:
    times = [f"2026-05-22T14:23:{second:02d}.000Z" for second in seconds]
    with TemporaryDirectory() as folder, served(Path(folder)) as client:
        _send(client, log)
        for as_of in times:
            read_everything(client, asOf=as_of)
        _send(client, later)
        pasts = [_comparable(read_everything(client, asOf=as_of)) for as_of in times]

    for as_of, past in zip(times, pasts, strict=True):
        counted = [raw for raw in dict.fromkeys(log + later) if json.loads(raw)["eventTime"] <= as_of]
        assert past == _answers(counted, {"asOf": as_of})


def test_a_version_that_a_stream_returned_to_has_that_time_also_after_it_returned_again(tmp_path: Path) -> None:
    versions = [*range(30), 0, 30, 31]
    as_of = "2026-05-22T14:23:31.000Z"
    with served(tmp_path) as client:
        _send(client, [_of_stream(second, version, 1) for second, version in enumerate(versions)])
        path = f"/api/v1/namespaces/lake/datasets/table/versions?asOf={as_of}"
        since = [version["createdAt"] for version in get(client, path)["versions"]]
        _send(client, [_of_stream(40, 0, 1)])

        assert [version["createdAt"] for version in get(client, path)["versions"]] == since
    assert since[1] == "2026-05-22T14:23:30.000Z"


@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(log=logs.logs | logs.of_many_runs, late=logs.logs, second=st.integers(0, 59), few=st.sampled_from([0, 16]))
def test_a_past_state_includes_earlier_events_that_arrive_later(
    log: list[bytes], late: list[bytes], second: int, few: int
) -> None:
    """Beyond a few events, those of runs with newer events are skipped where stored rows hold their content."""
    as_of = f"2026-05-22T14:23:{second:02d}.000Z"
    with patch.object(cut_past, "_FEW", few), TemporaryDirectory() as folder, served(Path(folder)) as client:
        _send(client, log)
        read_everything(client, asOf=as_of)
        read_everything(client)
        _send(client, late)
        past = _comparable(read_everything(client, asOf=as_of))

    counted = [raw for raw in dict.fromkeys(log + late) if json.loads(raw)["eventTime"] <= as_of]
    assert past == _answers(counted, {"asOf": as_of})


_PARENTS = ("day", "day"), ("root", "mart")
"""The parent and root of a run, each with the job that the run reports for it."""


@pytest.mark.parametrize("then", [None, "mart", "year"])
def test_the_root_of_a_jobs_newest_run_has_the_job_that_it_had_then(tmp_path: Path, then: str | None) -> None:
    day, root = ({"run": {"runId": name}, "job": {"namespace": "etl", "name": job}} for name, job in _PARENTS)
    part = {"runId": "part", "facets": {"parent": facet(**day, root=root)}}
    events_then = [] if then is None else [_at(14, run={"runId": "root"}, job={"namespace": "etl", "name": then})]
    log = [
        _at(10, run=part),
        _at(12, run=part, eventType="COMPLETE"),
        *events_then,
        _at(20, run={"runId": "root"}, job={"namespace": "etl", "name": "mart" if then == "year" else "year"}),
    ]

    past, alone = _answers_before_the_last(tmp_path, log)

    assert past == alone


def test_a_past_state_of_a_stream_keeps_few_of_its_events(tmp_path: Path) -> None:
    """Each event writes a version of a table, with one of two schemas in turn, and has a check of it."""
    checks = [facet(assertions=[{"assertion": "fresh", "success": success}]) for success in (True, False)]
    log = [
        json.dumps(
            event(
                eventType="RUNNING",
                eventTime=f"2026-05-22T14:{second // 60:02d}:{second % 60:02d}.000Z",
                outputs=[
                    dataset(
                        "t",
                        schema=schema("id", "price") if second // 40 % 2 else schema("id"),
                        version=facet(datasetVersion=str(second)),
                        dataQualityAssertions=checks[second // 30 % 2],
                    )
                ],
            )
        ).encode()
        for second in range(160)
    ]
    as_of = "2026-05-22T14:01:55.000Z"
    with served(tmp_path) as client:
        _send(client, log)
        get(client, f"/api/v1/summary?asOf={as_of}")
        metrics = client.get("/metrics").text
        past = _comparable(read_everything(client, asOf=as_of))

    assert past == _answers(log[:116], {})
    (size,) = [line.split()[1] for line in metrics.splitlines() if line.startswith("headwater_pasts_bytes ")]
    assert 4_000_000 <= float(size) < 4_000_000 + 20 * 13_000  # of a past state, and of each event that it folded again


@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(log=logs.logs, late=logs.logs, second=st.integers(0, 59))
def test_the_present_answers_as_if_no_past_state_had_been_read(
    log: list[bytes], late: list[bytes], second: int
) -> None:
    as_of = f"2026-05-22T14:23:{second:02d}.000Z"
    with TemporaryDirectory() as folder, served(Path(folder)) as client:
        for part in (log, late):
            _send(client, part)
            read_everything(client, asOf=as_of)
        now = _comparable(read_everything(client))

    assert now == _answers(log + late, {})


_BEGIN_US = 1_779_459_780_000_000
"""2026-05-22T14:23:00Z: the first second of generated events."""


def _edit_items() -> st.SearchStrategy[EditItem]:
    names = [DatasetId(each["namespace"], each["name"]) for each in logs.DATASETS[:4]]
    nodes = st.sampled_from([*map(target_of, names), *(target_of(JobId("etl", job)) for job in logs.JOBS)])
    columns = st.sampled_from([("field", *name, column) for name in names for column in logs.COLUMNS])
    namespaces = st.sampled_from([("namespace", "lake"), ("namespace", "etl")])
    apart = st.sampled_from([target_of_names(names[0], names[1]), target_of_names(names[1], names[2])])
    return (
        st.builds(EditItem, nodes | namespaces, st.just(DELETED), st.just(True))
        | st.builds(EditItem, nodes | columns, st.just(tag("GOLD")), st.booleans())
        | st.builds(EditItem, apart, st.just(APART), st.booleans())
    )


_edits = st.builds(
    lambda number, second, item: edit_entry(f"edit-{number}", _BEGIN_US + second * 1_000_000, None, [item]).raw,
    st.integers(0, 2**32),
    st.integers(0, 59),
    _edit_items(),
)


@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    log=st.lists(logs.events | _edits, min_size=2, max_size=12),
    second=st.none() | st.integers(0, 59),
    size=st.none() | st.integers(0, 12),
    is_in_order=st.booleans(),
)
def test_a_past_state_of_a_log_with_edits_is_that_of_its_entries_alone(
    log: list[bytes], second: int | None, size: int | None, is_in_order: bool
) -> None:
    until_us = None if second is None else _BEGIN_US + second * 1_000_000
    as_of = {} if second is None else {"asOf": f"2026-05-22T14:23:{second:02d}Z"}
    entries = [_entry(raw) for raw in dict.fromkeys(log)]
    if is_in_order:
        entries.sort(key=lambda each: each.event_us)
    counted = [each for each in entries[:size] if until_us is None or each.event_us <= until_us]

    past = _answers_of(entries, {**as_of, **({} if size is None else {"logSize": size})})

    assert past == _answers_of(counted, as_of)


_deletions = st.sampled_from(
    [
        *(f"namespaces/lake/datasets/{each['name']}" for each in logs.DATASETS[:4] if each["namespace"] == "lake"),
        *(f"namespaces/etl/jobs/{job}" for job in logs.JOBS),
        "namespaces/lake",
        "namespaces/etl",
    ]
)


@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    steps=st.lists(logs.events | _deletions, min_size=2, max_size=16),
    second=st.integers(0, 59),
    size=st.none() | st.integers(0, 16),
    read_after=st.sets(st.integers(0, 15), max_size=3),
    is_in_order=st.booleans(),
)
def test_a_past_state_has_what_was_deleted_then_as_a_service_with_only_its_entries_has(
    steps: list[bytes | str], second: int, size: int | None, read_after: set[int], is_in_order: bool
) -> None:
    by_time = iter(
        sorted((step for step in steps if isinstance(step, bytes)), key=lambda raw: json.loads(raw)["eventTime"])
    )
    as_of = {"asOf": f"2026-05-22T14:23:{second:02d}.000Z"}
    bounds = {**as_of, **({} if size is None else {"logSize": size})}
    with TemporaryDirectory() as folder:
        with served(Path(folder)) as client:
            for number, step in enumerate(steps):
                if isinstance(step, bytes):
                    _send(client, [next(by_time) if is_in_order else step])
                else:
                    assert client.delete(f"/api/v1/{step}").status_code in (200, 404)
                if number in read_after:
                    read_everything(client, **bounds)
            past = _comparable(read_everything(client, **bounds))
        with closing(SqliteStore(Path(folder) / "headwater.db")) as store:
            entries = [entry_today(each) for each in store.logged(range(store.size() if size is None else size))]
    until_us = _BEGIN_US + second * 1_000_000

    counted = [each for each in entries if each is not None and each.event_us <= until_us]
    assert past == _answers_of(counted, as_of)


@pytest.mark.parametrize("is_read_before", [False, True])
@pytest.mark.parametrize(
    ("at", "late", "replays"),
    [(15, 12, 0), (25, 24, 1), (25, 26, 0), (35, 34, 0), (45, 44, 1), (45, 46, 0), (59, 12, 0)],
)
def test_a_past_state_needs_a_replay_only_if_an_event_may_have_restored_what_was_deleted_then(
    tmp_path: Path, at: int, late: int, replays: int, is_read_before: bool
) -> None:
    """The dataset t is deleted at 14:20, restored at 14:30, deleted at 14:40, restored at 14:50; one event is late."""

    def delete(minute: int, *names: str) -> None:
        with served(tmp_path, start_us=_BEGIN_US + (minute - 23) * 60_000_000) as client:
            for name in names:
                assert client.delete(f"/api/v1/namespaces/lake/datasets/{name}").status_code == 200

    def send(*events: Body) -> None:
        with served(tmp_path) as client:
            post(client, *events)

    def found(client: TestClient, name: str) -> bool:
        as_of = f"2026-05-22T14:{at}:00Z"
        return client.get(f"/api/v1/namespaces/lake/datasets/{name}", params={"asOf": as_of}).status_code == 200

    send(_at(10, outputs=[dataset("t")]), _at(11, outputs=[dataset("gone")]))
    delete(20, "t", "gone")
    send(_at(30, outputs=[dataset("t")]))
    delete(40, "t")
    send(_at(50, outputs=[dataset("t")]), _at(55))
    with served(tmp_path) as client:
        if is_read_before:
            assert found(client, "t") == (at not in (25, 45))
        post(client, _at(late, outputs=[dataset("u")]))

        assert (found(client, "t"), found(client, "gone")) == (at not in (25, 45), at == 15)
        assert f"headwater_replay_seconds_count {replays}.0" in client.get("/metrics").text


def test_a_dataset_had_no_schema_then_although_the_run_that_wrote_it_changed_job_since(client: TestClient) -> None:
    post(client, _at(20, job={"namespace": "etl", "name": "mart"}, outputs=[dataset("orders", schema=schema("id"))]))
    get(client, "/api/v1/namespaces?asOf=2026-05-22T14:15:00Z")
    post(client, _at(10, job={"namespace": "etl", "name": "load"}, outputs=[dataset("orders")]))

    then = get(client, "/api/v1/namespaces/lake/datasets/orders?asOf=2026-05-22T14:15:00Z")
    diff = get(client, "/api/v1/diff?from=2026-05-22T14:15:00Z")

    assert then["fields"] == []
    assert "schema" in [each["kind"] for each in diff["changes"]]


def test_a_dataset_that_was_dropped_and_written_again_is_dropped_as_of_the_time_between(client: TestClient) -> None:
    drop = dataset("y", lifecycleStateChange=facet(lifecycleStateChange="DROP"))
    post(
        client,
        event(eventTime="2026-05-22T14:03:00Z", run={"runId": "wrote"}, inputs=[], outputs=[dataset("y")]),
        event(eventTime="2026-05-22T14:04:00Z", run={"runId": "cleaned"}, inputs=[], outputs=[drop]),
        event(eventTime="2026-05-22T14:06:00Z", run={"runId": "writes"}, inputs=[], outputs=[dataset("y")]),
    )
    of_y = "/api/v1/lineage?nodeId=dataset:lake:y"

    now, then = (get(client, f"{of_y}{bound}")["graph"] for bound in ("", "&asOf=2026-05-22T14:05:00Z"))

    assert [node["data"]["lastLifecycleState"] for node in (now[0], then[0])] == ["", "DROP"]


@pytest.mark.parametrize("is_read", [True, False])
@pytest.mark.parametrize("facet_name", ["columnLineage", "lineage"])
def test_a_column_from_another_spelling_of_a_name_came_from_that_dataset_then_too(
    client: TestClient, facet_name: str, is_read: bool
) -> None:
    used, respelt = ({"namespace": "s3://bucket", "name": name} for name in ("lake/t1", "/lake/t1"))
    source = {**respelt, "field": "b"}
    facets = {
        "columnLineage": facet(fields={"x": {"inputFields": [source]}}),
        "lineage": facet(inputs=[], fields={"x": {"inputs": [{**source, "type": "DATASET"}]}}),
    }
    write = {"inputs": [], "outputs": [{**used, "facets": {"schema": schema("b")}}]}
    load = {"inputs": [used] if is_read else [], "outputs": [dataset("o", **{facet_name: facets[facet_name]})]}
    post(client, event(eventTime="2026-05-22T14:03:00Z", job={"namespace": "etl", "name": "make"}, **write))
    post(client, event(eventTime="2026-05-22T14:07:00Z", run={"runId": "load"}, **load))
    reads = (
        "column-lineage?nodeId=dataset:lake:o",
        "lineage?nodeId=dataset:lake:o&depth=20",
        "impact?nodeId=dataset:s3://bucket:lake/t1&column=b",
        "flow?nodeId=dataset:lake:o&depth=20",
    )
    before = [get(client, f"/api/v1/{each}") for each in reads]
    post(client, event(eventTime="2026-05-22T14:24:00Z", run={"runId": "later"}, inputs=[], outputs=[]))

    assert [get(client, f"/api/v1/{each}&asOf=2026-05-22T14:10:00Z") for each in reads] == before


def test_a_name_that_a_late_declaration_withdraws_is_still_used_by_a_run_of_then(client: TestClient) -> None:
    def declared(minute: int, *outputs: Body) -> Body:
        run_event = _at(minute, job={"namespace": "etl", "name": "mart"}, outputs=[*outputs])
        return without_run(run_event)

    former = {"namespace": "s3://lake", "name": "s/t1"}
    renamed = facet(lifecycleStateChange="RENAME", previousIdentifier={"namespace": "s3a://lake", "name": "/s/t1/"})
    of_t3 = "/api/v1/namespaces/lake/datasets/t3?asOf=2026-05-22T14:56:00Z"
    post(client, _at(21, run={"runId": "reads"}, inputs=[{**former, "facets": {"schema": schema("id")}}]))
    post(client, _at(56, run={"runId": "renames"}, inputs=[dataset("t3", lifecycleStateChange=renamed)]))
    post(client, {**declared(58), "job": {"namespace": "etl", "name": "later"}})
    before = get(client, of_t3)
    post(client, declared(11, former))
    between = get(client, of_t3)
    post(client, declared(28))

    after = get(client, of_t3)

    assert [[field["name"] for field in each["fields"]] for each in (before, between, after)] == [["id"]] * 3


def test_a_comparison_has_the_edge_of_an_input_without_a_namespace_that_was_placed_since(client: TestClient) -> None:
    symlinks = facet(identifiers=[{"type": "TABLE", "namespace": "lake", "name": "t0"}])
    placed = _at(
        20,
        run={"runId": "later"},
        job={"namespace": "etl", "name": "make"},
        outputs=[dataset("nowhere", "", symlinks=symlinks)],
    )
    post(client, _at(10, inputs=[dataset("nowhere", "")]), placed)

    changes = get(client, "/api/v1/diff?from=2026-05-22T14:10:00Z")["changes"]

    edges = {(each["change"], each["origin"], each["destination"]) for each in changes if each["kind"] == "edge"}
    assert edges == {
        ("came", "dataset:lake:t0", "job:etl:load"),
        ("came", "job:etl:make", "dataset:lake:t0"),
    }


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    log=logs.logs | logs.of_many_runs | st.lists(logs.events | _edits, min_size=2, max_size=12),
    late=st.lists(logs.events, max_size=3),
    seconds=st.lists(st.integers(0, 59), min_size=1, max_size=2, unique=True),
)
def test_a_comparison_of_only_what_may_differ_finds_all_changes(
    log: list[bytes], late: list[bytes], seconds: list[int]
) -> None:
    ends = [f"2026-05-22T14:23:{each:02d}Z" for each in seconds]
    params = {"limit": 1000, **dict(zip(("from", "to"), ends, strict=False))}
    with TemporaryDirectory() as folder, closing(SqliteStore(Path(folder) / "headwater.db")) as store:
        for raw in log:
            store.add([_entry(raw)])
        with serving(store) as client:
            _diff(client, **params)  # from here on the past states follow the present
            _send(client, late)

            nodes: list[Body] = [{}, *({"nodeId": each} for each in NODES)]
            changes = [_diff(client, **params, **of_node) for of_node in nodes]
            with patch.object(GraphDiff, "lay_out", _lay_out_everything):
                all_changes = [_diff(client, **params, **of_node) for of_node in nodes]

    assert changes == all_changes


NODES = [*(f"dataset:lake:t{number}" for number in range(3)), "dataset:s3://lake:s/t1", "job:etl:load", "job:etl:dag"]


def _diff(client: TestClient, **params: object) -> Body:
    response = client.get("/api/v1/diff", params={key: str(value) for key, value in params.items()})
    assert response.status_code in (200, 404)  # not every log has every node
    body: Body = response.json()
    return body


def _lay_out_everything(compared: GraphDiff, before: Layout, after: Layout, among: object) -> Iterator[None]:
    return LAY_OUT(compared, before, after, None)


LAY_OUT = GraphDiff.lay_out


def _entry(raw: bytes) -> Entry:
    read = parse_edit if b'"headwater":"edit/1"' in raw else parse_event
    return entry_of(read(raw), "unsigned", None, 0)


def _answers_before_the_last(folder: Path, log: Sequence[Body]) -> tuple[object, object]:
    """The answers as of 14:15, before the last event, and those of a service with all events but the last."""
    raws = [json.dumps(each).encode() for each in log]
    with served(folder) as client:
        _send(client, raws)
        read_everything(client)
        past = _comparable(read_everything(client, asOf="2026-05-22T14:15:00Z"))
    return past, _answers(raws[:-1], {})


def _answers_of(entries: Sequence[Entry], bounds: dict[str, Any]) -> object:
    with TemporaryDirectory() as folder, closing(SqliteStore(Path(folder) / "headwater.db")) as store:
        for entry in entries:
            store.add([entry])
        with serving(store) as client:
            return _comparable(read_everything(client, **bounds))


def _answers(log: Sequence[bytes], bounds: dict[str, Any]) -> object:
    with TemporaryDirectory() as folder, served(Path(folder)) as client:
        _send(client, log)
        if bounds:
            read_everything(client)  # a past state shares what is cached of the present and has not changed since
        return _comparable(read_everything(client, **bounds))


def _send(client: TestClient, log: Sequence[bytes]) -> None:
    for raw in log:
        assert client.post("/api/v1/lineage", content=raw).status_code in (200, 201)


def _comparable(answers: dict[str, Body]) -> object:
    compared = {path: body for path, body in answers.items() if not path.startswith("/api/v1/diff")}
    return without_members(compared, PER_SERVICE)


def _at(minute: int, **changes: object) -> dict[str, Any]:
    return event(eventTime=f"2026-05-22T14:{minute:02d}:00Z", **changes)


def test_as_of_counts_event_times_and_log_size_counts_arrivals(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        post(client, _at(10), _at(30, eventType="COMPLETE"), _at(20, eventType="RUNNING"))

        states = {
            query: get(client, f"/api/v1/jobs/runs/{RUN}?{query}")["state"]
            for query in ("", "asOf=2026-05-22T14:29:59Z", "logSize=1", "logSize=2", "logSize=2&asOf=2026-05-22T14:20Z")
        }

    assert states == {
        "": "COMPLETED",
        "asOf=2026-05-22T14:29:59Z": "RUNNING",
        "logSize=1": "RUNNING",
        "logSize=2": "COMPLETED",
        "logSize=2&asOf=2026-05-22T14:20Z": "RUNNING",
    }


def test_the_schema_of_a_dataset_as_of_a_time_is_the_one_it_had_then(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        post(client, _at(10, outputs=[dataset("orders", schema=schema("id"))]))
        post(client, _at(30, outputs=[dataset("orders", schema=schema("id", "price"))]))

        then = get(client, "/api/v1/namespaces/lake/datasets/orders?asOf=2026-05-22T14:29:00Z")

    assert [column["name"] for column in then["fields"]] == ["id"]


@pytest.mark.parametrize(
    "as_of",
    [
        "2026-05-22T14:10:00Z",
        "2026-05-22t14:10:00z",
        "2026-05-22T16:10:00%2B02:00",
        "2026-05-22T16:10:00+02:00",
        "1779459000000",
    ],
)
def test_a_time_may_be_written_with_any_offset_or_in_milliseconds(tmp_path: Path, as_of: str) -> None:
    with served(tmp_path) as client:
        post(client, _at(10), _at(11, eventType="COMPLETE"))

        response = client.get(f"/api/v1/jobs/runs/{RUN}?asOf={as_of}")

    assert response.json()["state"] == "RUNNING"
    assert response.headers["headwater-as-of"] == "2026-05-22T14:10:00.000Z"


_FINE = "2026-05-22T14:10:00.123"
"""The millisecond in which an event is, as answers show it; its own time has microseconds."""


@pytest.mark.parametrize("as_of", [f"{_FINE}Z", "2026-05-22T16:10:00,123%2B02:00", "1779459000123"])
def test_a_time_as_an_answer_shows_it_includes_its_event(tmp_path: Path, as_of: str) -> None:
    later = event(run={"runId": "later"}, eventTime="2026-05-22T14:10:00.124Z")
    log = [json.dumps(each).encode() for each in (event(eventTime=f"{_FINE}456Z"), later)]
    with served(tmp_path) as client:
        _send(client, log)

        response = client.get(f"/api/v1/jobs/runs/{RUN}?asOf={as_of}")
        past = _comparable(read_everything(client, asOf=as_of.replace("%2B", "+")))

    assert response.json()["startedAt"] == f"{_FINE}Z"
    assert response.headers["headwater-as-of"] == f"{_FINE}Z"
    assert past == _answers(log[:1], {"asOf": as_of.replace("%2B", "+")})


@pytest.mark.parametrize("as_of", [f"{_FINE}455Z", f"{_FINE}4Z", f"{_FINE}000Z", "2026-05-22T14:10:00.122Z"])
def test_a_time_that_is_finer_than_a_millisecond_or_earlier_is_exact(tmp_path: Path, as_of: str) -> None:
    with served(tmp_path) as client:
        post(client, event(eventTime=f"{_FINE}456Z"))

        status = client.get(f"/api/v1/jobs/runs/{RUN}?asOf={as_of}").status_code

    assert status == 404


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("asOf=yesterday", "asOf"),
        ("asOf=2026-05-22T14:10:00", "asOf"),
        ("asOf=2026-05-22", "asOf"),
        ("asOf=999999999999999", "asOf"),
        ("asOf=10000-01-01T00:00:00Z", "asOf"),
        ("asOf=", "asOf"),
        ("logSize=-1", "logSize"),
        ("logSize=1.5", "logSize"),
        ("logSize=99999999999999999999", "logSize"),
    ],
)
def test_an_invalid_bound_is_refused_by_name(tmp_path: Path, query: str, name: str) -> None:
    with served(tmp_path) as client:
        response = client.get(f"/api/v1/namespaces?{query}")

    assert response.status_code == 400
    assert f"query param {name} " in response.json()["message"]


def test_the_bounds_in_the_headers_give_the_same_answer_again(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        post(client, _at(10), _at(20, eventType="RUNNING"))
        before = client.get(f"/api/v1/jobs/runs/{RUN}")
        post(client, _at(15, eventType="COMPLETE"), _at(30, eventType="FAIL"))
        bounds = {"asOf": before.headers["headwater-as-of"], "logSize": before.headers["headwater-log-size"]}

        again = client.get(f"/api/v1/jobs/runs/{RUN}", params=bounds)

    assert bounds == {"asOf": "2026-05-22T14:20:00.000000Z", "logSize": "2"}
    assert again.json() == before.json()
    assert again.headers["headwater-log-size"] == "2"


@pytest.mark.parametrize(
    "read",
    [
        "/coverage",
        "/silent-streams",
        "/root-cause?nodeId=dataset:lake:t",
        "/stats/lineage-events?period=DAY",
        "/stats/jobs?period=WEEK&timezone=Europe/Berlin",
    ],
)
def test_the_bounds_in_the_headers_repeat_an_answer_that_depends_on_the_clock(tmp_path: Path, read: str) -> None:
    pattern = {"eventTrigger": "PERIODIC", "eventContentMode": "COMPLETE_SNAPSHOT", "windowDuration": 60}
    kind = facet(processingType="STREAMING", integration="FLINK", emissionPattern=pattern)
    stream = {"job": {"namespace": "etl", "name": "s", "facets": {"jobType": kind}}, "outputs": [dataset("t")]}
    with served(tmp_path) as client:  # whose clock begins at 14:23:11
        post(client, _at(10, **stream))
        before = client.get(f"/api/v1{read}")
        post(client, _at(30, eventType="COMPLETE", **stream))
        bounds = {"asOf": before.headers["headwater-as-of"], "logSize": before.headers["headwater-log-size"]}

        again = client.get(f"/api/v1{read}", params={**before.request.url.params, **bounds})

    assert bounds["asOf"].startswith("2026-05-22T14:23:11")
    assert again.json() == before.json()
    assert ("silent" in before.text) == ("stats" not in read)


def test_the_bound_in_the_header_includes_an_event_that_is_ahead_of_the_clock(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        post(client, _at(50))

        before = client.get("/api/v1/coverage")

    assert before.headers["headwater-as-of"] == "2026-05-22T14:50:00.000000Z"
    assert before.json()["at"].startswith("2026-05-22T14:23:11")


def test_a_job_that_came_later_is_not_found_as_of_then(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        post(client, _at(10), _at(20, run={"runId": "later"}, job={"namespace": "etl", "name": "later"}))

        response = client.get("/api/v1/namespaces/etl/jobs/later?asOf=2026-05-22T14:19:00Z")

    assert response.status_code == 404
    assert response.headers["headwater-as-of"] == "2026-05-22T14:19:00.000Z"


def test_an_answer_by_log_size_stays_the_same_after_later_events(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        post(client, _at(10), _at(20, eventType="RUNNING"))
        first = get(client, f"/api/v1/jobs/runs/{RUN}?logSize=1")
        post(client, _at(5, eventType="COMPLETE"))

        again = get(client, f"/api/v1/jobs/runs/{RUN}?logSize=1")

    assert first == again
    assert again["state"] == "RUNNING"


@pytest.mark.parametrize(
    ("asked", "stored", "replays"),
    [
        ("logSize=2", 2, 0),  # before the late event came
        ("logSize=4", 4, 1),
        ("logSize=4&asOf=2026-05-22T14:25:00Z", 2, 0),  # the last one that counts happened before it
        ("logSize=4&asOf=2026-05-22T14:30:00Z", 3, 1),
        ("logSize=5", 5, 0),
    ],
)
def test_a_log_size_needs_a_replay_only_if_an_event_of_an_earlier_time_came_later(
    tmp_path: Path, asked: str, stored: int, replays: int
) -> None:
    with served(tmp_path) as client:
        post(client, *map(_at, (10, 20, 30, 40, 25, 50, 55)))

        assert get(client, f"/api/v1/summary?{asked}")["events"]["stored"] == stored

        assert f"headwater_replay_seconds_count {replays}.0" in client.get("/metrics").text


def test_times_between_two_events_share_one_replay(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        post(client, _at(10), _at(20), _at(30), _at(40), _at(5))

        for second in (0, 1, 59):
            get(client, f"/api/v1/summary?asOf=2026-05-22T14:15:{second:02d}Z&logSize=3")
        get(client, "/api/v1/summary?asOf=2026-05-22T14:40:00Z&logSize=5")

        assert "headwater_replay_seconds_count 1.0" in client.get("/metrics").text


def test_past_states_are_dropped_beyond_their_memory_limit(tmp_path: Path) -> None:
    with served(tmp_path, kept_mb=0.015) as client:
        post(client, _at(10), _at(20), _at(30), _at(5))

        for size in (1, 2, 3, 2):
            assert get(client, f"/api/v1/summary?logSize={size}")["events"]["stored"] == size

        metrics = client.get("/metrics").text
        assert "headwater_replay_seconds_count 4.0" in metrics
        assert "headwater_pasts_bytes 10000.0" in metrics


def test_a_past_state_that_a_full_disk_cut_short_is_built_again(tmp_path: Path) -> None:
    query = "/api/v1/namespaces/lake/datasets?limit=1&asOf=2026-05-22T14:25:00Z"
    with served(tmp_path) as client:
        post(client, _at(10, outputs=[dataset("t")]))
        assert client.delete("/api/v1/namespaces/lake/datasets/t").status_code == 200
        post(client, _at(50, outputs=[dataset("t")]), _at(24, outputs=[dataset("late")]))
        assert get(client, query)["totalCount"] == 1
        for number in range(40):
            large = facet(text=os.urandom(100_000).hex())
            post(client, _at(24, outputs=[dataset(f"late {number}", large=large)]))
        get(client, "/api/v1/namespaces/lake/datasets")  # all facts are stored by now

        with full_disk():
            answer = client.get(query)

        assert answer.status_code == 503
        assert "there is no room for the past in the folder for temporary files" in answer.json()["message"]
        assert get(client, query)["totalCount"] == 41


def test_a_job_had_the_facets_of_a_run_that_moved_to_another_job_until_it_moved(tmp_path: Path) -> None:
    def load(query: str) -> dict[str, Any]:
        return {"namespace": "etl", "name": "load", "facets": {"sql": facet(query=query)}}

    parent = {"parent": facet(run={"runId": "dag run"}, job={"namespace": "etl", "name": "dag"})}
    with served(tmp_path) as client:
        post(client, _at(10, run={"runId": "mine"}), _at(11, run={"runId": "moved"}, job=load("SELECT 1")))
        post(client, _at(12, run={"runId": "moved", "facets": parent}, job={"namespace": "etl", "name": "other"}))
        post(client, _at(30, run={"runId": "newest"}, job=load("SELECT 2")))

        facets = [
            get(client, f"/api/v1/namespaces/etl/jobs/load?asOf=2026-05-22T14:{minute}:00Z")["facets"]
            for minute in (10, 20, 30)
        ]

    assert [each.get("sql", {}).get("query") for each in facets] == [None, "SELECT 1", "SELECT 2"]


@pytest.mark.parametrize("is_restarted", [False, True])
@pytest.mark.parametrize("queries", ["1111", "1122", "1223", "1212", "1121", "1321", "2113"])
def test_the_facets_of_a_job_are_those_that_it_had_whatever_was_repeated(
    queries: str, is_restarted: bool, tmp_path: Path
) -> None:
    def load(query: str) -> dict[str, Any]:
        return {"namespace": "etl", "name": "load", "facets": {"sql": facet(query=query)}}

    def read_queries(client: TestClient) -> str:
        paths = [f"/api/v1/namespaces/etl/jobs/load?asOf=2026-05-22T14:{minute}:30Z" for minute in range(10, 14)]
        return "".join(get(client, path)["facets"]["sql"]["query"] for path in paths)

    with served(tmp_path) as client:
        post(client, *(_at(10 + at, run={"runId": f"run {at}"}, job=load(each)) for at, each in enumerate(queries)))
        facets = None if is_restarted else read_queries(client)
    if is_restarted:
        with served(tmp_path) as client:
            facets = read_queries(client)

    assert facets == queries


def test_a_repeated_facet_has_the_time_since_which_it_is_unchanged(tmp_path: Path) -> None:
    job = {"namespace": "etl", "name": "load", "facets": {"sql": facet(query="SELECT 1")}}
    with served(tmp_path) as client:
        post(client, *(_at(10 + at, run={"runId": f"run {at}"}, job=job) for at in range(9)))

    with closing(SqliteStore(tmp_path / "headwater.db")) as store:
        graph = Graph(store.content)
        graph.add_all(store.facts())

    load = graph.jobs[JobId("etl", "load")]
    assert load.facets["sql"].stamp.time_us - load.unchanged_since["sql"] == 8 * 60_000_000


def test_a_deleted_job_that_ran_again_by_then_is_found_as_of_then(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        post(client, _at(10))
        client.delete("/api/v1/namespaces/etl/jobs/load").raise_for_status()
        deleted = client.get("/api/v1/namespaces/etl/jobs/load?asOf=2100-01-01T00:00:00Z")
        before = client.get("/api/v1/namespaces/etl/jobs/load?asOf=2026-05-22T14:10:00Z")
        post(client, _at(10, eventType="RUNNING"))
        post(client, event(eventTime="2100-01-01T00:00:01Z"))
        again = client.get("/api/v1/namespaces/etl/jobs/load?asOf=2100-01-01T00:00:00Z")

    assert [each.status_code for each in (deleted, before, again)] == [404, 200, 200]


def test_a_tag_added_since_is_not_in_the_answer_of_a_cached_past_state(tmp_path: Path) -> None:
    lineage = "/api/v1/lineage?nodeId=dataset:lake:orders"
    with served(tmp_path) as client:
        post(client, _at(10, outputs=[dataset("orders")]), _at(30, run={"runId": "other"}, outputs=[dataset("items")]))
        get(client, f"{lineage}&asOf=2026-05-22T14:20:00Z&depth=0")

        client.post("/api/v1/namespaces/lake/datasets/orders/tags/GOLD").raise_for_status()
        nodes = {
            query: {node["id"]: node["data"] for node in get(client, lineage + query)["graph"]}
            for query in ("", "&asOf=2026-05-22T14:20:00Z")
        }

    tags = {query: data["dataset:lake:orders"]["tags"] for query, data in nodes.items()}
    assert tags == {"": ["GOLD"], "&asOf=2026-05-22T14:20:00Z": []}


def test_names_that_were_separated_since_count_as_one_dataset_then(tmp_path: Path) -> None:
    names = {"name": {"namespace": "lake", "name": "orders"}, "other": {"namespace": "hive", "name": "s.orders"}}
    alias = facet(identifiers=[{**names["other"], "type": "TABLE"}])
    read = [dataset("orders", symlinks=alias), dataset("s.orders", "hive")]
    counts = {}
    with served(tmp_path) as client:
        post(client, _at(10, inputs=read), _at(30, run={"runId": "later"}))
        for when in ("before", "since"):
            summaries = (get(client, f"/api/v1/summary{query}") for query in ("", "?asOf=2026-05-22T14:20:00Z"))
            counts[when] = [(each["datasets"], each["edges"]) for each in summaries]
            client.post("/api/v1/identity/apart", json=names).raise_for_status()

    assert counts == {"before": [(1, 1), (1, 1)], "since": [(2, 2), (1, 1)]}


def test_a_cached_past_state_counts_a_run_whose_dataset_was_declared_again(tmp_path: Path) -> None:
    def made_of(source: str) -> Body:
        return dataset("t", columnLineage=facet(fields={"a": {"inputFields": [{**dataset(source), "field": "a"}]}}))

    def declared(minute: int) -> Body:
        return {"eventTime": f"2026-05-22T14:{minute:02d}:00Z", "producer": "p", "dataset": made_of("said")}

    with served(tmp_path) as client:
        post(client, declared(9), *(_at(minute, run={"runId": f"at {minute}"}) for minute in (30, 50)))
        flow = "/api/v1/flow?nodeId=dataset:lake:t&asOf=2026-05-22T14:30:00Z"
        get(client, flow)
        post(client, declared(25), _at(4, outputs=[made_of("read")]), _at(17, eventType="COMPLETE"))

        runs = {each["dataset"]["name"]: each["runs"] for each in get(client, flow)["sources"]}

    assert runs == {"read": 1, "said": 0}


def test_a_past_state_by_time_alone_needs_no_replay(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        post(client, _at(10), _at(20), _at(30))

        for minute in (10, 15, 20):
            get(client, f"/api/v1/summary?asOf=2026-05-22T14:{minute}:00Z")

        assert "headwater_replay_seconds_count 0.0" in client.get("/metrics").text


def test_the_evidence_of_an_identity_needs_a_replay_only_where_newer_evidence_came_since(tmp_path: Path) -> None:
    symlinks = facet(identifiers=[{"namespace": "glue", "name": "db.orders", "type": "TABLE"}])
    with served(tmp_path) as client:
        post(client, *(_at(minute, outputs=[dataset("orders", symlinks=symlinks)]) for minute in (10, 20, 40)))
        post(client, _at(5, outputs=[dataset("items")]))
        last_seen: dict[str, list[str]] = {}
        replays: dict[str, str] = {}
        for query in (
            "items&asOf=2026-05-22T14:15:00Z",
            "orders&asOf=2026-05-22T14:50:00Z",
            "orders&asOf=2026-05-22T14:30:00Z",
        ):
            answer = get(client, f"/api/v1/identity?namespace=lake&name={query}")
            last_seen[query] = [each["lastSeen"] for each in answer["evidence"]]
            metrics = client.get("/metrics").text.splitlines()
            replays[query] = next(line for line in metrics if line.startswith("headwater_replay_seconds_count"))[-3:]

    assert [*last_seen.values()] == [[], ["2026-05-22T14:40:00.000Z"], ["2026-05-22T14:20:00.000Z"]]
    assert [*replays.values()] == ["0.0", "0.0", "1.0"]


@pytest.mark.parametrize("is_restarted", [False, True])
def test_search_as_of_a_time_finds_also_what_a_declaration_replaced_since(tmp_path: Path, is_restarted: bool) -> None:
    def declared(minute: int, name: str) -> Body:
        job = {"namespace": "etl", "name": "load_orders"}
        at = f"2026-05-22T14:{minute:02d}:00Z"
        return {"eventTime": at, "producer": "p", "job": job, "inputs": [dataset(name)]}

    def found(client: TestClient, query: str) -> list[str]:
        return [hit["nodeId"] for hit in get(client, f"/api/v1/search?q=orders{query}")["results"]]

    with served(tmp_path) as client:
        post(client, declared(10, "old_orders"), declared(30, "new_orders"), _at(40, outputs=[dataset("late_orders")]))
        past, now = found(client, "&asOf=2026-05-22T14:20:00Z"), found(client, "")
    if is_restarted:
        with served(tmp_path) as client:
            past = found(client, "&asOf=2026-05-22T14:20:00Z")

    assert past == ["job:etl:load_orders", "dataset:lake:old_orders"]
    assert now == ["dataset:lake:late_orders", "job:etl:load_orders", "dataset:lake:new_orders"]


def test_search_as_of_a_time_lists_a_dataset_and_a_job_of_the_same_name(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        post(client, _at(10, job={"namespace": "lake", "name": "orders"}, outputs=[dataset("orders")]))
        post(client, _at(30, run={"runId": "later"}, job={"namespace": "etl", "name": "other"}))

        results = get(client, "/api/v1/search?q=orders&asOf=2026-05-22T14:20:00Z")["results"]

    assert sorted((each["type"], each["namespace"], each["name"]) for each in results) == [
        ("DATASET", "lake", "orders"),
        ("JOB", "lake", "orders"),
    ]


def test_the_events_of_a_past_state_are_served_as_received(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        post(client, _at(20, eventType="COMPLETE"), _at(10))

        logged = get(client, "/api/v1/events/lineage?asOf=2026-05-22T14:10:00Z")
        of_run = get(client, f"/api/v1/jobs/runs/{RUN}/events?asOf=2026-05-22T14:10:00Z")

    assert logged["events"] == [_at(10)]
    assert [each["index"] for each in of_run["events"]] == [1]


def test_a_job_known_only_by_its_child_runs_has_the_times_of_their_events_as_of_then(tmp_path: Path) -> None:
    def part(run: str, minute: int, parent: str, job: str) -> Body:
        parent_facet = facet(run={"runId": parent}, job={"namespace": "etl", "name": job})
        return _at(minute, run={"runId": run, "facets": {"parent": parent_facet}})

    with served(tmp_path) as client:
        post(client, part("2", 20, "silent", "dag"), part("1", 10, "silent", "other"), _at(30, run={"runId": "1"}))
        post(client, part("1", 50, "another", "third"))
        read_everything(client)
        bound = "asOf=2026-05-22T14:40:00Z"
        listed = [each["name"] for each in get(client, f"/api/v1/jobs?{bound}")["jobs"]]
        dag = get(client, f"/api/v1/namespaces/etl/jobs/dag?{bound}")
        (result,) = get(client, f"/api/v1/search?q=dag&{bound}")["results"]

    assert (dag["createdAt"], dag["updatedAt"]) == ("2026-05-22T14:10:00.000Z", "2026-05-22T14:30:00.000Z")
    assert (listed[0], result["updatedAt"]) == ("dag", dag["updatedAt"])


@pytest.mark.parametrize("second", [30, 75, 150])
@pytest.mark.parametrize("is_hub_recent", [True, False])
def test_a_dataset_with_many_readers_has_the_time_of_the_last_readers_event_by_then(
    tmp_path: Path, second: int, is_hub_recent: bool
) -> None:
    log = _of_a_hub(70, [] if is_hub_recent else [f"other{number}" for number in range(65)])
    until = _second(second)
    by_then = [each for each in log if each["eventTime"] <= until]
    reads = ("/api/v1/namespaces/lake/datasets/hub", "/api/v1/lineage?nodeId=dataset:lake:hub&depth=3", "/api/v1/jobs")
    with served(tmp_path / "now") as client:
        _send(client, [json.dumps(each).encode() for each in log])
        now = [get(client, read) for read in reads]
        past = [get(client, f"{read}{'&' if '?' in read else '?'}asOf={until}") for read in reads]
    with served(tmp_path / "then") as client:
        _send(client, [json.dumps(each).encode() for each in by_then])
        then = [get(client, read) for read in reads]

    assert past == then
    assert past != now


def _of_a_hub(readers: int, others: Sequence[str]) -> list[Body]:
    """Jobs read a dataset every two seconds, one of them until the end; the others then read another dataset."""
    hub, long = {"inputs": [dataset("hub", schema=schema("a"))]}, {"run": {"runId": "long"}, "job": _job("long")}
    log = [event(eventTime=_second(1), **long, **hub)]
    for number in range(readers):
        about = {"run": {"runId": f"run{number}"}, "job": _job(f"job{number}"), "outputs": [dataset(f"out{number}")]}
        log += [event(eventTime=_second(2 * number + 2), **about, **hub)]
        log += [event(eventTime=_second(2 * number + 3), eventType="COMPLETE", **about, **hub)]
    for name in others:
        log.append(event(eventTime=_second(74), run={"runId": name}, job=_job(name), inputs=[dataset("another")]))
    return [*log, event(eventTime=_second(180), eventType="COMPLETE", **long, **hub)]


def _job(name: str) -> Body:
    return {"namespace": "etl", "name": name}


def _second(second: int) -> str:
    return f"2026-05-22T14:{second // 60:02d}:{second % 60:02d}Z"


def test_the_graph_around_a_node_as_of_a_time_includes_late_events_and_new_aliases(tmp_path: Path) -> None:
    def run(minute: int, name: str, inputs: list[Body], outputs: list[Body]) -> Body:
        return _at(minute, run={"runId": name}, job=_job(name), inputs=inputs, outputs=outputs)

    a, b, c = (dataset(name) for name in "abc")
    also_b = dataset("b-too", symlinks=facet(identifiers=[{"namespace": "lake", "name": "b", "type": "TABLE"}]))
    log = [
        run(10, "first", [a], [b]),
        run(20, "second", [b], [c]),
        run(40, "third", [a], [c]),
        run(50, "third", [c], [a]),
    ]
    late = [run(15, "late", [c], [dataset("d")]), run(18, "alias", [also_b], [dataset("e")])]

    def around(client: TestClient, bound: str) -> list[list[Body]]:
        nodes = [f"dataset:lake:{name}" for name in "abc"] + ["job:etl:first", "job:etl:second"]
        return [get(client, f"/api/v1/lineage?nodeId={node}&depth=3{bound}")["graph"] for node in nodes]

    graphs = []
    with served(tmp_path / "now") as client:
        post(client, *log)
        for each in (None, *late):
            post(client, *([] if each is None else [each]))
            graphs.append(around(client, "&asOf=2026-05-22T14:30:00Z"))
    with served(tmp_path / "then") as client:
        post(client, *log[:2])
        for number, each in enumerate((None, *late)):
            post(client, *([] if each is None else [each]))
            assert graphs[number] == around(client, "")
