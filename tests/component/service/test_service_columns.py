"""Column lineage in the reads, compared with known lineage."""

import pytest
from starlette.testclient import TestClient

from tests.support.app import Body, dataset, facet, get, post, schema
from tests.support.lineage_events import LAKE, job, lineage_facet, post_columns, run_event, source


def columns(answer: Body) -> dict[str, list[str]]:
    """The source columns of each column node, from its inEdges."""
    return {
        node["id"].removeprefix("datasetField:lake:"): [
            edge["destination"].removeprefix("datasetField:lake:") for edge in node["inEdges"]
        ]
        for node in answer["graph"]
    }


def test_the_sources_of_a_column_are_found_through_all_datasets(client: TestClient) -> None:
    post_columns(client)

    found = columns(get(client, "/api/v1/column-lineage?nodeId=datasetField:lake:c:total"))

    assert found == {"a:price": [], "b:day": [], "b:price": ["a:price"], "c:total": ["b:day", "b:price"]}


def test_depth_counts_hops_between_columns(client: TestClient) -> None:
    post_columns(client)

    found = columns(get(client, "/api/v1/column-lineage?nodeId=datasetField:lake:c:total&depth=1"))

    assert found == {"b:day": [], "b:price": [], "c:total": ["b:day", "b:price"]}


def test_an_answer_says_whether_there_are_columns_further_away(client: TestClient) -> None:
    post_columns(client)
    cases = [
        ("c:total", "&depth=1", True),
        ("c:total", "&depth=2", False),
        ("a:price", "&depth=1", False),
        ("a:price", "&depth=1&withDownstream=true", True),
        ("a:price", "&depth=2&withDownstream=true", False),
    ]

    answers = [get(client, f"/api/v1/column-lineage?nodeId=datasetField:lake:{node}{more}") for node, more, _ in cases]

    assert ["isCut" in answer for answer in answers] == [is_cut for _, _, is_cut in cases]


def test_columns_downstream_are_shown_on_request(client: TestClient) -> None:
    post_columns(client)

    upstream = columns(get(client, "/api/v1/column-lineage?nodeId=datasetField:lake:a:price"))
    both = columns(get(client, "/api/v1/column-lineage?nodeId=datasetField:lake:a:price&withDownstream=true"))

    assert upstream == {"a:price": []}
    assert both == {"a:price": [], "b:price": ["a:price"], "c:total": ["b:price"]}


def test_a_filter_is_a_source_of_every_column_of_its_dataset(client: TestClient) -> None:
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
def test_an_unreadable_node_id_is_not_found_and_the_expected_forms_are_named(
    client: TestClient, route: str, node_id: str
) -> None:
    answer = client.get(f"/api/v1/{route}?nodeId={node_id}")

    assert answer.status_code == 404
    assert answer.json()["message"] == (
        "query param nodeId cannot be read: expected dataset:NAMESPACE:NAME, "
        "datasetField:NAMESPACE:NAME:FIELD, job:NAMESPACE:NAME or run:ID"
    )


SIZE = 120
"""Number of columns: more than a hundred common sources are not listed at each column."""


def post_distinct(client: TestClient, size: int) -> None:
    """Post a dataset of `size` columns, each made from a column of another, grouped by all of those."""
    names = [f"c{number}" for number in range(size)]
    made = lineage_facet(**{name: [("raw", name, "DIRECT/IDENTITY")] for name in names})
    made["dataset"] = [source("raw", name, "INDIRECT/GROUP_BY") for name in names]
    ends = {
        "inputs": [dataset("raw", schema=schema(*names))],
        "outputs": [dataset("mart", schema=schema(*names), columnLineage=made)],
    }
    post(client, run_event("1", "COMPLETE", 1, job=job("distinct"), **ends))


def transformations(inputs: list[Body]) -> list[str]:
    return [f"{each['field']} {made['subtype']}" for each in inputs for made in each["transformations"]]


def test_a_few_group_by_columns_are_listed_at_each_column(client: TestClient) -> None:
    post_distinct(client, 3)

    body = get(client, f"{LAKE}/mart")
    graph = get(client, "/api/v1/column-lineage?nodeId=dataset:lake:mart")

    assert "datasetInputFields" not in body
    assert graph.keys() == {"graph"}
    found = [each["inputFields"] for each in body["columnLineage"]]
    assert found == [
        [{key: value for key, value in each.items() if key != "datasetVersion"} for each in node["data"]["inputFields"]]
        for node in graph["graph"]
        if node["data"]["dataset"] == "mart"
    ]
    assert transformations(found[1]) == ["c0 GROUP_BY", "c1 IDENTITY", "c1 GROUP_BY", "c2 GROUP_BY"]


