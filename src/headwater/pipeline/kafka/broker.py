"""Queries to a broker: which topics exist and their end offsets, before a read; what is wrong, after a failed write."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from headwater.errors import NotFoundError, UnavailableError
from headwater.observe.spark.jvm import java_class
from headwater.pipeline.kafka.connection import client_properties
from headwater.pipeline.spec import KafkaInput, KafkaOutput

Offsets = dict[str, dict[str, int]]
"""Offsets by topic and partition."""

_PATIENCE_MS: Final = 15_000
_ANSWER: Final = "is a broker up there, and are `addresses` and `security` right?"
_LOGIN: Final = "check `security`, and the variables that its user_env and password_env name"


def topics_of(spark: SparkSession, reads: KafkaInput) -> tuple[str, ...]:
    """The topics that the input names, or that its pattern matches now; sorted.

    Raises:
        NotFoundError: a topic does not exist, or none matches.
        UnavailableError: the broker does not answer, or denies access.
    """
    with _admin(spark, reads) as admin:
        there = frozenset(str(name) for name in admin.listTopics().names().get())
    if reads.pattern is not None:
        matching = tuple(sorted(name for name in there if re.fullmatch(reads.pattern, name)))
        if not matching:
            raise NotFoundError(f"no topic at {reads.addresses[0]} matches {reads.pattern!r}")
        return matching
    if missing := sorted(set(reads.topics) - there):
        raise NotFoundError(f"no topic {', '.join(missing)} at {reads.addresses[0]}: is the name right?")
    return tuple(sorted(reads.topics))


def check_target(spark: SparkSession, writes: KafkaOutput) -> None:
    """Return if the broker answers and has the output's topic.

    Raises:
        NotFoundError: it does not have the topic.
        UnavailableError: as in `topics_of`.
    """
    with _admin(spark, writes) as admin:
        if writes.topic not in admin.listTopics().names().get():
            raise NotFoundError(
                f"no topic {writes.topic} at {writes.addresses[0]}: is the name right, and may its user write to it?"
            )


def ends_of(spark: SparkSession, reads: KafkaInput, topics: Iterable[str]) -> Offsets:
    """The current offset after the last record of every partition.

    Raises:
        UnavailableError: as in `topics_of`.
    """
    latest = java_class(spark, "org.apache.kafka.clients.admin.OffsetSpec").latest()
    asked = spark._jvm.java.util.HashMap()
    with _admin(spark, reads) as admin:
        for topic, described in _described(spark, admin, topics):
            for partition in described.partitions():
                asked[spark._jvm.org.apache.kafka.common.TopicPartition(topic, partition.partition())] = latest
        found = admin.listOffsets(asked).all().get()
        ends: Offsets = {}
        for each in found:
            ends.setdefault(each.topic(), {})[str(each.partition())] = int(found[each].offset())
    return ends


def _described(spark: SparkSession, admin: Any, topics: Iterable[str]) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    names = spark._jvm.java.util.ArrayList()
    for topic in topics:
        names.add(topic)
    found: Mapping[str, Any] = admin.describeTopics(names).allTopicNames().get()
    for topic in found:
        yield topic, found[topic]


@contextmanager
def _admin(spark: SparkSession, kafka: KafkaInput | KafkaOutput) -> Iterator[Any]:
    """Kafka's admin client; its errors are reported by class and address only."""
    settings = spark._jvm.java.util.HashMap()
    for key, value in client_properties(kafka).items():
        settings[key] = value
    settings["default.api.timeout.ms"] = str(_PATIENCE_MS)
    settings["request.timeout.ms"] = str(_PATIENCE_MS)
    try:
        admin = java_class(spark, "org.apache.kafka.clients.admin.Admin").create(settings)
        try:
            yield admin
        finally:
            admin.close()
    except Py4JJavaError as failed:
        reason = failed.java_exception.getCause() or failed.java_exception
        name = reason.getClass().getSimpleName()
        refuses = name.endswith("AuthenticationException")
        what, advice = ("the login is refused by", _LOGIN) if refuses else ("no answer from", _ANSWER)
        raise UnavailableError(f"{what} Kafka at {', '.join(kafka.addresses)} ({name}): {advice}") from failed
