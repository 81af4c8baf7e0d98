"""`headwater key`: this machine's signing key; shows only its public half."""

import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from headwater.cli.json_output import JsonOption, print_result
from headwater.cli.option_values import as_long_as_can_be, read_with_zone
from headwater.cli.printed import say
from headwater.cli.service_client import DEFAULT_URL, OldUrlOption, UrlOption, address, service_at
from headwater.emit.home import headwater_home
from headwater.emit.log_keys import keep_key, kept_path, pinned_key
from headwater.errors import HeadwaterError, InvalidInputError, SetupError
from headwater.model.credentials import without_credentials
from headwater.model.times import time_at, timestamp
from headwater.signing.directory import Signed, enrolment, revocation, rotation
from headwater.signing.jwks import encoded_public_key, write_jwks
from headwater.signing.keyfile import key_path, load_or_create, next_key, replace_key, tokens_path
from headwater.signing.note import NoteVerifier, parse_log_key
from headwater.signing.tokens import new_token

_TOKEN_HOURS: Final = 24
_KEY_TEXT: Final = """\
node        {nodeId}
key id      {keyId}
public key  {publicKey}  (Ed25519, base64url)"""
_Token = Annotated[
    str | None,
    typer.Option(envvar="HEADWATER_KEY_TOKEN", help="A one-time token; rather set the variable: others see a command."),
]

key = typer.Typer(name="key", help="This machine's signing key.", no_args_is_help=True)


@key.callback()
def _group() -> None:
    """This machine's signing key."""


@key.command()
def show(
    jwks: Annotated[
        bool, typer.Option("--jwks", help="Print a JSON Web Key Set, which `headwater verify --keys` reads.")
    ] = False,
    json_output: JsonOption = False,
) -> None:
    """Show the public key, never the private one; the first use creates the key.

    Example: headwater key show --jwks > node.jwks
    """
    home = headwater_home()
    is_new = not key_path(home).exists()
    node_key = load_or_create(home)
    if is_new:
        say(f"created a new node key: {key_path(home)}", err=True)
    if jwks:
        typer.echo(write_jwks({node_key.key_id: node_key.public_key}))
        return
    public_key = encoded_public_key(node_key.public_key)
    members = {"nodeId": node_key.node_id, "keyId": node_key.key_id, "publicKey": public_key}
    print_result(_KEY_TEXT.format(**members).splitlines(), members, json_output=json_output)


@key.command()
def token(
    node: Annotated[
        str | None, typer.Option(help="The node that it is for; by default any that has no key yet.")
    ] = None,
    hours: Annotated[
        float, typer.Option(min=0.01, callback=as_long_as_can_be, help="How long it holds.")
    ] = _TOKEN_HOURS,
    json_output: JsonOption = False,
) -> None:
    """Create a one-time token with which a node enrols its key; run on the service's machine, shown only once.

    Example: headwater key token
    """
    until_us = time.time_ns() // 1_000 + round(hours * 3_600_000_000)
    created = new_token(tokens_path(headwater_home()), until_us, node)
    print_result(
        created, {"token": created, "nodeId": node, "until": timestamp(time_at(until_us))}, json_output=json_output
    )


@key.command()
def enrol(
    token: _Token = None, url: UrlOption = DEFAULT_URL, to: OldUrlOption = None, json_output: JsonOption = False
) -> None:
    """Enrol this machine's key with a service, so that the service trusts it, and keep the key of the service's log.

    From then on, events name a head of this log only if that key signed it. Compare the key with the one that the
    service's operator gives you. If the service shows another key than the one kept before, nothing is enrolled.

    Example: HEADWATER_KEY_TOKEN=… headwater key enrol --url http://localhost:5000
    """
    home, service = headwater_home(), address(url, to)
    node_key = load_or_create(home)
    log_key, is_new = _key_of_log(home, service)
    _post(service, enrolment(node_key, str(uuid.uuid4()), datetime.now(UTC)), token)
    if is_new:
        keep_key(home, service, log_key)
    lines = [
        f"enrolled {node_key.key_id}",
        f"log key  {log_key}" + (f"  (kept in {kept_path(home)})" if is_new else ""),
    ]
    print_result(lines, {"keyId": node_key.key_id, "logKey": str(log_key)}, json_output=json_output)


