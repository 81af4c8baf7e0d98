import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from headwater.emit.backlog import MAX_ADOPTED, Backlog
from headwater.emit.claim import Claim
from headwater.emit.courier import MEND_THE_EVENT, Courier
from headwater.emit.metrics import EmitMetrics
from headwater.emit.spool import Outgoing, Spool
from headwater.emit.transport import Acknowledged, Outcome, Refused, Unavailable

LONG_S = 30.0


@dataclass
class Letterbox:
    """A transport in memory: `answer` decides the outcome, and acknowledged events are in `accepted`."""

    answer: Callable[[bytes], Outcome] = lambda event: Acknowledged()
    accepted: list[bytes] = field(default_factory=list)
    tried: list[bytes] = field(default_factory=list)
    name: str = "letterbox"
    target: str = "letterbox"
    together: int = 1

    def send_batch(self, events: Sequence[bytes]) -> Sequence[Outcome]:
        sent = events[: self.together]
        self.tried += sent
        outcomes = [self.answer(event) for event in sent]
        self.accepted += [event for event, outcome in zip(sent, outcomes, strict=True) if outcome == Acknowledged()]
        return outcomes

    def close(self) -> None:
        pass


class LongestPause(Random):
    def uniform(self, a: float, b: float) -> float:
        return LONG_S


@contextmanager
def courier_to(
    letterbox: Letterbox,
    directory: Path | None = None,
    metrics: EmitMetrics | None = None,
    *,
    rng: Random | None = None,
    adopt_every_s: float = LONG_S,
) -> Iterator[Courier]:
    metrics = metrics or EmitMetrics()
    backlog = Backlog(letterbox.name, directory, 1 << 20, metrics)
    courier = Courier(letterbox, backlog, metrics, clock=lambda: 12.0, rng=rng, adopt_every_s=adopt_every_s)
    yield courier
    courier.close(LONG_S)


def events(first: int, last: int) -> list[Outgoing]:
    return [Outgoing(10.0, b"%d" % n) for n in range(first, last + 1)]


