"""The interface between a pipeline's execution and its observer, and an observer that does nothing."""

from collections.abc import Mapping
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from headwater.model.facts import TerminalState
from headwater.observe.counters import Counters
from headwater.observe.failure import Failure
from headwater.pipeline.kafka.topics import Topic
from headwater.pipeline.spec import Output
from headwater.pipeline.stop import EndReason


class Observer(Protocol):
    """Called by the execution as it goes; none of the calls may raise, and after `end` they do nothing."""

    def begin(self, session: SparkSession | None) -> None:
        """The run starts, before any data is read; None if there is no Spark to ask about the datasets."""

    def planned(
        self, inputs: Mapping[str, DataFrame], frames: Mapping[str, DataFrame], topics: Mapping[str, tuple[Topic, ...]]
    ) -> None:
        """All frames are planned: `inputs` by name, `frames` (inputs and steps) by id; `topics` by input.

        Called again when a stream goes on with a new schema.
        """

    def watch(self, output: Output, frame: DataFrame) -> DataFrame:
        """The frame to write in place of `frame`, so that its rows are counted."""
        ...

    def watch_stream(self, frame: DataFrame) -> DataFrame:
        """The frame to pass to a streaming query in place of `frame`, so that its rows are counted."""
        ...

    def wrote(self, output: Output, rows: int | None) -> None:
        """A batch, or a micro-batch, was written; `rows` if the sink itself knows."""

    def running(self) -> None:
        """Called periodically, for RUNNING events."""

    def end(self, state: TerminalState, why: EndReason, failure: Failure | None) -> Counters | None:
        """The run has ended; the last call. Returns the counters, None without lineage."""
        ...


class NullObserver:
    """The observer of a run with lineage off: no thread, no plan, no event."""

    def begin(self, session: SparkSession | None) -> None:
        """Does nothing."""

    def planned(
        self, inputs: Mapping[str, DataFrame], frames: Mapping[str, DataFrame], topics: Mapping[str, tuple[Topic, ...]]
    ) -> None:
        """Does nothing."""

    def watch(self, output: Output, frame: DataFrame) -> DataFrame:
        """The frame unchanged."""
        return frame

    def watch_stream(self, frame: DataFrame) -> DataFrame:
        """The frame unchanged."""
        return frame

    def wrote(self, output: Output, rows: int | None) -> None:
        """Does nothing."""

    def running(self) -> None:
        """Does nothing."""

    def end(self, state: TerminalState, why: EndReason, failure: Failure | None) -> Counters | None:
        """No counters."""
        return None
