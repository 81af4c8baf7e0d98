"""The types of a validated pipeline file: the contract between `check` and execution.

These dataclasses are also the grammar: `checking.reading` reads a YAML file by their fields. So a new key is a new
field, and a new kind of input, processor or output is a dataclass here and an entry in `checking.grammar`.

whole        a whole file, and the locations of its parts
inputs       the kinds of input; processors: the kinds of step; outputs: the kinds of output
connections  connections to servers
settings     settings besides the data flow: lineage, catalogs, stream, agent, lint
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
from headwater.pipeline.spec.whole import (
    Input,
    Mode,
    Output,
    PipelineSpec,
    Processor,
    SourceLocation,
    dead_letter_frame,
)

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
    "Processor",
    "ProcessorKind",
    "PythonProcessor",
    "S3Access",
    "S3Input",
    "S3Output",
    "Schedule",
    "SchemaRegistry",
    "SignatureProcessor",
    "SourceLocation",
    "SqlInput",
    "SqlOutput",
    "SqlProcessor",
    "StdoutOutput",
    "StreamSpec",
    "Watermark",
    "dead_letter_frame",
]
