"""The frames that a frame derives from."""

from collections.abc import Iterator

from headwater.pipeline.spec import PipelineSpec, Processor, SqlProcessor
from headwater.pipeline.sql_text import UnreadableSqlError, parsed_query, tables


def frames_read(processor: Processor) -> frozenset[str]:
    """The ids of the frames that a processor reads; all that it could, if its SQL cannot be parsed."""
    if not isinstance(processor.does, SqlProcessor):
        return frozenset({processor.source} if processor.source else ())
    try:
        named = {parts[0] for parts in tables(parsed_query(processor.does.query)) if len(parts) == 1}
    except UnreadableSqlError:
        return frozenset(processor.views.values())
    return frozenset(frame for frame in (viewed(processor, name) for name in named) if frame)


def viewed(processor: Processor, table: str) -> str | None:
    """The id of the frame behind a table name in a processor's SQL; case-insensitive, as in Spark."""
    return next((frame for view, frame in processor.views.items() if view.lower() == table.lower()), None)


def ancestors(spec: PipelineSpec, frame: str) -> frozenset[str]:
    """The ids of a frame and of all that it derives from."""
    reads = {processor.frame: frames_read(processor) for processor in spec.processors}
    found: set[str] = set()
    waiting = [frame]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting += reads.get(current, ())
    return frozenset(found)


def processors_behind(spec: PipelineSpec, frame: str) -> Iterator[Processor]:
    """The processors that a frame depends on, in the file's order."""
    behind = ancestors(spec, frame)
    return (processor for processor in spec.processors if processor.frame in behind)
