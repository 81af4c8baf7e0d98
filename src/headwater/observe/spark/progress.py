"""What the micro-batches of a streaming query report, and where it stands: the run facet `headwater_stream`."""

import logging
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import orjson
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession

from headwater.observe.spark.jvm import java_class

log = logging.getLogger(__name__)

Report = Mapping[str, Any]
"""What a micro-batch reports when it is committed, as Spark writes it in JSON; offsets are JSON in it too."""


class ProgressListener:
    """Spark's listener to streaming queries, called from the JVM on a thread of py4j's.

    A report comes as one text. Pyspark's own listener asks the JVM for each of its values by itself, in hundreds of
    calls: 100 ms of processor time for every micro-batch.
    """

    def __init__(self, take: Callable[[Report], None]) -> None:
        self._take = take

    def listen(self, session: SparkSession) -> Callable[[], None]:
        """Listen to the session's queries from now on; gives what ends it."""
        ensure_callback_server_started(session.sparkContext._gateway)
        streams = session._jsparkSession.streams()
        wrapped = java_class(session, "org.apache.spark.sql.streaming.PythonStreamingQueryListenerWrapper")(self)
        streams.addListener(wrapped)
        return lambda: streams.removeListener(wrapped)

    def onQueryStarted(self, event: Any) -> None:  # noqa: ANN401
        """Nothing has moved yet."""

    def onQueryProgress(self, event: Any) -> None:  # noqa: ANN401
        """A micro-batch is committed. Spark would say nothing of a fault in here."""
        try:
            self._take(orjson.loads(event.json())["progress"])
        except Exception as fault:
            log.warning("a micro-batch is not counted", extra={"error": type(fault).__name__})

    def onQueryIdle(self, event: Any) -> None:  # noqa: ANN401
        """Nothing has moved."""

    def onQueryTerminated(self, event: Any) -> None:  # noqa: ANN401
        """Whoever waits for the query tells."""

    class Java:
        """What py4j shows Spark this object as."""

        implements: ClassVar = ["org.apache.spark.sql.streaming.PythonStreamingQueryListener"]


def sources_of(report: Report) -> list[dict[str, object]]:
    """The sources of a query as its last micro-batch left them."""
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
    """How many records of Kafka were there and not read yet; nothing for sources that do not tell.

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
