"""Members that Marquez's Java client parses: one in another form, and it can read nothing of the answer."""

import pytest
from starlette.testclient import TestClient

from tests.support.app import dataset, event, facet, get, post, schema

ETL = "/api/v1/namespaces/etl"
HTTPS = "https://example.org/x/y.py"


@pytest.mark.parametrize(
    ("reported", "shown"),
    [
        (HTTPS, HTTPS),
        ("http://example.org:8080/a b", "http://example.org:8080/a b"),
        ("file:///srv/jobs/load.py", "file:///srv/jobs/load.py"),
        ("git@example.org:x/y.git", None),
        ("ssh://git@example.org/x/y", None),
        ("s3://code/load.py", None),
        ("https://example.org:main/x", None),
        ("https://[example/x", None),
        ("https://exa\nmple.org/x", None),
        ("load.py", None),
        ("", None),
    ],
)
def test_a_code_location_that_is_not_a_url_in_java_is_only_in_the_facet(
    client: TestClient, reported: str, shown: str | None
) -> None:
    code = facet(type="git", url=reported)
    job = {"namespace": "etl", "name": "load", "facets": {"sourceCodeLocation": code}}
    post(client, event(eventType="COMPLETE", job=job, outputs=[dataset("orders")]))

    (listed,) = get(client, f"{ETL}/jobs")["jobs"]
    (version,) = get(client, f"{ETL}/jobs/load/versions")["versions"]
    (drawn,) = [each for each in get(client, "/api/v1/lineage?nodeId=job:etl:load")["graph"] if each["type"] == "JOB"]

    assert (listed["location"], version["location"], drawn["data"]["location"]) == (shown, shown, shown)
    assert listed["facets"]["sourceCodeLocation"]["url"] == reported


@pytest.mark.parametrize(
    ("reported", "shown"),
    [
        ("jdbc:postgresql://[::1]:5432/shop?ssl=true", "jdbc:postgresql://[::1]:5432/shop?ssl=true"),
        ("kafka://[::1]:9092", "kafka://[::1]:9092"),
        ("s3://lake/wh%20one#part", "s3://lake/wh%20one#part"),
        ("jdbc:sqlserver://db:1433;databaseName=a b", "jdbc:sqlserver://db:1433;databaseName=a%20b"),
        ("jdbc:oracle:thin:@(HOST = db)", "jdbc:oracle:thin:@(HOST%20=%20db)"),
        ("s3://lake/{day}/50%#a#b", "s3://lake/%7Bday%7D/50%25#a%23b"),
        ("s3://lake/part[0]", "s3://lake/part%5B0%5D"),
        ("C:\\data", "C:%5Cdata"),
        ("my_db:5432/shop", "//my_db:5432/shop"),
        ("10.0.0.1:5432", "//10.0.0.1:5432"),
        ("hive://", "hive:///"),
        ("", ""),
    ],
)
def test_the_address_of_a_source_is_written_as_a_uri(client: TestClient, reported: str, shown: str) -> None:
    post(client, event(outputs=[dataset("orders", dataSource=facet(name="shop", uri=reported))]))
    client.put("/api/v1/sources/put", json={"type": "A", "connectionUrl": reported})

    known = {each["name"]: each["connectionUrl"] for each in get(client, "/api/v1/sources")["sources"]}

    assert known == {"put": shown, "shop": shown}


def test_a_column_of_unknown_type_has_an_empty_type(client: TestClient) -> None:
    lineage = facet(fields={"total": {"inputFields": [{"namespace": "lake", "name": "orders", "field": "price"}]}})
    post(client, event(outputs=[dataset("mart", schema=schema("total"), columnLineage=lineage)]))

    graph = get(client, "/api/v1/column-lineage/?nodeId=dataset:lake:mart&depth=20&withDownstream=false")["graph"]

    assert [(node["data"]["field"], node["data"]["fieldType"]) for node in graph] == [("total", "int"), ("price", "")]


@pytest.mark.parametrize("reported", ["my_db:5432/shop", "db.example.org/shop", "10.0.0.1:5432"])
def test_a_source_with_a_host_without_a_scheme_has_an_unknown_type(client: TestClient, reported: str) -> None:
    post(client, event(outputs=[dataset("orders", dataSource=facet(name="shop", uri=reported))]))

    assert get(client, "/api/v1/sources/shop")["type"] == "UNKNOWN"
