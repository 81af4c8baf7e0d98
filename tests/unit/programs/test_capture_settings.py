"""`headwater.spark.capture` without a driver in this process."""

from typing import cast

import pytest
from pyspark.sql import SparkSession

from headwater.spark import capture


def test_a_session_without_a_local_driver_is_not_captured_and_the_program_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    remote = cast(SparkSession, object())  # as Spark Connect's sessions, it has no JVM behind it

    with capture(remote) as nothing:
        nothing.end()

    assert "the program is not captured: Spark Connect runs elsewhere" in caplog.text
