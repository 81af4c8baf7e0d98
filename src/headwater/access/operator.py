"""A token valid for a minute, signed with the log's key: whoever can read that key is the operator.

So the first API key needs no password: on the service's machine, `headwater access key create` authenticates as the
operator. The token is a signed note whose first line contains a space, so it cannot be mistaken for a checkpoint: log
names contain none.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

from headwater.access.callers import EVERYTHING, Caller, Grant
from headwater.errors import UnauthenticatedError, UntrustedNoteError
from headwater.signing.note import NoteSigner, NoteVerifier, signed_note, verified_text

PREFIX: Final = "hwop_"
_FIRST_LINE: Final = "headwater operator"
_HOLDS_US: Final = 60_000_000
_ALL: Final = Grant(frozenset({"admin"}), (EVERYTHING,), knows_restricted=True)


def operator_token(key: NoteSigner, name: str, now_us: int) -> str:
    """Create a token for the holder of the log's key; `name` is the caller's name in the log."""
    text = f"{_FIRST_LINE}\n{''.join(each for each in name if each.isprintable())}\n{now_us + _HOLDS_US}\n"
    return PREFIX + urlsafe_b64encode(signed_note(text, [key.line(text)]).encode()).decode()


def operator_of(token: str, log_key: NoteVerifier, now_us: int) -> Caller:
    """The caller with this token.

    Raises:
        UnauthenticatedError: the log's key did not sign it, or it has expired.
    """
    try:
        note = urlsafe_b64decode(token.removeprefix(PREFIX)).decode()
        first, name, until = verified_text(note, [log_key]).splitlines()
        until_us = int(until)
    except (ValueError, UntrustedNoteError):
        raise UnauthenticatedError("authorization: not signed by this log's key") from None
    if first != _FIRST_LINE or not now_us < until_us <= now_us + 2 * _HOLDS_US:
        raise UnauthenticatedError(
            "authorization: the operator's token is not valid at this time; are the clocks right?"
        )
    return Caller(f"operator:{name}", _ALL, until_us)
