"""Questions about a struct and the fields inside it, compared with answers written by hand.

`copy` reads the whole struct `addr`, `zips` one field of it; `board` reads the copy's `addr.city` and its whole `addr`.
"""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest
from starlette.testclient import TestClient

from tests.support.app import Body, dataset, facet, get, post, served
from tests.support.commands import output_of
from tests.support.flights import columns, ran, source
from tests.support.service import running

_GEO = {"name": "geo", "type": "struct", "fields": [{"name": "lat", "type": "double"}]}
_ADDRESS = [{"name": "zip", "type": "string"}, {"name": "city", "type": "string"}, _GEO]
SHAPE = facet(fields=[{"name": "id", "type": "int"}, {"name": "addr", "type": "struct", "fields": _ADDRESS}])


def made(name: str, **sources: tuple[str, str]) -> Body:
    fields = {column: [source(*origin, "DIRECT", "IDENTITY")] for column, origin in sources.items()}
    return dataset(name, columnLineage=columns([], **fields))


CUSTOMERS = dataset("customers", schema=SHAPE)
COPY = made("copies", id=("customers", "id"), addr=("customers", "addr"))
COPY["facets"]["schema"] = SHAPE
EVENTS = [
    ran("load", "r1", 1, [], [CUSTOMERS]),
    ran("copy", "r2", 2, [CUSTOMERS], [COPY]),
    ran("zips", "r3", 3, [CUSTOMERS], [made("zips", zip=("customers", "addr.zip"))]),
    ran("board", "r4", 4, [dataset("copies")], [made("board", city=("copies", "addr.city"), all=("copies", "addr"))]),
]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with served(tmp_path) as client:
        post(client, *EVENTS)
        yield client


def effects(client: TestClient, column: str, change: str) -> dict[str, str]:
    query = urlencode({"nodeId": "dataset:lake:customers", "column": column, "change": change})
    reached = get(client, f"/api/v1/impact?{query}")["reached"]
    return {f"{each['name']}:{each['field']}": each["effect"] for each in reached if each["field"]}


@pytest.mark.parametrize(
    ("column", "change", "expected"),
    [
        ("addr.zip", "drop", {"zips:zip": "breaks", "copies:addr": "unknown"}),
        ("addr.zip", "rename:postcode", {"zips:zip": "breaks", "copies:addr": "unknown"}),
        ("addr.zip", "retype:int", {"zips:zip": "breaks", "copies:addr": "unknown"}),
        ("addr.zip", "retype:bytes", {"zips:zip": "changed", "copies:addr": "changed", "board:all": "changed"}),
        ("addr.geo.lat", "drop", {"copies:addr": "unknown"}),
        ("addr", "drop", {"zips:zip": "breaks", "copies:addr": "breaks", "board:all": "starved"}),
        ("addr", "retype:string", {"zips:zip": "unknown", "copies:addr": "breaks", "board:all": "starved"}),
    ],
)
def test_a_reader_of_a_struct_breaks_with_it_and_possibly_with_a_field_of_it(
    client: TestClient, column: str, change: str, expected: dict[str, str]
) -> None:
    reported = effects(client, column, change)

    behind = expected.get("board:all", "unknown")
    assert reported == {**expected, "board:all": behind, "board:city": behind}


def test_the_reason_names_what_is_read_and_what_no_event_reports(client: TestClient) -> None:
    query = urlencode({"nodeId": "dataset:lake:customers", "column": "addr.zip", "change": "rename:postcode"})

    answer = get(client, f"/api/v1/impact?{query}")

    reasons = {f"{each['name']}:{each['field']}": each["reason"] for each in answer["reached"]}
    assert answer["change"] == {"kind": "rename", "to": "addr.postcode", "typeNow": "string"}
    assert reasons["copies:addr"] == (
        "takes its value from customers:addr (identity), and no event reports whether it uses addr.zip"
    )
    assert reasons["zips:zip"] == (
        "takes its value from customers:addr.zip (identity) by its name: it fails until it uses the name addr.postcode"
    )


@pytest.mark.parametrize("new", ["city", "addr.city", "geo"])
def test_a_field_cannot_be_renamed_to_another_of_its_struct(client: TestClient, new: str) -> None:
    query = urlencode({"nodeId": "dataset:lake:customers", "column": "addr.zip", "change": f"rename:{new}"})

    response = client.get(f"/api/v1/impact?{query}")

    name = f"addr.{new.removeprefix('addr.')}"
    assert response.status_code == 400
    assert response.json()["message"] == f"change: customers has a column '{name}' already; choose another"


def test_a_field_may_be_renamed_to_a_column_outside_its_struct(client: TestClient) -> None:
    assert effects(client, "addr.zip", "rename:id")["zips:zip"] == "breaks"


