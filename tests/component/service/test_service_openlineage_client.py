"""OpenLineage's own Python client, configured by variables as Airflow and dbt do; the service has access control."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import column_lineage_dataset, parent_run, schema_dataset
from typer.testing import CliRunner

from headwater.cli.main import app
from tests.support.service import running

DAG = "0198f7d0-1111-7222-8333-444455556660"
RUN = "0198f7d0-1111-7222-8333-444455556666"


class ServiceWithKeys(NamedTuple):
    """A service with access control, and a key for each of two roles."""

    url: str
    ingest_key: str
    read_key: str


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServiceWithKeys]:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    with running(tmp_path, "--access") as service:

        def key(name: str, role: str) -> str:
            created = CliRunner().invoke(
                app, ["access", "key", "create", name, "--role", role, "--scope", "*", "--url", service.url]
            )
            return created.stdout.strip()

        yield ServiceWithKeys(service.url, key("dags", "ingest"), key("ann", "read"))


CONFIGURATIONS = {
    "the short variables": {"OPENLINEAGE_URL": "{url}", "OPENLINEAGE_API_KEY": "{key}"},
    "http, compressed": {
        "OPENLINEAGE__TRANSPORT__TYPE": "http",
        "OPENLINEAGE__TRANSPORT__URL": "{url}",
        "OPENLINEAGE__TRANSPORT__COMPRESSION": "gzip",
        "OPENLINEAGE__TRANSPORT__AUTH": json.dumps({"type": "api_key", "apiKey": "{key}"}),
    },
    "asynchronous": {
        "OPENLINEAGE__TRANSPORT__TYPE": "async_http",
        "OPENLINEAGE__TRANSPORT__URL": "{url}",
        "OPENLINEAGE__TRANSPORT__AUTH": json.dumps({"type": "api_key", "apiKey": "{key}"}),
    },
    "several transports": {
        "OPENLINEAGE__TRANSPORT__TYPE": "composite",
        "OPENLINEAGE__TRANSPORT__TRANSPORTS": json.dumps(
            {
                "first": {"type": "http", "url": "{url}", "auth": {"type": "api_key", "apiKey": "{key}"}},
                "second": {"type": "console"},
            }
        ),
    },
}


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_the_client_works_unchanged(
    service: ServiceWithKeys, monkeypatch: pytest.MonkeyPatch, configuration: str
) -> None:
    for name, value in CONFIGURATIONS[configuration].items():
        monkeypatch.setenv(name, value.replace("{url}", service.url).replace("{key}", service.ingest_key))

    client = OpenLineageClient()
    client.emit(event(RunState.START, 0))
    client.emit(event(RunState.COMPLETE, 5))
    assert client.close(60)

    bearer = {"authorization": f"Bearer {service.read_key}"}
    with httpx.Client(base_url=f"{service.url}/api/v1", headers=bearer) as reader:
        run = reader.get(f"/jobs/runs/{RUN}").json()
        job = reader.get("/namespaces/airflow/jobs/shop.load").json()
        columns = reader.get("/column-lineage", params={"nodeId": "datasetField:lake:clean:total"}).json()["graph"]
        log = reader.get("/events/lineage").json()
    assert (run["state"], run["durationMs"]) == ("COMPLETED", 5_000)
    assert [node["id"] for node in columns] == ["datasetField:lake:clean:total", "datasetField:lake:raw:price"]
    assert log["totalCount"] == 2
    assert job["parentJobName"] == "shop"


def event(state: RunState, second: int) -> RunEvent:
    """An event as a scheduler sends it: a task of a DAG, with column lineage."""
    parent = parent_run.ParentRunFacet(
        run=parent_run.Run(runId=DAG), job=parent_run.Job(namespace="airflow", name="shop")
    )
    price = column_lineage_dataset.InputField(namespace="lake", name="raw", field="price")
    lineage = column_lineage_dataset.ColumnLineageDatasetFacet(
        fields={"total": column_lineage_dataset.Fields(inputFields=[price])}
    )
    schema = schema_dataset.SchemaDatasetFacet(fields=[schema_dataset.SchemaDatasetFacetFields("total", "decimal")])
    return RunEvent(
        eventTime=datetime(2026, 5, 1, 6, 0, second, tzinfo=UTC).isoformat(),
        eventType=state,
        run=Run(runId=RUN, facets={"parent": parent}),
        job=Job(namespace="airflow", name="shop.load"),
        producer="https://example.org/dags",
        inputs=[InputDataset(namespace="lake", name="raw")],
        outputs=[OutputDataset(namespace="lake", name="clean", facets={"columnLineage": lineage, "schema": schema})],
    )
