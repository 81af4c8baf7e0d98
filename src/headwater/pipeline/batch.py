"""The work of a batch: every output once, in the file's order."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from pyspark.sql import DataFrame

from headwater.pipeline.frames import named
from headwater.pipeline.reporting.observer import Observer
from headwater.pipeline.sinks.write import write
from headwater.pipeline.spec import FileInput, HttpInput, IcebergInput, KafkaInput, KafkaOutput, Output, PipelineSpec

_STABLE: Final = FileInput | HttpInput | IcebergInput | KafkaInput


def write_outputs(
    spec: PipelineSpec, frames: Mapping[str, DataFrame], observer: Observer, before_each: Callable[[Output], None]
) -> None:
    """Write all outputs; `before_each` may raise to stop in between."""
    with _kept(_shared(spec), frames):
        for output in spec.all_outputs:
            before_each(output)
            with named(output.location):
                rows = write(observer.watch(output, frames[output.source]), output.writes)
            observer.wrote(output, rows)


def _shared(spec: PipelineSpec) -> list[str]:
    """Frames that are computed only once, since several outputs must get the same rows.

    Files, fetched records, a table's snapshot and a topic up to an offset give the same rows when read again. A
    database, generated rows and the results of a step (with `rand()`, a clock, a user's function) may not.
    """
    uses = Counter(output.source for output in spec.all_outputs)
    stable = {name for name, one in spec.inputs.items() if isinstance(one.reads, _STABLE)}
    shared = [frame for frame, count in uses.items() if count > 1 and frame not in stable]
    # Few rows, cached so that they can be counted: Spark's Kafka sink does not report how many it wrote.
    return shared + [one.source for one in spec.dead_letters if isinstance(one.writes, KafkaOutput)]


@contextmanager
def _kept(names: list[str], frames: Mapping[str, DataFrame]) -> Iterator[None]:
    """Caches the frames' rows for the block, in memory and on disk where they do not fit."""
    for name in names:
        frames[name].persist()
    try:
        yield
    finally:
        for name in names:
            frames[name].unpersist()
