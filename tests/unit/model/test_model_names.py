"""Node ids: written in one way, and read with every possible interpretation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import InvalidNameError
from headwater.model.names import ColumnId, DatasetId, JobId, readings

part = st.text(alphabet="ab:/.", min_size=1, max_size=8)


@given(part, part)
def test_a_dataset_is_among_the_readings_of_its_own_node_id(namespace: str, name: str) -> None:
    dataset = DatasetId(namespace, name)

    assert dataset in [reading.node for reading in readings(dataset.node_id)]


@given(part, part)
def test_a_job_is_among_the_readings_of_its_own_node_id(namespace: str, name: str) -> None:
    job = JobId(namespace, name)

    assert job in [reading.node for reading in readings(job.node_id)]


@given(part, part, part)
def test_a_column_is_among_the_readings_of_its_own_node_id(namespace: str, name: str, column: str) -> None:
    field = ColumnId(DatasetId(namespace, name), column)

    assert field in [reading.node for reading in readings(field.node_id)]


def test_ports_and_schemes_belong_to_the_namespace() -> None:
    assert next(readings("dataset:postgres://db:5432:shop.public.orders")).node == (
        "postgres://db:5432",
        "shop.public.orders",
    )


def test_the_first_reading_of_a_column_id_has_the_shortest_column_and_the_longest_namespace() -> None:
    found = [reading.node for reading in readings("datasetField:kafka://k:9092:orders:id")]

    assert found == [
        (("kafka://k:9092", "orders"), "id"),
        (("kafka://k", "9092:orders"), "id"),
        (("kafka", "//k:9092:orders"), "id"),
        (("kafka://k", "9092"), "orders:id"),
        (("kafka", "//k:9092"), "orders:id"),
        (("kafka", "//k"), "9092:orders:id"),
    ]


@pytest.mark.parametrize(
    "node_id", ["", "bogus", "dataset:", "dataset:only-one-part", "job:x", "datasetField:a:b", "x:a:b"]
)
def test_an_invalid_node_id_is_refused_with_the_expected_form(node_id: str) -> None:
    with pytest.raises(InvalidNameError, match="nodeId: expected dataset:NAMESPACE:NAME"):
        list(readings(node_id))
