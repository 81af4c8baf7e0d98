"""What Marquez's Java client makes objects of: a member in another form, and it reads nothing of the whole answer."""

import pytest
from starlette.testclient import TestClient

from tests.support.app import dataset, event, facet, get, post, schema

ETL = "/api/v1/namespaces/etl"
HTTPS = "https://example.org/x/y.py"


@pytest.mark.parametrize(
    ("told", "shown"),
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
def test_a_place_of_code_that_is_no_url_to_java_stands_in_the_facet_alone(
    client: TestClient, told: str, shown: str | None
) -> None:
    code = facet(type="git", url=told)
    job = {"namespace": "etl", "name": "load", "facets": {"sourceCodeLocation": code}}
    post(client, event(eventType="COMPLETE", job=job, outputs=[dataset("orders")]))

    (listed,) = get(client, f"{ETL}/jobs")["jobs"]
    (version,) = get(client, f"{ETL}/jobs/load/versions")["versions"]
    (drawn,) = [each for each in get(client, "/api/v1/lineage?nodeId=job:etl:load")["graph"] if each["type"] == "JOB"]

    assert (listed["location"], version["location"], drawn["data"]["location"]) == (shown, shown, shown)
    assert listed["facets"]["sourceCodeLocation"]["url"] == told


@pytest.mark.parametrize(
    ("told", "shown"),
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
def test_the_address_of_a_source_is_written_as_a_uri(client: TestClient, told: str, shown: str) -> None:
    post(client, event(outputs=[dataset("orders", dataSource=facet(name="shop", uri=told))]))
    client.put("/api/v1/sources/put", json={"type": "A", "connectionUrl": told})

    known = {each["name"]: each["connectionUrl"] for each in get(client, "/api/v1/sources")["sources"]}

    assert known == {"put": shown, "shop": shown}


def test_a_column_that_nobody_told_the_type_of_has_an_empty_one(client: TestClient) -> None:
    made_from = facet(fields={"total": {"inputFields": [{"namespace": "lake", "name": "orders", "field": "price"}]}})
    post(client, event(outputs=[dataset("mart", schema=schema("total"), columnLineage=made_from)]))

    graph = get(client, "/api/v1/column-lineage/?nodeId=dataset:lake:mart&depth=20&withDownstream=false")["graph"]

    assert [(node["data"]["field"], node["data"]["fieldType"]) for node in graph] == [("total", "int"), ("price", "")]


@pytest.mark.parametrize("told", ["my_db:5432/shop", "db.example.org/shop", "10.0.0.1:5432"])
def test_a_host_without_a_scheme_tells_no_type_of_a_source(client: TestClient, told: str) -> None:
    post(client, event(outputs=[dataset("orders", dataSource=facet(name="shop", uri=told))]))

    assert get(client, "/api/v1/sources/shop")["type"] == "UNKNOWN"
