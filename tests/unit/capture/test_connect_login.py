"""A login that Kafka refuses: logged once, and the watcher's end if it stays so."""

import pytest
from confluent_kafka import KafkaError

from headwater.capture.connect.login import Login
from headwater.errors import UnavailableError

REFUSED = KafkaError(KafkaError._AUTHENTICATION, "SASL authentication error: no such user")
AWAY = KafkaError(KafkaError._TRANSPORT, "Connection refused")


class Clock:
    """The time, in seconds."""

    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def refused_for(login: Login, clock: Clock, seconds: float) -> None:
    for _ in range(round(seconds) + 1):
        login.failed(REFUSED)
        clock.now_s += 1
    clock.now_s -= 1


def test_a_login_that_is_refused_for_a_minute_is_an_end() -> None:
    clock = Clock()
    login = Login("broker:9092", clock)

    refused_for(login, clock, 59)
    login.check()
    refused_for(login, clock, 1)

    with pytest.raises(UnavailableError, match="refuses the login: SASL authentication error: no such user"):
        login.check()


def test_a_login_that_is_accepted_in_between_is_refused_anew(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    login = Login("broker:9092", clock)

    refused_for(login, clock, 59)
    clock.now_s += 11
    accepted = login.refusal
    refused_for(login, clock, 59)
    login.check()

    assert accepted is None
    assert [vars(each)["fault"] for each in caplog.records] == [REFUSED.str()] * 2


def test_other_errors_are_logged_once_until_something_is_received(caplog: pytest.LogCaptureFixture) -> None:
    login = Login("broker:9092", Clock())

    login.failed(AWAY)
    login.failed(AWAY)
    login.received()
    login.failed(AWAY)
    login.check()

    assert [vars(each)["fault"] for each in caplog.records] == ["Connection refused"] * 2
    assert login.refusal is None
