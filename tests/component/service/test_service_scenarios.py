"""Recorded events are accepted, every read answers, and the API reports what was mended."""

from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest

from headwater.store.sqlite import SqliteStore
from tests.support.app import get, serving
from tests.support.reads import read_everything
from tests.support.scenarios import NAMES, pair, scenario


@pytest.mark.parametrize("name", NAMES)
def test_recorded_events_are_accepted_and_what_was_mended_is_reported(shared: Path, tmp_path: Path, name: str) -> None:
    recorded = scenario(shared, name)
    with closing(SqliteStore(tmp_path / "headwater.db")) as store, serving(store) as client:
        statuses = {client.post("/api/v1/lineage", content=raw).status_code for raw in recorded.events}
        runs = {
            run_id: [each["rule"] for each in get(client, f"/api/v1/jobs/runs/{run_id}")["mended"]]
            for run_id in recorded.truth["runs"]
        }
        datasets = {
            f"{each['namespace']} {each['name']}": [mended["rule"] for mended in each["mended"]]
            for namespace in get(client, "/api/v1/namespaces")["namespaces"]
            for each in get(client, f"/api/v1/namespaces/{quote(namespace['name'], safe='')}/datasets")["datasets"]
        }
        quarantine = get(client, "/api/v1/quarantine?limit=1000")["quarantine"]
        read_everything(client)

    assert statuses <= {201, 200}
    assert {key: rules for key, rules in (runs | datasets).items() if rules} == recorded.truth.get("mended", {})
    assert {pair(f"~ {name}") for name in recorded.truth.get("quarantined", ())} == {
        (each["namespace"], each["name"]) for each in quarantine
    }


def test_the_full_example_of_the_standard_is_accepted(shared: Path, tmp_path: Path) -> None:
    raw = (shared / "openlineage/examples/example_full_event.json").read_bytes()
    with closing(SqliteStore(tmp_path / "headwater.db")) as store, serving(store) as client:
        assert client.post("/api/v1/lineage", content=raw).status_code == 201

        read_everything(client)
