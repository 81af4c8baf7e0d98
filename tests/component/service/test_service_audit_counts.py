"""An audit counts in a bundle what the service counted when its log had those entries."""

import json
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from starlette.testclient import TestClient

from headwater.audit.about import About
from headwater.audit.graph import Folding
from headwater.graph.counts import counts_of
from headwater.graph.lineage import Graph
from headwater.model.events import parse_event
from headwater.model.names import DatasetId
from headwater.model.nodes import Arrival
from headwater.service.views.counts import summary
from headwater.signing.notefile import log_key
from headwater.store.entries import as_today, entry_of
from headwater.store.sqlite import SqliteStore
from tests.component.service.test_service_audit import LOG_NAME, altered, bundle_of, checks, run, verdict
from tests.component.service.test_service_questions_order import known
from tests.support.app import PRODUCER, dataset, event, serving
from tests.support.logs import logs

FIGURES = ("jobs", "runs", "datasets", "edges", "quarantined")
API = "/api/v1"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    log_key(tmp_path, LOG_NAME, "")
    return tmp_path


def _real_events(shared: Path) -> Iterator[bytes]:
    for path in sorted((shared / "observed").glob("*.jsonl")):
        yield from path.read_bytes().splitlines()
    for path in sorted((shared / "openlineage").rglob("*/*.json")):
        if path.parts[-2] != "facets":
            yield path.read_bytes()


def _posted(client: TestClient, raw: bytes) -> bool:
    return bool(client.post(f"{API}/lineage", content=raw).status_code == 201)


def summary_at(client: TestClient, log_size: int) -> dict[str, Any]:
    answer = client.get(f"{API}/summary", params={"logSize": log_size}).json()
    return {**{figure: answer[figure] for figure in FIGURES}, "logSize": log_size}


def _figures(path: Path) -> dict[str, Any]:
    answer = verdict(path)
    assert answer["findings"] == []
    return {name: count for name, count in answer["graph"].items() if name != "facts"}


def test_a_bundle_of_real_events_counts_what_the_service_counted_at_that_size(home: Path, shared: Path) -> None:
    with closing(SqliteStore(home / "headwater.db")) as store, serving(store) as client:
        size = sum(_posted(client, raw) for raw in _real_events(shared))
        sizes = (37, 150, size)
        expected = [summary_at(client, each) for each in sizes]
        now = client.get(f"{API}/summary").json()

    found = [_figures(bundle_of(home, "--to", str(each))) for each in sizes]

    assert found == expected
    assert {figure: now[figure] for figure in FIGURES} == {figure: found[-1][figure] for figure in FIGURES}
    assert now["quarantined"] > 0


def _id(number: int) -> str:
    return f"0198f7d0-0000-7000-8000-{number:012d}"


def _declared(**members: object) -> dict[str, Any]:
    schema = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/"
    return {"eventTime": "2026-05-22T15:00:00Z", "producer": PRODUCER, "schemaURL": schema + "JobEvent", **members}


def test_aliases_declared_jobs_and_deletions_count_as_in_the_service(home: Path) -> None:
    symlink = {"identifiers": [{"namespace": "glue", "name": "shop.orders", "type": "TABLE"}]}
    parent = {"run": {"runId": "0198f7d0-9999-7222-8333-444455556666"}, "job": {"namespace": "etl", "name": "whole"}}
    bodies = [
        event(run={"runId": "0198f7d0-1111-7222-8333-444455556666", "facets": {"parent": parent}}),
        event(eventType="COMPLETE", outputs=[dataset("orders", symlinks=symlink), dataset("gone")]),
        event(job={"namespace": "etl", "name": "reader"}, inputs=[{"namespace": "glue", "name": "shop.orders"}]),
        _declared(job={"namespace": "etl", "name": "declared"}, inputs=[dataset("plan")], outputs=[]),
        _declared(job={"namespace": "etl", "name": "declared"}, inputs=[dataset("plan 2")], outputs=[]),
    ]
    bodies[2]["run"] = {"runId": "0198f7d0-2222-7222-8333-444455556666"}
    with closing(SqliteStore(home / "headwater.db")) as store, serving(store) as client:
        assert all(_posted(client, json.dumps(body).encode()) for body in bodies)
        assert client.delete(f"{API}/namespaces/lake/datasets/gone").status_code == 200
        expected = summary_at(client, 6)

    found = _figures(bundle_of(home))

    assert found == expected
    assert (found["jobs"], found["datasets"]) == (4, 2)


