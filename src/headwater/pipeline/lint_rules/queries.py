"""Rules about SQL: ambiguous queries, and those that cannot be parsed."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from headwater.pipeline.checking.problems import Path
from headwater.pipeline.lint_rules.ancestry import viewed
from headwater.pipeline.lint_rules.rule import Hit, Hits, Rule, Subject, path_of
from headwater.pipeline.spec import (
    DedupeProcessor,
    FileInput,
    FilterProcessor,
    GenerateInput,
    HttpInput,
    KafkaInput,
    MappingProcessor,
    PipelineSpec,
    Processor,
    S3Input,
    SourceLocation,
    SqlProcessor,
)
from headwater.pipeline.sql_text import (
    UnreadableSqlError,
    joins_without_condition,
    limits_without_order,
    parsed_expression,
    parsed_query,
    parsed_schema,
    tables,
)


def _unreadable(subject: Subject) -> Hits:
    for path, sql, parse in _sql_texts(subject.spec):
        try:
            parse(sql)
        except UnreadableSqlError as error:
            yield Hit(path, f"cannot be read: {error}", error.line)


def _undeclared_table(subject: Subject) -> Hits:
    for processor, query in _queries(subject.spec):
        for parts, line in sorted(tables(parsed_query(query)).items()):
            if len(parts) > 1 or viewed(processor, parts[0]) is None:
                known = ", ".join(processor.views)
                yield Hit(
                    path_of(processor.location, "sql", "query"),
                    f"{'.'.join(parts)} is neither an input nor a processor; known are {known}",
                    line,
                )


def _open_join(subject: Subject) -> Hits:
    for processor, query in _queries(subject.spec):
        for line in joins_without_condition(query):
            yield Hit(path_of(processor.location, "sql", "query"), "the join combines every row with every row", line)


def _limit_without_order(subject: Subject) -> Hits:
    for processor, query in _queries(subject.spec):
        for line in limits_without_order(parsed_query(query)):
            yield Hit(path_of(processor.location, "sql", "query"), "LIMIT without ORDER BY keeps arbitrary rows", line)


def _arbitrary_row(subject: Subject) -> Hits:
    for processor in subject.spec.processors if subject.spec.mode == "batch" else ():
        if isinstance(processor.does, DedupeProcessor) and not processor.does.order_by:
            yield Hit(path_of(processor.location, "dedupe"), "an arbitrary one of several rows is kept")


def _queries(spec: PipelineSpec) -> Iterator[tuple[Processor, str]]:
    for processor in spec.processors:
        if isinstance(processor.does, SqlProcessor):
            try:
                parsed_query(processor.does.query)
            except UnreadableSqlError:
                continue
            yield processor, processor.does.query


def _sql_texts(spec: PipelineSpec) -> Iterator[tuple[Path, str, Callable[[str], object]]]:
    for each in spec.inputs.values():
        match each.reads:
            case S3Input(schema=str(ddl)):
                yield path_of(each.location, "s3", "schema"), ddl, parsed_schema
            case FileInput(schema=str(ddl)):
                yield path_of(each.location, "file", "schema"), ddl, parsed_schema
            case HttpInput(schema=str(ddl)):
                yield path_of(each.location, "http", "schema"), ddl, parsed_schema
            case KafkaInput(schema=str(ddl)):
                yield path_of(each.location, "kafka", "schema"), ddl, parsed_schema
            case GenerateInput(columns=columns):
                yield from _expressions(each.location, "generate", columns)
    for processor in spec.processors:
        match processor.does:
            case SqlProcessor(query=query):
                yield path_of(processor.location, "sql", "query"), query, parsed_query
            case FilterProcessor(condition=condition):
                yield path_of(processor.location, "filter", "condition"), condition, parsed_expression
            case MappingProcessor(columns=columns):
                yield from _expressions(processor.location, "mapping", columns)


def _expressions(
    location: SourceLocation, kind: str, columns: Mapping[str, str]
) -> Iterator[tuple[Path, str, Callable[[str], object]]]:
    for column, expression in columns.items():
        yield path_of(location, kind, "columns", column), expression, parsed_expression


RULES: Final = (
    Rule(
        "HW202",
        "SQL that cannot be parsed before Spark starts",
        "Either it is wrong, and Spark will reject it after it has started, or lint does not know the syntax; then"
        " no other rule checks it.",
        "Correct it; if Spark accepts it, silence this rule on that line.",
        _unreadable,
    ),
    Rule(
        "HW203",
        "a query reads an undeclared table",
        "A misspelt name is only found once Spark runs; and readers of the file look for its dependencies under"
        " `inputs`.",
        "Correct the name, or declare the table under `inputs`.",
        _undeclared_table,
    ),
    Rule(
        "HW204",
        "a join without a condition",
        "Every row is combined with every row: two tables of a million rows give a trillion.",
        "Write ON or USING, or CROSS JOIN if that is intended.",
        _open_join,
    ),
    Rule(
        "HW205",
        "LIMIT without ORDER BY",
        "Which rows are kept changes from run to run, and so does everything derived from them.",
        "Write ORDER BY with columns that determine the order, or remove LIMIT.",
        _limit_without_order,
    ),
    Rule(
        "HW206",
        "dedupe without order_by",
        "Of the rows with equal keys an arbitrary one is kept, so a rerun over the same data may give other values.",
        "Write `order_by:` with columns that determine the order.",
        _arbitrary_row,
    ),
)
