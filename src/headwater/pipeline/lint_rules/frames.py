"""Rules about inputs and processors."""

from typing import Final

from headwater.pipeline.checking.document import Fields, node_at
from headwater.pipeline.lint_rules.ancestry import ancestors
from headwater.pipeline.lint_rules.rule import Hit, Hits, Rule, Subject, path_of
from headwater.pipeline.spec import FileInput, KafkaInput, Output


def _unused(subject: Subject) -> Hits:
    spec = subject.spec
    used = frozenset[str]().union(*(ancestors(spec, output.source) for output in spec.outputs))
    for name, each in spec.inputs.items():
        if name not in used:
            yield Hit(path_of(each.location), f"no output uses the input {name!r}")
    for processor in spec.processors:
        if processor.frame not in used:
            yield Hit(path_of(processor.location), f"no output uses the result of {processor.frame!r}")


def _inferred_types(subject: Subject) -> Hits:
    for name, each in subject.spec.inputs.items():
        if isinstance(each.reads, FileInput) and each.reads.format in ("csv", "json") and each.reads.schema is None:
            yield Hit(path_of(each.location, "file"), f"the column types of {name!r} depend on the files' contents")


def _implicit_source(subject: Subject) -> Hits:
    implicit = [output for output in subject.spec.outputs if not _has_from(subject, output)]
    for output in implicit if len(implicit) < len(subject.spec.outputs) else ():
        yield Hit(path_of(output.location), f"has no `from` and so writes the last frame, {output.source!r}")


def _has_from(subject: Subject, output: Output) -> bool:
    node = node_at(subject.written, path_of(output.location))
    return isinstance(node, Fields) and "from" in node.nodes


def _no_dead_letter(subject: Subject) -> Hits:
    for name, each in subject.spec.inputs.items():
        if isinstance(each.reads, KafkaInput) and each.reads.format != "raw" and each.reads.dead_letter is None:
            yield Hit(path_of(each.location, "kafka"), f"one unreadable record of {name!r} fails the run")


RULES: Final = (
    Rule(
        "HW101",
        "an unused frame",
        "An input that reaches no output is not read at all: it is a leftover, or a query misspells its name.",
        "Remove it, or use it.",
        _unused,
    ),
    Rule(
        "HW102",
        "inferred types",
        "Without a schema every CSV column is text or, with `inferSchema`, the type that fits the current rows: one"
        " odd value changes the type of a column downstream.",
        "Write `schema: order_id BIGINT, price DECIMAL(10,2), …`.",
        _inferred_types,
    ),
    Rule(
        "HW103",
        "an output without `from` next to other outputs",
        "It writes the last frame: a processor added at the end for another output changes what is written here.",
        "Write `from:` with the name of an input or a processor.",
        _implicit_source,
    ),
    Rule(
        "HW104",
        "a topic without a dead letter target",
        "Anybody may write anything to a topic. The first unreadable record fails the run, and every later start,"
        " until that offset has expired from the topic.",
        "Write `dead_letter:` with a table, files or a topic: such records go there, with the reason.",
        _no_dead_letter,
    ),
)
