import json
import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from headwater.emit.backlog import TOGETHER_MAX
from headwater.emit.config import EmitConfig, FileConfig, HttpConfig
from headwater.emit.emitter import Emitter
from headwater.errors import InvalidEventError
from tests.component.emit.emit_processes import Service
from tests.component.emit.emit_receiver import Answer, Receiver
from tests.support.service import eventually

LONG_S = 120.0


def event(n: int) -> bytes:
    return b'{"n":%d}' % n


@contextmanager
def emitter_to(url: str, spool: Path, **settings: float) -> Iterator[Emitter]:
    http = HttpConfig(endpoint=url, timeout_s=settings.pop("timeout_s", LONG_S))
    with Emitter(EmitConfig(http=http, spool=spool, drain_timeout_s=0.1, **settings), sign=bytes) as emitter:  # type: ignore[arg-type]
        yield emitter


def without_repeats(numbers: Sequence[int]) -> list[int]:
    return [*dict.fromkeys(numbers)]


def test_a_service_that_is_killed_again_and_again_gets_every_event_in_order(service: Service, tmp_path: Path) -> None:
    rng = Random(2013)  # noqa: S311 - when to kill, not a secret
    kills = 6
    with emitter_to(service.url, tmp_path / "spool") as emitter:
        for round_ in range(kills):
            service.start()
            for n in range(round_ * 200, (round_ + 1) * 200):
                emitter.put(event(n))
            threading.Event().wait(rng.uniform(0, 0.2))
            service.kill()
        service.start()

        assert emitter.drain(LONG_S)

    assert without_repeats(service.numbers) == list(range(kills * 200))
    # Only events in flight at a kill arrive twice.
    assert len(service.numbers) <= kills * 200 + kills * TOGETHER_MAX


def test_nothing_is_lost_while_the_service_is_down_from_the_start(service: Service, tmp_path: Path) -> None:
    with emitter_to(service.url, tmp_path / "spool") as emitter:
        for n in range(100):
            emitter.put(event(n))
        assert eventually(lambda: emitter.stats().spooled == 100)
        assert eventually(lambda: "Connection refused" in (emitter.stats().last_error or ""))
        service.start()

        assert emitter.drain(LONG_S)

    assert service.numbers == list(range(100))
    assert emitter.stats().spooled == 0


def test_a_put_returns_while_the_service_is_stuck_and_a_full_queue_overflows(
    receiver: Receiver, tmp_path: Path
) -> None:
    receiver.is_open.clear()
    with emitter_to(receiver.url, tmp_path / "spool", queue_size=8) as emitter:
        emitter.put(event(0))
        assert receiver.has_arrived.wait(LONG_S)

        for n in range(1, 3000):
            emitter.put(event(n))

        assert receiver.posts == []
        receiver.is_open.set()
        assert emitter.drain(LONG_S)
    assert receiver.numbers == list(range(3000))
    assert emitter.stats().dropped == {}


