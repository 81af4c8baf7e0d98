"""Rules about secrets and machine-specific paths."""

import re
from typing import Final

from headwater.pipeline.checking.credentials import holds_credentials, is_literal_secret
from headwater.pipeline.checking.document import scalars
from headwater.pipeline.checking.problems import Path
from headwater.pipeline.lint_rules.rule import Hit, Hits, Rule, Subject

_LOCATIONS = tuple(
    re.compile(pattern)
    for pattern in (
        r"inputs?(/\w+)?/file/paths/\d+",
        r"outputs?(/\d+)?/file/path",
        r"catalogs/[^/]+/warehouse",
        r"stream/checkpoint",
        r"lineage/file/path",
    )
)


def _credentials(subject: Subject) -> Hits:
    for path, scalar in scalars(subject.written):
        secret = is_literal_secret(path) and scalar.text and not isinstance(scalar.value, bool | None)
        if secret or holds_credentials(scalar.text):
            yield Hit(path, "looks like a secret")


def _absolute_path(subject: Subject) -> Hits:
    for path, scalar in scalars(subject.written):
        if scalar.text.startswith(("/", "file:/")) and _is_location(path):
            yield Hit(path, "is an absolute path, valid on one machine")


def _is_location(path: Path) -> bool:
    return any(pattern.fullmatch("/".join(path)) for pattern in _LOCATIONS)


RULES: Final = (
    Rule(
        "HW501",
        "a secret in the file",
        "Files are copied, committed and shown: everyone who can read this one has the secret.",
        "Name an environment variable (`password_env`, `token_env`, a catalog's `options_env`) instead, and replace"
        " the secret, as it is exposed. Certificates for Kafka need no password as PEM files.",
        _credentials,
    ),
    Rule(
        "HW502",
        "an absolute path",
        "The pipeline runs only on a machine that has the path, and its datasets are named after that machine.",
        "Write a path relative to the file, a URI such as `s3://…`, or `${DATA_DIR}/…`.",
        _absolute_path,
    ),
)
