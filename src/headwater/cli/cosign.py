"""`headwater log cosign`: asks external witnesses to sign the log's head, and stores their signatures in the service.

Source: https://c2sp.org/tlog-witness (add-checkpoint)
"""

from base64 import b64encode
from collections.abc import Sequence
from typing import Annotated, Final

import httpx
import typer

from headwater.cli.http_client import no_answer
from headwater.cli.json_output import print_result
from headwater.cli.option_values import as_long_as_can_be
from headwater.cli.service_client import DEFAULT_URL, UrlOption
from headwater.cli.witness import TIMEOUT_S, consistency_proof, newest_head, repeatedly
from headwater.errors import InvalidInputError, SetupError, UnavailableError, UntrustedNoteError
from headwater.http_client import opened_client
from headwater.model.credentials import without_credentials
from headwater.model.words import so_many
from headwater.signing.note import parse_note

_REASONS: Final = {
    403: "it has another key for this log",
    404: "it does not know this log: its operator must add it",
}
_REWRITTEN: Final = "the log was rewritten, or shows different histories to different readers"
_MOST_DIGITS: Final = 19
"""The most digits of a size, which has 64 bits."""


def cosign(
    witness: Annotated[str, typer.Argument(metavar="WITNESS", help="The witness's URL, before /add-checkpoint.")],
    every: Annotated[
        float | None,
        typer.Option(min=1, callback=as_long_as_can_be, help="Repeat every so many seconds; by default once."),
    ] = None,
    url: UrlOption = DEFAULT_URL,
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object each time.")] = False,
) -> None:
    """Ask a witness that speaks C2SP tlog-witness to sign the log's head, and have the service keep that.

    The service must know the witness's key (keys/witnesses). `headwater witness` gives its signature by itself.

    Exit status: 0 signed and kept, 1 the witness saw another history of the log, 2 it did not sign or was not asked.

    Example: headwater log cosign https://witness.example.org --every 60
    """
    for size in repeatedly(lambda: _cosigned(url.rstrip("/"), witness.rstrip("/")), every):
        print_result(
            f"{so_many(size, 'entry')}, signed",
            {"size": size, "witness": without_credentials(witness)},
            json_output=json_output,
        )


def _cosigned(service: str, witness: str) -> int:
    """Have the current head signed; returns its size in entries."""
    note, size = newest_head(service)
    answer, named = _asked(witness, 0, [], note), without_credentials(witness)
    if answer.status_code == httpx.codes.CONFLICT:  # the answer has the size of the head that it last signed
        seen = _size(answer)
        if seen is None:
            raise UnavailableError(f"the answer of {named} lacks the log size that it signed last")
        if seen > size:
            raise UntrustedNoteError(
                f"{named} saw {so_many(seen, 'entry')}, and the log now has {size}: it was truncated"
            )
        proof = consistency_proof(service, seen, size) if 0 < seen < size else []
        answer = _asked(witness, seen, proof, note)
        if answer.status_code == httpx.codes.CONFLICT and seen == size and _size(answer) in (None, size):
            raise UntrustedNoteError(
                f"{named} did not sign, 409: it saw another head with {so_many(size, 'entry')}: {_REWRITTEN}"
            )
    _check_signed(answer, named, note)
    stored = _posted(f"{service}/api/v1/log/cosignatures", note + answer.text)
    if stored.is_error:
        rejected = f"{without_credentials(service)} rejected the signature of {named}"
        message = f"{rejected}, {stored.status_code}: {stored.text[:200]}"
        raise UnavailableError(message) if stored.is_server_error else SetupError(message)
    return size


def _check_signed(answer: httpx.Response, witness: str, note: str) -> None:
    message = f"{witness} did not sign, {answer.status_code}"
    if answer.status_code == httpx.codes.UNPROCESSABLE_ENTITY:
        raise UntrustedNoteError(f"{message}: the head does not extend the one it saw before: {_REWRITTEN}")
    if answer.status_code in _REASONS:
        raise SetupError(f"{message}: {_REASONS[answer.status_code]}")
    if answer.is_error:
        raise UnavailableError(f"{message}: try again later")
    try:
        parse_note(note + answer.text)
    except UntrustedNoteError as fault:
        raise UnavailableError(f"{message}, and its answer is not a signature: try again later") from fault


def _asked(witness: str, old: int, proof: Sequence[bytes], note: str) -> httpx.Response:
    lines = "".join(f"{b64encode(each).decode()}\n" for each in proof)
    return _posted(f"{witness}/add-checkpoint", f"old {old}\n{lines}\n{note}")


def _posted(url: str, body: str) -> httpx.Response:
    try:
        with opened_client(timeout=TIMEOUT_S) as client:
            return client.post(url, content=body.encode())
    except httpx.HTTPError as fault:
        raise UnavailableError(no_answer(fault, without_credentials(url), "{url} does not answer ({why})")) from fault
    except (httpx.InvalidURL, UnicodeError) as fault:
        raise InvalidInputError(f"{without_credentials(url)!r} is not a URL ({fault})") from fault


def _size(answer: httpx.Response) -> int | None:
    """The size that a witness says it signed last; None if it does not say."""
    text = answer.text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None
