"""Which table of a catalog a dataset is, by its place in the catalog's warehouse."""

import json

import pytest

from headwater.model.events import parse_event
from headwater.model.extract import facts
from headwater.model.facts import Alias, Catalog, CatalogEntry, EngineCatalog, Fact, Renaming
from headwater.model.names import DatasetId

BASE = "https://example.org/producer"


def facts_of_output(namespace: str, name: str, **facets: object) -> tuple[Fact, ...]:
    """The facts of an event whose output is this dataset."""
    body = {
        "eventType": "COMPLETE",
        "eventTime": "2026-05-22T14:23:11Z",
        "producer": BASE,
        "run": {"runId": "0198f7d0-0000-7000-8000-000000000001"},
        "job": {"namespace": "etl", "name": "load"},
        "outputs": [{"namespace": namespace, "name": name, "facets": facets}],
    }
    return facts(parse_event(json.dumps(body).encode()))


def tables(namespace: str, name: str, warehouse: str, kind: str = "hadoop", **facets: object) -> list[str]:
    """The tables of a dataset with a `catalog` facet."""
    catalog = {"framework": "iceberg", "type": kind, "name": "ice", "warehouseUri": warehouse}
    found = facts_of_output(namespace, name, **{"catalog": catalog, **facets})
    return [fact.table for fact in found if isinstance(fact, CatalogEntry)]


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
        ("file://localhost/wh", "file", "/wh/db/t"),
        ("file:///wh", "file://localhost", "/wh/db/t"),
        ("file://nas/wh", "file://nas", "/wh/db/t"),
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
        ("file://nas/wh", "file", "/nas/wh/db/t"),
        ("file:///nas/wh", "file://nas", "/wh/db/t"),
        ("", "s3://lake", "t"),
        ("", "/data", "t"),
    ],
)
def test_a_place_elsewhere_or_not_of_a_table_in_a_database_gives_no_table(
    warehouse: str, namespace: str, name: str
) -> None:
    assert tables(namespace, name, warehouse) == []


def test_hive_and_glue_have_a_suffix_on_a_databases_folder_and_others_do_not() -> None:
    assert tables("s3://lake", "sales.db/o", "s3a://lake/", "glue") == ["sales.o"]
    assert tables("s3://lake", "sales.db/o", "s3a://lake/", "hadoop") == ["sales.db.o"]


@pytest.mark.parametrize(
    ("kind", "symlink", "table"),
    [
        ("TABLE", "sales.orders", "sales.orders"),
        ("TABLE", "table/sales/orders", "sales.orders"),
        ("TABLE", "ice.sales.orders", "sales.orders"),
        ("TABLE", "ice.orders", "ice.orders"),
        ("LOCATION", "sales.orders", "db.t"),
    ],
)
def test_a_table_symlink_names_the_table_without_the_catalogs_name(kind: str, symlink: str, table: str) -> None:
    symlinks = {"identifiers": [{"namespace": "ice", "name": symlink, "type": kind}]}

    assert tables("s3://lake", "wh/db/t", "s3://lake/wh", symlinks=symlinks) == [table]


@pytest.mark.parametrize("lacking", ["type", "name"])
def test_a_catalog_without_a_type_or_a_name_has_no_tables(lacking: str) -> None:
    catalog = {"type": "hadoop", "name": "ice", "warehouseUri": "s3://lake/wh"}

    assert tables("s3://lake", "wh/db/t", "", catalog=catalog) == ["db.t"]
    assert tables("s3://lake", "wh/db/t", "", catalog={**catalog, lacking: ""}) == []


@pytest.mark.parametrize(("namespace", "is_read"), [("s3://lake", True), ("", False)])
def test_the_catalog_facets_of_a_dataset_without_a_namespace_are_ignored(namespace: str, is_read: bool) -> None:
    catalog = {"type": "hadoop", "name": "ice", "warehouseUri": "s3://lake"}
    symlinks = {"identifiers": [{"namespace": "ice", "name": "db.t", "type": "TABLE"}]}

    found = facts_of_output(namespace, "db/t", catalog=catalog, symlinks=symlinks, headwater_engine_catalog=catalog)

    assert any(isinstance(fact, CatalogEntry) for fact in found) is is_read
    assert any(isinstance(fact, EngineCatalog) for fact in found) is is_read


@pytest.mark.parametrize("state", ["ALTER", "CREATE", "DROP", "OVERWRITE", "RENAME", "TRUNCATE"])
def test_only_a_rename_gives_a_former_name(state: str) -> None:
    former = {"namespace": "lake", "name": "old"}

    found = facts_of_output(
        "lake", "new", lifecycleStateChange={"lifecycleStateChange": state, "previousIdentifier": former}
    )

    assert [fact.former.name for fact in found if isinstance(fact, Renaming)] == ["old"] * (state == "RENAME")
    assert not any(isinstance(fact, Alias) for fact in found)


@pytest.mark.parametrize(
    ("name", "alias", "is_joined"),
    [
        (("lake", "a"), ("lake", "b"), True),
        (("", "a"), ("lake", "b"), True),
        (("lake", "a"), ("", "b"), True),
        (("", "a"), ("", "b"), False),
        (("lake", "a"), ("lake", ""), False),
        (("lake", "a"), ("lake", "a"), False),
    ],
)
def test_a_symlink_joins_two_different_names_of_which_one_may_lack_its_namespace(
    name: tuple[str, str], alias: tuple[str, str], is_joined: bool
) -> None:
    symlinks = {"identifiers": [{"namespace": alias[0], "name": alias[1], "type": "TABLE"}, "no object"]}

    found = [(fact.name, fact.alias) for fact in facts_of_output(*name, symlinks=symlinks) if isinstance(fact, Alias)]

    assert found == [(name, alias)] * is_joined


@pytest.mark.parametrize("namespace", [{}, {"namespace": None}, {"namespace": 7}, {"namespace": ["lake"]}])
def test_another_name_whose_namespace_is_not_text_joins_nothing(namespace: dict[str, object]) -> None:
    other = {"name": "b", "type": "TABLE", **namespace}
    symlinks = {"identifiers": [other]}
    change = {"lifecycleStateChange": "RENAME", "previousIdentifier": other}

    found = facts_of_output("lake", "a", symlinks=symlinks, lifecycleStateChange=change)

    assert not any(isinstance(fact, Alias | Renaming) for fact in found)


@pytest.mark.parametrize(
    ("facet", "expected"),
    [
        (
            {"type": "hadoop", "warehouseUri": "s3://lake"},
            (Catalog("hadoop", "", "", "s3://lake"), DatasetId("", "")),
        ),
        (
            {"namespace": "postgres://db", "prefix": "shop."},
            (Catalog("", "", "", ""), DatasetId("postgres://db", "shop.")),
        ),
        ({"type": "hadoop"}, None),
        ({"warehouseUri": "s3://lake"}, None),
        ({"prefix": "shop."}, None),
    ],
)
def test_an_engine_catalog_has_a_type_and_an_address_or_names_in_another_namespace(
    facet: dict[str, str], expected: tuple[Catalog, DatasetId] | None
) -> None:
    found = [
        fact
        for fact in facts_of_output("trino://t", "lake", headwater_engine_catalog=facet)
        if type(fact) is EngineCatalog
    ]

    assert [(fact.engine, fact.word) for fact in found] == [("trino://t", "lake")] * (expected is not None)
    assert [(fact.catalog, fact.names) for fact in found] == ([] if expected is None else [expected])
