"""The meaning of Trino's catalogs, by its configuration."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from headwater.capture.outlet import Outlet
from headwater.capture.trino import (
    CatalogMeaning,
    TrinoWatcher,
    catalogs_in,
    engine_namespace,
    meant,
    namespace_of,
    read_properties,
)
from headwater.errors import InvalidInputError, SetupError
from tests.support.rights import limited


def facet_of(meaning: CatalogMeaning | None) -> dict[str, str]:
    assert meaning is not None
    assert meaning.facet is not None, meaning.why
    names = ("type", "metadataUri", "warehouseUri", "namespace", "prefix")
    return {name: value for name in names if (value := getattr(meaning.facet, name)) is not None}


ICEBERG = {"connector.name": "iceberg"}
REST = {**ICEBERG, "iceberg.catalog.type": "rest", "iceberg.rest-catalog.uri": "http://rest:8181"}
HA = "thrift://M1:9083, thrift://m2:9083"
"""Metastores that replace each other."""


@pytest.mark.parametrize(
    ("properties", "facet"),
    [
        (
            {**ICEBERG, "iceberg.catalog.type": "glue", "hive.metastore.glue.default-warehouse-dir": "s3://wh/"},
            {"type": "glue", "warehouseUri": "s3://wh/"},
        ),
        ({**ICEBERG, "hive.metastore.uri": "thrift://ms:9083"}, {"type": "hive", "metadataUri": "thrift://ms:9083"}),
        (
            {
                **ICEBERG,
                "iceberg.catalog.type": "jdbc",
                "iceberg.jdbc-catalog.connection-url": "jdbc:postgresql://ann:secret@db/cat",
                "iceberg.jdbc-catalog.default-warehouse-dir": "s3://wh",
            },
            {"type": "jdbc", "metadataUri": "postgres://db:5432", "warehouseUri": "s3://wh"},
        ),
        (
            {
                **ICEBERG,
                "iceberg.catalog.type": "rest",
                "iceberg.rest-catalog.uri": "http://rest:8181?token=secret",
                "iceberg.rest-catalog.warehouse": "s3://wh",
            },
            {"type": "rest", "metadataUri": "http://rest:8181", "warehouseUri": "s3://wh"},
        ),
        (
            {**ICEBERG, "iceberg.catalog.type": "HIVE_METASTORE", "hive.metastore.uri": HA},
            {"type": "hive", "metadataUri": "thrift://m1:9083"},
        ),
        ({**ICEBERG, "hive.metastore.uri": HA}, {"type": "hive", "metadataUri": "thrift://m1:9083"}),
        ({"connector.name": "hive", "hive.metastore.uri": HA}, {"namespace": "hive://m1:9083", "prefix": ""}),
        (
            {"connector.name": "postgresql", "connection-url": "jdbc:postgresql://db:5433/shop?user=ann"},
            {"namespace": "postgres://db:5433", "prefix": "shop."},
        ),
        (
            {
                "connector.name": "postgresql",
                "connection-url": "jdbc:postgresql://db/shop?password=${ENV:PW}&a=${ENV:A}",
            },
            {"namespace": "postgres://db:5432", "prefix": "shop."},
        ),
        (
            {"connector.name": "mysql", "connection-url": "jdbc:mysql://db:3306"},
            {"namespace": "mysql://db:3306", "prefix": ""},
        ),
        (
            {"connector.name": "hive", "hive.metastore.uri": "thrift://ms:9083"},
            {"namespace": "hive://ms:9083", "prefix": ""},
        ),
    ],
)
def test_a_catalog_is_reported_with_the_names_that_others_give_its_tables(
    properties: dict[str, str], facet: dict[str, str]
) -> None:
    assert facet_of(meant("lake", properties)) == facet


@pytest.mark.parametrize(
    ("properties", "why"),
    [
        ({**ICEBERG, "iceberg.catalog.type": "glue"}, "missing hive.metastore.glue.default-warehouse-dir"),
        ({**ICEBERG, "iceberg.catalog.type": "snowflake"}, "unknown catalog type"),
        (ICEBERG, "missing hive.metastore.uri"),
        ({"connector.name": "hive", "hive.metastore": "glue"}, "missing hive.metastore.uri"),
        ({**REST, "iceberg.rest-catalog.uri": "http://a b"}, "cannot parse iceberg.rest-catalog.uri"),
        ({**REST, "iceberg.rest-catalog.warehouse": "${ENV:WH}"}, "iceberg.rest-catalog.warehouse is unknown"),
        (
            {"connector.name": "postgresql", "connection-url": "jdbc:postgresql://${ENV:PG}:5432/shop"},
            "connection-url is unknown",
        ),
        ({"connector.name": "mongodb"}, "the connector mongodb"),
        ({"connector.name": "postgresql"}, "jdbc"),
    ],
)
def test_a_catalog_with_too_little_information_has_no_facet_but_a_reason(properties: dict[str, str], why: str) -> None:
    meaning = meant("lake", properties)

    assert meaning is not None
    assert meaning.facet is None
    assert why in meaning.why


def test_catalogs_of_test_data_are_ignored() -> None:
    assert meant("tpch", {"connector.name": "tpch"}) is None


@pytest.fixture
def etc(tmp_path: Path) -> Path:
    (tmp_path / "catalog").mkdir()
    glue = ("connector.name=iceberg", "iceberg.catalog.type=glue", "hive.metastore.glue.default-warehouse-dir=s3://wh")
    (tmp_path / "catalog" / "lake.properties").write_text("# ours\n" + "\n".join(glue))
    return tmp_path


def test_the_namespace_is_read_from_the_listeners_configuration(etc: Path) -> None:
    before = namespace_of(etc)
    uri = "openlineage-event-listener.trino.uri=http://Trino.example:8080"
    (etc / "event-listener.properties").write_text(f"event-listener.name=openlineage\n{uri}\n")

    assert before is None
    assert namespace_of(etc) == "trino://trino.example:8080"


def test_a_file_that_cannot_be_read_hides_no_other_catalog(etc: Path) -> None:
    (etc / "node.properties").mkdir()
    (etc / "catalog" / "folder.properties").mkdir()
    (etc / "catalog" / "cut.properties").write_text("connector.name=mysql\nconnection-url=jdbc:mysql://db:3306/\\u00")
    (etc / "catalog" / "shop.properties").write_bytes(
        b"# gr\xfc\xdfe\nconnector.name : mysql\nconnection-url : jdbc\\:mysql\\://db\\:3306\nconnection-password=\xfc\n"
    )

    cut, folder, lake, shop = catalogs_in(etc)

    assert (cut.name, cut.facet, folder.name, folder.facet) == ("cut", None, "folder", None)
    assert re.fullmatch(r"cannot read .*cut\.properties", cut.why)
    assert re.fullmatch(r"cannot read .*folder\.properties", folder.why)
    assert facet_of(lake) == {"type": "glue", "warehouseUri": "s3://wh"}
    assert facet_of(shop) == {"namespace": "mysql://db:3306", "prefix": ""}
    assert namespace_of(etc) is None


@pytest.mark.parametrize(
    ("text", "properties"),
    [
        ("a=b=c\n  b:d\nc d\n", {"a": "b=c", "b": "d", "c": "d"}),
        ("a=x\\\n   y\nb=x\\\\\nc=z", {"a": "xy", "b": "x\\", "c": "z"}),
        ("# a=b\n! c=d\n\n   \nkey\\ with\\=signs = v", {"key with=signs": "v"}),
        ("empty=\nalone", {"empty": "", "alone": ""}),
        ("a=b, \\\n# c, \\\n  d", {"a": "b, # c, d"}),
        ("a=\xc3\x85 b=c \t\nd=e\x0bf", {"a": "\xc3\x85 b=c", "d": "e\x0bf"}),
        ("a\xa0b\fc\r=d", {"a\xa0b": "c", "": "d"}),
    ],
)
def test_properties_are_read_as_java_reads_them(text: str, properties: dict[str, str]) -> None:
    assert read_properties(text.encode("latin-1")) == properties


def test_an_address_without_a_host_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="http://host:port"):
        engine_namespace("localhost")


def test_a_catalog_is_reported_once_and_again_when_it_changed(etc: Path) -> None:
    events: list[bytes] = []
    watcher = TrinoWatcher(etc, "trino://t:1", Outlet(events.append, lambda: True))

    counts = [len(watcher.poll()), len(watcher.poll())]
    (etc / "catalog" / "lake.properties").write_text("connector.name=iceberg\nhive.metastore.uri=thrift://ms:9083")
    counts.append(len(watcher.poll()))

    assert counts == [1, 0, 1]
    datasets = [json.loads(event)["dataset"] for event in events]
    assert [(each["namespace"], each["name"]) for each in datasets] == [("trino://t:1", "lake")] * 2
    assert [each["facets"]["headwater_engine_catalog"]["type"] for each in datasets] == ["glue", "hive"]


def test_a_folder_without_catalogs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="catalog"):
        catalogs_in(tmp_path)


@pytest.mark.parametrize(("closed", "read"), [("", namespace_of), ("", catalogs_in), ("catalog", catalogs_in)])
def test_a_folder_that_cannot_be_read_is_named_with_what_to_do(
    open_folder: Path, closed: str, read: Callable[[Path], object]
) -> None:
    (open_folder / "catalog").mkdir()

    with (
        limited(open_folder / closed),
        pytest.raises(SetupError, match=f"cannot read {open_folder}.*: Permission denied; let this user read it"),
    ):
        read(open_folder)


def test_a_configuration_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=f"{tmp_path}/etc is not a folder; expected Trino's configuration folder"):
        namespace_of(tmp_path / "etc")
