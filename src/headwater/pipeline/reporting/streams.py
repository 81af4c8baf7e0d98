"""Progress of the streaming queries of a run."""

import threading
from collections import defaultdict
from collections.abc import Container

from pyspark.sql import SparkSession

from headwater.observe.spark.executions import OBSERVED_ROWS
from headwater.observe.spark.progress import ProgressListener, Report, sources_of


class Progress:
    """Sums the reports of micro-batches; each is reported once, when it is committed.

    Args:
        session: the session whose queries are listened to.
        aside: names of queries that read the same inputs as others; their input rows do not count.
    """

    def __init__(self, session: SparkSession, aside: Container[str] = ()) -> None:
        self._aside = aside
        self._lock = threading.Lock()
        self._rows_in: defaultdict[str, int] = defaultdict(int)
        self._rows_out: defaultdict[str, int] = defaultdict(int)
        self._last: dict[str, Report] = {}
        self._stop_listening = ProgressListener(self._add).listen(session)

    def rows_in(self) -> dict[str, int]:
        """Rows read so far, by Spark's description of the source."""
        with self._lock:
            return dict(self._rows_in)

    def rows_out(self) -> dict[str, int]:
        """Rows of the queries' frames so far, by the query's name."""
        with self._lock:
            return dict(self._rows_out)

    def sources(self) -> list[dict[str, object]]:
        """The last micro-batch of every query, for the run facet `headwater_stream`."""
        with self._lock:
            return [source for report in self._last.values() for source in sources_of(report)]

    def close(self) -> None:
        """Stop listening."""
        self._stop_listening()

    def _add(self, report: Report) -> None:
        observed = report.get("observedMetrics", {}).get(OBSERVED_ROWS)
        name = report.get("name") or ""
        with self._lock:
            for source in report["sources"] if name not in self._aside else ():
                self._rows_in[source["description"]] += source["numInputRows"]
            if observed is not None:
                self._rows_out[name] += observed[OBSERVED_ROWS]
            self._last[report["id"]] = report
