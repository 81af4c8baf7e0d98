"""Many events in one body: each is handled separately, with its own bytes and its own answer."""

import hashlib
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import MalformedJsonError
from headwater.service.ingest.batch import NDJSON, events_in
from headwater.store.sqlite import SqliteStore
from headwater.store.writer import MAX_WAITING
from tests.support.app import event, get, served, serving

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def run(number: int) -> dict[str, Any]:
    return event(run={"runId": f"run-{number}"})


def test_each_event_of_a_batch_has_its_own_answer(tmp_path: Path) -> None:
    bad = run(1) | {"eventTime": "yesterday"}
    with served(tmp_path) as client:
        response = client.post("/api/v1/lineage/batch", content=json.dumps([run(0), bad, run(2), run(0)]))
        runs = get(client, "/api/v1/summary")["runs"]

    answer = response.json()
    assert response.status_code == 200
    assert answer["status"] == "partial_success"
    assert answer["summary"] == {"received": 4, "successful": 3, "failed": 1, "retriable": 0, "non_retriable": 1}
    assert [each["status"] for each in answer["results"]] == [201, 422, 201, 200]
    assert [(each["index"], each["retriable"]) for each in answer["failed_events"]] == [(1, False)]
    assert answer["failed_events"][0]["reason"].startswith("eventTime: ")
    assert runs == 2


def test_a_batch_of_more_events_than_may_wait_at_once_is_stored_completely(tmp_path: Path) -> None:
    lines = b"\n".join(json.dumps(run(number)).encode() for number in range(MAX_WAITING + 500))
    store = SqliteStore(tmp_path / "headwater.db")
    with closing(store), serving(store, records_in_process=True, body_limit=16_000_000) as client:
        response = client.post("/api/v1/lineage/batch", content=lines, headers={"content-type": NDJSON})

    assert response.json()["summary"]["successful"] == MAX_WAITING + 500


@pytest.mark.parametrize("name", ["x-ndjson", "ndjson", "jsonl", "JSONLines; charset=utf-8"])
def test_newline_delimited_json_is_accepted_under_each_of_its_content_types(tmp_path: Path, name: str) -> None:
    lines = b"\n".join(json.dumps(run(number)).encode() for number in range(2))
    with served(tmp_path) as client:
        headers = {"content-type": f"application/{name}"}

        response = client.post("/api/v1/lineage/batch", content=lines, headers=headers)

    assert response.json()["summary"]["successful"] == 2


@pytest.mark.parametrize("kind", ["application/json", "text/plain", ""])
def test_newline_delimited_json_under_another_content_type_is_refused_with_advice(tmp_path: Path, kind: str) -> None:
    with served(tmp_path) as client:
        response = client.post("/api/v1/lineage/batch", content=b" {}\n{}", headers={"content-type": kind})

    assert response.status_code == 400
    assert response.json()["message"] == (
        "batch: expected '[' at character 1: send a JSON array of events, or one event a line with the content type "
        "application/x-ndjson"
    )


def test_the_bytes_of_each_element_are_stored_unchanged(tmp_path: Path) -> None:
    odd = json.dumps(run(0), indent=1).replace("run-0", "run-\\u0030 é").encode()
    with closing(SqliteStore(tmp_path / "headwater.db")) as store, serving(store) as client:
        client.post("/api/v1/lineage/batch", content=b" [ " + odd + b" , " + json.dumps(run(1)).encode() + b"\n]")

        assert store.raw(hashlib.sha256(odd).digest()) == odd
        assert store.size() == 2


def test_a_line_that_is_not_json_fails_alone(tmp_path: Path) -> None:
    body = b"\n".join([json.dumps(run(0)).encode(), b"{", b"", json.dumps(run(1)).encode()])
    with served(tmp_path) as client:
        response = client.post(
            "/api/v1/lineage/batch", content=body, headers={"content-type": "application/x-ndjson; charset=utf-8"}
        )

    assert [each["status"] for each in response.json()["results"]] == [201, 400, 201]


def test_an_element_with_a_number_out_of_range_fails_alone(tmp_path: Path) -> None:
    huge = json.dumps(run(0)).replace('"run-0"', '"run-0", "facets": {"own": {"n": ' + "1" * 5000 + "}}")
    with served(tmp_path) as client:
        response = client.post("/api/v1/lineage/batch", content=f"[{huge}, {json.dumps(run(1))}]")

    answer = response.json()
    assert [each["status"] for each in answer["results"]] == [422, 201]
    assert answer["failed_events"][0]["reason"].startswith("run.facets.own.n: ")


def test_an_element_that_is_nested_too_deep_fails_alone(tmp_path: Path) -> None:
    nested = '["]{", ' * 5000 + "0" + "]" * 5000
    deep = json.dumps(run(0)).replace('"run-0"', f'"run-0", "facets": {{"own": {nested}}}')
    with served(tmp_path) as client:
        response = client.post("/api/v1/lineage/batch", content=f"[{json.dumps(run(1))}, {deep}, {json.dumps(run(2))}]")

    answer = response.json()
    assert [each["status"] for each in answer["results"]] == [201, 400, 201]
    assert "levels deep" in answer["failed_events"][0]["reason"]


@pytest.mark.parametrize("body", ["", "{", "{}", "[", "[1", "[1,]", "[1 2]", "[] x", "[" * 200_000, b"\xff"])
def test_a_body_that_is_not_an_array_is_refused(tmp_path: Path, body: str | bytes) -> None:
    with served(tmp_path) as client:
        response = client.post("/api/v1/lineage/batch", content=body)

    assert response.status_code == 400
    assert response.json()["message"].startswith("batch: ")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"[" + b"0," * 2_000_000 + b"0]", "application/json"),
        (b"[ " + b"0," * 2_000_000 + b"0]", "application/json"),
        (b"0\n" * 2_000_000, NDJSON),
    ],
)
def test_a_batch_with_more_elements_than_the_limit_is_refused(tmp_path: Path, body: bytes, kind: str) -> None:
    with closing(SqliteStore(tmp_path / "headwater.db")) as store, serving(store, body_limit=16_000_000) as client:
        response = client.post("/api/v1/lineage/batch", content=body, headers={"content-type": kind})

    assert response.status_code == 413
    assert response.json()["message"] == "batch: more than 140,000 elements, the limit"


def test_an_empty_batch_is_a_success(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        answer = client.post("/api/v1/lineage/batch", content="[ ]").json()

    assert (answer["status"], answer["results"]) == ("success", [])


@given(st.lists(JSON_VALUES, max_size=5), st.sampled_from([None, 1]), st.booleans())
def test_elements_are_extracted_as_they_were_written(values: list[Any], indent: int | None, is_ascii: bool) -> None:
    texts = [json.dumps(value, indent=indent, ensure_ascii=is_ascii).encode() for value in values]

    assert events_in(b" [\n" + b" ,\t".join(texts) + b"]\r\n", "application/json") == texts
    assert events_in(b"[" + b",".join(texts) + b"]", "") == texts


@given(st.binary(max_size=40))
def test_any_bytes_give_events_or_an_error_that_names_the_batch(body: bytes) -> None:
    try:
        events = events_in(body, "")
    except MalformedJsonError as fault:
        assert str(fault).startswith("batch: ")  # noqa: PT017
    else:
        assert all(isinstance(json.loads(each), object) for each in events)
