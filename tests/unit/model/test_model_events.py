"""Parsing events: which are accepted, which are refused, and that a refusal names the path."""

import contextlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import InvalidEventError, MalformedJsonError
from headwater.model.events import DatasetEvent, JobEvent, RunEvent, _any, _plain, parse_event
from headwater.model.extract import facts
from headwater.model.facts import Quarantined, RunOfJob
from headwater.model.names import DatasetId, JobId
from tests.support.logs import events

RUN_ID = "0198f7d0-1111-7222-8333-444455556666"


def event(**changes: object) -> dict[str, Any]:
    return {
        "eventType": "START",
        "eventTime": "2026-05-22T14:23:11.123456789Z",
        "producer": "https://example.org/producer",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json",
        "run": {"runId": RUN_ID},
        "job": {"namespace": "production", "name": "orders"},
        "inputs": [{"namespace": "kafka://broker:9092", "name": "orders", "facets": {"x": {"kept": 1}}}],
        **changes,
    }


def read(body: object) -> RunEvent | JobEvent | DatasetEvent:
    return parse_event(json.dumps(body).encode())


def test_a_run_event_has_its_bytes_its_job_and_its_datasets() -> None:
    raw = json.dumps(event(), indent=2).encode()

    parsed = parse_event(raw)

    assert isinstance(parsed, RunEvent)
    assert parsed.raw == raw
    assert parsed.job == JobId("production", "orders")
    assert parsed.inputs[0].id == DatasetId("kafka://broker:9092", "orders")
    assert parsed.inputs[0].facets == {"x": {"kept": 1}}
    assert parsed.stamp.time_us == 1_779_459_791_123_456  # date -u -d 2026-05-22T14:23:11.123456Z +%s%6N


def test_an_event_without_run_is_a_job_event_and_without_job_a_dataset_event() -> None:
    static = {"eventTime": "2026-05-22T14:23:11Z", "producer": "https://example.org/producer"}

    job = read({**static, "job": {"namespace": "production", "name": "orders"}})
    dataset = read({**static, "dataset": {"namespace": "lake", "name": "orders"}})

    assert isinstance(job, JobEvent)
    assert isinstance(dataset, DatasetEvent)


@pytest.mark.parametrize(
    ("stated", "members", "kind", "lacking"),
    [
        ("RunEvent", ["job"], JobEvent, ("run",)),
        ("RunEvent", ["dataset"], DatasetEvent, ("run", "job")),
        ("RunEvent", ["run", "job"], RunEvent, None),
        ("JobEvent", ["dataset"], DatasetEvent, ()),
        ("JobEvent", ["job", "dataset"], JobEvent, ()),
        ("JobEvent", ["run", "job"], RunEvent, None),
        ("DatasetEvent", ["job"], JobEvent, ()),
        ("DatasetEvent", ["job", "dataset"], DatasetEvent, ()),
        ("BaseEvent", ["job"], JobEvent, ()),
    ],
)
def test_an_events_kind_is_decided_by_its_members_and_a_stated_run_event_can_lack_its_run(
    stated: str, members: list[str], kind: type, lacking: tuple[str, ...] | None
) -> None:
    node = {"namespace": "production", "name": "orders"}
    values = {"run": {"runId": RUN_ID}, "job": node, "dataset": node}
    static = {"eventTime": "2026-05-22T14:23:11Z", "producer": "https://example.org/producer"}
    url = f"https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/{stated}"

    parsed = read({**static, "schemaURL": url, **{name: values[name] for name in members}})

    assert isinstance(parsed, kind)
    assert getattr(parsed, "lacking", None) == lacking


@pytest.mark.parametrize(
    ("members", "lacking"),
    [(["job"], ("run",)), (["dataset"], ()), (["job", "dataset"], ())],
)
def test_a_job_event_with_a_state_lacks_a_run(members: list[str], lacking: tuple[str, ...]) -> None:
    node = {"namespace": "production", "name": "orders"}
    static = {"eventTime": "2026-05-22T14:23:11Z", "producer": "https://example.org/producer", "eventType": "START"}

    parsed = read({**static, **dict.fromkeys(members, node)})

    assert isinstance(parsed, JobEvent | DatasetEvent)
    assert parsed.lacking == lacking