def test_the_events_of_many_threads_all_arrive_in_the_order_of_each_thread(receiver: Receiver, tmp_path: Path) -> None:
    def put_thousands(first: int) -> None:
        for n in range(first, first + 500):
            emitter.put(event(n))

    with emitter_to(receiver.url, tmp_path / "spool", queue_size=4) as emitter:
        threads = [threading.Thread(target=put_thousands, args=(1000 * t,)) for t in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert emitter.drain(LONG_S)

    for t in range(4):
        assert [n for n in receiver.numbers if n // 1000 == t] == list(range(1000 * t, 1000 * t + 500))


@pytest.mark.parametrize("status", [200, 201, 202, 204])
def test_a_success_acknowledges(status: int, receiver: Receiver, tmp_path: Path) -> None:
    receiver.script.append(Answer(status))
    with emitter_to(receiver.url, tmp_path / "spool") as emitter:
        emitter.put(event(0))
        assert emitter.drain(LONG_S)

    assert receiver.numbers == [0]
    assert emitter.stats().delivered == {"http": 1}


@pytest.mark.parametrize("status", [302, 401, 403, 404, 405, 408, 409, 425, 429, 500, 502, 503, 504])
def test_an_event_that_the_service_may_accept_later_is_sent_again_before_later_events(
    status: int, receiver: Receiver, tmp_path: Path
) -> None:
    receiver.script.extend([Answer(status), Answer(status)])
    with emitter_to(receiver.url, tmp_path / "spool") as emitter:
        emitter.put(event(0))
        emitter.put(event(1))
        assert emitter.drain(LONG_S)

    assert receiver.numbers == [0, 0, 0, 1]
    assert emitter.stats().dropped == {}


@pytest.mark.parametrize(("status", "more"), [(400, ""), (403, ', "retriable": false'), (413, ""), (422, "")])
def test_a_refused_event_is_counted_and_logged_and_holds_up_no_other(
    status: int, more: str, receiver: Receiver, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    refusal = f'{{"code": 400, "message": "run.runId:\\n not a UUID"{more}}}'
    receiver.script.append(Answer(status, body=refusal.encode()))
    with emitter_to(receiver.url, tmp_path / "spool") as emitter:
        emitter.put(b'{"n": 0, "secret": "hunter2"}')
        emitter.put(event(1))
        assert emitter.drain(LONG_S)

    assert receiver.numbers == [0, 1]
    assert emitter.stats().dropped == {"refused": 1}
    (record,) = (record for record in caplog.records if record.message.startswith("lineage event rejected by "))
    assert f"{receiver.url}: {status} run.runId: not a UUID; " in record.message
    assert vars(record)["why"] == f"{status} run.runId: not a UUID"
    assert "hunter2" not in caplog.text + str([vars(record) for record in caplog.records])


def test_an_event_that_is_refused_for_now_waits_until_the_cause_is_fixed_and_is_logged_once(
    receiver: Receiver, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    refusal = b'{"code": 403, "message": "unknown-key: enrol a key with `headwater key enrol`", "retriable": true}'
    receiver.script.extend([Answer(403, body=refusal)] * 4)
    with emitter_to(receiver.url, tmp_path / "spool") as emitter:
        emitter.put(event(0))
        emitter.put(event(1))
        assert emitter.drain(LONG_S)

    assert without_repeats(receiver.numbers) == [0, 1]
    assert emitter.stats().dropped == {}
    (record,) = (
        record for record in caplog.records if record.message.startswith("cannot deliver lineage events yet to ")
    )
    assert ": 403 unknown-key: enrol a key with `headwater key enrol`; " in record.message


def test_retry_after_is_waited_for_even_when_draining(receiver: Receiver, tmp_path: Path) -> None:
    receiver.script.append(Answer(503, {"Retry-After": "1"}))
    with emitter_to(receiver.url, tmp_path / "spool") as emitter:
        emitter.put(event(0))
        assert emitter.drain(LONG_S)

    first, second = receiver.posts
    assert second.at - first.at >= 1.0


def test_a_response_that_does_not_come_in_time_is_not_waited_for(receiver: Receiver, tmp_path: Path) -> None:
    receiver.is_open.clear()
    with emitter_to(receiver.url, tmp_path / "spool", timeout_s=0.1) as emitter:
        emitter.put(event(0))
        assert eventually(lambda: "Timeout" in (emitter.stats().last_error or ""))
        receiver.is_open.set()

        assert emitter.drain(LONG_S)

    assert set(receiver.numbers) == {0}


def test_a_service_without_tls_is_reached_where_no_certificates_can_be_read(
    receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))

    with emitter_to(receiver.url, tmp_path / "spool") as emitter:
        emitter.put(event(1))

        assert emitter.drain(LONG_S)
    assert receiver.numbers == [1]


def test_a_service_with_an_untrusted_certificate_gets_nothing(unknown_receiver: Receiver, tmp_path: Path) -> None:
    with emitter_to(unknown_receiver.url, tmp_path / "spool") as emitter:
        emitter.put(event(1))

        assert eventually(lambda: "CERTIFICATE_VERIFY_FAILED" in (emitter.stats().last_error or ""))
        assert unknown_receiver.posts == []


def test_an_untrusted_certificate_is_reported_with_what_to_do(
    unknown_receiver: Receiver, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with emitter_to(unknown_receiver.url, tmp_path / "spool") as emitter:
        emitter.put(event(1))

        assert eventually(lambda: "set SSL_CERT_FILE to" in caplog.text)
    assert "start the service" not in caplog.text


def test_events_wait_while_the_trusted_authorities_cannot_be_read(
    unknown_receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    with emitter_to(unknown_receiver.url, tmp_path / "spool") as emitter:
        emitter.put(event(1))

        assert eventually(lambda: "SSL_CERT_FILE or SSL_CERT_DIR" in (emitter.stats().last_error or ""))
        assert not emitter.stats().dropped


def test_the_connection_is_kept_open(receiver: Receiver, tmp_path: Path) -> None:
    with emitter_to(receiver.url, tmp_path / "spool") as emitter:
        for n in range(10):
            emitter.put(event(n))
        assert emitter.drain(LONG_S)

    assert receiver.connections == 1


def test_a_transport_that_is_down_holds_up_neither_the_other_nor_its_own_events(
    service: Service, tmp_path: Path
) -> None:
    config = EmitConfig(
        http=HttpConfig(endpoint=service.url),
        file=FileConfig(path=tmp_path / "out" / "events.jsonl"),
        spool=tmp_path / "spool",
        drain_timeout_s=0.1,
    )
    with Emitter(config, sign=bytes) as emitter:
        for n in range(50):
            emitter.put(event(n))
        assert eventually(lambda: emitter.stats().delivered.get("file") == 50)
        assert eventually(lambda: emitter.stats().spooled == 50)
        service.start()
        assert emitter.drain(LONG_S)

    lines = (tmp_path / "out" / "events.jsonl").read_bytes().splitlines()
    assert lines == [event(n) for n in range(50)]
    assert service.numbers == list(range(50))


def test_the_token_is_read_when_an_event_is_sent_and_shown_nowhere(
    receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    http = HttpConfig(endpoint=receiver.url, token_env="LINEAGE_TOKEN")  # noqa: S106 - its name, not the token
    monkeypatch.delenv("LINEAGE_TOKEN", raising=False)
    receiver.script.append(Answer(503))
    with Emitter(EmitConfig(http=http, spool=tmp_path / "spool", drain_timeout_s=0.1), sign=bytes) as emitter:
        emitter.put(event(0))
        assert eventually(lambda: "LINEAGE_TOKEN" in (emitter.stats().last_error or ""))
        assert receiver.posts == []

        monkeypatch.setenv("LINEAGE_TOKEN", "hunter2")
        assert emitter.drain(LONG_S)

    assert [post.headers["Authorization"] for post in receiver.posts] == ["Bearer hunter2"] * 2
    shown = repr(http) + repr(emitter.stats()) + caplog.text + str([vars(record) for record in caplog.records])
    assert "hunter2" not in shown


def test_events_are_sent_signed_in_the_order_of_their_puts(receiver: Receiver, tmp_path: Path) -> None:
    signed: list[bytes] = []

    def sign(unsigned: bytes) -> bytes:
        if unsigned == event(3):
            raise InvalidEventError("eventTime: is missing")
        signed.append(unsigned)
        return unsigned.replace(b"}", b',"signed":%d}' % len(signed))

    config = EmitConfig(http=HttpConfig(endpoint=receiver.url), spool=tmp_path / "spool")
    with Emitter(config, sign) as emitter:
        for n in range(6):
            emitter.put(event(n))
        assert emitter.drain(LONG_S)

    assert signed == [event(n) for n in (0, 1, 2, 4, 5)]
    assert [json.loads(post.body)["signed"] for post in receiver.posts] == [1, 2, 3, 4, 5]
    assert emitter.stats().dropped == {"sign_failed": 1}
    assert emitter.stats().last_error == "eventTime: is missing"


def test_a_delivered_backlog_leaves_nothing_on_the_disk(receiver: Receiver, tmp_path: Path) -> None:
    with emitter_to(receiver.url, tmp_path / "spool", queue_size=2) as emitter:
        for n in range(100):
            emitter.put(event(n))
        assert emitter.drain(LONG_S)

    assert [path for path in (tmp_path / "spool").rglob("*") if path.is_file()] == []
