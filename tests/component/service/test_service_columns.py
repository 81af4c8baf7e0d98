"""What the reads say about the lineage of columns whose truth is known."""

import pytest
from starlette.testclient import TestClient

from tests.support.app import Body, get
from tests.support.told import LAKE, post_columns


def columns(answer: Body) -> dict[str, list[str]]:
    """For each column node: where its inEdges lead, which is where the data comes from."""
    return {
        node["id"].removeprefix("datasetField:lake:"): [
            edge["destination"].removeprefix("datasetField:lake:") for edge in node["inEdges"]
        ]
        for node in answer["graph"]
    }


def test_what_feeds_a_column_is_found_through_all_datasets(client: TestClient) -> None:
    post_columns(client)

    found = columns(get(client, "/api/v1/column-lineage?nodeId=datasetField:lake:c:total"))

    assert found == {"a:price": [], "b:day": [], "b:price": ["a:price"], "c:total": ["b:day", "b:price"]}


def test_depth_counts_hops_between_columns(client: TestClient) -> None:
    post_columns(client)

    found = columns(get(client, "/api/v1/column-lineage?nodeId=datasetField:lake:c:total&depth=1"))

    assert found == {"b:day": [], "b:price": [], "c:total": ["b:day", "b:price"]}


def test_what_a_column_feeds_is_found_on_demand(client: TestClient) -> None:
    post_columns(client)

    upstream = columns(get(client, "/api/v1/column-lineage?nodeId=datasetField:lake:a:price"))
    both = columns(get(client, "/api/v1/column-lineage?nodeId=datasetField:lake:a:price&withDownstream=true"))

    assert upstream == {"a:price": []}
    assert both == {"a:price": [], "b:price": ["a:price"], "c:total": ["b:price"]}


def test_a_filter_counts_for_every_column_of_what_it_filters(client: TestClient) -> None:
    post_columns(client)

    answer = get(client, "/api/v1/column-lineage?nodeId=dataset:lake:c&depth=1")
    inputs = {node["data"]["field"]: node["data"]["inputFields"] for node in answer["graph"]}

    for column in ("id", "total"):
        by_field = {each["field"]: each["transformations"] for each in inputs[column]}
        assert by_field["day"] == [{"type": "INDIRECT", "subtype": "FILTER", "description": "", "masking": False}]
    sources = get(client, f"{LAKE}/c")["columnLineage"]
    assert [(each["name"], [field["field"] for field in each["inputFields"]]) for each in sources] == [
        ("id", ["day", "id"]),
        ("total", ["day", "price"]),
    ]


def test_the_columns_of_a_job_are_those_it_writes(client: TestClient) -> None:
    post_columns(client)

    found = columns(get(client, "/api/v1/column-lineage?nodeId=job:etl:ab"))

    assert found == {"a:price": [], "b:day": [], "b:id": [], "b:price": ["a:price"]}


@pytest.mark.parametrize(
    ("node_id", "message"),
    [
        ("dataset:lake:none", "Dataset 'none' not found."),
        ("datasetField:lake:c:none", "Field 'none' of dataset 'c' not found."),
        ("job:etl:none", "Job 'none' not found."),
        ("run:5", "Run '5' not found."),
        ("", "HTTP 404 Not Found"),
    ],
)
def test_an_unknown_node_is_not_found(client: TestClient, node_id: str, message: str) -> None:
    post_columns(client)

    answers = [client.get(f"/api/v1/{route}?nodeId={node_id}") for route in ("lineage", "column-lineage")]

    assert [(answer.status_code, answer.json()["message"]) for answer in answers] == [(404, message)] * 2


@pytest.mark.parametrize("node_id", ["", "bogus", "table:lake:t", "dataset:lake"])
@pytest.mark.parametrize("route", ["impact", "root-cause", "quality", "flow", "drift"])
def test_a_node_id_that_cannot_be_read_is_named_with_what_was_expected(
    client: TestClient, route: str, node_id: str
) -> None:
    answer = client.get(f"/api/v1/{route}?nodeId={node_id}")

    assert answer.status_code == 404
    assert answer.json()["message"] == (
        "query param nodeId cannot be read: expected dataset:NAMESPACE:NAME, "
        "datasetField:NAMESPACE:NAME:FIELD, job:NAMESPACE:NAME or run:ID"
    )
