"""Rules across several keys of an S3 input or output."""

import re

from headwater.pipeline.checking.problems import Complaints, Path
from headwater.pipeline.spec import S3Access


def location(text: str, path: Path) -> Complaints:
    """Complaints about a location in a bucket."""
    if not re.match(r"s3[an]?://[A-Za-z0-9._-]+(/|$)", text):
        yield path, "expected s3://BUCKET/…"


def access(given: S3Access) -> Complaints:
    """Complaints about an access key and its secret."""
    if (given.access_key_env is None) != (given.secret_key_env is None):
        yield (), "expected both access_key_env and secret_key_env, or neither"
    if given.session_token_env is not None and given.access_key_env is None:
        yield ("session_token_env",), "expected access_key_env and secret_key_env as well"
