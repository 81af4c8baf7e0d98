"""The known topics of a run."""

from dataclasses import dataclass, field

from pyspark.sql.types import StructType

from headwater.pipeline.kafka.registry import Version


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as a run reads it.

    Attributes:
        schema: the payload's columns; None if it is read as bytes.
        version: the newest version of its subject; None without a registry.
    """

    name: str
    schema: StructType | None = None
    version: Version | None = None


@dataclass(slots=True)
class KnownTopics:
    """The topics of a run, kept across restarts of its streams.

    Attributes:
        by_input: the topics of each Kafka input.
        unknown_ids: schema ids in records that belong to no version of their topic's subject.
    """

    by_input: dict[str, tuple[Topic, ...]] = field(default_factory=dict)
    unknown_ids: set[tuple[str, int]] = field(default_factory=set)
