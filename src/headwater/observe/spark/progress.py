"""Progress reports of streaming queries: the content of the run facet `headwater_stream`."""

import logging
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import orjson
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession

from headwater.observe.spark.jvm import java_class

log = logging.getLogger(__name__)

Report = Mapping[str, Any]
"""The report of a committed micro-batch, as parsed from Spark's JSON; offsets in it are JSON too."""


class ProgressListener:
    """A `StreamingQueryListener` of Spark, called from the JVM on a py4j thread.

    It fetches a report as one text. Pyspark's own listener fetches each value by itself, in hundreds of calls into the
    JVM: 100 ms of CPU for every micro-batch.
    """

    def __init__(self, take: Callable[[Report], None]) -> None:
        self._take = take

    def listen(self, session: SparkSession) -> Callable[[], None]:
        """Listen to the session's queries from now on; returns the function that stops it."""
        ensure_callback_server_started(session.sparkContext._gateway)
        streams = session._jsparkSession.streams()
        wrapped = java_class(session, "org.apache.spark.sql.streaming.PythonStreamingQueryListenerWrapper")(self)
        streams.addListener(wrapped)
        return lambda: streams.removeListener(wrapped)

    def onQueryStarted(self, event: Any) -> None:  # noqa: ANN401
        """Ignored: no data was processed yet."""

    def onQueryProgress(self, event: Any) -> None:  # noqa: ANN401
        """Take the report of a committed micro-batch. Spark would swallow an exception silently."""
        try:
            self._take(orjson.loads(event.json())["progress"])
        except Exception as fault:
            log.warning("cannot read the progress of a micro-batch", extra={"error": type(fault).__name__})

    def onQueryIdle(self, event: Any) -> None:  # noqa: ANN401
        """Ignored: no data was processed."""

    def onQueryTerminated(self, event: Any) -> None:  # noqa: ANN401
        """Ignored: the caller that waits for the query handles its end."""

    class Java:
        """The Java interface that py4j gives this object."""

        implements: ClassVar = ["org.apache.spark.sql.streaming.PythonStreamingQueryListener"]


def sources_of(report: Report) -> list[dict[str, object]]:
    """The sources of a query, with their offsets after its last micro-batch."""
    return [
        {
            "query": report.get("name") or "",
            "batchId": report["batchId"],
            "source": source["description"],
            "startOffset": source.get("startOffset"),
            "endOffset": source.get("endOffset"),
            "numInputRows": source["numInputRows"],
            **_lag(source.get("endOffset"), source.get("latestOffset")),
        }
        for source in report["sources"]
    ]


def _lag(end: Any, latest: Any) -> dict[str, object]:  # noqa: ANN401  (JSON)
    """The number of Kafka records that were available and not read yet; empty for sources without that.

    >>> _lag({"orders": {"0": 5, "1": 7}}, {"orders": {"0": 9, "1": 7}})
    {'latestOffset': {'orders': {'0': 9, '1': 7}}, 'lag': 4}
    """
    try:
        behind = sum(
            offset - end[topic].get(partition, 0)
            for topic, partitions in latest.items()
            for partition, offset in partitions.items()
        )
    except (AttributeError, KeyError, TypeError):
        return {}
    return {"latestOffset": latest, "lag": behind}
