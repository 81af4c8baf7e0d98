"""Datasets that were dropped or truncated after they had been read before."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.component.service import test_service_root_cause as root_cause
from tests.component.service.test_service_root_cause import MART, found
from tests.support.app import Body, dataset, facet, post, served
from tests.support.days import Events, at, days, run

PRODUCER = "https://example.org/producer"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    """Four days without a fault; on the fifth, every job but the report has run."""
    with served(tmp_path) as client:
        post(client, *days(1, 4), *run("load", 5), *run("clean", 5))
        yield client


def ask(client: TestClient, node_id: str = MART) -> Body:
    return root_cause.ask(client, node_id, asOf=at(5, 4))


def lifecycle_change(state: str, day: int, minute: int = 30) -> Events:
    outputs = [dataset("stage", lifecycleStateChange=facet(lifecycleStateChange=state))]
    begin, end = run("cleanup", day, hour=2, inputs=[], outputs=outputs)
    return [{**begin, "eventTime": at(day, 2, minute)}, {**end, "eventTime": at(day, 2, minute + 5)}]


def declared(state: str, day: int) -> Body:
    described = dataset("stage", lifecycleStateChange=facet(lifecycleStateChange=state))
    return {"eventTime": at(day, 2, 30), "producer": PRODUCER, "schemaURL": f"{PRODUCER}#/$defs/DatasetEvent",
            "dataset": described}  # fmt: skip


@pytest.mark.parametrize(("state", "words", "score"), [("DROP", "dropped", 0.85), ("TRUNCATE", "truncated", 0.8)])
def test_a_job_that_emptied_an_input_before_it_was_read_is_found(
    client: TestClient, state: str, words: str, score: float
) -> None:
    post(client, *lifecycle_change(state, 5), *run("report", 5, state="FAIL"))

    answer = ask(client)

    assert found(answer) == [("lifecycle-change", "stage", 1), ("failed-run", "report", 0)]
    finding = answer["findings"][0]
    assert (finding["words"], finding["score"]) == (f"stage was {words} by cleanup, and not written since", score)
    assert (finding["at"], finding["runs"], len(finding["events"])) == ("2026-05-05T02:35:00.000Z", ["cleanup-5"], 1)
    assert answer["findings"][1]["consequence"]


def test_a_declaration_that_an_input_was_dropped_is_found(client: TestClient) -> None:
    post(client, declared("DROP", 5), *run("report", 5))

    (finding,) = ask(client)["findings"]

    assert (finding["words"], finding["distance"]) == ("stage was dropped, and not written since", 1)
    assert len(finding["events"]) == 1


def test_a_dataset_that_was_written_again_is_no_finding(client: TestClient) -> None:
    begin, end = run("clean", 5)
    again = [{**each, "run": {"runId": "clean-again"}, "eventTime": at(5, 2, 40)} for each in (begin, end)]
    post(client, *lifecycle_change("TRUNCATE", 5), *again, *run("report", 5))

    assert found(ask(client)) == []


def test_a_dataset_that_was_emptied_before_the_previous_read_is_no_finding(client: TestClient) -> None:
    post(client, *lifecycle_change("TRUNCATE", 4), *run("report", 5))

    assert found(ask(client)) == []


def test_a_job_that_empties_a_dataset_every_time_is_no_finding(client: TestClient) -> None:
    post(client, *lifecycle_change("TRUNCATE", 4), *lifecycle_change("TRUNCATE", 5), *run("report", 5))

    assert found(ask(client)) == []


def test_for_a_dropped_dataset_itself_the_drop_is_found(client: TestClient) -> None:
    post(client, *lifecycle_change("DROP", 5))

    assert found(ask(client, "dataset:lake:stage")) == [("lifecycle-change", "stage", 0)]


@pytest.mark.parametrize("state", ["ALTER", "CREATE", "OVERWRITE", "RENAME"])
def test_a_lifecycle_change_that_leaves_the_data_is_no_finding(client: TestClient, state: str) -> None:
    post(client, *lifecycle_change(state, 5), *run("report", 5))

    assert "lifecycle-change" not in [kind for kind, *_ in found(ask(client))]


def _reported(minute: int, name: str, day: int = 5, **change: object) -> Events:
    """A run of a separate job that reports what it did to a dataset."""
    begin, end = run(
        f"swap{minute}", day, hour=2, inputs=[], outputs=[dataset(name, lifecycleStateChange=facet(**change))]
    )
    return [{**begin, "eventTime": at(day, 2, minute)}, {**end, "eventTime": at(day, 2, minute)}]


def _renamed(minute: int, former: str, name: str, day: int = 5) -> Events:
    previous = {"namespace": "lake", "name": former}
    return _reported(minute, name, day, lifecycleStateChange="RENAME", previousIdentifier=previous)


@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize(
    ("renamed", "dropped"),
    [
        ([*_renamed(20, "stage", "stage_old"), *_renamed(21, "stage_new", "stage")], []),
        (_renamed(20, "stage", "stage_old"), ["stage"]),
    ],
)
def test_a_table_that_was_swapped_is_not_dropped_with_its_temporary_name(
    client: TestClient, step: int, renamed: Events, dropped: list[str]
) -> None:
    post(client, *[*renamed, *_reported(30, "stage_old", lifecycleStateChange="DROP"), *run("report", 5)][::step])

    findings = [each for each in ask(client)["findings"] if each["kind"] == "lifecycle-change"]

    assert [each["words"].partition(" was dropped")[0] for each in findings] == dropped


def _swapped(day: int) -> Events:
    """The table is swapped with a new one, and the old one is dropped."""
    renamed = [*_renamed(20, "stage", "stage_old", day), *_renamed(21, "stage_new", "stage", day)]
    return [*renamed, *_reported(30, "stage_old", day, lifecycleStateChange="DROP")]


@pytest.mark.parametrize(
    "since",
    [[], _swapped(6), _renamed(40, "stage", "stage_older", 6), _reported(40, "stage", 6, lifecycleStateChange="DROP")],
    ids=["nothing", "swapped again", "renamed", "dropped"],
)
def test_later_changes_of_a_table_are_no_finding_for_an_old_run(client: TestClient, since: Events) -> None:
    post(client, *_swapped(5), *run("report", 5), *since)

    assert found(root_cause.ask(client, MART, run="report-5")) == []


@pytest.mark.parametrize("before", [[], _reported(10, "stage", lifecycleStateChange="CREATE")], ids=["", "created"])
def test_a_drop_is_found_for_an_old_run_although_the_table_was_swapped_since(
    client: TestClient, before: Events
) -> None:
    post(client, *before, *_renamed(20, "stage", "stage_old"), *_reported(30, "stage_old", lifecycleStateChange="DROP"))
    post(client, *run("report", 5), *_renamed(21, "stage_new", "stage", 6))

    assert found(root_cause.ask(client, MART, run="report-5")) == [("lifecycle-change", "stage", 1)]