def test_counts_of_a_part_name_the_size_of_the_log_only_if_it_begins_with_the_first_entry(home: Path) -> None:
    with closing(SqliteStore(home / "headwater.db")) as store, serving(store) as client:
        for number in range(4):
            run_id = f"0198f7d0-0000-7000-8000-{number:012d}"
            _posted(client, json.dumps(event(run={"runId": run_id}, outputs=[dataset(f"t{number}")])).encode())

    cut, later, of_dataset = (
        verdict(bundle_of(home, *arguments))["graph"]
        for arguments in (("--to", "2"), ("--from", "1", "--to", "4"), ("--to", "4", "--dataset", "lake", "t0"))
    )

    assert (cut["datasets"], cut["logSize"]) == (2, 2)
    assert (later["datasets"], later["logSize"]) == (3, None)
    assert (of_dataset["datasets"], of_dataset["logSize"]) == (1, None)


def test_the_output_shows_the_counts_and_the_url_to_compare_them_with(home: Path) -> None:
    with closing(SqliteStore(home / "headwater.db")) as store, serving(store) as client:
        _posted(client, json.dumps(event(outputs=[dataset("t")])).encode())

    result = run("verify", str(bundle_of(home)))

    figures = "1 job, 1 run, 1 dataset, 1 edge between these, 0 names in quarantine"
    assert f"that the service shows: {figures}, as /api/v1/summary?logSize=1 counts; " in result.output


def test_a_part_that_claims_to_be_the_whole_log_is_found(home: Path) -> None:
    with closing(SqliteStore(home / "headwater.db")) as store, serving(store) as client:
        for number in range(3):
            run_id = f"0198f7d0-0000-7000-8000-{number:012d}"
            _posted(client, json.dumps(event(run={"runId": run_id}, outputs=[dataset(f"t{number}")])).encode())

    def lie(data: bytes) -> bytes:
        return json.dumps({**json.loads(data), "graphOf": "log"}).encode()

    answer = verdict(altered(bundle_of(home, "--to", "2"), manifest=lie))

    assert checks(answer) == {"graph"}
    assert "claims the graph of the whole log" in answer["findings"][0]["message"]


def test_an_export_of_one_dataset_shows_events_under_its_other_names(home: Path) -> None:
    symlink = {"identifiers": [{"namespace": "glue", "name": "shop.orders", "type": "TABLE"}]}
    run_ids = [f"0198f7d0-0000-7000-8000-{number:012d}" for number in range(3)]
    bodies = [
        event(run={"runId": run_ids[0]}, outputs=[dataset("orders", symlinks=symlink)]),
        event(run={"runId": run_ids[1]}, inputs=[{"namespace": "glue", "name": "shop.orders"}]),
        event(run={"runId": run_ids[2]}, inputs=[dataset("others")]),
    ]
    with closing(SqliteStore(home / "headwater.db")) as store, serving(store) as client:
        assert all(_posted(client, json.dumps(body).encode()) for body in bodies)
        assert client.post(f"{API}/namespaces/lake/datasets/orders/tags/PII").status_code == 200

    result = run("export", "-o", str(home / "bundle.zip"), "--dataset", "glue", "shop.orders")

    assert result.exit_code == 0, result.output
    assert "by any of its names: glue shop.orders, lake orders" in result.output
    with zipfile.ZipFile(home / "bundle.zip") as bundle:
        entries = [json.loads(line) for line in bundle.read("entries.jsonl").splitlines()]
    assert [entry["index"] for entry in entries if "raw" in entry] == [0, 1, 3]
    assert verdict(home / "bundle.zip")["graph"]["datasets"] == 1


