"""Which table of a catalog a dataset is, by its place in the catalog's warehouse."""

import json

import pytest

from headwater.model.events import parse_event
from headwater.model.extract import facts
from headwater.model.facts import CatalogEntry

BASE = "https://example.org/producer"


def tables(namespace: str, name: str, warehouse: str, kind: str = "hadoop") -> list[str]:
    """The tables of a dataset with a `catalog` facet."""
    catalog = {"framework": "iceberg", "type": kind, "name": "ice", "warehouseUri": warehouse}
    body = {
        "eventType": "COMPLETE",
        "eventTime": "2026-05-22T14:23:11Z",
        "producer": BASE,
        "run": {"runId": "0198f7d0-0000-7000-8000-000000000001"},
        "job": {"namespace": "etl", "name": "load"},
        "outputs": [{"namespace": namespace, "name": name, "facets": {"catalog": catalog}}],
    }
    all_facts = facts(parse_event(json.dumps(body).encode()))
    return [fact.table for fact in all_facts if isinstance(fact, CatalogEntry)]


@pytest.mark.parametrize(
    ("warehouse", "namespace", "name"),
    [
        ("s3://lake/wh", "s3://lake", "wh/db/t"),
        ("s3a://lake/wh", "s3://lake", "wh/db/t"),
        ("s3n://lake/wh/", "s3://lake", "wh/db/t"),
        ("s3://lake/wh", "s3a://lake", "wh/db/t/"),
        ("s3://lake/wh", "s3://lake", "/wh/db/t"),
        ("s3://lake/wh", "s3://lake/", "wh/db/t"),
        ("S3://lake", "s3://lake", "db/t"),
        ("s3://lake/", "s3://lake", "/db/t"),
        ("gcs://b/wh", "gs://b", "wh/db/t"),
        ("abfs://c@a.dfs.core.windows.net/wh", "abfss://c@a.dfs.core.windows.net", "wh/db/t"),
        ("abfss://c@A.dfs.core.windows.net/wh", "abfss://c@a.dfs.core.windows.net", "/wh/db/t"),
        ("hdfs://nn:8020/wh", "hdfs://nn:8020", "/wh/db/t"),
        ("hdfs://nn:8020/wh", "hdfs://NN", "wh/db/t"),
        ("dbfs:/wh", "dbfs", "/wh/db/t"),
        ("dbfs:///wh/", "dbfs:/", "wh/db/t"),
        ("dbfs:/", "dbfs", "/db/t"),
        ("dbfs://work/wh", "dbfs://work", "/wh/db/t"),
        ("file:///wh/", "file", "/wh/db/t"),
        ("file:/wh", "file:///", "/wh/db/t/"),
        ("file:///", "file", "/db/t"),
    ],
)
def test_a_table_is_recognized_by_its_place_in_any_spelling(warehouse: str, namespace: str, name: str) -> None:
    assert tables(namespace, name, warehouse) == ["db.t"]


@pytest.mark.parametrize(
    ("warehouse", "namespace", "name"),
    [
        ("s3://lake/wh", "s3://lake", "other/db/t"),
        ("s3://lake/wh", "s3://Lake", "wh/db/t"),
        ("s3://lake/wh", "gs://lake", "wh/db/t"),
        ("s3://lake/wh", "s3://lake", "wh/db"),
        ("s3://lake/wh", "s3://lake", "wh/db/s/t"),
        ("s3://lake/wh", "s3://lake", "wh//t"),
        ("s3://lake/wh", "lake", "t"),
        ("dbfs:/wh", "dbfs://work", "/wh/db/t"),
        ("file:/wh", "file", "/t"),
        ("", "s3://lake", "t"),
    ],
)
def test_a_place_elsewhere_or_not_of_a_table_in_a_database_gives_no_table(
    warehouse: str, namespace: str, name: str
) -> None:
    assert tables(namespace, name, warehouse) == []


def test_hive_and_glue_have_a_suffix_on_a_databases_folder_and_others_do_not() -> None:
    assert tables("s3://lake", "sales.db/o", "s3a://lake/", "glue") == ["sales.o"]
    assert tables("s3://lake", "sales.db/o", "s3a://lake/", "hadoop") == ["sales.db.o"]
