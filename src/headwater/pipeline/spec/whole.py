"""A whole pipeline file, and the locations of its parts.

Frames: every input and every processor has one frame. Its id is the name of the input, the `name` of the processor, or
`processors.N` for a processor without a name. Every `from` is resolved, so execution only looks up ids.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from headwater.pipeline.spec.inputs import InputKind, KafkaInput
from headwater.pipeline.spec.outputs import OutputKind
from headwater.pipeline.spec.processors import ProcessorKind
from headwater.pipeline.spec.settings import AgentSpec, CatalogSpec, LineageSpec, LintSpec, StreamSpec
from headwater.pipeline.terms import FrameName, Name, Text

Mode = Literal["batch", "stream"]


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """The position of a part in the pipeline file, for messages: `SourceLocation("pipeline.processors.0", 12)`."""

    path: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One input; `name` is its frame and its table in SQL."""

    name: FrameName
    reads: InputKind
    location: SourceLocation


@dataclass(frozen=True, slots=True, kw_only=True)
class Processor:
    """One step.

    Attributes:
        frame: the id of its result.
        source: the id of the frame it works on; None only for a `sql` that comes first over several inputs.
        views: table names in its SQL, to frame id: every input and earlier named step, and `input` for `source`.
    """

    does: ProcessorKind
    frame: str
    source: str | None
    views: Mapping[str, str]
    location: SourceLocation
    name: FrameName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One output of the frame with id `source`; `name` is for messages and metrics."""

    writes: OutputKind
    source: str
    location: SourceLocation
    name: Name | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineSpec:
    """A whole pipeline file.

    Attributes:
        schema_version: the version of this grammar; None if the file has none (a lint finding), read as 1.
        catalogs: only those that the file declares.
        spark: further Spark configuration, `spark.…` keys.
        source: the file's absolute path.
        source_sha256: the digest of the file's bytes, 64 lower-case hex digits; `--set` does not change it.
    """

    name: Name
    namespace: Name
    schema_version: int | None = None
    mode: Mode = "batch"
    description: Text | None = None
    owners: tuple[Name, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, Input]
    processors: tuple[Processor, ...] = ()
    outputs: tuple[Output, ...]
    lineage: LineageSpec = field(default=LineageSpec())
    catalogs: Mapping[str, CatalogSpec] = field(default_factory=dict)
    spark: Mapping[str, str] = field(default_factory=dict)
    stream: StreamSpec = field(default=StreamSpec())
    agent: AgentSpec = field(default=AgentSpec())
    lint: LintSpec = field(default=LintSpec())
    source: Path
    source_sha256: str

    @property
    def dead_letters(self) -> tuple[Output, ...]:
        """An output for every input with a target for unreadable records; its frame is `dead_letter_frame`."""
        return tuple(
            Output(
                writes=writes,
                source=dead_letter_frame(one.name),
                location=SourceLocation(f"{one.location.path}.kafka.dead_letter", one.location.line),
            )
            for one in self.inputs.values()
            if isinstance(one.reads, KafkaInput) and one.reads.dead_letter and (writes := one.reads.dead_letter.writes)
        )

    @property
    def all_outputs(self) -> tuple[Output, ...]:
        """All outputs: those of the file, then the dead letters."""
        return (*self.outputs, *self.dead_letters)


def dead_letter_frame(name: str) -> str:
    """The id of the frame with an input's unreadable records; unique, since names have no dots."""
    return f"{name}.dead_letter"
