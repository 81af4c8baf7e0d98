"""What the demo reads from a service to compare it with its pipelines."""

from collections.abc import Iterator

import httpx
import pytest

from headwater.cli.demo.learned import column_sources
from headwater.cli.service_client import ServiceClient, service_at
from headwater.model.names import DatasetId
from tests.support.service import running
from tests.support.wide import SIZES, grouped, joined, named

pytestmark = pytest.mark.parametrize("size", SIZES)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceClient]:
    with running(tmp_path_factory.mktemp("home")) as service, service_at(service.url) as client:
        for size in SIZES:
            for event in (grouped(size), joined(size)):
                httpx.post(f"{service.url}/api/v1/lineage", json=event).raise_for_status()
        yield client


def test_a_source_of_all_columns_is_listed_for_each_column(client: ServiceClient, size: int) -> None:
    known = column_sources(client, DatasetId("lake", f"visitors-{size}"))

    keys = {f"GROUP_BY visits-{size}:{name}" for name in named(size)}
    assert known == {name: keys | {f"IDENTITY visits-{size}:{name}"} for name in named(size)}


def test_a_source_that_is_a_whole_dataset_is_listed_by_its_columns(client: ServiceClient, size: int) -> None:
    known = column_sources(client, DatasetId("lake", f"sums-{size}"))

    all_of_it = {f"AGGREGATION visits-{size}:{name}" for name in named(size)}
    assert known == {name: all_of_it for name in named(size)}
