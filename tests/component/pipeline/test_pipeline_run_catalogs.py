"""Catalogs that refuse the login: the run fails, and its events say which table they lack."""

import logging
from collections.abc import Iterator

import pytest

from tests.component.pipeline.pipeline_bench import Bench
from tests.support.postgres import Cluster
from tests.support.refusing_catalog import refusing_catalog

pytestmark = pytest.mark.spark

SECRET = "not-the-password"  # noqa: S105  a made-up one
OUTPUT = "input: {generate: {rows: 1}}\noutput: {iceberg: {table: other.a.t}}"
INPUT = "input: {iceberg: {table: other.a.t}}\noutput: {iceberg: {table: lake.a.t}}"


@pytest.fixture
def rest_catalog() -> Iterator[str]:
    with refusing_catalog() as url:
        yield f"{{type: rest, uri: '{url}', options_env: {{token: LAKE_SECRET}}}}"


@pytest.fixture
def jdbc_catalog(cluster: Cluster) -> str:
    uri = f"jdbc:postgresql://127.0.0.1:{cluster.port}/postgres"
    options = "options: {jdbc.user: nobody}, options_env: {jdbc.password: LAKE_SECRET}"
    return f"{{type: jdbc, uri: '{uri}', warehouse: /tmp/warehouse, {options}}}"


@pytest.mark.parametrize("catalog", ["rest_catalog", "jdbc_catalog"])
@pytest.mark.parametrize("flow", [INPUT, OUTPUT], ids=["input", "output"])
def test_a_table_whose_catalog_refuses_the_login_is_a_gap_of_the_run(
    bench: Bench,
    catalog: str,
    flow: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("LAKE_SECRET", SECRET)

    with caplog.at_level(logging.WARNING):
        run = bench.run(f"{flow}\ncatalogs: {{other: {request.getfixturevalue(catalog)}}}\n")

    (gap,) = run.last["run"]["facets"]["extractionError"]["errors"]
    assert run.states == ["START", "FAIL"]
    assert gap["errorMessage"].startswith("other.a.t is missing: its catalog could not be asked (")
    (said,) = [each for each in caplog.records if "check the catalog" in each.message]
    assert vars(said)["table"] == "other.a.t"
    assert SECRET not in f"{run.raw_events} {[vars(each) for each in caplog.records]} {run.result.error}"