@key.command()
def rotate(url: UrlOption = DEFAULT_URL, to: OldUrlOption = None, json_output: JsonOption = False) -> None:
    """Replace this machine's key by a new one, signed by the old one; running processes keep using the old one.

    The old key stays trusted for events that wait in spools; revoke it once they are delivered.

    Example: headwater key rotate --url http://localhost:5000
    """
    home = headwater_home()
    old, new = load_or_create(home), next_key(home)
    _post(address(url, to), rotation(old, new, str(uuid.uuid4()), datetime.now(UTC)), None)
    replace_key(home)
    members = {"keyId": new.key_id, "replaces": old.key_id}
    print_result(f"{new.key_id} replaces {old.key_id}", members, json_output=json_output)


@key.command()
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="KEYID", help="The key's id.", show_default=False)],
    from_time: Annotated[str, typer.Option("--from", metavar="TIME", help="Since when it is not to be trusted.")],
    reason: Annotated[str, typer.Option(help="The reason; recorded in the log.")],
    token: _Token = None,
    url: UrlOption = DEFAULT_URL,
    to: OldUrlOption = None,
    json_output: JsonOption = False,
) -> None:
    """Revoke a key at a service: signed by that key itself if it is this machine's, else with a one-time token.

    Without a token, --from may be at most an hour ago. Keys that it signed since then are revoked with it, and listed.

    Example: headwater key revoke node:…#sha256:… --from 2026-05-22T14:00:00Z --reason "laptop lost"
    """
    own = load_or_create(headwater_home())
    by = [own] if own.key_id == key_id else []
    signed = revocation(key_id, read_with_zone(from_time, "--from"), reason, str(uuid.uuid4()), datetime.now(UTC), *by)
    if not by and token is None:
        raise InvalidInputError(
            f"KEYID: this machine's key is {own.key_id}; to revoke another, set HEADWATER_KEY_TOKEN to a one-time "
            "token from `headwater key token` on the service's machine"
        )
    known = _post(address(url, to), signed, token)
    fallen = [each["keyId"] for each in known if each.get("fellWith") == key_id]
    members = {"keyId": key_id, "from": from_time, "reason": reason, "fallen": fallen}
    lines = [
        f"revoked {key_id} from {from_time}",
        *(f"this also revokes {each}, which it had introduced" for each in fallen),
    ]
    print_result(lines, members, json_output=json_output)


def _key_of_log(home: Path, url: str) -> tuple[NoteVerifier, bool]:
    """The key of the service's log, and whether none was pinned before.

    Raises:
        SetupError: it is not the key that this node pinned.
    """
    with service_at(url) as client:
        shown = client.get_text("/log/key")
    try:
        key = parse_log_key(shown)
    except InvalidInputError as fault:
        raise HeadwaterError(f"{without_credentials(url)} is not a lineage service; nothing was changed") from fault
    pinned = pinned_key(home, url)
    if pinned is not None and (pinned.verifier is None or str(pinned.verifier) != str(key)):
        raise SetupError(
            f"the service shows {key} as its log's key, which is not the one in {pinned.where}: another service may "
            "answer there; nothing was changed. If its operator confirms the new key, put it there"
        )
    return key, pinned is None


def _post(url: str, signed: Signed, token: str | None) -> list[dict[str, object]]:
    """Post a signed statement to a service; returns the keys that it then knows."""
    body = {"statement": signed.text, "signatures": dict(signed.signatures)}
    with service_at(url) as client:
        answer = client.post("/keys", body if token is None else {**body, "token": token})
    if not isinstance(answer, dict) or "keys" not in answer:
        raise HeadwaterError(f"{url} is not a lineage service; nothing was changed")
    known: list[dict[str, object]] = answer["keys"]
    return known
