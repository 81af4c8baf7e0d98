"""One-time tokens with which a service's operator admits a machine to its key directory.

Only the SHA-256 of a token is stored, as the name of a file that is deleted on use: the file system lets only one
caller do that. If what it was used for may not have been stored, the token is given back with the digest of that, and
counts as used once that is in the log. A token has 256 random bits, so its hash needs no salt.
"""

import hashlib
import json
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from headwater.errors import SetupError, UntrustedEventError
from headwater.model.words import ELSEWHERE

_BYTES: Final = 32
_IN_USE: Final = ".used"


def new_token(directory: Path, until_us: int, node_id: str | None) -> str:
    """Create a token valid until then, for one node or for any; the returned text is stored nowhere.

    Raises:
        SetupError: the file system refuses it.
    """
    token = secrets.token_urlsafe(_BYTES)
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(directory / _name(token), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "w") as text:
            json.dump({"untilUs": until_us, "nodeId": node_id}, text)
    except OSError as failure:
        raise SetupError(f"cannot create a token in {directory}: {failure.strerror}; {ELSEWHERE}") from failure
    return token


class Token(NamedTuple):
    """What is stored of a valid token."""

    node_id: str | None
    """The node that it is for; None for any."""
    unsure_of: bytes | None
    """The digest of the log entry that it was used for before, if that may not have been stored."""


def valid_token(directory: Path, token: str, now_us: int) -> Token:
    """Read what is stored of a token.

    Raises:
        UntrustedEventError: the token is unknown, used or expired.
    """
    try:
        stored = json.loads((directory / _name(token)).read_text())
    except (OSError, ValueError):
        raise UntrustedEventError("token: unknown or already used; make one with `headwater key token`") from None
    if stored["untilUs"] <= now_us:
        raise UntrustedEventError("token: expired; make another with `headwater key token`")
    return Token(stored["nodeId"], bytes.fromhex(stored["unsureOf"]) if "unsureOf" in stored else None)


def use(directory: Path, token: str) -> str:
    """Consume a token until it is given back. Returns its hash, which may be logged.

    Raises:
        UntrustedEventError: it has been used in the meantime.
    """
    name = _name(token)
    try:
        (directory / name).rename(directory / f"{name}{_IN_USE}")
    except FileNotFoundError:
        raise UntrustedEventError("token: already used") from None
    return name


def give_back(directory: Path, name: str, entry_digest: bytes) -> None:
    """Let a token be used again, unless the log entry with this digest was stored after all."""
    in_use = directory / f"{name}{_IN_USE}"
    with suppress(OSError, ValueError):  # then it stays used
        in_use.write_text(json.dumps({**json.loads(in_use.read_text()), "unsureOf": entry_digest.hex()}))
        in_use.rename(directory / name)


def forget(directory: Path, name: str) -> None:
    """Delete a token that was used and not given back."""
    (directory / f"{name}{_IN_USE}").unlink(missing_ok=True)


def _name(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()
