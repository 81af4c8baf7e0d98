"""Heartbeats and gap records: when a node sends events of its own, and their content."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from threading import Semaphore
from typing import Any

import pytest

from headwater.emit.chain import MAX_UNSIGNED, Chain
from headwater.emit.config import EmitConfig, FileConfig
from headwater.emit.emitter import Emitter
from headwater.emit.heartbeats import Heartbeats
from headwater.emit.metrics import EmitMetrics
from headwater.signing.keys import NodeKey
from headwater.signing.verify import verify_event

KEY = NodeKey.from_seed("edge-1", bytes(32))
EVENT = b'{"run": {"runId": "r"}, "producer": "https://example.org/p", "eventType": "START"}'
DATASET_EVENT = b'{"dataset": {"namespace": "n", "name": "d"}, "producer": "https://example.org/p"}'
INTERVAL_S = 60.0
NOW_S = 1_779_460_200.0
"""2026-05-22T14:30:00Z: date -u -d 2026-05-22T14:30:00Z +%s"""


@dataclass
class Node:
    """Heartbeats with a clock that is set by hand."""

    now_s: float = 0.0
    metrics: EmitMetrics = field(init=False)
    chain: Chain = field(init=False)
    heartbeats: Heartbeats = field(init=False)

    def __post_init__(self) -> None:
        self.metrics = EmitMetrics(clock=lambda: NOW_S + self.now_s)
        self.chain = Chain(KEY, "018f0000-0000-7000-8000-000000000001", None, print)
        self.heartbeats = Heartbeats(self.chain, INTERVAL_S, self.metrics, monotonic=lambda: self.now_s)

    def beat(self, *, is_last: bool = False) -> dict[str, Any] | None:
        raw = self.heartbeats.due_event(NOW_S + self.now_s, is_last=is_last)
        if raw is None:
            return None
        self.heartbeats.note_event()
        event: dict[str, Any] = json.loads(self.chain.sign(raw))
        return event


@pytest.fixture
def node() -> Node:
    return Node()


def test_no_heartbeat_is_due_before_an_interval_has_passed(node: Node) -> None:
    node.now_s = INTERVAL_S - 1

    assert node.heartbeats.wait_s() == 1
    assert node.beat() is None


def test_a_heartbeat_is_an_event_of_the_nodes_job_whose_run_is_the_epoch(node: Node) -> None:
    node.now_s = INTERVAL_S

    event = node.beat()

    assert event is not None
    assert event["job"] == {"namespace": "headwater-nodes", "name": "edge-1"}
    assert event["run"]["runId"] == event["run"]["facets"]["headwater_chain"]["epoch"] == node.chain.epoch
    assert (event["eventType"], event["eventTime"]) == ("RUNNING", "2026-05-22T14:31:00.000000Z")
    assert event["run"]["facets"]["headwater_heartbeat"]["intervalSeconds"] == INTERVAL_S
    assert event["run"]["facets"]["headwater_heartbeat"]["gap"] is None


def test_the_first_heartbeat_is_after_an_interval_and_later_ones_only_without_other_events(node: Node) -> None:
    beats = []
    for node.now_s in range(0, 200, 20):
        if node.now_s < 100:
            node.heartbeats.note_event()
        beats.append((node.now_s, node.beat() is not None))

    assert [at_s for at_s, has_beaten in beats if has_beaten] == [60, 140]


def test_drops_are_reported_once_a_second_after_they_are_noticed(node: Node) -> None:
    node.metrics.dropped("queue_full", 2)
    node.now_s = 0.5
    node.metrics.dropped("too_large", 1)
    assert node.beat() is None
    node.now_s = 1.5

    event, again = node.beat(), node.beat()

    assert event is not None
    assert event["run"]["facets"]["headwater_heartbeat"]["gap"] == {
        "events": 3,
        "reasons": {"queue_full": 2, "too_large": 1},
        "firstAt": "2026-05-22T14:30:00.000000Z",
        "lastAt": "2026-05-22T14:30:00.500000Z",
        "eventsSoFar": 3,
    }
    assert again is None


def test_if_the_gap_record_is_dropped_too_it_is_repeated_once_an_interval(node: Node) -> None:
    gaps = []
    for node.now_s in range(10 * int(INTERVAL_S)):
        event = node.beat()
        if event is not None and event["run"]["facets"]["headwater_heartbeat"]["gap"]:
            gaps.append(event["run"]["facets"]["headwater_heartbeat"]["gap"]["eventsSoFar"])
        if event is not None or node.now_s == 0:
            node.metrics.dropped("spool_full", 1)

    assert gaps == list(range(1, 11))


def test_a_heartbeat_is_due_when_too_many_unsigned_events_are_pending(node: Node) -> None:
    for _ in range(MAX_UNSIGNED - 1):
        node.chain.sign(DATASET_EVENT)
    assert node.beat() is None

    node.chain.sign(DATASET_EVENT)
    event = node.beat()

    assert event is not None
    assert len(event["run"]["facets"]["headwater_chain"]["unsigned"]) == MAX_UNSIGNED


def test_a_node_that_sent_heartbeats_ends_with_a_last_one(node: Node) -> None:
    node.now_s = INTERVAL_S
    node.beat()

    last = node.beat(is_last=True)

    assert last is not None
    assert last["eventType"] == "COMPLETE"
    assert node.beat(is_last=True) is None


def test_a_node_without_heartbeats_or_gaps_ends_without_an_event(node: Node) -> None:
    assert node.beat(is_last=True) is None


def test_an_idle_emitter_sends_heartbeats_and_ends_with_a_last_one(tmp_path: Path) -> None:
    config = EmitConfig(
        file=FileConfig(path=tmp_path / "events.jsonl"), spool=tmp_path / "spool", drain_timeout_s=60, heartbeat_s=0.01
    )
    delivered = Semaphore(0)
    with Emitter.of_node(config, KEY, observe=lambda *_: delivered.release()):
        for _ in range(3):
            assert delivered.acquire(timeout=60)

    lines = (tmp_path / "events.jsonl").read_bytes().splitlines()

    events = [json.loads(line) for line in lines]
    assert {verify_event(line, {KEY.key_id: KEY.public_key}).verdict for line in lines} == {"ok"}
    assert [event["run"]["facets"]["headwater_chain"]["sequence"] for event in events] == list(range(len(events)))
    assert [event["eventType"] for event in events] == ["RUNNING"] * (len(events) - 1) + ["COMPLETE"]


def test_an_emitter_sends_a_heartbeat_at_once_when_too_many_unsigned_events_are_pending(tmp_path: Path) -> None:
    config = EmitConfig(file=FileConfig(path=tmp_path / "events.jsonl"), spool=tmp_path / "spool", heartbeat_s=3600)
    delivered = Semaphore(0)
    with Emitter.of_node(config, KEY, observe=lambda *_: delivered.release()) as emitter:
        for _ in range(MAX_UNSIGNED):
            emitter.put(DATASET_EVENT)
        arrived = [delivered.acquire(timeout=60) for _ in range(MAX_UNSIGNED + 1)]
        *unsigned, heartbeat = (tmp_path / "events.jsonl").read_bytes().splitlines()

    assert all(arrived)
    assert unsigned == [DATASET_EVENT] * MAX_UNSIGNED
    assert len(json.loads(heartbeat)["run"]["facets"]["headwater_chain"]["unsigned"]) == MAX_UNSIGNED


def test_an_emitter_reports_dropped_events_at_its_end(tmp_path: Path) -> None:
    config = EmitConfig(
        file=FileConfig(path=tmp_path / "events.jsonl"),
        spool=tmp_path / "spool",
        drain_timeout_s=60,
        heartbeat_s=3600,
        event_max_mb=0.001,
    )
    with Emitter.of_node(config, KEY) as emitter:
        emitter.put(EVENT)
        emitter.put(b" " * 2000)

    runs = [json.loads(line)["run"] for line in (tmp_path / "events.jsonl").read_bytes().splitlines()]

    assert [run["facets"]["headwater_chain"]["sequence"] for run in runs] == [0, 1]
    assert runs[1]["facets"]["headwater_heartbeat"]["gap"]["reasons"] == {"too_large": 1}


def test_an_emitter_without_heartbeats_sends_no_event_of_its_own(tmp_path: Path) -> None:
    config = EmitConfig(file=FileConfig(path=tmp_path / "events.jsonl"), spool=tmp_path / "spool", drain_timeout_s=60)
    with Emitter.of_node(config, KEY) as emitter:
        emitter.put(DATASET_EVENT)

    assert (tmp_path / "events.jsonl").read_bytes() == DATASET_EVENT + b"\n"
