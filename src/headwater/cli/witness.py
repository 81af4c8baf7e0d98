"""`headwater witness`: watches another operator's log, and signs its head as long as it only grows."""

import fcntl
import hashlib
import os
import socket
import time
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import httpx
import orjson
import typer

from headwater.cli.audit_trust import verifier_of
from headwater.cli.http_client import no_answer, reason
from headwater.cli.json_output import print_result
from headwater.cli.option_values import as_long_as_can_be, name_of_key
from headwater.cli.printed import say
from headwater.cli.service_client import DEFAULT_URL, no_service_there
from headwater.emit.home import headwater_home
from headwater.errors import InvalidInputError, SetupError, UnavailableError, UntrustedNoteError
from headwater.http_client import opened_client
from headwater.model.credentials import without_credentials
from headwater.model.words import so_many
from headwater.signing.checkpoint import parse_checkpoint
from headwater.signing.note import NoteSigner, NoteVerifier, parse_note
from headwater.signing.notefile import witness_key
from headwater.signing.secretfile import write_whole
from headwater.signing.witness import Witnessed, nothing_yet, opened, witnessed

TIMEOUT_S: Final = 10.0
ResultT = TypeVar("ResultT")


def witness(
    service: Annotated[str, typer.Argument(metavar="URL", help="Where the log's service is.")],
    log_key: Annotated[
        str, typer.Option(metavar="NAME+HASH+KEY", help="The log's key, from its operator; see /api/v1/log/key.")
    ],
    name: Annotated[
        str | None,
        typer.Option(callback=name_of_key, help="The witness's permanent name; by default this machine's."),
    ] = None,
    every: Annotated[
        float, typer.Option(min=0.1, callback=as_long_as_can_be, help="Seconds between two polls.")
    ] = 60.0,
    post: Annotated[bool, typer.Option(help="Send the signature to the log's service, which serves it.")] = True,
    once: Annotated[bool, typer.Option("--once", help="Sign once, and print the head with both signatures.")] = False,
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object per poll.")] = False,
) -> None:
    """Sign a log's head as long as the log only grows; exit status 1, with both heads kept, if it does not.

    Run it out of the log operator's reach; `headwater audit verify --witness KEY` then requires its signature. Exit
    status 2 means that the log could not be read.

    Example: headwater witness https://lineage.example.org --log-key lineage.example.org+f0a1b2c3+AX…
    """
    log, home = verifier_of(log_key, "--log-key"), headwater_home()
    signer = witness_key(home, name, f"{socket.gethostname()}/headwater-witness")
    for seen in _looks(service.rstrip("/"), log, signer, None if once else every, post=post):
        in_words = seen.note.split("\n") if once else f"{so_many(seen.head.size, 'entry')}, signed"
        print_result(in_words, _members(seen, signer), json_output=json_output)


def _members(seen: Witnessed, signer: NoteSigner) -> dict[str, object]:
    head = {"origin": seen.head.origin, "size": seen.head.size, "root": seen.head.root.hex()}
    return {**head, "witnessKey": str(signer.verifier), "note": seen.note}


def _looks(
    service: str, log: NoteVerifier, signer: NoteSigner, every: float | None, *, post: bool
) -> Iterator[Witnessed]:
    """Check the log periodically, or once; yields what was seen and signed each time."""
    folder = headwater_home() / "witness" / hashlib.sha256(str(log).encode()).hexdigest()[:16]
    say(f"witness key {signer.verifier}; what it signed last is in {folder / 'head.txt'}", err=True)
    for seen in repeatedly(lambda: _look(service, log, signer, folder), every):
        if post:
            _post(service, seen.note)
        yield seen


def repeatedly(act: Callable[[], ResultT], every_s: float | None) -> Iterator[ResultT]:
    """The results of an act that is repeated for ever, with a warning where something does not answer; None: once.

    Raises:
        UnavailableError: it is done once, and something does not answer.
    """
    if every_s is None:
        yield act()
        return
    while True:
        try:
            result = act()
        except UnavailableError as fault:
            say(f"warning: {fault}", err=True)
        else:
            yield result
        time.sleep(every_s)


def got(service: str, path: str, parameters: dict[str, Any]) -> httpx.Response:
    """The log's answer.

    Raises:
        UnavailableError: there is none.
        InvalidInputError: the log's URL is invalid.
    """
    named = without_credentials(service)
    try:
        with opened_client(timeout=TIMEOUT_S) as client:
            answer = client.get(f"{service}{path}", params=parameters)
    except httpx.HTTPError as fault:
        raise UnavailableError(no_answer(fault, named, "the log at {url} does not answer ({why})")) from fault
    except (httpx.InvalidURL, UnicodeError) as fault:
        raise InvalidInputError(f"{named!r} is not a URL ({fault}); expected one like {DEFAULT_URL}") from fault
    if answer.status_code == httpx.codes.NOT_FOUND:
        raise UnavailableError(no_service_there(named, answer.status_code))
    if not answer.is_success:
        raise UnavailableError(f"the log at {named} answered {answer.status_code}: {answer.reason_phrase}")
    return answer


