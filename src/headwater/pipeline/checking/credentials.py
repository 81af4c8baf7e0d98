"""Detects values that look like secrets: they are never shown, and `headwater lint` reports them."""

import re

from headwater.pipeline.checking.problems import Path
from headwater.pipeline.terms import holds_password

_SECRET_KEY = re.compile(
    r"passw(or)?d|passphrase|pwd\b|secret|token|credential|api[-_.]?key|(access|private|account|signing)[-_.]?key", re.I
)
_CREDENTIALS = re.compile(
    r"://[^/?#@:\[\s]*:(?!\d*/)[^@\s]{0,256}@"  # a URL's user:password@
    r"|\b(A3T[A-Z0-9]|AKIA|ASIA)[A-Z0-9]{16}\b"  # an AWS access key id
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|[?&;]\s*(password|passwd|pwd|token|secret)\s*=",
    re.I,
)
_TELLS_OF_ONE = re.compile(r"(provider|class|impl|type|enabled|name|file|path|location|endpoint|ur[il]|_env)$", re.I)
_LONGEST_SHOWN = 60
_NAMES_OF_DATA = frozenset({"columns", "tags"})


def is_secret(path: Path) -> bool:
    """Whether the value at a path looks like a secret by its key; names of columns and tags do not count."""
    return bool(path) and bool(_SECRET_KEY.search(path[-1])) and not _NAMES_OF_DATA.intersection(path[-2:-1])


def is_literal_secret(path: Path) -> bool:
    """Whether the value is the secret itself, not a reference: an environment variable's name, a file, a provider."""
    return is_secret(path) and not _TELLS_OF_ONE.search(path[-1]) and "options_env" not in path


def holds_credentials(text: str) -> bool:
    """Whether a text contains credentials, whatever its key."""
    return bool(_CREDENTIALS.search(text))


def shown(path: Path, text: str) -> str:
    """A value for a message: shortened, or hidden if it may be secret."""
    if is_secret(path) or holds_credentials(text) or holds_password(text):
        return "a value that is not shown"
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…")
