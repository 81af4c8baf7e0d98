"""What is known of the topics of a run."""

from dataclasses import dataclass, field

from pyspark.sql.types import StructType

from headwater.pipeline.kafka.registry import Version


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as a run reads it.

    Attributes:
        schema: of the payload, as columns; None where it is bytes.
        version: the newest version of its subject; None without a registry.
    """

    name: str
    schema: StructType | None = None
    version: Version | None = None


@dataclass(slots=True)
class KnownTopics:
    """What a run has come to know of its topics, over all restarts of its streams.

    Attributes:
        by_input: the topics of each Kafka input.
        strange_ids: schema ids that stand in records and belong to no version of their topic's subject.
    """

    by_input: dict[str, tuple[Topic, ...]] = field(default_factory=dict)
    strange_ids: set[tuple[str, int]] = field(default_factory=set)
