"""Changes that were there at the reader's previous read: they are found, score less, and explain nothing new."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.component.service.test_service_root_cause import ask, found
from tests.support.app import facet, post, served
from tests.support.days import COLUMNS, Events, days, read, run, written


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    """Six days without a fault."""
    with served(tmp_path) as client:
        post(client, *days(1, 6))
        yield client


def code_version(version: str) -> dict[str, Any]:
    return {"sourceCodeLocation": facet(type="git", url="https://example.org/code", version=version)}


def findings_of_run(client: TestClient, day: int) -> list[tuple[str, float, str]]:
    findings = ask(client, run=f"report-{day}")["findings"]
    return [(each["words"], each["score"], each["runs"][0]) for each in findings]


def flow(day: int, outputs: Events | None = None, job_facets: dict[str, Any] | None = None) -> Events:
    """A day on which load may differ."""
    loaded = run("load", day, outputs=outputs, job_facets=job_facets)
    return [*loaded, *run("clean", day), *run("report", day)]


def test_a_retyped_column_is_found_on_later_days_too(client: TestClient) -> None:
    text = [written("raw", columns=COLUMNS | {"amount": "string"})]
    post(client, *(each for day in (7, 8, 9) for each in flow(day, outputs=text)))

    words = "raw: changed amount from double to string"
    assert findings_of_run(client, 7) == [(words, 0.85, "load-7")]
    assert findings_of_run(client, 8) == [(words, 0.425, "load-7")]
    assert findings_of_run(client, 9) == [(words, 0.425, "load-7")]
    (finding,) = ask(client, run="report-9")["findings"]
    assert (finding["at"], finding["runs"]) == ("2026-05-07T01:00:00.000Z", ["load-7", "load-6", "load-9"])
    assert len(finding["events"]) == 2


def test_changed_code_is_found_on_later_days_too(client: TestClient) -> None:
    for day in range(7, 14):
        post(client, *flow(day, job_facets=code_version("a" if day < 12 else "b")))

    words = "load: the version of the code changed from a to b"
    assert findings_of_run(client, 12) == [(words, 0.6, "load-12")]
    assert findings_of_run(client, 13) == [(words, 0.3, "load-12")]


def test_a_change_more_than_ten_runs_ago_scores_less_still(client: TestClient) -> None:
    text = [written("raw", columns=COLUMNS | {"amount": "string"})]
    post(client, *(each for day in range(7, 30) for each in flow(day, outputs=text)))

    words = "raw: changed amount from double to string"
    assert findings_of_run(client, 16) == [(words, 0.425, "load-7")]
    assert findings_of_run(client, 17) == [(words, 0.212, "load-7")]
    assert findings_of_run(client, 29) == [(words, 0.212, "load-7")]


def test_a_change_that_was_reverted_is_found_once(client: TestClient) -> None:
    text = [written("raw", columns=COLUMNS | {"amount": "string"})]
    post(client, *flow(7, outputs=text), *flow(8), *flow(9))

    assert [words for words, _, _ in findings_of_run(client, 8)] == ["raw: changed amount from string to double"]
    assert findings_of_run(client, 9) == []


def test_an_earlier_change_does_not_explain_a_new_failure(client: TestClient) -> None:
    text = [written("raw", columns=COLUMNS | {"amount": "string"})]
    post(client, *flow(7, outputs=text), *run("load", 8, outputs=text), *run("clean", 8))
    post(client, *run("report", 8, state="FAIL", inputs=[read("stage")]))

    answer = ask(client, run="report-8")

    assert found(answer) == [("failed-run", "report", 0), ("schema-change", "raw", 2)]
    assert [each["consequence"] for each in answer["findings"]] == [False, False]
