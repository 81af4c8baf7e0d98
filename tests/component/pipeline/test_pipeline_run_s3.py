"""Files and tables behind s3://, against a local S3."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from botocore.client import BaseClient
from botocore.exceptions import BotoCoreError

from tests.component.pipeline.pipeline_bench import Bench
from tests.support.ports import free_port

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def s3() -> Iterator[tuple[str, BaseClient]]:
    """The endpoint of an S3 with the bucket `sales`, and a client of it."""
    port = free_port()
    server = subprocess.Popen(
        [Path(sys.executable).parent / "moto_server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    endpoint = f"http://127.0.0.1:{port}"
    session = boto3.Session("test", "test", region_name="us-east-1")
    client = session.client("s3", endpoint_url=endpoint)
    try:
        _make_bucket(client)
        yield endpoint, client
    finally:
        client.close()
        server.terminate()
        server.wait(60)


def _make_bucket(client: BaseClient) -> None:
    until = time.monotonic() + 240
    while True:
        try:
            client.create_bucket(Bucket="sales")
        except BotoCoreError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
        else:
            return


def test_files_and_tables_behind_s3_are_read_written_and_named(bench: Bench, s3: tuple[str, BaseClient]) -> None:
    endpoint, client = s3
    client.put_object(Bucket="sales", Key="in/orders.csv", Body=b"id,price\n1,2.5\n2,3.5\n")

    run = bench.run(f"""
        input: {{file: {{paths: ["s3://sales/in/*.csv"], format: csv, options: {{header: 'true'}}}}}}
        outputs:
          - {{file: {{path: "s3://sales/out", format: json}}}}
          - {{iceberg: {{table: store.a.orders}}}}
        catalogs:
          store: {{type: hadoop, warehouse: "s3://sales/warehouse"}}
        spark:
          spark.hadoop.fs.s3a.endpoint: "{endpoint}"
          spark.hadoop.fs.s3a.endpoint.region: us-east-1
          spark.hadoop.fs.s3a.path.style.access: "true"
    """)

    assert run.result.error is None
    keys = [stored["Key"] for stored in client.list_objects_v2(Bucket="sales")["Contents"]]
    assert any(key.startswith("out/part-") for key in keys)
    assert any(key.startswith("warehouse/a/orders/data/") for key in keys)
    assert run.counters() == (2, 4)
    assert [(dataset["namespace"], dataset["name"]) for dataset in run.last["inputs"]] == [("s3://sales", "in")]
    assert {(dataset["namespace"], dataset["name"]) for dataset in run.last["outputs"]} == {
        ("s3://sales", "out"),
        ("s3://sales", "warehouse/a/orders"),
    }


def test_a_bucket_has_its_own_endpoint_and_credentials_from_the_environment(
    bench: Bench, s3: tuple[str, BaseClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint, client = s3
    client.create_bucket(Bucket="edge")
    client.put_object(Bucket="edge", Key="in/orders.json", Body=b'{"id": 1}\n{"id": 2}\n')
    monkeypatch.setenv("EDGE_ID", "AKIAEDGE")
    monkeypatch.setenv("EDGE_KEY", "open-sesame")
    access = f'endpoint: "{endpoint}", region: us-east-1, access_key_env: EDGE_ID, secret_key_env: EDGE_KEY'

    run = bench.run(f"""
        input: {{s3: {{paths: ["s3://edge/in"], format: json, schema: "id BIGINT", {access}}}}}
        output: {{s3: {{path: "s3://edge/out", format: json, {access}}}}}
    """)

    assert run.result.error is None
    assert any(stored["Key"].startswith("out/part-") for stored in client.list_objects_v2(Bucket="edge")["Contents"])
    assert run.counters() == (2, 2)
    assert [(dataset["namespace"], dataset["name"]) for dataset in run.last["inputs"]] == [("s3://edge", "in")]
    assert [(dataset["namespace"], dataset["name"]) for dataset in run.last["outputs"]] == [("s3://edge", "out")]
    assert not any(b"open-sesame" in event for event in run.raw_events)
