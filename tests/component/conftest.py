"""One Spark and one Kafka for all component tests, started by the first that needs them, through the users' own API."""

import os
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from headwater.lab.lab import Lab
from headwater.pipeline.session import open_session
from tests.support.kafka_lab import running_kafka
from tests.support.topics import Topics


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    # S3A reads these from the JVM's environment; the tests' S3 accepts any credentials.
    os.environ.setdefault("AWS_ACCESS_KEY_ID", "test")
    os.environ.setdefault("AWS_SECRET_ACCESS_KEY", "test")
    return open_session(tmp_path_factory.mktemp("spark"), master="local[2]", options={"spark.driver.memory": "1g"})


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A broker and a schema registry, on unused ports."""
    with running_kafka(tmp_path_factory.mktemp("lab"), "broker", "registry") as lab:
        yield lab


@pytest.fixture
def topics(kafka: Lab) -> Iterator[Topics]:
    """Kafka and a schema registry, through Confluent's clients."""
    made = Topics(kafka)
    yield made
    made.close()