@pytest.mark.parametrize("column", ["addr.none", "addr.zip.none", "none.zip"])
def test_an_unknown_field_is_not_found(client: TestClient, column: str) -> None:
    response = client.get(f"/api/v1/impact?nodeId=dataset:lake:customers&column={column}")

    assert response.status_code == 404
    assert response.json()["message"] == f"Field '{column}' of dataset 'customers' not found."


def nodes(client: TestClient, column: str, **more: str) -> set[str]:
    query = urlencode({"nodeId": f"datasetField:lake:{column}", **more})
    graph = get(client, f"/api/v1/column-lineage?{query}")["graph"]
    return {f"{node['data']['dataset']}:{node['data']['field']}" for node in graph}


def test_columns_are_followed_from_a_field_to_its_struct_and_on(client: TestClient) -> None:
    assert nodes(client, "board:city") == {"board:city", "copies:addr.city", "copies:addr", "customers:addr"}
    assert nodes(client, "copies:addr.city") == {"copies:addr.city", "copies:addr", "customers:addr"}
    assert nodes(client, "board:city", depth="1") == {"board:city", "copies:addr.city"}
    assert nodes(client, "customers:addr.zip", withDownstream="true") == {
        *("customers:addr.zip", "customers:addr", "zips:zip", "copies:addr", "copies:addr.city"),
        *("board:city", "board:all"),
    }


def test_a_field_inside_a_struct_has_its_type_in_column_lineage(client: TestClient) -> None:
    graph = get(client, "/api/v1/column-lineage?nodeId=datasetField:lake:board:city")["graph"]

    assert {node["id"].split(":", 2)[2]: node["data"]["fieldType"] for node in graph} == {
        "board:city": "",
        "copies:addr.city": "string",
        "copies:addr": "struct",
        "customers:addr": "struct",
    }


def test_sources_of_one_field_of_a_struct_are_not_those_of_another(client: TestClient) -> None:
    parts = made("parts", **{"s.a": ("customers", "id"), "s.b": ("customers", "addr.zip")})
    post(client, ran("part", "r5", 5, [CUSTOMERS], [parts]))

    assert nodes(client, "parts:s.a") == {"parts:s.a", "customers:id"}
    assert nodes(client, "copies:addr") == {"copies:addr", "customers:addr"}


def test_root_cause_goes_from_a_field_to_its_struct_upstream(client: TestClient) -> None:
    lost = dataset("customers", schema=facet(fields=[{"name": "id", "type": "int"}]))
    post(client, ran("load", "r6", 6, [], [lost]), ran("copy", "r7", 7, [lost], [COPY]))
    post(client, ran("board", "r8", 8, [dataset("copies")], EVENTS[3]["outputs"]))

    answer = get(client, "/api/v1/root-cause?nodeId=dataset:lake:board&column=city")
    of_id = get(client, "/api/v1/root-cause?nodeId=dataset:lake:copies&column=id")

    def scores(answer: Body) -> dict[str, float]:
        return {each["nodeId"]: each["score"] for each in answer["findings"] if each["kind"] == "schema-change"}

    assert [each["run"]["id"] for each in answer["lookedAt"]] == ["r8", "r7", "r6"]
    assert scores(answer)["dataset:lake:customers"] > scores(of_id)["dataset:lake:customers"]


def test_a_field_inside_a_struct_can_be_tagged_by_its_path(client: TestClient) -> None:
    fields = "/api/v1/namespaces/lake/datasets/customers/fields"

    put = client.post(f"{fields}/addr.zip/tags/pii")
    missing = client.post(f"{fields}/addr.none/tags/pii")

    assert (put.status_code, missing.status_code) == (200, 404)
    assert put.json()["fields"][1]["fields"][0]["tags"] == ["PII"]


def test_the_commands_show_the_path_through_a_struct(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        for event in EVENTS:
            httpx.post(f"{service.url}/api/v1/lineage", json=event).raise_for_status()

        impact = output_of("impact", "customers:addr.zip", "--change", "drop", "--url", service.url, status=1)
        trace = output_of("trace", "board:city", "--url", service.url)

    assert impact.splitlines() == [
        "customers:addr.zip",
        "├── zips:zip  identity  breaks",
        "└── customers:addr  struct_around",
        "    └── copies:addr  identity  unknown",
        "        ├── board:all  identity  unknown",
        "        └── copies:addr.city  field_inside",
        "            └── board:city  identity  unknown",
        "",
        "job zips takes its value from customers:addr.zip (identity): it fails once the column is gone",
        "",
        "breaking: reaches 4 columns, 3 datasets and 3 jobs; 3 of these 10 break or get no more data",
    ]
    assert trace.splitlines() == [
        "board:city",
        "└── copies:addr.city  identity",
        "    └── copies:addr  struct_around",
        "        └── customers:addr  identity",
    ]
