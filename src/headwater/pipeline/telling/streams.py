"""Progress of the streaming queries of a run."""

import threading
from collections import defaultdict
from collections.abc import Container

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from headwater.observe.spark.executions import OBSERVED_ROWS
from headwater.observe.spark.progress import sources_of


class Progress(StreamingQueryListener):  # type: ignore[misc]  # pyspark is not typed for us
    """Adds up what the micro-batches report; each is reported once, when it is committed.

    Args:
        session: whose queries are listened to.
        aside: names of queries that read again what others read; what they read does not count.
    """

    def __init__(self, session: SparkSession, aside: Container[str] = ()) -> None:
        self._session = session
        self._aside = aside
        self._lock = threading.Lock()
        self._rows_in: defaultdict[str, int] = defaultdict(int)
        self._rows_out: defaultdict[str, int] = defaultdict(int)
        self._last: dict[str, list[dict[str, object]]] = {}
        session.streams.addListener(self)

    def rows_in(self) -> dict[str, int]:
        """Rows read so far, by source as Spark describes it."""
        with self._lock:
            return dict(self._rows_in)

    def rows_out(self) -> dict[str, int]:
        """Rows of the queries' frames so far, by the query's name."""
        with self._lock:
            return dict(self._rows_out)

    def sources(self) -> list[dict[str, object]]:
        """The last micro-batch of every query, for the run facet `headwater_stream`."""
        with self._lock:
            return [source for sources in self._last.values() for source in sources]

    def close(self) -> None:
        """Stop listening."""
        self._session.streams.removeListener(self)

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        """Nothing has moved yet."""

    def onQueryIdle(self, event: QueryIdleEvent) -> None:
        """Nothing has moved."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        """Whoever waits for the query tells."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        """Add a micro-batch."""
        progress = event.progress
        observed = progress.observedMetrics.get(OBSERVED_ROWS)
        with self._lock:
            for source in progress.sources if progress.name not in self._aside else ():
                self._rows_in[source.description] += source.numInputRows
            if observed is not None:
                self._rows_out[progress.name or ""] += observed[0]
            self._last[str(progress.id)] = sources_of(progress)
