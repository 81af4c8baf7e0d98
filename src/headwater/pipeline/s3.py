"""Buckets with credentials and endpoints of their own, as Hadoop's S3A takes them: settings by bucket.

S3A opens a bucket once in a JVM: of two pipelines that share one, the first one's credentials for a bucket hold.
"""

from collections.abc import Iterator
from urllib.parse import urlsplit

from headwater.pipeline.environment import from_environment
from headwater.pipeline.spec import PipelineSpec, S3Access, S3Input, S3Output


def bucket_settings(spec: PipelineSpec) -> dict[str, str]:
    """Spark's configuration for the buckets of a pipeline.

    Raises:
        SetupError: an environment variable that the pipeline names is not set.
    """
    found: dict[str, str] = {}
    for bucket, access in _accesses(spec):
        for key, value in _settings(access).items():
            found[f"spark.hadoop.fs.s3a.bucket.{bucket}.{key}"] = value
    return found


def _accesses(spec: PipelineSpec) -> Iterator[tuple[str, S3Access]]:
    for one in spec.inputs.values():
        if isinstance(one.reads, S3Input):
            yield from ((urlsplit(path).netloc, one.reads) for path in one.reads.paths)
    for output in spec.outputs:
        if isinstance(output.writes, S3Output):
            yield urlsplit(output.writes.path).netloc, output.writes


def _settings(access: S3Access) -> dict[str, str]:
    secret = {
        "access.key": access.access_key_env,
        "secret.key": access.secret_key_env,
        "session.token": access.session_token_env,
    }
    given = {key: from_environment(variable) for key, variable in secret.items() if variable is not None}
    if access.endpoint is not None:
        given |= {"endpoint": access.endpoint, "path.style.access": "true"}
    if access.region is not None:
        given["endpoint.region"] = access.region
    return given