def sample(metrics: EmitMetrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(name, labels)


def test_every_outcome_and_the_time_from_put_to_acknowledgement_are_counted() -> None:
    metrics = EmitMetrics()
    letterbox = Letterbox(lambda event: Refused("no") if event == b"2" else Acknowledged())
    with courier_to(letterbox, metrics=metrics) as courier:
        courier.accept(events(1, 3))
        assert courier.wait_until_empty(LONG_S)

    assert letterbox.accepted == [b"1", b"3"]
    assert sample(metrics, "lineage_events_delivered_total", transport="letterbox") == 2
    assert sample(metrics, "lineage_events_dropped_total", reason="refused") == 1
    assert sample(metrics, "lineage_events_spooled", transport="letterbox") == 0
    assert sample(metrics, "lineage_event_ack_seconds_count", transport="letterbox") == 2
    assert sample(metrics, "lineage_event_ack_seconds_sum", transport="letterbox") == 4.0


def test_events_sent_together_each_have_their_own_outcome() -> None:
    metrics, tried = EmitMetrics(), set[bytes]()

    def answer(event: bytes) -> Outcome:
        if event == b"2":
            return Refused("no")
        if event == b"4" and event not in tried:
            tried.add(event)
            return Unavailable("asleep", after_s=0.0)
        return Acknowledged()

    letterbox = Letterbox(answer, together=8)
    with courier_to(letterbox, metrics=metrics) as courier:
        courier.accept(events(1, 6))
        assert courier.wait_until_empty(LONG_S)

    # The events after the one that the target did not accept are sent again, after it.
    assert letterbox.tried == [*b"1 2 3 4 5 6".split(), *b"4 5 6".split()]
    assert sample(metrics, "lineage_events_delivered_total", transport="letterbox") == 5
    assert sample(metrics, "lineage_events_dropped_total", reason="refused") == 1
    assert sample(metrics, "lineage_events_spooled", transport="letterbox") == 0


def test_a_waiting_event_is_counted_as_spooled() -> None:
    metrics = EmitMetrics()
    letterbox = Letterbox(lambda event: Unavailable("asleep"))
    with courier_to(letterbox, metrics=metrics, rng=LongestPause()) as courier:
        courier.accept(events(1, 3))

        assert sample(metrics, "lineage_events_spooled", transport="letterbox") == 3
        assert not courier.wait_until_empty(0)
    assert metrics.stats().dropped == {"spool_full": 3}  # there is no disk to leave them on


def test_a_failure_is_reported_with_its_target_until_the_target_is_back() -> None:
    errors: list[str | None] = []

    def answer(event: bytes) -> Outcome:
        errors.append(metrics.stats().last_error)
        return Unavailable("asleep") if len(errors) == 1 else Acknowledged()

    metrics = EmitMetrics()
    with courier_to(Letterbox(answer, target="http://lineage.test"), metrics=metrics) as courier:
        courier.accept(events(1, 2))
        assert courier.wait_until_empty(LONG_S)

    assert errors[:2] == [None, "http://lineage.test: asleep"]
    assert metrics.stats().last_error is None


def test_another_failure_is_still_reported_after_the_target_is_back() -> None:
    def answer(event: bytes) -> Outcome:
        if metrics.stats().last_error is None:
            return Unavailable("asleep")
        metrics.failed("the disk is full")
        return Acknowledged()

    metrics = EmitMetrics()
    with courier_to(Letterbox(answer), metrics=metrics) as courier:
        courier.accept(events(1, 1))
        assert courier.wait_until_empty(LONG_S)

    assert metrics.stats().last_error == "the disk is full"


def test_the_log_has_the_target_the_reason_and_the_remedy(caplog: pytest.LogCaptureFixture) -> None:
    unavailable = Unavailable("503", 0.0, "start it")
    answers: list[Outcome] = [unavailable, Acknowledged(), Refused("403 no", "ask"), Refused("no")]

    with courier_to(Letterbox(lambda _: answers.pop(0), target="http://lineage.test")) as courier:
        courier.accept(events(1, 3))
        assert courier.wait_until_empty(LONG_S)

    assert [message for message in caplog.messages if "http" in message] == [
        "cannot deliver lineage events yet to http://lineage.test: 503; start it",
        "lineage event rejected by http://lineage.test: 403 no; ask",
        f"lineage event rejected by http://lineage.test: no; {MEND_THE_EVENT}",
    ]
    assert [vars(record)["why"] for record in caplog.records if "http" in record.message] == ["503", "403 no", "no"]


def test_a_target_that_asks_for_a_delay_of_zero_is_not_tried_again_at_once() -> None:
    paused = threading.Event()

    class Watched(LongestPause):
        def uniform(self, a: float, b: float) -> float:
            paused.set()
            return super().uniform(a, b)

    with courier_to(Letterbox(lambda event: Unavailable("asleep", after_s=0.0)), rng=Watched()) as courier:
        courier.accept(events(1, 1))

        assert paused.wait(LONG_S)


def test_hurry_interrupts_a_pause() -> None:
    asleep = threading.Event()
    is_awake = threading.Event()

    def answer(event: bytes) -> Outcome:
        if is_awake.is_set():
            return Acknowledged()
        asleep.set()
        return Unavailable("asleep")

    letterbox = Letterbox(answer)
    with courier_to(letterbox, rng=LongestPause()) as courier:
        courier.accept(events(1, 1))
        assert asleep.wait(LONG_S)
        is_awake.set()
        begin_s = time.monotonic()

        courier.hurry()

        assert courier.wait_until_empty(LONG_S)
        assert time.monotonic() - begin_s < LONG_S  # the length of the pause


def test_closing_interrupts_a_pause_that_the_target_requested() -> None:
    asleep = threading.Event()

    def answer(event: bytes) -> Outcome:
        asleep.set()
        return Unavailable("asleep", after_s=10 * LONG_S)

    with courier_to(Letterbox(answer)) as courier:
        courier.accept(events(1, 1))
        assert asleep.wait(LONG_S)
        begin_s = time.monotonic()

    assert time.monotonic() - begin_s < LONG_S


def test_a_transport_that_raises_does_not_end_the_courier() -> None:
    faults = [ZeroDivisionError()]

    def answer(event: bytes) -> Outcome:
        if faults:
            raise faults.pop()
        return Acknowledged()

    letterbox, metrics = Letterbox(answer), EmitMetrics()
    with courier_to(letterbox, metrics=metrics) as courier:
        courier.accept(events(1, 2))
        assert courier.wait_until_empty(LONG_S)

    assert letterbox.accepted == [b"1", b"2"]
    assert metrics.stats().last_error == "ZeroDivisionError in the delivery thread (letterbox)"


def test_an_idle_courier_adopts_events_that_others_leave(tmp_path: Path) -> None:
    running = Letterbox()
    with courier_to(running, tmp_path, adopt_every_s=0.01) as courier:
        assert courier.wait_until_empty(LONG_S)
        with courier_to(Letterbox(lambda event: Unavailable("asleep")), tmp_path, rng=LongestPause()) as stopped:
            stopped.accept(events(1, 3))

        deadline = time.monotonic() + LONG_S
        while running.accepted != [b"1", b"2", b"3"] and time.monotonic() < deadline:
            time.sleep(0.01)

    assert running.accepted == [b"1", b"2", b"3"]


def test_adopted_events_are_sent_before_own_events(tmp_path: Path) -> None:
    with courier_to(Letterbox(lambda event: Unavailable("asleep")), tmp_path, rng=LongestPause()) as stopped:
        stopped.accept(events(1, 3))
    letterbox = Letterbox()

    with courier_to(letterbox, tmp_path) as courier:
        courier.accept(events(4, 5))
        assert courier.wait_until_empty(LONG_S)

    assert letterbox.accepted == [b"1", b"2", b"3", b"4", b"5"]


def test_events_after_closing_are_counted_as_dropped() -> None:
    metrics = EmitMetrics()
    with courier_to(Letterbox(), metrics=metrics) as courier:
        pass

    courier.accept(events(1, 2))

    assert metrics.stats().dropped == {"closed": 2}


def leave_spools(directory: Path, count: int, size: int = 1) -> None:
    """Leave the spools of this many dead processes, with one event each."""
    for n in range(count):
        spool = Spool(Claim.create(directory))
        spool.add([Outgoing(0.0, b"%04d" % n * size)])
        spool.close()


def open_spools() -> int:
    with os.scandir("/proc/self/fd") as descriptors:
        targets = [os.readlink(descriptor.path) for descriptor in descriptors if descriptor.is_symlink()]
    return sum(target.endswith("events.db") for target in targets)


def test_many_dead_processes_are_adopted_a_few_at_a_time_and_in_order(tmp_path: Path) -> None:
    count = 3 * MAX_ADOPTED + 1
    leave_spools(tmp_path, count)
    open_at_once: list[int] = []

    def answer(event: bytes) -> Outcome:
        open_at_once.append(open_spools())
        return Acknowledged()

    letterbox = Letterbox(answer)
    with courier_to(letterbox, tmp_path) as courier:
        assert courier.wait_until_empty(LONG_S)

    assert letterbox.accepted == [b"%04d" % n for n in range(count)]
    assert max(open_at_once) <= MAX_ADOPTED
    assert list(tmp_path.iterdir()) == []


def test_events_of_other_processes_count_towards_the_limit(tmp_path: Path) -> None:
    leave_spools(tmp_path, MAX_ADOPTED + 10, size=12_000)
    metrics = EmitMetrics()
    with courier_to(Letterbox(lambda event: Unavailable("asleep")), tmp_path, metrics, rng=LongestPause()) as courier:
        courier.accept([Outgoing(0.0, b"x")])

    assert metrics.stats().dropped == {"spool_full": 1}
