"""Metrics of Spark's operators."""

import re
from collections.abc import Mapping
from typing import Final

from headwater.observe.spark.jvm import Java

ROWS_METRIC: Final = "numOutputRows"
_METRIC: Final = re.compile(r"^(?P<name>\w+) -> SQLMetric\(.*, value: (?P<value>-?\d+)\)$", re.MULTILINE)


def metrics_of(operator: Java) -> Mapping[str, int]:
    """An operator's metrics by name, with one call into the JVM."""
    return metric_values(operator.metrics().mkString("\n"))


def metric_values(text: str) -> Mapping[str, int]:
    """An operator's metrics by name, parsed from Spark's text of them, one per line.

    >>> metric_values("numOutputRows -> SQLMetric(id: 54, name: Some(number of output rows), value: 336776)")
    {'numOutputRows': 336776}
    """
    return {found["name"]: int(found["value"]) for found in _METRIC.finditer(text)}
