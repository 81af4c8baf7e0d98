"""`headwater verify`: verifies the signatures of events in files."""

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import httpx
import typer
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from rich.console import Console
from rich.progress import Progress

from headwater.capture.unread import why_unread
from headwater.cli.exit_status import IS_BAD
from headwater.cli.http_client import reason
from headwater.cli.printed import harmless, say
from headwater.errors import InvalidEventError, InvalidInputError
from headwater.http_client import opened_client
from headwater.model.credentials import without_credentials
from headwater.model.events import parse_event
from headwater.model.words import so_many
from headwater.signing.jwks import read_jwks, read_revocations
from headwater.signing.records import verify_record
from headwater.signing.verify import Verification, as_revoked, verify_event

_JSON_WHITE_SPACE: Final = b" \t\r\n"
_KEYS_TIMEOUT_S: Final = 10.0
_PROGRESS_FROM_BYTES: Final = 10_000_000


class Keys(NamedTuple):
    """The trusted keys by their ids, and the times from which some are revoked."""

    trusted: Mapping[str, Ed25519PublicKey]
    revoked: Mapping[str, datetime]


class Judged(NamedTuple):
    """One event of a file and its verification; `line` counts from 1, blank lines too."""

    path: Path
    line: int
    verification: Verification


def verify(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="Events, one JSON object a line.")
    ],
    keys: Annotated[str, typer.Option(metavar="JWKS", help="The trusted keys: a JSON Web Key Set, as a file or URL.")],
    records: Annotated[
        bool, typer.Option("--records", help="The files hold records that the processor `signature` signed.")
    ] = False,
    column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="For records: the column with the signature; by default `signature`."),
    ] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object an event.")] = False,
) -> None:
    """Verify the signatures of events, or of records; exit 0 only if there are any and all are ok.

    Example: headwater verify events.jsonl --keys node.jwks

    Verdicts: ok, tampered, unknown-key (signed by a key that JWKS lacks, or that was revoked by then), unsigned,
    malformed (no event in JSON, or one that may be read in two ways: a key stands twice, it is too deep).
    """
    if column is not None and not records:
        raise typer.BadParameter("only records have a column: add --records", param_hint="--column")
    trusted = read_keys(keys)
    show = _json_line if json_output else _plain_line
    judge = judge_of_records(column or "signature", trusted) if records else partial(verified, keys=trusted)
    name_files = len(files) > 1
    verdicts: Counter[str] = Counter()
    with _progress(files) as advance:
        for judged in judged_lines(files, judge, advance):
            verdicts[judged.verification.verdict] += 1
            sys.stdout.write(show(judged, name_files))
    if not json_output:
        say(_summary(verdicts, "record" if records else "event"))
    if set(verdicts) != {"ok"}:
        raise typer.Exit(IS_BAD)


def judged_lines(
    files: list[Path], judge: Callable[[bytes], Verification], advance: Callable[[int], None]
) -> Iterator[Judged]:
    """Judge the non-blank lines of files as they are read; `advance` is called with every line's length in bytes."""
    for path in files:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if event := line.strip(_JSON_WHITE_SPACE):
                    yield Judged(path, number, judge(event))
                advance(len(line))


def judge_of_records(column: str, keys: Keys) -> Callable[[bytes], Verification]:
    """A judge of records; a record has no time, so signatures of a key that was ever revoked are not trusted."""
    unrevoked = {key_id: key for key_id, key in keys.trusted.items() if key_id not in keys.revoked}
    return partial(verify_record, member=column, trusted=unrevoked)


def verified(event: bytes, keys: Keys) -> Verification:
    """Verify an event; a revocation is checked by the event's own time, since its arrival is unknown here."""
    verification = verify_event(event, keys.trusted)
    revoked = keys.revoked.get(verification.key_id or "") if verification.verdict == "ok" else None
    if revoked is None:
        return verification
    try:
        happened_us = parse_event(event).stamp.time_us
    except InvalidEventError:
        happened_us = None  # the event has no time to compare with a revocation
    if happened_us is not None and happened_us < revoked.timestamp() * 1_000_000:
        return verification
    return as_revoked(verification)


def read_keys(source: str) -> Keys:
    """The trusted keys in a file or at a URL.

    Raises:
        BadParameter: they cannot be read.
    """
    is_url = source.startswith(("http://", "https://"))
    try:
        text = _fetched(source) if is_url else Path(source).read_text()
        return Keys(read_jwks(text), read_revocations(text))
    except (InvalidInputError, OSError, UnicodeDecodeError) as fault:
        why = fault if isinstance(fault, InvalidInputError) else why_unread(fault)
        where = without_credentials(source) if is_url else source
        message = f"cannot read the keys in {where}: {why}; expected a JSON Web Key Set, as a file or URL"
        raise typer.BadParameter(message, param_hint="--keys") from fault


def _fetched(url: str) -> str:
    """The text at a URL.

    Raises:
        InvalidInputError: there is none, or no server answers.
    """
    try:
        with opened_client(timeout=_KEYS_TIMEOUT_S, follow_redirects=True) as client:
            answer = client.get(url)
    except httpx.HTTPError as fault:
        raise InvalidInputError(f"no answer ({reason(fault)})") from fault
    except (httpx.InvalidURL, UnicodeError) as fault:
        raise InvalidInputError(f"not a URL ({fault})") from fault
    if not answer.is_success:
        raise InvalidInputError(f"the server answered {answer.status_code}")
    return answer.text


def _json_line(judged: Judged, name_files: bool) -> str:
    file = {"file": os.fsencode(judged.path).decode(errors="replace")} if name_files else {}
    verdict, key_id, _ = judged.verification
    shown = {**file, "line": judged.line, "verdict": verdict, "keyId": key_id}
    return json.dumps(shown, separators=(",", ":")) + "\n"


def _plain_line(judged: Judged, name_files: bool) -> str:
    file = f"{judged.path}:" if name_files else "line "
    verdict, key_id, reason = judged.verification
    details = "  ".join(part for part in (key_id, reason and f"({reason})") if part)
    return harmless(f"{file}{judged.line:<6}  {verdict:<11}  {details}") + "\n"


def _summary(verdicts: Counter[str], what: str) -> str:
    if not verdicts:
        return f"no {what}s"
    total = verdicts.total()
    counts = ", ".join(f"{count:,} {verdict}" for verdict, count in verdicts.most_common())
    return f"{so_many(total, what)}: {counts}"


@contextmanager
def _progress(files: list[Path]) -> Iterator[Callable[[int], None]]:
    """Show progress on a terminal, unless the verdicts scroll past there anyway."""
    total = sum(path.stat().st_size for path in files)
    if sys.stdout.isatty() or not sys.stderr.isatty() or total < _PROGRESS_FROM_BYTES:
        yield lambda _: None
        return
    with Progress(console=Console(stderr=True), transient=True, redirect_stdout=False) as progress:
        yield partial(progress.advance, progress.add_task("verifying", total=total))