def test_a_password_in_a_facet_is_kept_only_in_the_raw_bytes() -> None:
    uri = {"uri": "postgres://ann:s3cret@db/shop"}
    node = {"namespace": "lake", "name": "orders", "facets": {"dataSource": uri}}
    static = {"eventTime": "2026-05-22T14:23:11Z", "producer": "https://example.org/producer"}
    run_body = json.dumps(event(outputs=[node])).encode()

    runs = [_plain(run_body), _any(run_body)]
    dataset = read({**static, "dataset": node})

    assert isinstance(dataset, DatasetEvent)
    assert b"s3cret" in dataset.raw
    assert dataset.dataset.facets == {"dataSource": {"uri": "postgres://db/shop"}}
    for each in runs:
        assert isinstance(each, RunEvent)
        assert each.outputs[0].facets == dataset.dataset.facets


@pytest.mark.parametrize(
    "address",
    ["jdbc:postgresql://ann:s3cret@db/shop", "jdbc:oracle:thin:ann@db/shop", "jdbc:db2://db:50000/shop;password="],
)
def test_a_node_has_the_same_name_in_every_kind_of_event_without_the_credentials_in_its_address(address: str) -> None:
    node = {"namespace": address, "name": "orders"}
    run_body = json.dumps(event(job=node, outputs=[node])).encode()
    static = {"eventTime": "2026-05-22T14:23:11Z", "producer": "https://example.org/producer"}

    runs = [_plain(run_body), _any(run_body)]
    job, dataset = read({**static, "job": node, "outputs": [node]}), read({**static, "dataset": node})

    assert isinstance(job, JobEvent)
    assert isinstance(dataset, DatasetEvent)
    reports = [each for each in (*runs, job) if isinstance(each, RunEvent | JobEvent)]
    assert {each.job for each in reports} == {JobId.sanitized(address, "orders")}
    assert {dataset.dataset.id, *(each.outputs[0].id for each in reports)} == {DatasetId.sanitized(address, "orders")}
    assert len(reports) == 3


def test_a_state_can_be_in_lower_case() -> None:
    parsed = read(event(eventType="complete"))

    assert isinstance(parsed, RunEvent)
    assert parsed.event_type == "COMPLETE"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"eventType": "STARTED"}, r"^eventType: "),
        ({"eventTime": "yesterday"}, r"^eventTime: "),
        ({"eventTime": 1779459791}, r"^eventTime: expected an RFC 3339 date-time string"),
        ({"eventTime": "2026-05-22"}, r"^eventTime: expected a time with its offset from UTC"),
        ({"eventTime": "2026-05-22T14:23:11[Europe/London]"}, r"^eventTime: expected a time with its offset from UTC"),
        ({"eventTime": "2026-05-22T14:23:11Z[Europe/London"}, r"^eventTime: "),
        ({"eventTime": None}, r"^eventTime: "),
        ({"producer": 7}, r"^producer: expected a string"),
        ({"run": {}}, r"^run\.runId: is required"),
        ({"run": {"runId": 5}}, r"^run\.runId: expected a string"),
        ({"run": {"runId": ""}}, r"^run\.runId: must not be empty"),
        ({"run": []}, r"^run: expected an object"),
        ({"job": "orders"}, r"^job: expected an object"),
        ({"job": {"namespace": "production"}}, r"^job\.name: is required"),
        ({"job": {"namespace": "", "name": "orders"}}, r"^job\.namespace: must not be empty"),
        ({"job": {"namespace": "a\0b", "name": "orders"}}, r"^job\.namespace: must not contain the character NUL"),
        ({"inputs": {}}, r"^inputs: expected an array"),
        ({"inputs": [{"namespace": "n", "name": "d"}, {"namespace": 5, "name": "d"}]}, r"^inputs\.1\.namespace: "),
        ({"outputs": [{"namespace": "n", "name": "d", "facets": []}]}, r"^outputs\.0\.facets: expected an object"),
        (
            {"outputs": [{"namespace": "n", "name": "d", "facets": {"schema": "fields"}}]},
            r"^outputs\.0\.facets\.schema: expected an object",
        ),
        ({"run": {"runId": RUN_ID, "facets": {"parent": "x"}}}, r"^run\.facets\.parent: expected an object"),
    ],
)
def test_a_refusal_names_the_path_of_the_first_bad_field(change: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidEventError, match=message):
        read(event(**change))


