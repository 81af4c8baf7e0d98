"""Programs on a real Spark, each with its own session and lake, and the events of their capture."""

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headwater.capture.spark.application import CaptureContext
from headwater.capture.spark.capture import Capture
from headwater.observe.run_reporter import EventOutput
from tests.component.capture_spark.captured import Program
from tests.support.spec import Specification


@pytest.fixture
def program(spark: SparkSession, tmp_path: Path, shared: Path) -> Iterator[Program]:
    """A captured program called `shop`, with an Iceberg catalog `lake` over JDBC."""
    session = spark.newSession()
    events: list[bytes] = []
    for key, value in {
        "": "org.apache.iceberg.spark.SparkCatalog",
        ".type": "jdbc",
        ".uri": f"jdbc:sqlite:{tmp_path}/catalog.db",
        ".warehouse": f"file://{tmp_path}/lake",
    }.items():
        session.conf.set(f"spark.sql.catalog.lake{value and key}", value)
    session.sql("CREATE NAMESPACE IF NOT EXISTS lake.sales")
    session.sql("CREATE TABLE lake.sales.orders (id BIGINT, price DOUBLE, supplier STRING) USING iceberg")
    session.sql("INSERT INTO lake.sales.orders VALUES (1, 2.5, 'acme'), (2, 4.0, 'acme'), (3, 1.0, 'brix')")
    # Spark notifies listeners late: the statements that created the lake must not be captured.
    session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    numbers = itertools.count(1)
    context = CaptureContext(
        namespace="test",
        job="shop",
        new_run_id=lambda: f"01a1fd5c-bf4f-7259-9205-{next(numbers):012x}",
        out=EventOutput(lambda: datetime.now(UTC), events.append),
    )
    capture = Capture(session, context, lambda: None)
    yield Program(session, tmp_path, events, capture)
    capture.end()
    specification = Specification(shared / "openlineage")
    assert [violation for event in events for violation in specification.complaints(event)] == []
