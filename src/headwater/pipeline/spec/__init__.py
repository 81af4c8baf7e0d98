"""A checked pipeline file, as typed values: what `check` promises and what execution relies on.

These dataclasses are also the grammar: `checking.reading` walks a YAML file against their fields, so a new key is a new
field, and a new kind of input, processor or output is a dataclass here and an entry in `checking.grammar`.

whole        a whole file, and where its parts stand in it
inputs       what can be read, kind by kind; processors: what can be done with a frame; outputs: what can be written to
connections  how servers are reached
settings     what a file says beside its data: lineage, catalogs, stream, agent, lint
"""

from headwater.pipeline.spec.connections import HttpAuth, HttpCall, KafkaSecurity, Paging, S3Access, SchemaRegistry
from headwater.pipeline.spec.inputs import (
    FileInput,
    GenerateInput,
    HttpInput,
    IcebergInput,
    InputKind,
    KafkaInput,
    KafkaMetadata,
    S3Input,
    SqlInput,
)
from headwater.pipeline.spec.outputs import (
    DeadLetter,
    FileFormat,
    FileOutput,
    HttpOutput,
    IcebergOutput,
    KafkaFormat,
    KafkaOutput,
    OutputKind,
    S3Output,
    SqlOutput,
    StdoutOutput,
)
from headwater.pipeline.spec.processors import (
    METADATA_FIELDS,
    DedupeProcessor,
    FilterProcessor,
    MappingProcessor,
    MetadataGroup,
    MetadataProcessor,
    ProcessorKind,
    PythonProcessor,
    SignatureProcessor,
    SqlProcessor,
    Watermark,
)
from headwater.pipeline.spec.settings import (
    AgentSpec,
    Backoff,
    CatalogSpec,
    LineageAuth,
    LineageFile,
    LineageHttp,
    LineageSpec,
    LintSpec,
    Schedule,
    StreamSpec,
)
from headwater.pipeline.spec.whole import Input, Mode, Output, PipelineSpec, Place, Processor, dead_letter_frame

__all__ = [
    "METADATA_FIELDS",
    "AgentSpec",
    "Backoff",
    "CatalogSpec",
    "DeadLetter",
    "DedupeProcessor",
    "FileFormat",
    "FileInput",
    "FileOutput",
    "FilterProcessor",
    "GenerateInput",
    "HttpAuth",
    "HttpCall",
    "HttpInput",
    "HttpOutput",
    "IcebergInput",
    "IcebergOutput",
    "Input",
    "InputKind",
    "KafkaFormat",
    "KafkaInput",
    "KafkaMetadata",
    "KafkaOutput",
    "KafkaSecurity",
    "LineageAuth",
    "LineageFile",
    "LineageHttp",
    "LineageSpec",
    "LintSpec",
    "MappingProcessor",
    "MetadataGroup",
    "MetadataProcessor",
    "Mode",
    "Output",
    "OutputKind",
    "Paging",
    "PipelineSpec",
    "Place",
    "Processor",
    "ProcessorKind",
    "PythonProcessor",
    "S3Access",
    "S3Input",
    "S3Output",
    "Schedule",
    "SchemaRegistry",
    "SignatureProcessor",
    "SqlInput",
    "SqlOutput",
    "SqlProcessor",
    "StdoutOutput",
    "StreamSpec",
    "Watermark",
    "dead_letter_frame",
]
