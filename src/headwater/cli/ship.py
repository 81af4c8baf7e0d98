"""`headwater ship`: sends events in files to a service."""

import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Annotated

import typer

from headwater.cli.events_to import KeyEnvOption, key_variable, lineage_at
from headwater.cli.exit_status import IS_BAD
from headwater.cli.json_output import print_answer
from headwater.cli.printed import harmless, say
from headwater.cli.service_client import DEFAULT_URL, OldUrlOption, UrlOption, address
from headwater.cli.verify import Keys, read_keys, verified
from headwater.cli.web_address import is_web_address
from headwater.emit.config import HttpConfig
from headwater.emit.home import headwater_home
from headwater.emit.http import HttpTransport
from headwater.emit.shipment import ShipmentOptions, Shipped, Trouble
from headwater.emit.shipment import ship as ship_files
from headwater.http_client import opened_client
from headwater.model.words import so_many
from headwater.signing import canonical
from headwater.signing.facet import as_event, run_facets
from headwater.signing.keyfile import trusted_keys
from headwater.signing.verify import Verification

_TIMEOUT_S = 30.0
_UNFINISHED = "truncated, or still being written; it is sent once complete"
_UNREADABLE = "what it still has is sent once it can be read"
_WRONG_ADDRESS = "the server there accepts no events: use the part of the service's addresses before /api/v1"


def ship(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", exists=True, file_okay=False, help="Where the *.jsonl files are.")
    ],
    url: UrlOption = DEFAULT_URL,
    keys: Annotated[
        str | None,
        typer.Option(
            metavar="JWKS", help="The trusted keys, as a file or URL; by default this machine's, and keys/*.jwks."
        ),
    ] = None,
    token_env: KeyEnvOption = None,
    from_start: Annotated[
        bool, typer.Option("--from-start", help="Send all files again from the start; a service stores nothing twice.")
    ] = False,
    json_output: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
    to: OldUrlOption = None,
) -> None:
    """Send events of the file transport to a service: in order, from where the last shipment got to, each verified.

    Exit status 0 only if every event in the files has arrived. Events that no trusted key signed are held back and
    listed.

    Example: headwater ship /media/usb/lineage --url https://lineage.example.org --keys nodes.jwks
    """
    trusted = Keys(trusted_keys(headwater_home()), {}) if keys is None else read_keys(keys)
    endpoint = _endpoint(address(url, to))
    opened_client(verify=endpoint.startswith("https:")).close()  # fail early: the transport opens its own only later
    transport = HttpTransport(HttpConfig(endpoint=endpoint, timeout_s=_TIMEOUT_S, token_env=key_variable(token_env)))
    how = ShipmentOptions(
        transport=transport,
        verify=lambda event: _as_may_go(event, verified(event, trusted)),
        wait=time.sleep,
        rng=Random(),  # noqa: S311  jitter, not a secret
    )
    try:
        shipped = ship_files(folder, how, from_start=from_start)
    finally:
        transport.close()
    if json_output:
        print_answer(_as_json(shipped))
    else:
        say(*_in_words(shipped).split("\n"))
    if not shipped.is_whole:
        raise typer.Exit(IS_BAD)


def _endpoint(url: str) -> str:
    """The endpoint for events: the route below the service's URL, or the URL if it is that route.

    Raises:
        BadParameter: it is not a valid URL.
    """
    if not is_web_address(url):
        raise typer.BadParameter(f"{url!r} is not a URL like https://lineage.example.org", param_hint="--url")
    return lineage_at(url)


def _as_may_go(event: bytes, found: Verification) -> Verification:
    """Accept events without a run, which cannot be signed: the node's next signed event vouches for them."""
    if found.verdict == "unsigned" and run_facets(as_event(canonical.read(event))) is None:
        return Verification("ok", None, None)
    return found


def _as_json(shipped: Shipped) -> dict[str, object]:
    return {
        "arrived": shipped.arrived,
        "heldBack": shipped.held_back,
        "refused": shipped.refused,
        "heldBackBefore": shipped.held_back_before,
        "refusedBefore": shipped.refused_before,
        "left": shipped.left,
        "why": shipped.why,
        "unfinishedLines": shipped.unfinished,
        "unreadableFiles": shipped.unreadable,
        "troubles": [_trouble(trouble) for trouble in shipped.troubles],
    }


def _trouble(trouble: Trouble) -> dict[str, object]:
    return {
        "file": trouble.file,
        "line": trouble.line,
        "verdict": trouble.verdict,
        "reason": trouble.reason,
        "isFromBefore": trouble.is_from_before,
    }


def _to_go_on(why: str | None) -> str:
    match (why or "")[:3]:
        case "401":
            return "set --token-env to the variable with the service's token, and run it again to continue"
        case "404" | "405":
            return f"{_WRONG_ADDRESS}, and run it again to continue"
    return "run it again to continue"


def _in_words(shipped: Shipped) -> str:
    counts = f"{shipped.arrived:,} arrived, {shipped.held_back:,} held back, {shipped.refused:,} refused"
    if shipped.unfinished:
        counts += f", {shipped.unfinished:,} unfinished: {_UNFINISHED}"
    if shipped.unreadable:
        counts += f", {so_many(shipped.unreadable, 'unreadable file')}: {_UNREADABLE}"
    left = f", {shipped.left:,} left: {shipped.why}; {_to_go_on(shipped.why)}" if shipped.left else ""
    lines = [*map(_line, shipped.troubles), f"{counts}{left}{_sends_again(shipped)}", *_from_before(shipped)]
    return "\n".join(map(harmless, lines))


def _line(trouble: Trouble) -> str:
    before = "(before)  " if trouble.is_from_before else ""
    place = trouble.file if trouble.line is None else f"{trouble.file}:{trouble.line}"
    return f"{place}  {trouble.verdict}  {before}{trouble.reason or ''}".rstrip()


def _sends_again(shipped: Shipped) -> str:
    """The advice on how to send the events that did not arrive."""
    is_unknown = any(one.verdict == "unknown-key" for one in shipped.troubles)
    keys = "; once --keys contains its key, --from-start sends it" if is_unknown else ""
    refusals = [one.reason or "" for one in shipped.troubles if one.verdict == "refused"]
    if refusals and all(why.startswith("404") for why in refusals):
        return f"{keys}; {_WRONG_ADDRESS}"
    is_refused = shipped.refused or shipped.refused_before
    return keys + ("; once the service would accept it, --from-start sends it" if is_refused else "")


def _from_before(shipped: Shipped) -> Iterator[str]:
    if shipped.held_back_before or shipped.refused_before:
        yield (
            f"from before: {shipped.held_back_before:,} held back, {shipped.refused_before:,} refused; they are still "
            "in their files, are not sent again, and are counted until they arrive or their lines are removed"
        )
