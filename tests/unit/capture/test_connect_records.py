"""Records as Kafka Connect 4.3.1 writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.capture.connect.records import (
    Configured,
    Record,
    Status,
    TargetState,
    TaskCount,
    TopicActive,
    TopicReset,
    parse_record,
)
from headwater.capture.traces import WITHHELD


@pytest.mark.parametrize(
    ("key", "value", "record"),
    [
        ("connector-a-b", '{"properties":{"tasks.max":"1"}}', Configured("a-b", 7, {"tasks.max": "1"})),
        ("connector-a-b", None, Configured("a-b", 7, None)),
        ("commit-a-b", '{"tasks":2}', TaskCount("a-b", 7, 2)),
        ("target-state-a-b", '{"state":"PAUSED","state.v2":"STOPPED"}', TargetState("a-b", 7, "STOPPED")),
        ("target-state-a-b", '{"state":"PAUSED"}', TargetState("a-b", 7, "PAUSED")),
        (
            "status-connector-a-b",
            '{"state":"FAILED","trace":"a.Exception","worker_id":"w:1","generation":2,"version":"4.3.1"}',
            Status("a-b", 7, None, "FAILED", "a.Exception", "w:1"),
        ),
        (
            "status-task-a-1-12",
            '{"state":"RUNNING","trace":null,"worker_id":"w:1","generation":3}',
            Status("a-1", 7, 12, "RUNNING", None, "w:1"),
        ),
        ("status-task-a-0", None, Status("a", 7, 0, None, None, None)),
        (
            "status-topic-t:x:connector-a",
            '{"topic":{"name":"t:x","connector":"a","task":0,"discoverTimestamp":1}}',
            TopicActive("a", 7, "t:x"),
        ),
        ("status-topic-t:connector-a", None, TopicReset("a", 7, "t")),
        ("target-state-a", None, None),
        ("task-a-0", '{"properties":{}}', None),
        ("session-key", '{"key":"…"}', None),
        ("restart-connector-a", '{"include-tasks":true}', None),
    ],
)
def test_each_kind_of_record_is_read(key: str, value: str | None, record: Record | None) -> None:
    assert parse_record(key.encode(), None if value is None else value.encode(), 7) == record


def test_a_trace_is_kept_without_the_values_in_it() -> None:
    value = b'{"state":"FAILED","trace":"java.sql.SQLException: jdbc:postgresql://ann:hunter2@db, key hunter2"}'

    status = parse_record(b"status-task-a-0", value, 7)

    assert status == Status("a", 7, 0, "FAILED", f"java.sql.SQLException: {WITHHELD}", None)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("status-connector-a", '{"state":"FAILED","trace":"\\ud800"}'),
        ("status-connector-a", '{"state":["RUNNING"]}'),
        ("status-task-a-0", '{"state":"RUNNING","worker_id":{}}'),
        ("status-task-a-18446744073709551616", '{"state":"RUNNING"}'),
        ("commit-a", '{"tasks":1e300}'),
        ("commit-a", '{"tasks":1e400}'),
        ("target-state-a", '{"state":5}'),
        ("connector-a", '{"properties":{"topics":"\\ud800"}}'),
    ],
)
def test_a_record_that_connect_cannot_have_written_is_irrelevant(key: str, value: str) -> None:
    assert parse_record(key.encode(), value.encode(), 7) is None


@given(st.none() | st.binary(), st.none() | st.binary() | st.sampled_from([b"[]", b"1", b'{"tasks":"x"}', b"null"]))
def test_any_record_can_be_parsed(key: bytes | None, value: bytes | None) -> None:
    for prefix in (b"", b"connector-", b"commit-", b"status-task-", b"status-topic-", b"target-state-"):
        parse_record(prefix + (key or b""), value, 0)
