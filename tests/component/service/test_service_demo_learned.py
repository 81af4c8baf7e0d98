"""What the demo reads from a service to hold it against what its pipelines say."""

from collections.abc import Iterator

import httpx
import pytest

from headwater.cli.demo.learned import column_sources
from headwater.cli.service_client import ServiceClient, service_at
from headwater.model.names import DatasetId
from tests.support.app import Body, dataset, facet, schema
from tests.support.flights import columns, ran, source
from tests.support.service import running

pytestmark = pytest.mark.parametrize("size", [3, 101])
"""Columns: a dataset of more than a hundred is told of as a whole."""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceClient]:
    with running(tmp_path_factory.mktemp("home")) as service, service_at(service.url) as client:
        for size in (3, 101):
            for event in (grouped(size), joined(size)):
                httpx.post(f"{service.url}/api/v1/lineage", json=event).raise_for_status()
        yield client


def named(size: int) -> list[str]:
    return [f"c{number}" for number in range(size)]


def grouped(size: int) -> Body:
    """A run that copies the columns, and groups by all of them."""
    names, visits = named(size), f"visits-{size}"
    copied = {name: [source(visits, name, "DIRECT", "IDENTITY")] for name in names}
    made = columns([source(visits, name, "INDIRECT", "GROUP_BY") for name in names], **copied)
    read = dataset(visits, schema=schema(*names))
    return ran("distinct", f"r-{size}", 1, [read], [dataset(f"visitors-{size}", columnLineage=made)])


def joined(size: int) -> Body:
    """A run that makes each column of all that it reads."""
    how = [{"type": "DIRECT", "subtype": "AGGREGATION"}]
    whole = {"namespace": "lake", "name": f"visits-{size}", "type": "DATASET", "transformations": how}
    made = facet(fields={name: {"inputs": [whole]} for name in named(size)}, inputs=[])
    read = dataset(f"visits-{size}", schema=schema(*named(size)))
    return ran("join", f"j-{size}", 2, [read], [dataset(f"sums-{size}", schema=schema(*named(size)), lineage=made)])


def test_what_all_columns_hang_on_is_known_of_each(client: ServiceClient, size: int) -> None:
    known = column_sources(client, DatasetId("lake", f"visitors-{size}"))

    keys = {f"GROUP_BY visits-{size}:{name}" for name in named(size)}
    assert known == {name: keys | {f"IDENTITY visits-{size}:{name}"} for name in named(size)}


def test_what_comes_from_all_of_a_dataset_is_known_by_its_columns(client: ServiceClient, size: int) -> None:
    known = column_sources(client, DatasetId("lake", f"sums-{size}"))

    all_of_it = {f"AGGREGATION visits-{size}:{name}" for name in named(size)}
    assert known == {name: all_of_it for name in named(size)}