@pytest.mark.parametrize("body", [[], 5, "event", None, {}, {"eventTime": "2026-05-22T14:23:11Z"}])
def test_a_value_that_is_not_an_event_is_refused(body: object) -> None:
    with pytest.raises(InvalidEventError, match=r"^event: expected"):
        read(body)


def test_a_refusal_lists_all_missing_or_null_members_and_no_invalid_ones() -> None:
    body = {"producer": 7, "run": {}, "job": {"namespace": None, "name": ""}, "outputs": [{"namespace": "lake"}]}

    with pytest.raises(InvalidEventError, match=r"^eventTime: is required$") as refused:
        read(body)

    assert {*refused.value.missing} == {"eventTime", "run.runId", "job.namespace", "outputs.0.name"}


def test_a_refusal_does_not_repeat_the_value() -> None:
    with pytest.raises(InvalidEventError) as refusal:
        read(event(eventTime="my-password-is-hunter2"))

    assert "hunter2" not in str(refusal.value)


@pytest.mark.parametrize("raw", [b"", b"{", b"nonsense", b"[" * 200_000, b"\xff\xfe{}"])
def test_bytes_that_are_not_json_are_refused_as_malformed(raw: bytes) -> None:
    with pytest.raises(MalformedJsonError):
        parse_event(raw)


@pytest.mark.parametrize(
    ("sent", "expected"), [(RUN_ID.upper(), RUN_ID), ("Run_1", "Run_1"), (RUN_ID + "X", RUN_ID + "X")]
)
def test_a_run_id_is_as_sent_except_for_the_case_of_a_uuid(sent: str, expected: str) -> None:
    parsed = read(event(run={"runId": sent}))

    assert isinstance(parsed, RunEvent)
    assert parsed.run_id == expected


def test_a_dataset_without_a_namespace_is_quarantined_and_the_rest_of_the_event_accepted() -> None:
    all_facts = facts(read(event(inputs=[{"namespace": "", "name": "ice.db.orders"}])))

    assert next(fact for fact in all_facts if isinstance(fact, Quarantined)).name == "ice.db.orders"
    assert any(isinstance(fact, RunOfJob) for fact in all_facts)


@pytest.mark.parametrize("event_time", ["2026-05-22T14:23:11Z", "2026-05-22T14:23:11"])
def test_an_output_with_facets_of_a_read_and_of_a_write_has_those_of_the_write(event_time: str) -> None:
    both = {"inputFacets": {"inputStatistics": {"size": 1}}, "outputFacets": {"outputStatistics": {"size": 2}}}
    ends = [{"namespace": "lake", "name": "orders", **both}]

    parsed = read(event(eventTime=event_time, inputs=ends, outputs=ends))

    assert isinstance(parsed, RunEvent)
    assert dict(parsed.inputs[0].direction_facets) == both["inputFacets"]
    assert dict(parsed.outputs[0].direction_facets) == both["outputFacets"]


def test_a_time_with_the_name_of_its_zone_is_read_by_its_offset() -> None:
    with_zone = read(event(eventTime="2026-05-22T16:23:11.123456789+02:00[Europe/Berlin]"))

    assert with_zone.stamp.time_us == read(event()).stamp.time_us


@pytest.mark.parametrize("time", ["2026-05-22T14:23:11.123456", "2026-05-22 14:23:11.123456789"])
def test_a_time_without_a_zone_is_in_utc(time: str) -> None:
    assert read(event(eventTime=time)).stamp.time_us == read(event()).stamp.time_us


@given(st.binary())
def test_any_bytes_give_an_event_or_an_invalid_event_error(raw: bytes) -> None:
    with contextlib.suppress(InvalidEventError):
        parse_event(raw)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(events, _json, st.data())
def test_a_changed_event_gives_facts_or_an_invalid_event_error(raw: bytes, value: object, data: st.DataObject) -> None:
    body = json.loads(raw)
    _replace_somewhere(body, value, lambda choices: data.draw(st.sampled_from(choices)))

    with contextlib.suppress(InvalidEventError):
        facts(read(body))


