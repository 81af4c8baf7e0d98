"""Rules about outputs: effects of a rerun, and on readers."""

import re
from collections import defaultdict
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from headwater.pipeline.lint_rules.ancestry import processors_behind
from headwater.pipeline.lint_rules.rule import Hit, Hits, Rule, Subject, path_of
from headwater.pipeline.spec import (
    DedupeProcessor,
    FileInput,
    FileOutput,
    HttpOutput,
    IcebergOutput,
    KafkaOutput,
    MappingProcessor,
    Output,
    PipelineSpec,
    Processor,
    S3Output,
    SqlOutput,
    SqlProcessor,
    StdoutOutput,
)
from headwater.pipeline.sql_text import (
    UnreadableSqlError,
    columns_named,
    groups_rows,
    is_deterministic,
    parsed_expression,
    parsed_query,
)


def _append_on_rerun(subject: Subject) -> Hits:
    for output in subject.spec.outputs if subject.spec.mode == "batch" else ():
        match output.writes:
            case FileOutput(mode="append") | IcebergOutput(mode="append") | SqlOutput(mode="append"):
                yield Hit(
                    path_of(output.location, _kind(output), "mode"), "a second run over the same data appends it again"
                )


def _random_key(subject: Subject) -> Hits:
    for output, keys in _merges(subject.spec):
        for processor in processors_behind(subject.spec, output.source):
            for key in keys:
                if not _gives_deterministically(processor, key):
                    yield Hit(
                        path_of(processor.location),
                        f"key column {key!r} of the merge has a different value in every run",
                    )


def _repeated_key(subject: Subject) -> Hits:
    for output, keys in _merges(subject.spec):
        if not any(_may_make_unique(each, keys) for each in processors_behind(subject.spec, output.source)):
            yield Hit(
                path_of(output.location, "iceberg", "on"),
                "no processor before it makes the incoming rows unique in these keys",
            )


def _overwrites_what_it_reads(subject: Subject) -> Hits:
    read = [
        path for each in subject.spec.inputs.values() if isinstance(each.reads, FileInput) for path in each.reads.paths
    ]
    for output in subject.spec.outputs:
        match output.writes:
            case FileOutput(mode="overwrite", path=folder) if any(_may_lie_in(path, folder) for path in read):
                yield Hit(path_of(output.location, "file", "path"), "the same pipeline reads this path")


def _may_lie_in(path: str, folder: str) -> bool:
    """Whether an input path, perhaps a glob, may match the folder or something in it."""
    steps, above = _place(path).split("/"), _place(folder).split("/")
    return len(steps) >= len(above) and all(map(_may_be, steps, above))


def _place(path: str) -> str:
    """The path without its other spellings: `file:///data/` and `/data`, `s3a://lake` and `s3://lake` are the same."""
    return re.sub(r"^s3[an]://", "s3://", re.sub(r"^file:/+", "/", path)).rstrip("/")


def _may_be(step: str, name: str) -> bool:
    """Whether a glob step may match a name, by Hadoop's rules, except that `{a,b}` matches anything."""
    return step == name or fnmatchcase(name, re.sub(r"\{[^}]*\}", "*", step).replace("[^", "[!"))


def _same_target(subject: Subject) -> Hits:
    by_target: dict[tuple[str, ...], list[Output]] = defaultdict(list)
    for output in subject.spec.outputs:
        if not isinstance(output.writes, StdoutOutput):
            by_target[_target(output.writes)].append(output)
    for first, *others in by_target.values():
        for output in others:
            yield Hit(path_of(output.location, _kind(output)), f"writes to the same target as {first.location.path}")


def _dropped_table(subject: Subject) -> Hits:
    for output in subject.spec.outputs:
        if isinstance(output.writes, SqlOutput) and output.writes.mode == "overwrite":
            options = {key.lower(): value for key, value in output.writes.options.items()}
            if options.get("truncate") != "true":
                yield Hit(
                    path_of(output.location, "sql", "mode"),
                    "overwrite drops the table and creates it anew without its indexes and grants",
                )


