"""Spark's callbacks, from the JVM on py4j threads: they only queue notes, since Spark waits for them."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, ClassVar, NamedTuple

from pyspark.sql import SparkSession

from headwater.observe.spark.jvm import Java
from headwater.observe.spark.progress import ProgressListener, Report


class ActionEnded(NamedTuple):
    """A query execution has ended; `error` is its exception if it failed."""

    called: str
    execution: Java
    started_at: datetime
    ended_at: datetime
    error: Java | None


class QueryStarted(NamedTuple):
    """A streaming query has started; `execution` is its stream execution in the JVM."""

    execution: Java
    name: str | None
    run_id: str
    at: datetime


class QueryProgressed(NamedTuple):
    """A streaming query has committed a micro-batch."""

    report: Report
    at: datetime


class QueryTerminated(NamedTuple):
    """A streaming query has ended."""

    run_id: str
    failed: bool
    at: datetime


Note = ActionEnded | QueryStarted | QueryProgressed | QueryTerminated
TakeNote = Callable[[Note], None]


class ActionListener:
    """Spark's `QueryExecutionListener`."""

    def __init__(self, take: TakeNote, now: Callable[[], datetime]) -> None:
        self._take = take
        self._now = now

    def onSuccess(self, called: str, execution: Any, duration_ns: int) -> None:  # noqa: ANN401
        """An execution succeeded."""
        ended_at = self._now()
        started_at = ended_at - timedelta(microseconds=duration_ns / 1000)
        self._take(ActionEnded(called, execution, started_at, ended_at, None))

    def onFailure(self, called: str, execution: Any, error: Any) -> None:  # noqa: ANN401
        """An execution failed. Spark does not report its duration; its start is taken from its plan."""
        ended_at = self._now()
        self._take(ActionEnded(called, execution, ended_at, ended_at, error))

    class Java:
        """The Java interface that py4j gives this object."""

        implements: ClassVar = ["org.apache.spark.sql.util.QueryExecutionListener"]


class QueryListener(ProgressListener):
    """The listener of one session's streaming queries."""

    def __init__(self, session: SparkSession, take: TakeNote, now: Callable[[], datetime]) -> None:
        super().__init__(lambda report: take(QueryProgressed(report, now())))
        self._streams = session._jsparkSession.streams()
        self._leave = take
        self._now = now

    def onQueryStarted(self, event: Any) -> None:  # noqa: ANN401
        """A query starts. Its object is fetched at once, since a short query would be gone later."""
        at = self._now()
        execution = self._streams.get(event.id()).streamingQuery()
        self._leave(QueryStarted(execution, event.name(), event.runId().toString(), at))

    def onQueryTerminated(self, event: Any) -> None:  # noqa: ANN401
        """A query has ended."""
        self._leave(QueryTerminated(event.runId().toString(), event.exception().isDefined(), self._now()))
