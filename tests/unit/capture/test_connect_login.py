"""A login that Kafka refuses: logged now and then, and the watcher's end if it stays so."""

import pytest
from confluent_kafka import KafkaError

from headwater.capture.connect.login import Login
from headwater.errors import UnavailableError

REFUSED = KafkaError(KafkaError._AUTHENTICATION, "SASL authentication error: no such user")
DOWN = KafkaError(KafkaError._ALL_BROKERS_DOWN, "1/1 brokers are down")
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


def test_refusals_that_the_client_reports_rarely_are_of_one_login(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = Clock()
    login = Login("broker:9092", clock)

    login.failed(REFUSED)
    clock.now_s += 50
    login.check()
    login.failed(REFUSED)
    clock.now_s += 50
    login.check()
    login.failed(REFUSED)

    with pytest.raises(UnavailableError):
        login.check()
    assert len(caplog.records) == 1


@pytest.mark.parametrize("shows", ["time", "records"])
def test_a_login_that_is_accepted_in_between_is_refused_anew(shows: str) -> None:
    clock = Clock()
    login = Login("broker:9092", clock)

    refused_for(login, clock, 59)
    if shows == "time":
        clock.now_s += 91
    else:
        login.received()
    accepted = login.refusal
    refused_for(login, clock, 59)
    login.check()

    assert accepted is None
    assert login.refusal is not None


def test_each_kind_of_error_is_logged_every_five_minutes(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    login = Login("broker:9092", clock)

    for _ in range(301):
        login.failed(AWAY)
        login.failed(DOWN)
        clock.now_s += 1
    login.check()

    assert [vars(each)["fault"] for each in caplog.records] == ["Connection refused", "1/1 brokers are down"] * 2
    assert login.refusal is None
