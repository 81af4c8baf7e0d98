"""A Kafka that a batch cannot reach: the error has its address, and what to check."""

import pytest

from tests.component.pipeline.pipeline_bench import Bench
from tests.support.refusing_broker import refusing_broker

pytestmark = pytest.mark.spark

INPUT = "input: {kafka: {addresses: ['ADDRESS'], topics: [t], format: raw, MORE}}\noutput: {stdout: {}}"
OUTPUT = "input: {generate: {rows: 1}}\noutput: {kafka: {addresses: ['ADDRESS'], topic: t, format: json, MORE}}"
SOON = "options: {kafka.max.block.ms: '1000'}"
LOGIN = "security: {protocol: SASL_PLAINTEXT, user_env: KAFKA_USER, password_env: KAFKA_PASSWORD}"


@pytest.mark.parametrize("flow", [INPUT, OUTPUT], ids=["input", "output"])
@pytest.mark.parametrize(
    ("address", "why"), [("127.0.0.1:1", "TimeoutException"), ("kafka.example.invalid:9092", "ConfigException")]
)
def test_a_broker_that_is_not_there_is_reported_by_its_address(bench: Bench, flow: str, address: str, why: str) -> None:
    run = bench.run(flow.replace("ADDRESS", address).replace("MORE", "" if flow == INPUT else SOON))

    expected = "is a broker up there, and are `addresses` and `security` right?"
    assert (run.result.error or "").endswith(f": no answer from Kafka at {address} ({why}): {expected}")


@pytest.mark.parametrize("flow", [INPUT, OUTPUT], ids=["input", "output"])
def test_a_broker_that_refuses_the_login_is_reported_by_its_address_and_without_the_password(
    bench: Bench, flow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKA_USER", "ann")
    monkeypatch.setenv("KAFKA_PASSWORD", "not-the-password")

    with refusing_broker() as broker:
        more = LOGIN if flow == INPUT else f"{SOON}, {LOGIN}"
        run = bench.run(flow.replace("ADDRESS", broker.address).replace("MORE", more))

    expected = "check `security`, and the variables that its user_env and password_env name"
    error = run.result.error or ""
    assert error.endswith(
        f": the login is refused by Kafka at {broker.address} (SaslAuthenticationException): {expected}"
    )
    assert "not-the-password" not in f"{run.raw_events}"
