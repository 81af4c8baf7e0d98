"""The watcher: reads Connect's topics and its worker group, and emits run updates."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, TopicPartition
from confluent_kafka.admin import AdminClient

from headwater.capture import state_file
from headwater.capture.clock import now_ms
from headwater.capture.connect.classes import deciding_properties
from headwater.capture.connect.commits import control_topic, parse_commit
from headwater.capture.connect.connectors import RunUpdate
from headwater.capture.connect.events import ClusterContext, event_of
from headwater.capture.connect.evidence import Evidence
from headwater.capture.connect.group import Group, Listed
from headwater.capture.connect.lifecycle import Lifecycles
from headwater.capture.connect.login import CALM, Login
from headwater.capture.connect.progress import Progress
from headwater.capture.connect.records import Configured, Record, parse_record
from headwater.capture.connect.state import WatcherState, read
from headwater.capture.outlet import Outlet
from headwater.errors import InvalidInputError, UnavailableError

log = logging.getLogger(__name__)

_HELD_BACK_S: Final = 0.5
"""How long a record waits for earlier ones from other partitions."""
_LOOK_AT_GROUP_EVERY_S: Final = 3.0
_TICK_EVERY_S: Final = 1.0
_SAVE_EVERY_S: Final = 5.0
"""How long the state may stay unsaved while runs just go on; starts and ends are saved at once.