def _no_dataset(subject: Subject) -> Hits:
    spec = subject.spec
    if spec.lineage.enabled and all(isinstance(output.writes, StdoutOutput) for output in spec.outputs):
        yield Hit(path_of(spec.outputs[0].location), "standard output is not a dataset")


def _kind(output: Output) -> str:
    match output.writes:
        case S3Output():
            return "s3"
        case FileOutput():
            return "file"
        case HttpOutput():
            return "http"
        case IcebergOutput():
            return "iceberg"
        case KafkaOutput():
            return "kafka"
        case SqlOutput():
            return "sql"
        case StdoutOutput():
            return "stdout"


def _target(writes: FileOutput | IcebergOutput | KafkaOutput | SqlOutput | HttpOutput) -> tuple[str, ...]:
    match writes:
        case HttpOutput(url=url, method=method):
            return (method, url)
        case FileOutput(path=path):
            return (_place(path),)
        case IcebergOutput(table=table):
            return ("iceberg", table.lower())
        case KafkaOutput(addresses=addresses, topic=topic):
            return (",".join(sorted(addresses)), topic)
        case SqlOutput(url=url, table=table):
            return (url, table.lower())


def _merges(spec: PipelineSpec) -> Iterator[tuple[Output, tuple[str, ...]]]:
    for output in spec.outputs:
        if isinstance(output.writes, IcebergOutput) and output.writes.mode == "merge":
            yield output, output.writes.on


def _gives_deterministically(processor: Processor, key: str) -> bool:
    try:
        match processor.does:
            case SqlProcessor(query=query):
                return all(is_deterministic(each) for each in columns_named(parsed_query(query), key))
            case MappingProcessor(columns=columns):
                named = [expression for column, expression in columns.items() if column.lower() == key.lower()]
                return all(is_deterministic(parsed_expression(expression)) for expression in named)
    except UnreadableSqlError:
        pass
    return True


def _may_make_unique(processor: Processor, keys: tuple[str, ...]) -> bool:
    match processor.does:
        case DedupeProcessor():
            return {key.lower() for key in processor.does.keys} <= {key.lower() for key in keys}
        case SqlProcessor(query=query):
            try:
                return groups_rows(parsed_query(query))
            except UnreadableSqlError:
                return True
        case _:
            return False


RULES: Final = (
    Rule(
        "HW301",
        "an appending batch",
        "A rerun after a failure, or by hand, writes the same rows a second time, and every sum over them is wrong.",
        "Write `mode: merge` with `on:`, or `mode: overwrite`; silence the rule if every run reads other data.",
        _append_on_rerun,
    ),
    Rule(
        "HW302",
        "a random merge key",
        "A key from `uuid()`, `rand()` or the clock never matches an existing row: every rerun inserts all rows again.",
        "Derive the key from the data, such as `sha2(concat_ws('|', a, b), 256)`.",
        _random_key,
    ),
    Rule(
        "HW303",
        "merge keys that may not be unique",
        "MERGE fails if two incoming rows match one row of the table, so it fails as soon as the data has a duplicate.",
        "Put a `dedupe` on the same keys before it, or GROUP BY them.",
        _repeated_key,
    ),
    Rule(
        "HW304",
        "files overwritten while being read",
        "Overwriting deletes the old files before the new ones are computed from them: the data is lost.",
        "Write to another path.",
        _overwrites_what_it_reads,
    ),
    Rule(
        "HW305",
        "two outputs with the same target",
        "They overwrite each other or mix their rows, and which one is written last is undefined.",
        "Give each its own path or table, or combine them with UNION ALL in one `sql` processor.",
        _same_target,
    ),
    Rule(
        "HW306",
        "a database table dropped by overwrite",
        "The table's indexes, grants, comments and column types are lost.",
        "Write `options: {truncate: true}`, which empties the table instead.",
        _dropped_table,
    ),
    Rule(
        "HW307",
        "an output that lineage cannot name",
        "The run has inputs but no outputs in the graph, so nothing downstream can be found from it.",
        "Write to a file or a table; while experimenting, silence the rule or write `lineage: {enabled: false}`.",
        _no_dataset,
    ),
)
