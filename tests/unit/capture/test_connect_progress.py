"""A watcher of Connect that is killed and started again: nothing is lost, and nothing is applied twice."""

import json
import random
from pathlib import Path

import pytest
from confluent_kafka import Message

from headwater.capture.connect.events import ClusterContext
from headwater.capture.connect.progress import Progress
from headwater.capture.connect.watcher import WatchConfig, Watcher
from headwater.capture.outlet import Outlet

CONTEXT = ClusterContext("kafka-connect", "kafka:9092", lambda _: None, 60)
CONFIGS = ("connect-configs", 0)
STATUSES = [("connect-status", number) for number in range(3)]


def history() -> list[Message]:
    """What the workers write about two connectors, in the order of time."""
    told: list[tuple[tuple[str, int], str, dict[str, object]]] = [
        (CONFIGS, "connector-a", {"properties": {"connector.class": "FileStreamSink", "topics": "lines"}}),
        (STATUSES[0], "status-connector-a", {"state": "RUNNING"}),
        (CONFIGS, "commit-a", {"tasks": 1}),
        (STATUSES[1], "status-task-a-0", {"state": "RUNNING"}),
        (STATUSES[2], "status-topic-lines:connector-a", {"topic": {"name": "lines"}}),
        (CONFIGS, "connector-b", {"properties": {"connector.class": "FileStreamSource", "topic": "words"}}),
        (STATUSES[1], "status-connector-b", {"state": "RUNNING"}),
        (STATUSES[1], "status-task-a-0", {"state": "FAILED", "trace": "java.net.ConnectException"}),
        (CONFIGS, "session-key", {}),
        (STATUSES[0], "status-connector-b", {"state": "PAUSED"}),
        (STATUSES[1], "status-task-a-0", {"state": "RUNNING"}),
        (STATUSES[0], "status-connector-b", {"state": "RUNNING"}),
        (CONFIGS, "target-state-a", {"state": "STOPPED"}),
    ]
    numbers = {place: 0 for place, _, _ in told}
    messages = []
    for time_ms, ((topic, partition), key, value) in enumerate(told, start=1_000):
        offset = numbers[(topic, partition)]
        numbers[(topic, partition)] += 1
        messages.append(
            Message(
                topic=topic,
                partition=partition,
                offset=offset,
                key=key.encode(),
                value=json.dumps(value).encode(),
                timestamp=(1, time_ms),
            )
        )
    return messages


def watcher(folder: Path, events: list[bytes]) -> Watcher:
    config = WatchConfig(
        bootstrap="kafka:9092",
        client={},
        status_topic="connect-status",
        config_topic="connect-configs",
        evidence_topic=None,
        group=None,
        state=folder / "state.json",
        heartbeat_s=60,
        lost_after_s=60,
    )
    return Watcher(config, CONTEXT, Outlet(events.append, lambda: True))


def left_for(one: Watcher, messages: list[Message]) -> list[Message]:
    """The messages that Kafka sends to a watcher that has just started."""
    return [each for each in messages if (each.offset() or 0) >= max(one._next(*place(each)), 0)]


def place(message: Message) -> tuple[str, int]:
    """Its topic and partition."""
    return message.topic() or "", message.partition() or 0


@pytest.mark.parametrize("seed", range(30))
def test_a_watcher_that_is_killed_at_any_time_goes_on_as_if_it_was_not(seed: int, tmp_path: Path) -> None:
    choose = random.Random(seed)  # noqa: S311
    messages = history()
    expected: list[bytes] = []
    whole = watcher(tmp_path / "whole", expected)
    whole._buffer(messages)
    whole._process_buffered(held_until=float("inf"))

    events: list[bytes] = []
    for _ in range(4):  # each is killed, but for the last
        one = watcher(tmp_path, events)
        arriving = left_for(one, messages)
        while arriving and choose.random() < 0.9:
            partition = choose.choice([*map(place, arriving)])
            arrived = next(each for each in arriving if place(each) == partition)
            arriving.remove(arrived)
            one._buffer([arrived])
            first_ms = min((each.timestamp()[1] for each in arriving), default=10_000)
            one._held = [each._replace(since_s=0 if each.order[0] < first_ms else 2) for each in one._held]
            one._process_buffered(held_until=1)
            one._save()
    one = watcher(tmp_path, events)
    one._buffer(left_for(one, messages))
    one._process_buffered(held_until=float("inf"))

    assert events == expected


def test_records_that_are_gone_when_they_are_read_again_are_waited_for_no_longer() -> None:
    progress = Progress({"t/0": 9}, {"t/0": {3, 5}})

    assert progress.start("t/0") == 3
    assert [progress.read("t/0", offset) for offset in (5, 6, 9)] == [True, False, True]  # 3 was compacted away
    progress.applied("t/0", 5)

    assert (progress.offsets, progress.waiting) == ({"t/0": 10}, {"t/0": {9}})


def test_a_topic_that_was_created_anew_is_read_from_its_first_record() -> None:
    progress = Progress({"t/0": 9}, {"t/0": {3, 5}})

    assert [progress.read("t/0", offset) for offset in (0, 1, 3, 4)] == [True, True, True, True]

    assert (progress.offsets, progress.waiting) == ({"t/0": 5}, {"t/0": {0, 1, 3, 4}})
