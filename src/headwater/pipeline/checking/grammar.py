"""The tree of a pipeline file → a draft: the top-level keys, and the kinds of input, processor and output.

A new kind needs a dataclass in `spec` and an entry in one of the three tables here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from headwater.pipeline.checking.document import Fields, Items, Node, Scalar
from headwater.pipeline.checking.problems import Mark, Path
from headwater.pipeline.checking.reading import INVALID, Reader, Schema, schema_of
from headwater.pipeline.spec import (
    DedupeProcessor,
    FileInput,
    FileOutput,
    FilterProcessor,
    GenerateInput,
    HttpInput,
    HttpOutput,
    IcebergInput,
    IcebergOutput,
    KafkaInput,
    KafkaOutput,
    MappingProcessor,
    MetadataProcessor,
    PipelineSpec,
    PythonProcessor,
    S3Input,
    S3Output,
    SignatureProcessor,
    SqlInput,
    SqlOutput,
    SqlProcessor,
    StdoutOutput,
)
from headwater.pipeline.terms import FrameName, Name

SINGLE_INPUT: Final = "input"
"""The name of the input given as `input:`, and in SQL the name of the frame that a processor works on."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in the file that takes one of several kinds.

    Attributes:
        what: the slot's name in messages.
        kinds: key in the file, to dataclass.
        later: keys that are reserved but not available yet.
        schema: the keys besides the kind.
    """

    what: str
    kinds: Mapping[str, type]
    later: frozenset[str]
    schema: Schema


INPUT: Final = Slot(
    "an input",
    {
        "file": FileInput,
        "s3": S3Input,
        "iceberg": IcebergInput,
        "kafka": KafkaInput,
        "sql": SqlInput,
        "http": HttpInput,
        "generate": GenerateInput,
    },
    frozenset(),
    Schema({}, frozenset()),
)
PROCESSOR: Final = Slot(
    "a processor",
    {
        "sql": SqlProcessor,
        "mapping": MappingProcessor,
        "filter": FilterProcessor,
        "dedupe": DedupeProcessor,
        "python": PythonProcessor,
        "metadata": MetadataProcessor,
        "signature": SignatureProcessor,
    },
    frozenset({"quality"}),
    Schema({"name": FrameName, "from": Name}, frozenset()),
)
OUTPUT: Final = Slot(
    "an output",
    {
        "file": FileOutput,
        "s3": S3Output,
        "iceberg": IcebergOutput,
        "kafka": KafkaOutput,
        "sql": SqlOutput,
        "http": HttpOutput,
        "stdout": StdoutOutput,
    },
    frozenset(),
    Schema({"name": Name, "from": Name}, frozenset()),
)

_PUT_TOGETHER = frozenset({"inputs", "processors", "outputs", "source", "source_sha256"})
_OF_SPEC = schema_of(PipelineSpec)
_SETTINGS = Schema(
    {key: kind for key, kind in _OF_SPEC.types.items() if key not in _PUT_TOGETHER}, _OF_SPEC.required - _PUT_TOGETHER
)
_SECTIONS = ("owner", "input", "inputs", "pipeline", "output", "outputs")


@dataclass(frozen=True, slots=True)
class Piece:
    """One input, processor or output.

    Attributes:
        kind: its key in the slot; None if unknown.
        does: its dataclass, or INVALID.
        source: the value of its `from`.
    """

    path: Path
    mark: Mark
    kind: str | None
    does: Any
    name: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A parsed pipeline file with unresolved names; `settings` are the fields of PipelineSpec without names."""

    settings: Mapping[str, Any]
    inputs: tuple[Piece, ...]
    processors: tuple[Piece, ...]
    outputs: tuple[Piece, ...]


def read_draft(root: Node, reader: Reader) -> Draft | None:
    """The draft, or None if the root is not a mapping; problems are collected by the reader."""
    if not isinstance(root, Fields):
        reader.expected("a mapping with name, namespace, input and output", root, ())
        return None
    settings = reader.read_fields(root, _SETTINGS, (), _SECTIONS)
    settings |= _owner(root, reader)
    return Draft(
        settings, tuple(_inputs(root, reader)), tuple(_processors(root, reader)), tuple(_outputs(root, reader))
    )


