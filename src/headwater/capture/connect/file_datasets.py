"""Files and objects that connectors write."""

import re
from collections.abc import Sequence

from headwater.capture.connect.datasets import DatasetsByTopic, ExternalDataset, for_all_topics
from headwater.capture.connect.records import Properties
from headwater.model.naming import file_dataset


def file(properties: Properties, topics: Sequence[str]) -> DatasetsByTopic:
    """Files of a local path."""
    path = properties.get("file", "")
    return for_all_topics(topics, [ExternalDataset(file_dataset(path), "FILE")] if path.startswith("/") else [])


def confluent_s3(properties: Properties, topics: Sequence[str]) -> DatasetsByTopic:
    """The folder of each topic in a bucket."""
    folder = properties.get("topics.dir", "topics").strip("/")
    bucket = properties.get("s3.bucket.name")
    return {topic: _object_store("s3", bucket, f"{folder}/{topic}".lstrip("/")) for topic in topics}


def aiven_s3(properties: Properties, topics: Sequence[str]) -> DatasetsByTopic:
    """For each topic, the folder common to all object names of the template."""
    bucket = properties.get("aws.s3.bucket.name") or properties.get("aws_s3_bucket")
    prefix = properties.get("aws.s3.prefix") or properties.get("aws_s3_prefix") or ""
    template = prefix + properties.get("file.name.template", "")
    return {topic: _object_store("s3", bucket, _folder(template, topic)) for topic in topics}


def lab_archive(properties: Properties, topics: Sequence[str]) -> DatasetsByTopic:
    """The folder of each topic in the lab's bucket."""
    folder = properties.get("s3.prefix", "topics").strip("/")
    bucket = properties.get("s3.bucket.name")
    return {topic: _object_store("s3", bucket, f"{folder}/{topic}".lstrip("/")) for topic in topics}


def confluent_gcs(properties: Properties, topics: Sequence[str]) -> DatasetsByTopic:
    """The folder of each topic in a Google Cloud Storage bucket."""
    folder = properties.get("topics.dir", "topics").strip("/")
    bucket = properties.get("gcs.bucket.name")
    return {topic: _object_store("gs", bucket, f"{folder}/{topic}".lstrip("/")) for topic in topics}


def _object_store(scheme: str, bucket: str | None, path: str) -> list[ExternalDataset]:
    return [ExternalDataset(file_dataset(f"{scheme}://{bucket}/{path}"), "FILE")] if bucket else []


def _folder(template: str, topic: str) -> str:
    """The prefix of a template that is the same for all records of a topic, cut at a slash."""
    filled = re.sub(r"\{\{\s*topic\s*\}\}", lambda _: topic, template)
    fixed, variable, _ = filled.partition("{{")
    return fixed.rpartition("/")[0] if variable or not fixed.endswith("/") else fixed
