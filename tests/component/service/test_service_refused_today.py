"""Stored entries that would be refused today: they are ignored, and no read fails because of them."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from headwater.store.packing import packed
from headwater.store.sqlite import SqliteStore
from tests.support.app import PRODUCER, Body, dataset, facet, get, post, served, serving
from tests.support.days import at, days, read, run, schema, written
from tests.support.reads import read_everything

REFUSED = {"eventTime": "once upon a time", "producer": PRODUCER}
TOPIC = "dataset:kafka:orders"
KINDS = [
    ("run", "event_type = 'COMPLETE'"),
    ("dataset", "event_type = 'DATASET'"),
    ("job", "event_type = 'JOB'"),
    ("edit", "event_type = 'EDIT'"),
]
"""Each kind of entry, and the SQL condition that selects it."""
QUESTIONS: list[tuple[str, Body]] = [
    ("coverage", {}),
    ("drift", {"nodeId": TOPIC}),
    ("diff", {"from": at(1, 12), "to": at(3, 12)}),
    ("diff", {"fromRun": "report-1", "toRun": "report-2"}),
    ("root-cause", {"nodeId": "dataset:lake:mart", "asOf": at(2, 12)}),
    ("impact", {"nodeId": TOPIC, "asOf": at(2, 12)}),
    ("quality", {"nodeId": TOPIC, "asOf": at(2, 12)}),
    ("coverage", {"asOf": at(2, 12)}),
    ("actions", {}),
]


def declared(day: int, **columns: str) -> Body:
    """A version of a topic's schema, as the watcher of a registry sends it."""
    subject = facet(subject="orders-value", version=day, compatibility="BACKWARD", fitsRule=True)
    quality = facet(rowCount=day)
    described = dataset(
        "orders", "kafka", schema=schema(columns), headwater_subject=subject, dataQualityMetrics=quality
    )
    return {"eventTime": at(day, 0), "producer": PRODUCER, "dataset": described}


def fill(client: TestClient) -> None:
    """Four days with several entries of each kind."""
    post(client, declared(1, id="int"), declared(2, id="long"), declared(3, id="long", note="string"), *days(1, 4))
    post(client, *run("ingest", 1, inputs=[dataset("orders", "kafka")]))
    for day, language in enumerate(("SQL", "PYTHON"), start=1):
        facets = {"sourceCode": facet(language=language, sourceCode="…")}
        ends = {"inputs": [read("mart")], "outputs": [written("shown")], "eventTime": at(day, 5), "producer": PRODUCER}
        post(client, {**ends, "job": {"namespace": "etl", "name": "board", "facets": facets}})
    for tag in ("GOLD", "OLD"):
        assert client.put(f"/api/v1/tags/{tag}", json={"description": tag}).status_code == 200


def make_invalid(database: Path, condition: str) -> None:
    """Replace the bytes of all entries that the condition selects."""
    with closing(sqlite3.connect(database)) as connection, connection:
        sql = f"UPDATE log SET packed = ? WHERE {condition}"  # noqa: S608  a constant of this file
        assert connection.execute(sql, (packed(json.dumps(REFUSED).encode()),)).rowcount > 1


@pytest.mark.parametrize("condition", [condition for _, condition in KINDS], ids=[kind for kind, _ in KINDS])
def test_every_read_answers_where_entries_would_be_refused_today(tmp_path: Path, condition: str) -> None:
    with served(tmp_path) as client:
        fill(client)
    database = tmp_path / "headwater.db"
    make_invalid(database, condition)

    with closing(SqliteStore(database)) as store, serving(store) as client:
        read_everything(client)
        read_everything(client, asOf=at(2, 12))
        for path, query in QUESTIONS:
            get(client, f"/api/v1/{path}?{urlencode(query)}")