def _owner(root: Fields, reader: Reader) -> dict[str, Any]:
    if "owner" not in root.nodes:
        return {}
    if "owners" in root.nodes:
        reader.report(root.keys["owners"], ("owners",), "expected owner or owners, found both")
    return {"owners": (reader.read(root.nodes["owner"], Name, ("owner",)),)}


def _inputs(root: Fields, reader: Reader) -> Iterator[Piece]:
    key = _one_of(root, "input", reader)
    node = root.nodes.get(key)
    if key == "input" and node:
        yield replace(_piece(node, (key,), INPUT, reader), name=SINGLE_INPUT)
    elif isinstance(node, Fields) and node.nodes:
        for name, entry in node.nodes.items():
            reader.read(Scalar(name, node.keys[name], plain=False), FrameName, (key, name))
            yield replace(_piece(entry, (key, name), INPUT, reader), name=name)
    elif node:
        reader.expected("a mapping of names to inputs", node, (key,))


def _processors(root: Fields, reader: Reader) -> Iterator[Piece]:
    section = root.nodes.get("pipeline", Fields({}, {}, root.mark))
    if not isinstance(section, Fields):
        reader.expected("a mapping with processors", section, ("pipeline",))
        return
    reader.read_fields(section, Schema({}, frozenset()), ("pipeline",), ("processors",))
    yield from _list(section.nodes.get("processors"), ("pipeline", "processors"), PROCESSOR, reader)


def _outputs(root: Fields, reader: Reader) -> Iterator[Piece]:
    key = _one_of(root, "output", reader)
    node = root.nodes.get(key)
    if key == "output" and node:
        yield _piece(node, (key,), OUTPUT, reader)
    else:
        yield from _list(node, (key,), OUTPUT, reader)


def _one_of(root: Fields, singular: str, reader: Reader) -> str:
    plural = f"{singular}s"
    present = [key for key in (singular, plural) if key in root.nodes]
    if len(present) == 2:
        reader.report(root.keys[plural], (plural,), f"expected {singular} or {plural}, found both")
    if not present:
        reader.report(root.mark, (), f"missing key {singular!r} (or {plural!r})")
    return present[0] if present else singular


def _list(node: Node | None, path: Path, slot: Slot, reader: Reader) -> Iterator[Piece]:
    if isinstance(node, Items) and node.nodes:
        for index, item in enumerate(node.nodes):
            yield _piece(item, (*path, str(index)), slot, reader)
    elif node:
        reader.expected(f"a list, each item {slot.what}", node, path)


def _piece(node: Node, path: Path, slot: Slot, reader: Reader) -> Piece:
    if not isinstance(node, Fields):
        reader.expected(f"{slot.what}: one of {', '.join(slot.kinds)}", node, path)
        return Piece(path, node.mark, None, INVALID)
    fields = reader.read_fields(node, slot.schema, path, (*slot.kinds, *slot.later))
    kind = _kind(node, path, slot, reader)
    does = reader.read(node.nodes[kind], slot.kinds[kind], (*path, kind)) if kind else INVALID
    known = {key: value for key, value in fields.items() if value is not INVALID}
    return Piece(path, node.mark, kind, does, known.get("name"), known.get("from"))


def _kind(node: Fields, path: Path, slot: Slot, reader: Reader) -> str | None:
    later = slot.later & node.nodes.keys()
    for key in later:
        reader.report(node.keys[key], (*path, key), f"{key} is not available yet; there are {', '.join(slot.kinds)}")
    present = [key for key in node.nodes if key in slot.kinds]
    misspelt = node.nodes.keys() - slot.kinds.keys() - slot.schema.types.keys()
    if len(present) > 1:
        reader.report(
            node.keys[present[1]], path, f"expected one of {', '.join(slot.kinds)}, found {' and '.join(present)}"
        )
    elif not present and not misspelt:
        reader.report(node.mark, path, f"missing {slot.what}: one of {', '.join(slot.kinds)}")
    return present[0] if len(present) == 1 else None
