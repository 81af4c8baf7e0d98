import pytest
from prometheus_client import CollectorRegistry, generate_latest

from headwater.emit.metrics import EmitMetrics


def test_the_first_drop_of_a_reason_is_logged_and_then_each_power_of_ten(caplog: pytest.LogCaptureFixture) -> None:
    metrics = EmitMetrics()

    for _ in range(1234):
        metrics.dropped("refused", 1)

    assert [vars(record)["total"] for record in caplog.records] == [1, 10, 100, 1000]


def test_counts_are_in_the_given_registry() -> None:
    registry = CollectorRegistry()
    metrics = EmitMetrics(registry)

    metrics.delivered("http", 0.25)
    metrics.dropped("spool_full", 3)
    metrics.spooled("http", 7)
    metrics.set_aside()

    lines = generate_latest(registry).decode().splitlines()
    assert {
        'lineage_events_delivered_total{transport="http"} 1.0',
        'lineage_events_dropped_total{reason="spool_full"} 3.0',
        'lineage_events_spooled{transport="http"} 7.0',
        'lineage_event_ack_seconds_sum{transport="http"} 0.25',
        "lineage_spools_set_aside_total 1.0",
    } <= set(lines)


def test_a_clock_that_was_set_back_gives_no_negative_latency() -> None:
    metrics = EmitMetrics()

    metrics.delivered("http", -3600.0)

    assert metrics.registry.get_sample_value("lineage_event_ack_seconds_sum", {"transport": "http"}) == 0.0