def test_many_group_by_columns_are_listed_once(client: TestClient) -> None:
    post_distinct(client, SIZE)

    body = get(client, f"{LAKE}/mart")
    (listed,) = [each for each in get(client, LAKE)["datasets"] if each["name"] == "mart"]

    assert all(len(transformations(each["inputFields"])) == 1 for each in body["columnLineage"])
    assert len(body["columnLineage"]) == SIZE
    assert body["datasetInputFields"][1] == {
        "namespace": "lake",
        "dataset": "raw",
        "field": "c1",
        "targetField": None,
        "transformations": [{"type": "INDIRECT", "subtype": "GROUP_BY", "description": "", "masking": False}],
    }
    assert sorted(transformations(body["datasetInputFields"])) == sorted(f"c{each} GROUP_BY" for each in range(SIZE))
    assert listed == body


def test_the_graph_of_columns_lists_many_group_by_columns_once_and_has_all_sources(client: TestClient) -> None:
    post_distinct(client, SIZE)
    body = get(client, f"{LAKE}/mart")

    of_dataset = get(client, "/api/v1/column-lineage?nodeId=dataset:lake:mart")
    of_one = get(client, "/api/v1/column-lineage?nodeId=datasetField:lake:mart:c1")
    downstream = get(client, "/api/v1/column-lineage?nodeId=datasetField:lake:raw:c1&withDownstream=true")

    expected = {"namespace": "lake", "dataset": "mart", "inputFields": body["datasetInputFields"]}
    assert of_dataset["datasetInputFields"] == of_one["datasetInputFields"] == [expected]
    assert columns(of_dataset) == {f"mart:c{each}": [f"raw:c{each}"] for each in range(SIZE)} | {
        f"raw:c{each}": [] for each in range(SIZE)
    }
    assert columns(of_one) == {"mart:c1": ["raw:c1"]} | {f"raw:c{each}": [] for each in range(SIZE)}
    assert columns(downstream) == {f"mart:c{each}": ["raw:c1"] if each == 1 else [] for each in range(SIZE)} | {
        "raw:c1": []
    }
    assert downstream["datasetInputFields"] == [expected | {"inputFields": [expected["inputFields"][1]]}]


def test_an_answer_grows_linearly_with_the_number_of_columns(client: TestClient) -> None:
    sizes: dict[str, list[int]] = {}
    for size in (SIZE, 2 * SIZE):
        post_distinct(client, size)
        for path in (f"{LAKE}/mart", LAKE, "/api/v1/column-lineage?nodeId=dataset:lake:mart"):
            sizes.setdefault(path, []).append(len(client.get(path).content))

    assert all(twice < 2.2 * once for once, twice in sizes.values())


def test_a_whole_dataset_that_feeds_many_columns_is_listed_once_for_each(client: TestClient) -> None:
    names = [f"c{number}" for number in range(SIZE)]
    raw = {"namespace": "lake", "name": "raw", "type": "DATASET"}
    made = facet(fields={name: {"inputs": [raw]} for name in names}, inputs=[])
    ends = {
        "inputs": [dataset("raw", schema=schema(*names))],
        "outputs": [dataset("mart", schema=schema(*names), lineage=made)],
    }
    post(client, run_event("1", "COMPLETE", 1, job=job("load"), **ends))

    body = get(client, f"{LAKE}/mart")
    of_one = get(client, "/api/v1/column-lineage?nodeId=datasetField:lake:mart:c1")

    assert body["columnLineage"] is None
    assert [(each["targetField"], each["field"]) for each in body["datasetInputFields"]] == [
        (name, None) for name in sorted(names)
    ]
    (inputs,) = of_one["datasetInputFields"]
    assert [(each["targetField"], each["field"]) for each in inputs["inputFields"]] == [("c1", None)]
    assert len(of_one["graph"]) == 1 + SIZE


def test_a_deleted_source_of_a_whole_dataset_is_not_listed(client: TestClient) -> None:
    post_distinct(client, SIZE)
    client.delete(f"{LAKE}/raw")

    assert "datasetInputFields" not in get(client, f"{LAKE}/mart")
    assert get(client, "/api/v1/column-lineage?nodeId=dataset:lake:mart").keys() == {"graph"}
