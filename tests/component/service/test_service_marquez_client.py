"""Marquez's own Python client, as it comes from the package index, against a service in a process of its own."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.request import Request, urlopen

import pytest
from marquez_client import MarquezClient
from marquez_client.errors import APIError
from marquez_client.models import DatasetId, DatasetType, JobType

from tests.support.app import Body, dataset, event, facet, schema
from tests.support.service import Service, running

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the client calls its own writes deprecated

NAMESPACE = "s3://team-a"
SPARK = "spark://h:7077"
RUN = "00000001-0000-4000-8000-000000000001"
RUN_OF_SPARK = "00000002-0000-4000-8000-000000000001"
NOW = "2026-05-22T14:23:11Z"


class RecordingClient:
    """The client, and the names of its methods that were called."""

    def __init__(self, client: MarquezClient) -> None:
        self._client = client
        self.methods: set[str] = set()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  whatever the client answers
        self.methods.add(name)
        return getattr(self._client, name)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("home")) as service:
        yield service


def names(listed: list[dict[str, Any]]) -> list[str]:
    return [each["name"] for each in listed]


def test_every_method_of_the_client_works_unchanged(service: Service) -> None:
    client = RecordingClient(MarquezClient(url=service.url, api_key="any"))

    namespaces(client)
    sources(client)
    datasets(client)
    jobs(client)
    runs(client)
    events_and_columns(client, service.url)

    assert client.methods == {name for name in vars(MarquezClient) if not name.startswith("_")}


def namespaces(client: RecordingClient) -> None:
    created = client.create_namespace(NAMESPACE, "ann", "the team's")
    assert created == client.get_namespace(NAMESPACE)
    assert (created["ownerName"], created["description"], created["isHidden"]) == ("ann", "the team's", False)
    assert names(client.list_namespaces(limit=10, offset=0)["namespaces"]) == ["default", NAMESPACE]


def sources(client: RecordingClient) -> None:
    created = client.create_source("pg", "postgresql", "jdbc:postgresql://localhost:5432/db", "source one")
    assert created == client.get_source("pg")
    assert (created["type"], created["connectionUrl"]) == ("POSTGRESQL", "jdbc:postgresql://localhost:5432/db")
    assert names(client.list_sources()["sources"]) == ["pg"]


def datasets(client: RecordingClient) -> None:
    fields = [{"name": "id", "type": "INT", "tags": ["PII"], "description": "which"}, {"name": "price", "type": "INT"}]
    table = client.create_dataset(
        NAMESPACE, "orders", DatasetType.DB_TABLE, "public.orders", "pg", "table one", fields=fields, tags=["A"]
    )
    stream = client.create_dataset(
        NAMESPACE, "clicks", DatasetType.STREAM, "clicks", "pg", schema_location="http://registry/clicks.avsc"
    )
    assert table == client.get_dataset(NAMESPACE, "orders")
    assert (stream["type"], stream["schemaLocation"]) == ("STREAM", "http://registry/clicks.avsc")
    assert names(client.list_datasets(NAMESPACE)["datasets"]) == ["clicks", "orders"]
    (version,) = client.list_dataset_versions(NAMESPACE, "orders")["versions"]
    assert client.get_dataset_version(NAMESPACE, "orders", version["version"]) == version
    assert version["version"] == table["currentVersion"]
    client.create_tag("GOLD", "the best")
    assert {"name": "GOLD", "description": "the best"} in client.list_tags()["tags"]
    assert client.tag_dataset(NAMESPACE, "orders", "GOLD")["tags"] == ["A", "GOLD"]
    tagged = client.tag_dataset_field(NAMESPACE, "orders", "price", "GOLD")
    assert {field["name"]: field["tags"] for field in tagged["fields"]} == {"id": ["PII"], "price": ["GOLD"]}


def jobs(client: RecordingClient) -> None:
    created = client.create_job(
        NAMESPACE,
        "load",
        JobType.BATCH,
        location="https://github.com/x/y/blob/abc",
        inputs=[DatasetId(NAMESPACE, "clicks")],
        outputs=[DatasetId(NAMESPACE, "orders")],
        description="loads",
        context={"sql": "SELECT 1"},
    )
    assert created == client.get_job(NAMESPACE, "load")
    assert (names(created["inputs"]), names(created["outputs"])) == (["clicks"], ["orders"])
    assert names(client.list_jobs(NAMESPACE)["jobs"]) == ["load"]


def runs(client: RecordingClient) -> None:
    created = client.create_job_run(
        NAMESPACE,
        "load",
        run_id=RUN,
        nominal_start_time="2026-05-22T14:00:00.000Z",
        nominal_end_time="2026-05-22T15:00:00.000Z",
        run_args={"k": "v"},
    )
    assert (created["id"], created["state"], created["args"]) == (RUN, "NEW", {"k": "v"})
    assert client.mark_job_run_as_started(RUN)["state"] == "RUNNING"
    client.create_dataset(
        NAMESPACE, "orders", DatasetType.DB_TABLE, "public.orders", "pg", run_id=RUN, fields=[{"name": "id"}]
    )
    ended = client.mark_job_run_as_completed(RUN)
    assert ended == client.get_job_run(RUN)
    assert (ended["state"], ended["outputDatasetVersions"][0]["datasetVersionId"]["name"]) == ("COMPLETED", "orders")
    failed = client.create_job_run(NAMESPACE, "load", mark_as_running=True)
    assert failed["state"] == "RUNNING"
    assert client.mark_job_run_as_failed(failed["id"])["state"] == "FAILED"
    stopped = client.create_job_run(NAMESPACE, "load")
    assert client.mark_job_run_as_aborted(stopped["id"], at="2026-05-22T16:00:00+00:00")["state"] == "ABORTED"
    listed = client.list_job_runs(NAMESPACE, "load", limit=2)
    assert (len(listed["runs"]), listed["totalCount"]) == (2, 3)


def events_and_columns(client: RecordingClient, url: str) -> None:
    source = {"namespace": "lake", "name": "raw", "field": "id"}
    lineage = facet(fields={"id": {"inputFields": [source]}})
    sent = event(
        eventTime="2031-01-01T00:00:00Z",
        inputs=[dataset("raw", schema=schema("id"))],
        outputs=[dataset("mart", schema=schema("id"), columnLineage=lineage)],
    )
    post_event(url, sent)
    assert client.list_events(limit=1)["events"] == [sent]
    assert client.list_events("etl")["events"] == [sent]
    by_spark = event(job={"namespace": SPARK, "name": "load"}, run={"runId": RUN_OF_SPARK})
    post_event(url, by_spark)
    assert client.list_events(SPARK)["events"] == [by_spark]
    mart_version, raw_version = (client.get_dataset("lake", name)["currentVersion"] for name in ("mart", "raw"))
    now, then = ["datasetField:lake:mart:id", "datasetField:lake:raw:id"], [mart_version, raw_version]
    ids = [
        [node["id"] for node in graph["graph"]]
        for graph in (
            client.get_column_lineage_by_dataset_field("lake", "raw", "id", with_downstream=True),
            client.get_column_lineage_by_job("etl", "load"),
            client.get_column_lineage_by_dataset("lake", "mart", depth=5, version=mart_version),
        )
    ]
    assert ids == [now, now, [f"{field}#{version}" for field, version in zip(now, then, strict=True)]]


def post_event(url: str, sent: Body) -> None:
    with urlopen(Request(f"{url}/api/v1/lineage", json.dumps(sent).encode())) as answer:
        assert answer.status == 201


def test_an_unknown_namespace_raises_the_clients_own_error(service: Service) -> None:
    client = MarquezClient(url=service.url)

    with pytest.raises(APIError):
        client.get_namespace("none")