def newest_head(service: str) -> tuple[str, int]:
    """The log's newest head as a note, which is not verified yet, and its size in entries.

    Raises:
        UnavailableError: there is no answer, or it is no head, such as a network's sign-in page.
        InvalidInputError: the log's URL is invalid.
    """
    note = got(service, "/api/v1/log/checkpoint", {}).text
    try:
        return note, parse_checkpoint(parse_note(note).text).size
    except UntrustedNoteError as fault:
        raise UnavailableError(
            f"the answer of {without_credentials(service)} is not the head of a log: perhaps a proxy or a network's "
            f"sign-in page answers in its place ({fault})"
        ) from fault


def consistency_proof(service: str, old: int, new: int) -> list[bytes]:
    """The log's consistency proof from the old to the new size.

    Raises:
        UnavailableError: the answer cannot be read.
    """
    answer = got(service, "/api/v1/log/proof/consistency", {"from": old, "to": new})
    try:
        return [b64decode(each, validate=True) for each in orjson.loads(answer.content)["consistencyProof"]]
    except (ValueError, LookupError, TypeError) as fault:
        raise UnavailableError(f"the consistency proof from {without_credentials(service)} cannot be parsed") from fault


def _look(service: str, log: NoteVerifier, signer: NoteSigner, folder: Path) -> Witnessed:
    """Check the log once; again if another process of this witness signed a head meanwhile.

    Two that signed at the same time could sign two histories.
    """
    while True:
        before = _read(folder / "head.txt", log)
        seen = _checked(service, log, signer, folder, before)
        with _alone_in(folder):
            if _read(folder / "head.txt", log) == before:
                _write(folder / "head.txt", seen.note)
                return seen


def _checked(service: str, log: NoteVerifier, signer: NoteSigner, folder: Path, before: Witnessed) -> Witnessed:
    """The log's newest head, signed; it must be on disk before it is handed out."""
    note, _ = newest_head(service)
    head = opened(note, log)
    grew = 0 < before.head.size < head.size
    proof = consistency_proof(service, before.head.size, head.size) if grew else []
    try:
        return witnessed(note, log, before, proof, signer, int(time.time()))
    except UntrustedNoteError as fault:
        evidence = folder / f"not-{head.size}-{head.root.hex()[:16]}.txt"
        _write(evidence, note)
        raise UntrustedNoteError(f"{fault}; the two heads are in {folder / 'head.txt'} and {evidence}") from fault


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, waiting for another process that has it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(folder / "lock", os.O_WRONLY | os.O_CREAT, 0o600)
    except OSError as fault:
        raise SetupError(f"cannot write {folder}: {fault.strerror}") from fault
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _post(service: str, note: str) -> None:
    """Post our signature to the service; if it does not store it, our check is still valid."""
    named = without_credentials(service)
    try:
        with opened_client(timeout=TIMEOUT_S) as client:
            answer = client.post(f"{service}/api/v1/log/cosignatures", content=note)
    except httpx.HTTPError as fault:
        say(f"warning: {named} rejected the signature: {reason(fault)}", err=True)
        return
    if answer.is_error:
        hint = (
            "; its operator must enrol this witness in keys/witnesses"
            if answer.status_code == httpx.codes.FORBIDDEN
            else ""
        )
        say(f"warning: {named} rejected the signature: {answer.status_code}{hint}", err=True)


def _read(path: Path, log: NoteVerifier) -> Witnessed:
    """The last signed head; this witness wrote the file, so its signature is not verified."""
    try:
        note = path.read_text()
        return Witnessed(parse_checkpoint(parse_note(note).text), note)
    except FileNotFoundError:
        return nothing_yet(log)
    except OSError as fault:
        raise SetupError(f"cannot read {path}: {fault.strerror}") from fault
    except (UntrustedNoteError, UnicodeDecodeError) as fault:
        raise SetupError(f"{path} is damaged: restore it; without it, earlier heads are no longer checked") from fault


def _write(path: Path, text: str) -> None:
    try:
        write_whole(path, [text.encode()])
    except OSError as fault:
        raise SetupError(f"cannot write {path}: {fault.strerror}") from fault
