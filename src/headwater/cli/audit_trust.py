"""The keys and heads that an auditor trusts; read before the bundle, so that errors in them are not blamed on it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import orjson
import typer

from headwater.audit.core import Trust, read_keys, read_once, read_strictly
from headwater.errors import InvalidEventError, InvalidInputError, UntrustedNoteError
from headwater.model import strict_json
from headwater.signing.checkpoint import parse_checkpoint
from headwater.signing.jwks import read_jwks, read_revocations
from headwater.signing.note import NoteVerifier, parse_note, parse_verifier

_KEY_SET: Final = "a JSON Web Key Set, as from `headwater key show --jwks`"
_HEAD: Final = "a head of the log, as from the service's /api/v1/log/checkpoint"


def trust_of(log_key: str | None, keys: Path | None, since: Path | None, witnesses: Sequence[str]) -> Trust:
    """The trust given by the options of `headwater audit verify`.

    Raises:
        BadParameter: one of them cannot be read.
    """
    return Trust(
        None if log_key is None else str(verifier_of(log_key, "--log-key")),
        None if keys is None else _read(keys, _key_set, "--keys", _KEY_SET),
        None if since is None else _read(since, _head, "--since", _HEAD),
        [str(verifier_of(witness, "--witness")) for witness in witnesses],
        read_json,
        read_event,
    )


def verifier_of(text: str, option: str) -> NoteVerifier:
    """A verifier key in its text form.

    Raises:
        typer.BadParameter: it is not a key; the message names the option.
    """
    try:
        return parse_verifier(text)
    except InvalidInputError as fault:
        raise typer.BadParameter(
            f"expected NAME+HASH+KEY, as from the service's /api/v1/log/key: {fault}", param_hint=option
        ) from None


def read_head(path: Path, option: str) -> str:
    """The text of a head that was saved to a file.

    Raises:
        BadParameter: it is not a head.
    """
    head: str = _read(path, _head, option, _HEAD)
    return head


def _read(path: Path, read: Callable[[str], Any], option: str, expected: str) -> Any:  # noqa: ANN401  whatever `read` makes of it
    try:
        return read(path.read_text())
    except OSError as fault:
        raise typer.BadParameter(f"{path} cannot be read: {fault.strerror}", param_hint=option) from None
    except (InvalidInputError, UntrustedNoteError, LookupError, ValueError, TypeError, AttributeError):
        raise typer.BadParameter(f"{path} cannot be read; expected {expected}", param_hint=option) from None


def _key_set(text: str) -> Any:  # noqa: ANN401  as the core takes it
    read_jwks(text)
    read_revocations(text)
    keys = orjson.loads(text)
    read_keys(keys)
    return keys


def _head(text: str) -> str:
    parse_checkpoint(parse_note(text).text)
    return text


def read_json(text: bytes) -> Any:  # noqa: ANN401  whatever the text holds
    """Parse JSON without duplicate keys, as the core does, in a tenth of the time.

    Raises:
        ValueError: it is invalid, or an object has a key twice.
    """
    try:
        value = orjson.loads(text)
        if orjson.dumps(value) == text:  # as bundles are written; else a key could have been left out
            return value
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        pass
    return read_once(text)


def read_event(raw: bytes) -> Any:  # noqa: ANN401  whatever the text holds
    """Parse unambiguous JSON, as the core does, in a third of the time.

    Raises:
        ValueError: it is invalid or ambiguous.
    """
    try:
        return strict_json.parse(raw)
    except InvalidEventError:
        return read_strictly(raw)
