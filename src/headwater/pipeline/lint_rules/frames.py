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
            yield Hit(path_of(each.place), f"no output is made of input {name!r}")
    for processor in spec.processors:
        if processor.frame not in used:
            yield Hit(path_of(processor.place), f"no output is made of what {processor.frame!r} gives")


def _guessed_types(subject: Subject) -> Hits:
    for name, each in subject.spec.inputs.items():
        if isinstance(each.reads, FileInput) and each.reads.format in ("csv", "json") and each.reads.schema is None:
            yield Hit(path_of(each.place, "file"), f"the types of {name!r} depend on what is in the files")


def _unsaid_source(subject: Subject) -> Hits:
    unsaid = [output for output in subject.spec.outputs if not _says_from(subject, output)]
    for output in unsaid if len(unsaid) < len(subject.spec.outputs) else ():
        yield Hit(path_of(output.place), f"takes the last frame, {output.source!r}, without saying so")


def _says_from(subject: Subject, output: Output) -> bool:
    node = node_at(subject.written, path_of(output.place))
    return isinstance(node, Fields) and "from" in node.nodes


def _one_bad_record(subject: Subject) -> Hits:
    for name, each in subject.spec.inputs.items():
        if isinstance(each.reads, KafkaInput) and each.reads.format != "raw" and each.reads.dead_letter is None:
            yield Hit(path_of(each.place, "kafka"), f"one record of {name!r} that cannot be read fails the run")


RULES: Final = (
    Rule(
        "HW101",
        "a frame nobody uses",
        "An input that reaches no output is not read at all: it is left over, or a name in a query is misspelt.",
        "Take it out, or use it.",
        _unused,
    ),
    Rule(
        "HW102",
        "types are guessed",
        "Without a schema every CSV column is text, or with `inferSchema` whatever today's rows look like; one odd"
        " value changes the type of a column downstream.",
        "Write `schema: order_id BIGINT, price DECIMAL(10,2), …`.",
        _guessed_types,
    ),
    Rule(
        "HW103",
        "an output that does not name its frame, beside others that do",
        "It takes the last frame: a processor added at the end for another output changes what is written here.",
        "Write `from:` with the name of an input or a processor.",
        _unsaid_source,
    ),
    Rule(
        "HW104",
        "a topic without dead letters",
        "Anybody may write anything into a topic. The first record that cannot be read fails the run, and every start"
        " after it, until its offset is gone from the topic.",
        "Write `dead_letter:` with a table, files or a topic, where such records go with the reason.",
        _one_bad_record,
    ),
)
