"""What the execution of a pipeline tells an observer, and the observer that does not listen."""

from collections.abc import Mapping
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from headwater.model.facts import TerminalState
from headwater.observe.counters import Counters
from headwater.observe.failure import Failure
from headwater.pipeline.kafka.topics import Topic
from headwater.pipeline.spec import Output
from headwater.pipeline.stop import Why


class Observer(Protocol):
    """Called by the execution as it goes; none of the calls may raise, and after `end` they do nothing."""

    def begin(self, session: SparkSession | None) -> None:
        """The run starts, before any data is touched; None where there is no Spark to ask about the datasets."""

    def planned(
        self, inputs: Mapping[str, DataFrame], frames: Mapping[str, DataFrame], topics: Mapping[str, tuple[Topic, ...]]
    ) -> None:
        """All frames are made: `inputs` by name, `frames` (inputs and steps) by id; `topics` by input.

        Called again where a stream goes on with a new schema.
        """

    def watch(self, output: Output, frame: DataFrame) -> DataFrame:
        """The frame to write in place of `frame`, so that its rows are counted."""
        ...

    def watch_stream(self, frame: DataFrame) -> DataFrame:
        """The frame to hand to a streaming query in place of `frame`, so that its rows are counted."""
        ...

    def wrote(self, output: Output, rows: int | None) -> None:
        """A batch, or a micro-batch, is written; `rows` as far as the sink itself knows."""

    def running(self) -> None:
        """Some time has passed."""

    def end(self, state: TerminalState, why: Why, failure: Failure | None) -> Counters | None:
        """The run is over; the last call. Returns what was counted, None without lineage."""
        ...


class Silent:
    """The observer of a run with lineage off: no thread, no plan, no event."""

    def begin(self, session: SparkSession | None) -> None:
        """Nothing."""

    def planned(
        self, inputs: Mapping[str, DataFrame], frames: Mapping[str, DataFrame], topics: Mapping[str, tuple[Topic, ...]]
    ) -> None:
        """Nothing."""

    def watch(self, output: Output, frame: DataFrame) -> DataFrame:
        """The frame as it is."""
        return frame

    def watch_stream(self, frame: DataFrame) -> DataFrame:
        """The frame as it is."""
        return frame

    def wrote(self, output: Output, rows: int | None) -> None:
        """Nothing."""

    def running(self) -> None:
        """Nothing."""

    def end(self, state: TerminalState, why: Why, failure: Failure | None) -> Counters | None:
        """Nothing was counted."""
        return None
