"""Two datasets, or jobs, with one name in different namespaces: the words of a finding say which is meant."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from tests.support.app import dataset, get, post, served
from tests.support.days import Events, read, run, written


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with served(tmp_path) as client:
        yield client


def elsewhere(events: Events) -> Events:
    """The same runs by the job of that name in another namespace."""
    return [{**each, "job": {**each["job"], "namespace": "etl-dev"}, "run": {"runId": f"{each['run']['runId']}-dev"}}
            for each in events]  # fmt: skip


def words(client: TestClient, **query: str) -> list[str]:
    answer = get(client, f"/api/v1/root-cause?{urlencode({'nodeId': 'dataset:lake:mart', **query})}")
    return [each["words"] for each in answer["findings"]]


def test_of_two_datasets_and_jobs_with_one_name_the_namespace_is_named(client: TestClient) -> None:
    for day in (1, 2, 3, 4):
        raw = written("raw", 12 if day == 4 else 1_000)
        dev = {**raw, "namespace": "lake-dev"}
        post(client, *run("load", day, outputs=[raw]), *elsewhere(run("load", day, outputs=[dev])))
        both = [read("raw"), {**read("raw"), "namespace": "lake-dev"}]
        post(client, *run("report", day, inputs=both))

    assert sorted(words(client, run="report-4")) == [
        "lake-dev:raw: etl-dev:load wrote 12 rows; its 3 runs before wrote 1,000",
        "lake:raw: etl:load wrote 12 rows; its 3 runs before wrote 1,000",
    ]


def test_of_two_failed_jobs_with_one_name_the_namespace_is_named(client: TestClient) -> None:
    failed = [each for day in (1, 2) for each in run("load", day, state="COMPLETE" if day == 1 else "FAIL")]
    post(client, *failed, *elsewhere(failed))
    post(client, *(each for day in (1, 2) for each in run("report", day, inputs=[read("raw")])))

    assert sorted(words(client, run="report-2")) == ["a run of etl-dev:load failed", "a run of etl:load failed"]


def test_a_job_that_reads_the_dataset_of_that_name_in_another_namespace_is_found(client: TestClient) -> None:
    for day in (1, 2, 3):
        source = dataset("raw", "lake-dev" if day == 3 else "lake")
        post(client, *run("report", day, inputs=[source]))

    assert words(client, run="report-3") == ["report: its inputs changed from lake:raw to lake-dev:raw"]