Records read since the last save are read again by the next process, and give the same events byte for byte."""
_UNSETTLED_MAX: Final = 64
"""The most events not yet on disk: a start emits thousands, for which memory would stay allocated."""
_TIMEOUT_S: Final = 10.0
_BATCH_MAX: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchConfig:
    """The watcher's configuration.

    Attributes:
        bootstrap: the Kafka that Connect keeps its topics in, and that its connectors' topics are named by.
        client: further settings of the Kafka client, for TLS and SASL.
        status_topic, config_topic: Connect's own topics.
        evidence_topic: where the transform `OpenLineageLifecycleSmt` sends events, if it does.
        group: the group of the workers; None to find the only Connect group.
        state: the file with the watcher's state.
        heartbeat_s: how often an open run is reported again.
        lost_after_s: after so long without a worker in the group the connectors' runs count as ended.
    """

    bootstrap: str
    client: Mapping[str, str]
    status_topic: str
    config_topic: str
    evidence_topic: str | None
    group: str | None
    state: Path
    heartbeat_s: int
    lost_after_s: float


class _Held(NamedTuple):
    """A record that waits for earlier ones from other partitions.

    `order` sorts by the time of Kafka, then settings before statuses, then by partition and offset.
    """

    since_s: float
    order: tuple[int, int, int, int]
    partition: str
    offset: int
    record: Record


class Watcher:
    """Watches one Connect cluster in one thread, until told to stop."""

    def __init__(self, config: WatchConfig, context: ClusterContext, outlet: Outlet) -> None:
        saved = state_file.load_as(config.state, read)
        self._config = config
        self._evidence = Evidence(context.schema_of, saved.schemas)
        self._context = context._replace(schema_of=self._evidence.schema_of)
        self._outlet = outlet
        self._login = Login(config.bootstrap)
        self._lifecycles = Lifecycles(context.namespace, deciding_properties(), saved.connectors)
        self._progress = Progress(saved.offsets, saved.waiting)
        is_same = config.group in (None, saved.group)
        self._group = Group(config.group, saved.workers_seen_ms if is_same else 0, self._lost_after_ms)
        self._held: list[_Held] = []
        self._read: set[str] = set()
        self._learned: set[str] = set()
        self._at_end: set[tuple[str, int]] = set()
        self._refused: set[tuple[str, int]] = set()
        self._has_changed = True  # rewrite the state file: an older version may have saved more
        self._is_urgent = False
        self._unsettled = 0

    def run(self, stop: threading.Event, ready: Callable[[int], None]) -> None:
        """Watch; `ready` is called with the number of connectors once all existing records have been read.

        Raises:
            InvalidInputError: a setting of the Kafka client is unknown, or has an invalid value.
            UnavailableError: Kafka does not answer at the start, or refuses the login, then or for a minute.
        """
        settings: dict[str, str | int | float | bool] = {
            "bootstrap.servers": self._config.bootstrap,
            **CALM,
            **self._config.client,
        }
        try:
            consumer = Consumer({**settings, **_CONSUMER, "error_cb": self._login.failed})
            admin = AdminClient(settings)
        except (KafkaException, TypeError, AttributeError) as fault:
            reason = fault.args[0].str() if isinstance(fault, KafkaException) else fault
            raise InvalidInputError(f"--client: Kafka's client rejects its settings: {reason}") from fault
        try:
            if not self._begin(consumer, stop):
                return
            ready(sum(connector.properties is not None for connector in self._lifecycles.connectors.values()))
            self._follow(consumer, admin, stop)
        except KafkaException as fault:
            consumer.poll(0)  # calls `failed`, if that is why
            raise self._login.refusal or UnavailableError(
                f"Kafka at {self._config.bootstrap}: {fault.args[0].str()}; "
                "is it up, and are its address and the settings of --client right?"
            ) from fault
        finally:
            self._save()
            consumer.close()

    def _begin(self, consumer: Consumer, stop: threading.Event) -> bool:
        """Read the existing records in the order written; False if told to stop before the end."""
        self._wait_for_topics(consumer, stop)
        self._catch_up(consumer, stop, [self._config.config_topic, self._config.status_topic])
        # Their records name the further topics.
        self._catch_up(consumer, stop, self._further_topics())
        self._process_buffered(held_until=float("inf"))
        self._report_again()
        self._group.wrote(0)  # these records may be old
        return not stop.is_set()

    def _follow(self, consumer: Consumer, admin: AdminClient, stop: threading.Event) -> None:
        look_at = tick_at = save_at = 0.0
        while not stop.is_set():
            self._buffer(self._received(consumer, 0.25))
            self._process_buffered(held_until=time.monotonic() - _HELD_BACK_S)
            self._report_again()
            if time.monotonic() >= look_at:
                self._discover(consumer, admin)
                look_at = time.monotonic() + _LOOK_AT_GROUP_EVERY_S
            if time.monotonic() >= tick_at:
                self._emit(self._tick())
                tick_at = time.monotonic() + _TICK_EVERY_S
            if self._is_urgent or time.monotonic() >= save_at:
                self._save()
                save_at = time.monotonic() + _SAVE_EVERY_S

    def _discover(self, consumer: Consumer, admin: AdminClient) -> None:
        """Look for further topics and for group members; if Kafka does not answer, the next call does."""
        try:
            self._assign(consumer, self._further_topics())
        except KafkaException as fault:
            self._group.unseen(fault.args[0].str())
        else:
            self._look_at_group(admin)

    def _wait_for_topics(self, consumer: Consumer, stop: threading.Event) -> None:
        """Wait for Connect's own topics, which it creates when it first starts."""
        has_warned = False
        names = [self._config.config_topic, self._config.status_topic]
        while True:
            topics = consumer.list_topics(timeout=_TIMEOUT_S).topics
            missing = [name for name in names if name not in topics]
            if not missing or stop.wait(1.0):
                return
            if not has_warned:
                log.warning("waiting for Connect's topics", extra={"missing": missing})
                has_warned = True

    def _further_topics(self) -> list[str]:
        """The transform's topic, and the control topics of Iceberg's sinks."""
        held = (each.record.properties for each in self._held if isinstance(each.record, Configured))
        known = (connector.properties for connector in self._lifecycles.connectors.values())
        control = {control_topic(properties) for properties in (*held, *known) if properties is not None}
        return sorted({topic for topic in (self._config.evidence_topic, *control) if topic is not None})

    def _catch_up(self, consumer: Consumer, stop: threading.Event, topics: Sequence[str]) -> None:
        """Start reading these topics too, up to their current ends."""
        wanted = self._assign(consumer, topics)
        while not stop.is_set() and not self._at_end.issuperset(wanted):
            self._buffer(self._received(consumer, 0.5))

    def _assign(self, consumer: Consumer, topics: Sequence[str]) -> list[tuple[str, int]]:
        """Assign the topics that exist and are not yet read, from their saved offsets; returns their partitions."""
        new = [name for name in topics if name not in self._read]
        # Metadata of each topic alone: the cluster may have many others.
        listed = [consumer.list_topics(name, timeout=_TIMEOUT_S).topics[name] for name in new]
        there = {name: topic.partitions for name, topic in zip(new, listed, strict=True) if topic.error is None}
        found = [TopicPartition(name, part, self._next(name, part)) for name, parts in there.items() for part in parts]
        if found:
            consumer.incremental_assign(found)
        self._read |= there.keys()
        return [(each.topic, each.partition) for each in found]

    def _next(self, topic: str, partition: int) -> int:
        start = self._progress.start(f"{topic}/{partition}")
        return OFFSET_BEGINNING if start is None else start

    def _received(self, consumer: Consumer, timeout_s: float) -> list[Message]:
        messages = consumer.consume(_BATCH_MAX, timeout_s)
        if messages:
            self._login.received()
        self._login.check()
        return messages

    def _buffer(self, messages: Iterable[Message]) -> None:
        for message in messages:
            topic, number, offset = message.topic(), message.partition(), message.offset()
            if topic is None or number is None or offset is None:
                continue
            if (fault := message.error()) is not None:
                if fault.code() == KafkaError._PARTITION_EOF:
                    self._at_end.add((topic, number))
                else:
                    self._cannot_read(topic, fault)
                continue
            self._has_changed = True
            if self._progress.read(f"{topic}/{number}", offset):
                self._take(topic, number, offset, message)

    def _take(self, topic: str, number: int, offset: int, message: Message) -> None:
        partition = f"{topic}/{number}"
        if topic == self._config.status_topic:
            self._group.wrote(now_ms())
        time_ms = message.timestamp()[1]
        if topic == self._config.evidence_topic:
            self._learned |= self._evidence.take(message.value())
        elif (record := self._parsed(topic, message, time_ms)) is not None:
            order = (time_ms, int(topic != self._config.config_topic), number, offset)
            self._held.append(_Held(time.monotonic(), order, partition, offset, record))
            return
        self._progress.applied(partition, offset)

    def _cannot_read(self, topic: str, fault: KafkaError) -> None:
        """Log why a topic cannot be read, for instance without permission; each reason once."""
        if (topic, fault.code()) not in self._refused:
            self._refused.add((topic, fault.code()))
            log.warning("cannot read a topic", extra={"topic": topic, "fault": fault.str()})

    def _parsed(self, topic: str, message: Message, time_ms: int) -> Record | None:
        if topic in (self._config.config_topic, self._config.status_topic):
            return parse_record(message.key(), message.value(), time_ms)
        return parse_commit(message.value(), time_ms)

    def _process_buffered(self, held_until: float) -> None:
        """Apply the buffered records from before this time, in the order of their Kafka timestamps."""
        self._held.sort(key=lambda held: held.order)
        waiting = next((n for n, held in enumerate(self._held) if held.since_s > held_until), len(self._held))
        ripe, self._held = self._held[:waiting], self._held[waiting:]
        for each in ripe:
            self._emit(self._lifecycles.apply(each.record))
            self._progress.applied(each.partition, each.offset)
            self._has_changed = True

    def _emit(self, updates: Sequence[RunUpdate]) -> None:
        for each in updates:
            self._has_changed = True
            self._is_urgent |= each.state != "RUNNING" or each.is_retraction
            self._outlet.put(event_of(each, self._context))
            self._unsettled += 1
            if self._unsettled >= _UNSETTLED_MAX:
                self._settle()

    def _settle(self) -> bool:
        self._unsettled = 0
        return self._outlet.settle()

    def _report_again(self) -> None:
        """Report every run again whose topics' schemas have become known since the last time."""
        learned, self._learned = self._learned, set()
        if learned:
            self._emit(self._lifecycles.updates_for_topics(learned, now_ms()))

    def _tick(self) -> list[RunUpdate]:
        return self._lifecycles.tick(
            now_ms(), self._group.workers, self._config.heartbeat_s * 1000, self._lost_after_ms
        )

    @property
    def _lost_after_ms(self) -> int:
        return int(self._config.lost_after_s * 1000)

    def _look_at_group(self, admin: AdminClient) -> None:
        """Check whether any worker is in the group."""
        before_ms = self._group.seen_ms
        try:
            groups = admin.list_groups(timeout=_TIMEOUT_S)
        except KafkaException as fault:
            self._group.unseen(fault.args[0].str())
            return
        self._group.look([*map(_listed, groups)], now_ms())
        self._has_changed |= self._group.seen_ms != before_ms

    def _save(self) -> None:
        """Save the state, once all emitted events are safe; records read twice give the same events byte for byte."""
        if not self._has_changed:
            return
        if not self._settle():
            log.warning("lineage events are not safely stored yet; the state is saved later")
            return
        connectors = [*self._lifecycles.connectors.values()]
        read, waiting = self._progress.offsets, self._progress.waiting
        state = WatcherState(connectors, read, waiting, self._evidence.seen, self._group.seen_ms, self._group.name)
        state_file.save_all_of(self._config.state, state)
        self._has_changed = self._is_urgent = False


def _listed(group: Any) -> Listed:  # noqa: ANN401  its type is not exported
    fault = None if group.members or group.error is None else group.error.str()
    return Listed(group.id, group.protocol_type, not group.members, fault)


_CONSUMER: Final[Mapping[str, str | int | bool]] = {
    "group.id": "headwater-watch",  # required, but no offsets are committed
    "enable.auto.commit": False,
    "auto.offset.reset": "earliest",
    "enable.partition.eof": True,  # in a transactional topic the last offset is not that of a record
    "queued.max.messages.kbytes": 4096,
    "fetch.message.max.bytes": 1 << 20,
}