def test_an_export_of_one_dataset_shows_events_that_name_it_only_in_a_facet(home: Path) -> None:
    column = {"namespace": "lake", "name": "orders", "field": "id"}
    columns = {"fields": {"id": {"inputFields": [column]}}}
    symlink = {"identifiers": [{"namespace": "lake", "name": "orders", "type": "TABLE"}]}
    source = {"namespace": "lake", "name": "orders", "type": "DATASET"}
    others = {"entries": [{"namespace": "etl", "name": "load", "type": "JOB", "inputs": [source]}]}
    meant = {"type": "hive", "namespace": "lake", "prefix": ""}
    stronger = {"inputs": [{"namespace": "lake", "name": "others", "type": "DATASET"}]}
    bodies = [
        event(run={"runId": _id(0)}, outputs=[dataset("report", columnLineage=columns)]),
        event(run={"runId": _id(0)}, outputs=[dataset("another")]),
        event(run={"runId": _id(1)}, outputs=[dataset("files/orders", symlinks=symlink)]),
        event(run={"runId": _id(2)}, job={"namespace": "etl", "name": "w", "facets": {"lineage": others}}),
        event(run={"runId": _id(3)}, outputs=[dataset("another", columnLineage={"fields": {}})]),
        _declared(dataset=dataset("view", columnLineage=columns)),
        _declared(dataset=dataset("view")),
        _declared(dataset={"namespace": "trino://t:1", "name": "sea", "facets": {"headwater_engine_catalog": meant}}),
        event(run={"runId": _id(4)}, inputs=[{"namespace": "trino://t:1", "name": "sea.orders"}]),
        _declared(dataset=dataset("other view")),
        event(run={"runId": _id(5)}, outputs=[dataset("outdone", columnLineage=columns, lineage=stronger)]),
        _declared(dataset=dataset("outdone view", columnLineage=columns, lineage=stronger)),
        event(run={"runId": _id(6)}, outputs=[dataset("without it", lineage=stronger)]),
    ]
    with closing(SqliteStore(home / "headwater.db")) as store, serving(store) as client:
        assert all(_posted(client, json.dumps(body).encode()) for body in bodies)
        assert client.delete(f"{API}/namespaces/lake").status_code == 200

    result = run("export", "-o", str(home / "bundle.zip"), "--dataset", "lake", "orders")

    assert result.exit_code == 0, result.output
    with zipfile.ZipFile(home / "bundle.zip") as bundle:
        entries = [json.loads(line) for line in bundle.read("entries.jsonl").splitlines()]
    assert [entry["index"] for entry in entries if "raw" in entry] == [0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 13]
    assert verdict(home / "bundle.zip")["findings"] == []


@settings(max_examples=30)
@given(logs)
def test_the_events_about_a_dataset_alone_give_its_part_of_the_graph(log: list[bytes]) -> None:
    with known(log) as full:
        for name in full.graph.shown_datasets():
            places = range(full.store.size())
            about = About(full.store, full.store.logged(places), name)
            logged = [*full.store.logged(places)]
            events = [each.raw for each in logged if about.has(as_today(each.event_type, each.raw), each.log_index)]

            with known(events) as partial:
                for each in about.names:
                    assert _facts_about(partial.graph, each) == _facts_about(full.graph, each)


def _facts_about(graph: Graph, name: DatasetId) -> tuple[object, ...]:
    """All that a graph has about a dataset under exactly this name."""
    if (state := graph.datasets.get(name)) is None:
        return ()
    reads = {job: graph.jobs[job].reads[name] for job in state.readers}
    writes = {job: graph.jobs[job].writes[name] for job in state.writers}
    made_from = {edge for _, digest in state.evidence for edge in graph.column_edges.edges(name, digest)}
    made_of_it = {*graph.column_edges.fed_by(name)}
    complete_names = (member for member in graph.members(name) if member.is_complete)
    names = {*complete_names} - {*graph.identities.loose}  # loose and incomplete ones depend on other datasets
    return names, reads, writes, state.evidence, made_from, made_of_it, state.current_facets()


@settings(max_examples=30)
@given(logs)
def test_an_audit_of_any_log_counts_what_the_service_counts(log: list[bytes]) -> None:
    folding = Folding()
    for place, raw in enumerate(log):
        folding.take(entry_of(parse_event(raw), "unsigned", None, 0).event_type, raw, place, Arrival(0, "unsigned"))

    with known(log) as knowledge:
        answer = summary(knowledge, {}, 0)

    assert counts_of(folding.known)._asdict() == {figure: dict(answer)[figure] for figure in FIGURES}
