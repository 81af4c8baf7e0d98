"""`headwater trace` and `impact` find the same for a dataset with many columns as for one with few, in few lines."""

import json
from collections.abc import Iterator

import httpx
import pytest

from tests.support.app import Body, dataset, schema
from tests.support.commands import output_of
from tests.support.flights import columns, ran, source
from tests.support.service import running
from tests.support.wide import SIZES, grouped, joined, named


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running(tmp_path_factory.mktemp("home")) as service:
        for size in SIZES:
            for event in (grouped(size), joined(size), joined(size, "visitors", "totals"), *keyed(size)):
                httpx.post(f"{service.url}/api/v1/lineage", json=event).raise_for_status()
        yield service.url


def keyed(size: int) -> list[Body]:
    """Runs that sort orders by all of their columns, and then read one column of the result."""
    names = named(size)
    lineage = columns([source(f"orders-{size}", name, "INDIRECT", "SORT") for name in names])
    orders, ranks = dataset(f"orders-{size}", schema=schema(*names)), dataset(f"ranks-{size}", schema=schema(*names))
    ranks["facets"]["columnLineage"] = lineage
    top = columns([], first=[source(f"ranks-{size}", "c2", "DIRECT", "IDENTITY")])
    return [
        ran("rank", f"k-{size}", 3, [orders], [ranks]),
        ran("best", f"b-{size}", 4, [dataset(f"ranks-{size}")], [dataset(f"top-{size}", columnLineage=top)]),
    ]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("command", "start", "reached"),
    [
        ("impact", "visits", ["visitors", "sums", "totals"]),
        ("impact", "visitors", ["totals"]),
        ("impact", "sums", []),
        ("trace", "sums", ["visits"]),
        ("trace", "visitors", ["visits"]),
        ("trace", "totals", ["visitors", "visits"]),
    ],
)
def test_a_column_reaches_all_columns_of_the_dependent_datasets_and_no_others(
    url: str, command: str, start: str, reached: list[str], size: int
) -> None:
    answer = json.loads(output_of(command, f"{start}-{size}:c1", "--json", "--url", url))

    columns_reached = [node["name"] for node in answer["nodes"] if node["id"].startswith("datasetField:")]
    assert sorted(columns_reached) == sorted(
        [f"{start}-{size}:c1", *(f"{each}-{size}:{name}" for each in reached for name in named(size))]
    )


def test_edges_between_all_columns_of_two_datasets_go_through_joint_nodes_in_json(url: str) -> None:
    answer = json.loads(output_of("trace", "totals-101:c1", "--json", "--url", url))

    edges = {(edge["origin"], edge["destination"]): edge["how"] for edge in answer["edges"]}
    assert edges["all-out-of:dataset:lake:visitors-101", "datasetField:lake:totals-101:c1"] == ["AGGREGATION"]
    assert edges["datasetField:lake:visitors-101:c7", "all-out-of:dataset:lake:visitors-101"] == ["WHOLE_DATASET"]
    assert edges["all-into:dataset:lake:visitors-101", "datasetField:lake:visitors-101:c7"] == ["WHOLE_DATASET"]
    assert edges["datasetField:lake:visits-101:c8", "all-into:dataset:lake:visitors-101"] == ["GROUP_BY"]


def test_trace_lists_few_columns_that_a_column_is_made_from_and_counts_many(url: str) -> None:
    few, many = (output_of("trace", f"sums-{size}:c1", "--url", url).splitlines() for size in SIZES)

    assert few == [
        "sums-3:c1",
        "├── visits-3:c0  aggregation",
        "├── visits-3:c1  aggregation",
        "└── visits-3:c2  aggregation",
    ]
    assert many == ["sums-101:c1", "└── visits-101  aggregation  101 columns"]


def test_impact_lists_what_is_made_from_all_columns_of_a_dataset(url: str) -> None:
    few, many = (output_of("impact", f"visitors-{size}:c1", "--url", url).splitlines() for size in SIZES)

    assert few == [
        "visitors-3:c1",
        "├── totals-3:c0  aggregation",
        "├── totals-3:c1  aggregation",
        "└── totals-3:c2  aggregation",
        "",
        "reaches 3 columns, 1 dataset and 1 job",
    ]
    assert many[:3] == [
        "visitors-101:c1",
        "└── visitors-101  whole_dataset",
        "    ├── totals-101:c0  aggregation",
    ]
    assert many[2 + 101 :] == ["", "reaches 101 columns, 1 dataset and 1 job"]


def test_of_many_columns_impact_lists_those_that_lead_on(url: str) -> None:
    few, many = (output_of("impact", f"orders-{size}:c1", "--url", url).splitlines() for size in SIZES)

    assert few == [
        "orders-3:c1",
        "├── ranks-3:c0  sort",
        "├── ranks-3:c1  sort",
        "└── ranks-3:c2  sort",
        "    └── top-3:first  identity",
        "",
        "reaches 4 columns, 2 datasets and 2 jobs",
    ]
    assert many == [
        "orders-101:c1",
        "└── ranks-101  sort  101 columns",
        "    └── ranks-101:c2  whole_dataset",
        "        └── top-101:first  identity",
        "",
        "reaches 102 columns, 2 datasets and 2 jobs",
    ]


def test_the_effect_on_many_columns_is_shown_with_their_count(url: str) -> None:
    few, many = (
        output_of("impact", f"orders-{size}:c1", "--change", "drop", "--url", url, status=1).splitlines()
        for size in SIZES
    )

    assert few[1:3] == ["├── ranks-3:c0  sort  breaks", "├── ranks-3:c1  sort  breaks"]
    assert many[1:4] == [
        "└── ranks-101  sort  101 columns  breaks",
        "    └── ranks-101:c2  whole_dataset  breaks",
        "        └── top-101:first  identity  starved",
    ]


def test_many_columns_that_each_lead_to_many_are_counted_at_every_step(url: str) -> None:
    assert output_of("trace", "totals-101:c1", "--url", url).splitlines() == [
        "totals-101:c1",
        "└── visitors-101  aggregation  101 columns",
        "    ├── visits-101  identity  101 columns",
        "    └── visitors-101  whole_dataset",
        "        └── visits-101  group_by  101 columns",
    ]