_odd: st.SearchStrategy[object] = st.sampled_from(
    [None, "", "a\0b", "START", "start", 0, True, [], {}, [{}], {"": {}}, {"a": None}]
)
_times = st.datetimes(timezones=st.timezones()).map(lambda time: time.isoformat()) | st.sampled_from(
    [
        "2026-05-22T14:23:11Z",
        "2026-05-22 14:23:11Z",
        "2026-02-30T00:00:00Z",
        "2026-05-22T14:23:60Z",
        "2016-12-31T23:59:60Z",
        "20260522T142311Z",
    ]
)


@given(events, _odd | _times | _json, st.data(), st.sampled_from([None, (",", ":")]))
def test_an_event_with_an_outline_is_parsed_like_any_other(
    raw: bytes, value: object, data: st.DataObject, separators: tuple[str, str] | None
) -> None:
    body = json.loads(raw)
    _replace_somewhere(body, value, lambda choices: data.draw(st.sampled_from(choices)))
    written = json.dumps(body, separators=separators, ensure_ascii=data.draw(st.booleans())).encode()

    fast = _plain(written)

    if fast is not None:
        slow = _any(written)
        assert replace(fast, facet_spans=None) == slow
        assert facts(fast) == facts(slow)


@pytest.mark.parametrize("time", ["2026-05-22T14:23:11Z", "2026-05-22T14:23:11.123456+02:00", "1969-12-31T23:59:59.9Z"])
def test_an_event_in_the_usual_format_has_an_outline(time: str) -> None:
    assert _plain(json.dumps(event(eventTime=time)).encode()) is not None


@pytest.mark.parametrize(
    ("time", "next_second"),
    [
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
        ("2016-12-31t23:59:60z", "2017-01-01T00:00:00Z"),
        ("1990-12-31T15:59:60-08:00", "1991-01-01T00:00:00Z"),  # RFC 3339, 5.8
        ("2015-07-01T01:59:60.25+02:00", "2015-07-01T00:00:00.25Z"),
        ("2015-06-30T23:59:60.123456789Z", "2015-07-01T00:00:00.123456Z"),
    ],
)
def test_a_leap_second_is_read_as_the_second_after_it(time: str, next_second: str) -> None:
    assert read(event(eventTime=time)).stamp.time_us == read(event(eventTime=next_second)).stamp.time_us


@pytest.mark.parametrize(
    "time",
    [
        "2016-12-31T23:58:60Z",
        "2016-12-30T23:59:60Z",
        "2016-12-31T23:59:60+02:00",
        "2016-12-31T23:59:61Z",
        "9999-12-31T23:59:60Z",
        "2016-13-31T23:59:60Z",
    ],
)
def test_a_sixtieth_second_that_is_not_a_leap_second_is_refused(time: str) -> None:
    with pytest.raises(InvalidEventError, match=r"^eventTime: "):
        read(event(eventTime=time))


def _replace_somewhere(node: "dict[str, Any] | list[Any]", value: object, choose: Callable[[list[Any]], Any]) -> None:
    keys: list[Any] = list(node) if isinstance(node, dict) else list(range(len(node)))
    if not keys:
        return
    key = choose(keys)
    if isinstance(node[key], (dict, list)) and node[key] and choose([True, True, False]):
        _replace_somewhere(node[key], value, choose)
    else:
        node[key] = value


@pytest.mark.parametrize("folder", ["openlineage/scenarios", "observed"])
def test_every_recorded_event_of_real_producers_is_accepted(shared: Path, folder: str) -> None:
    files = [*(shared / folder).rglob("*.json"), *(shared / folder).rglob("*.jsonl")]
    lines = [line for file in files for line in _events_in(file)]

    parsed = [facts(parse_event(line)) for line in lines]

    assert parsed
    assert all(parsed)


def _events_in(file: Path) -> list[bytes]:
    if file.suffix == ".jsonl":
        return file.read_bytes().splitlines()
    content = json.loads(file.read_bytes())
    return [json.dumps(event).encode() for event in (content if isinstance(content, list) else [content])]
