"""One Spark for all component tests: whichever comes first starts it, by the same door as a pipeline does."""

import os

import pytest
from pyspark.sql import SparkSession

from headwater.pipeline.session import open_session


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    # S3A reads these from the environment in which the JVM starts; the S3 of the tests takes any.
    os.environ.setdefault("AWS_ACCESS_KEY_ID", "test")
    os.environ.setdefault("AWS_SECRET_ACCESS_KEY", "test")
    return open_session(tmp_path_factory.mktemp("spark"), master="local[2]", options={"spark.driver.memory": "1g"})
