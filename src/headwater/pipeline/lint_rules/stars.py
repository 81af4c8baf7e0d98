"""The rule about `SELECT *` into a table, if nothing in the file fixes the columns."""

from collections.abc import Container
from typing import Final, NamedTuple

from headwater.pipeline.lint_rules.ancestry import viewed
from headwater.pipeline.lint_rules.rule import Hit, Hits, Rule, Subject, path_of
from headwater.pipeline.spec import (
    FileInput,
    GenerateInput,
    HttpInput,
    IcebergOutput,
    Input,
    KafkaInput,
    MappingProcessor,
    PipelineSpec,
    Processor,
    PythonProcessor,
    SqlOutput,
    SqlProcessor,
)
from headwater.pipeline.sql_text import UnreadableSqlError, parsed_query, starred_tables


class _Star(NamedTuple):
    """A query with `*` over tables whose columns the file does not fix."""

    processor: Processor
    tables: tuple[str, ...]


def _star_into_table(subject: Subject) -> Hits:
    open_frames = _open_frames(subject.spec)
    for output in subject.spec.outputs:
        star = open_frames.get(output.source)
        if star and isinstance(output.writes, IcebergOutput | SqlOutput):
            message = f"{output.writes.table} gets all columns of {' and '.join(star.tables)}"
            yield Hit(path_of(star.processor.location, "sql", "query"), message)


def _open_frames(spec: PipelineSpec) -> dict[str, _Star | None]:
    """The frames whose columns the file does not fix, each with the last `*` that it depends on, if any."""
    found: dict[str, _Star | None] = {name: None for name, each in spec.inputs.items() if not _is_decided(each)}
    for processor in spec.processors:
        match processor.does:
            case SqlProcessor(query=query):
                if tables := _open_tables(processor, query, found):
                    found[processor.frame] = _Star(processor, tables)
            case PythonProcessor() | MappingProcessor(keep=False):
                pass
            case _:
                if processor.source in found:
                    found[processor.frame] = found[processor.source]
    return found


def _is_decided(each: Input) -> bool:
    match each.reads:
        case FileInput(schema=schema, format=format_):
            return schema is not None or format_ == "text"
        case HttpInput(schema=schema):
            return schema is not None
        case KafkaInput(format=format_, schema=schema):
            return schema is not None or format_ == "raw"
        case reads:
            return isinstance(reads, GenerateInput)


def _open_tables(processor: Processor, query: str, open_frames: Container[str]) -> tuple[str, ...]:
    try:
        starred = starred_tables(parsed_query(query))
    except UnreadableSqlError:
        return ()
    frames = {".".join(parts): viewed(processor, parts[0]) if len(parts) == 1 else None for parts in starred}
    return tuple(sorted(name for name, frame in frames.items() if frame is None or frame in open_frames))


RULES: Final = (
    Rule(
        "HW201",
        "SELECT * into a table",
        "A column added upstream appears in the table unintended, one dropped there disappears, and the file does"
        " not show which columns the table has.",
        "Name the columns in the query, or give the input a `schema`.",
        _star_into_table,
    ),
)
