"""Buckets with credentials and endpoints of their own, as Hadoop's S3A takes them: settings by bucket.

S3A opens a bucket once per JVM: if two pipelines share a JVM, the first one's credentials for a bucket apply to both.
So a program that runs several pipelines must check that they agree.
"""

from collections.abc import Iterator
from dataclasses import fields
from urllib.parse import urlsplit

from headwater.model.naming import S3_SCHEMES
from headwater.pipeline.environment import from_environment
from headwater.pipeline.spec import FileInput, FileOutput, PipelineSpec, S3Access


def bucket_settings(spec: PipelineSpec) -> dict[str, str]:
    """Spark's configuration for the buckets of a pipeline.

    Raises:
        SetupError: an environment variable that the pipeline names is not set.
    """
    found: dict[str, str] = {}
    for bucket, access in _reached(spec):
        for key, value in _settings(access).items():
            found[f"spark.hadoop.fs.s3a.bucket.{bucket}.{key}"] = value
    return found


def bucket_reached_otherwise(spec: PipelineSpec, other: PipelineSpec) -> str | None:
    """The first bucket that the pipelines access in different ways, or that the first accesses in two ways."""
    known: dict[str, S3Access] = {}
    for bucket, access in (*_reached(spec), *_reached(other)):
        if known.setdefault(bucket, access) != access:
            return bucket
    return None


def _reached(spec: PipelineSpec) -> Iterator[tuple[str, S3Access]]:
    """Every bucket of the pipeline's files, and how it is accessed; by default from the environment."""
    ends = [one.reads for one in spec.inputs.values()] + [output.writes for output in spec.outputs]
    for end in ends:
        paths = end.paths if isinstance(end, FileInput) else [end.path] if isinstance(end, FileOutput) else []
        access = _access_of(end) if isinstance(end, S3Access) else S3Access()
        yield from ((url.netloc, access) for url in map(urlsplit, paths) if url.scheme in S3_SCHEMES)


def _access_of(end: S3Access) -> S3Access:
    return S3Access(**{each.name: getattr(end, each.name) for each in fields(S3Access)})


def _settings(access: S3Access) -> dict[str, str]:
    secret = {
        "access.key": access.access_key_env,
        "secret.key": access.secret_key_env,
        "session.token": access.session_token_env,
    }
    properties = {key: from_environment(variable) for key, variable in secret.items() if variable is not None}
    if access.endpoint is not None:
        properties |= {"endpoint": access.endpoint, "path.style.access": "true"}
    if access.region is not None:
        properties["endpoint.region"] = access.region
    return properties
