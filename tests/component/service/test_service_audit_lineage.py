"""A bundle shows what its dataset is made from, and which entries by whom say so."""

import json
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from headwater.audit.about import About
from headwater.errors import InvalidInputError
from headwater.graph.lineage import Graph
from headwater.graph.path import PathTo, path_to
from headwater.model.events import parse_event
from headwater.model.names import DatasetId, GraphNode
from headwater.signing.keyfile import load_or_create
from headwater.signing.notefile import log_key
from headwater.signing.sign import sign_event
from headwater.store.entries import as_today, entry_of
from headwater.store.sqlite import SqliteStore
from tests.component.service.test_service_audit import (
    LOG_NAME,
    START_US,
    altered,
    bundle_of,
    changed_entries,
    run,
    verdict,
)
from tests.component.service.test_service_questions_order import known
from tests.support.app import dataset, event
from tests.support.logs import logs

GLUE = {"namespace": "glue", "name": "shop.report"}
SYMLINKS = {"identifiers": [{**GLUE, "type": "TABLE"}]}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with the log of `EVENTS`, all but one signed."""
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    log_key(tmp_path, LOG_NAME, "")
    key = load_or_create(tmp_path)
    with closing(SqliteStore(tmp_path / "headwater.db")) as store:
        for number, body in enumerate(EVENTS):
            raw = json.dumps(body).encode()
            if number == UNSIGNED:
                store.add([entry_of(parse_event(raw), "unsigned", None, START_US + number)])
            else:
                store.add([entry_of(parse_event(sign_event(raw, key)), "ok", key.key_id, START_US + number)])
    return tmp_path


def _event(job: str, run_number: int, **ends: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    run_id = f"0198f7d0-0000-7000-8000-{run_number:012d}"
    return event(
        eventTime=f"2026-05-22T14:{run_number:02d}:00Z",
        run={"runId": run_id, "facets": {}},
        job={"namespace": "etl", "name": job},
        **ends,
    )


def _columns(**sources: tuple[str, str]) -> dict[str, Any]:
    """A columnLineage facet: by column, the column that it is taken from."""
    fields = {
        column: {"inputFields": [{"namespace": "lake", "name": name, "field": field}]}
        for column, (name, field) in sources.items()
    }
    return {"fields": fields}


EVENTS = [
    _event("load", 0, inputs=[dataset("raw")]),
    _event("load", 0, outputs=[dataset("orders", columnLineage=_columns(price=("raw", "cents")))]),
    _event("other", 1, inputs=[dataset("orders")], outputs=[dataset("elsewhere")]),
    _event(
        "sum",
        2,
        inputs=[dataset("orders")],
        outputs=[dataset("report", columnLineage=_columns(total=("orders", "price"))), dataset("unrelated")],
    ),
    _event("load", 3, inputs=[dataset("raw")], outputs=[dataset("orders")]),
    _event("raw reader", 4, inputs=[dataset("raw")]),
    _event("show", 5, inputs=[dataset("report", symlinks=SYMLINKS)]),
]
UNSIGNED = 4
REPORT = ("--dataset", "lake", "report")


def _shown(bundle: Path) -> list[int]:
    with zipfile.ZipFile(bundle) as parts:
        entries = [json.loads(line) for line in parts.read("entries.jsonl").splitlines()]
    return [entry["index"] for entry in entries if "raw" in entry]


def test_a_bundle_with_the_upstream_of_a_dataset_shows_what_it_is_made_from_and_by_whom(home: Path) -> None:
    bundle = bundle_of(home, *REPORT, "--upstream")

    answer = verdict(bundle)

    assert _shown(bundle) == [0, 1, 3, 4, 6]
    assert answer["findings"] == []
    assert answer["madeFrom"]["edges"] == [
        {"origin": "dataset:lake:orders", "destination": "job:etl:sum"},
        {"origin": "dataset:lake:raw", "destination": "job:etl:load"},
        {"origin": "job:etl:load", "destination": "dataset:lake:orders"},
        {"origin": "job:etl:sum", "destination": "dataset:lake:report"},
    ]
    key = load_or_create(home).key_id
    assert answer["madeFrom"]["jobs"]["job:etl:load"] == {
        "runs": 2,
        "lastRun": {
            "runId": "0198f7d0-0000-7000-8000-000000000003",
            "state": "START",
            "at": "2026-05-22T14:03:00.000000Z",
            "entries": 1,
            "firstEntry": 4,
            "lastEntry": 4,
        },
        "entries": 3,
        "firstEntry": 0,
        "lastEntry": 4,
        "signedBy": {key: 2},
    }


def test_the_output_has_the_path_as_a_tree_and_a_line_for_each_job(home: Path) -> None:
    result = run("verify", str(bundle_of(home, *REPORT, "--upstream")))

    node = load_or_create(home).node_id
    tree = ["lake report", "└── etl sum", "    └── lake orders", "        └── etl load", "            └── lake raw"]
    assert result.output.splitlines()[:5] == tree
    assert (
        "made by    etl load: 2 runs, the last START at 2026-05-22T14:03:00Z; 3 entries from 0 to 4; "
        f"signed by {node}; 1 of them without a trusted signature"
    ) in result.output
    assert (
        f"made by    etl sum: 1 run, the last START at 2026-05-22T14:02:00Z; entry 3; signed by {node}\n"
        in result.output
    )


def test_a_bundle_about_a_dataset_alone_does_not_know_what_its_sources_are_made_from(home: Path) -> None:
    answer = verdict(bundle_of(home, *REPORT))

    assert [each["origin"] for each in answer["madeFrom"]["edges"]] == ["dataset:lake:orders", "job:etl:sum"]
    assert "what the sources of lake report are made from: export with --upstream shows it" in answer["notKnown"]


def test_any_dataset_of_a_bundle_can_be_asked_for_by_any_of_its_names(home: Path) -> None:
    bundle = bundle_of(home)

    assert verdict(bundle)["madeFrom"] is None
    assert verdict(bundle, "--dataset", "lake", "raw")["madeFrom"] == {
        "dataset": {"namespace": "lake", "name": "raw"},
        "edges": [],
        "jobs": {},
        "column": None,
        "columnEdges": [],
    }
    by_alias = verdict(bundle, "--dataset", *GLUE.values())
    assert (by_alias["madeFrom"]["dataset"]["name"], len(by_alias["madeFrom"]["edges"])) == ("report", 4)
    unknown = verdict(bundle, "--dataset", "lake", "nowhere")
    assert unknown["madeFrom"] is None
    assert "what lake nowhere is made from: no entry that is shown names it" in unknown["notKnown"]


def test_a_bundle_shows_what_a_column_is_made_from(home: Path) -> None:
    bundle = bundle_of(home, *REPORT, "--upstream")

    answer = verdict(bundle, "--column", "total")["madeFrom"]
    tree = run("verify", str(bundle), "--column", "total").output.splitlines()[:3]
    unknown = verdict(bundle, "--column", "price")

    assert answer["column"] == "total"
    assert [(each["origin"], each["destination"]) for each in answer["columnEdges"]] == [
        ("datasetField:lake:raw:cents", "datasetField:lake:orders:price"),
        ("datasetField:lake:orders:price", "datasetField:lake:report:total"),
    ]
    assert tree == ["lake report:total", "└── lake orders:price  direct", "    └── lake raw:cents  direct"]
    assert unknown["madeFrom"]["columnEdges"] == []
    assert "what price of lake report is made from: no entry that is shown says it" in unknown["notKnown"]


def test_a_column_needs_a_dataset(home: Path) -> None:
    result = run("verify", str(bundle_of(home)), "--column", "total")

    assert isinstance(result.exception, InvalidInputError)
    assert str(result.exception).startswith("--column: of which dataset?")


def test_a_name_that_the_entries_do_not_join_with_the_dataset_is_listed_as_not_known(home: Path) -> None:
    answer = verdict(bundle_of(home, *REPORT, "--to", "6"))

    assert "whether lake report is also glue shop.report: no entry that is shown says so" in answer["notKnown"]


def test_a_bundle_that_is_not_proven_shows_no_lineage(home: Path) -> None:
    def of_another_job(entries: list[dict[str, Any]]) -> None:
        entries[3]["raw"] = entries[3]["raw"].replace('"sum"', '"add"')

    answer = verdict(altered(bundle_of(home, *REPORT, "--upstream"), entries=changed_entries(of_another_job)))

    assert (answer["verdict"], answer["madeFrom"]) == ("not proven", None)
    assert "what lake report is made from: not all is proven" in answer["notKnown"]


@pytest.mark.parametrize("claimed", [{"namespace": 1, "name": []}, {"namespace": "lake"}, "lake report", 7])
def test_a_bundle_with_an_odd_dataset_in_its_manifest_is_checked_all_the_same(home: Path, claimed: object) -> None:
    def claim(data: bytes) -> bytes:
        return json.dumps({**json.loads(data), "dataset": claimed}).encode()

    answer = verdict(altered(bundle_of(home, *REPORT), manifest=claim))

    assert (answer["verdict"], answer["madeFrom"]) == ("proven", None)


def test_a_dataset_in_the_wrong_namespace_is_refused_with_the_one_that_was_meant(home: Path) -> None:
    result = run("export", "-o", str(home / "bundle.zip"), "--dataset", "lake", "shop.orders")

    assert isinstance(result.exception, InvalidInputError)
    assert str(result.exception).endswith(" is about lake shop.orders; did you mean --dataset lake orders?")


def test_upstream_needs_a_dataset(home: Path) -> None:
    result = run("export", "--upstream", "-o", str(home / "bundle.zip"))

    assert isinstance(result.exception, InvalidInputError)
    assert str(result.exception).startswith("--upstream: of which dataset?")


def _edges(path: PathTo, full: Graph) -> set[tuple[GraphNode, ...]]:
    """Its edges by the names that all events give; those that are not about its datasets may lead to other ones."""
    return {tuple(full.shown(end) if isinstance(end, DatasetId) else end for end in edge) for edge in path.edges}


@settings(max_examples=30)
@given(logs)
def test_the_entries_about_a_dataset_and_its_upstream_alone_give_its_path(log: list[bytes]) -> None:
    firm = [
        raw for raw in log if b'"namespace": ""' not in raw
    ]  # other names may depend on events about other datasets
    with known(firm) as full:
        for name in full.graph.shown_datasets():
            path = path_to(full.graph, name)
            places = range(full.store.size())
            about = About(full.store, full.store.logged(places), name, has_upstream=True)
            logged = [*full.store.logged(places)]
            events = [each.raw for each in logged if about.has(as_today(each.event_type, each.raw), each.log_index)]

            with known(events) as partial:
                found = path_to(partial.graph, partial.graph.shown(name))
                assert _edges(found, full.graph) == _edges(path, full.graph)
