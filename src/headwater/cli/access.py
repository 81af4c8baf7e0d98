"""`headwater access`: the service's API keys."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Annotated, Any

import orjson
import typer

from headwater.access.callers import EVERYTHING, checked_roles
from headwater.access.operator import operator_token
from headwater.cli.json_output import JsonOption, print_result
from headwater.cli.option_values import read_with_zone, said_by
from headwater.cli.printed import say
from headwater.cli.service_client import DEFAULT_URL, ServiceClient, UrlOption, bearer, in_path, service_at
from headwater.cli.who import who
from headwater.emit.home import headwater_home
from headwater.errors import InvalidInputError
from headwater.signing.notefile import log_key

access = typer.Typer(name="access", help="API keys and their roles.", no_args_is_help=True)
key = typer.Typer(name="key", help="API keys.", no_args_is_help=True)
access.add_typer(key)

_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def _time_to_come(context: typer.Context, parameter: typer.CallbackParam, value: str | None) -> str | None:
    if value is not None and read_with_zone(value, said_by(context, parameter)) <= datetime.now(UTC):
        raise InvalidInputError(
            f"--until: {value} is in the past, so the key would never be valid; expected a future time"
        )
    return value


@access.callback()
def _group() -> None:
    """API keys and their roles."""


@key.command()
def create(
    name: Annotated[str, typer.Argument(help="Its name, also in the log.", show_default=False)],
    role: Annotated[list[str], typer.Option(help="ingest, read, steward or admin; may be given several times.")],
    scope: Annotated[
        list[str] | None,
        typer.Option(
            help="A namespace, or a pattern like 'sales*', '*' for all; may be given several times. Admins need none."
        ),
    ] = None,
    node: Annotated[
        list[str] | None, typer.Option(help="ingest: only events that this node signed, a pattern; by default any.")
    ] = None,
    restricted: Annotated[bool, typer.Option("--restricted", help="May see the names of restricted columns.")] = False,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", callback=_time_to_come, help="When it expires; by default never.")
    ] = None,
    url: UrlOption = DEFAULT_URL,
    json_output: JsonOption = False,
) -> None:
    """Create an API key and print it; it is shown only once, and stored as a hash.

    On the service's machine it needs read access to the log's key; elsewhere, an admin's key in HEADWATER_TOKEN.

    Example: headwater access key create dashboards --role read --scope 'sales*'
    """
    if checked_roles(role, "--role") != {"admin"} and not scope:
        raise InvalidInputError("--scope: name the namespaces, such as --scope 'sales*'; --scope '*' means all")
    body = {
        "name": name,
        "roles": role,
        "scopes": scope or [],
        "nodes": node or None,
        "knowsRestricted": restricted,
        "until": until,
    }
    with _as_admin(url) as client:
        created = client.post("/access/keys", body)
    print_result(created["secret"], created, json_output=json_output)
    say("the key is shown only this once; give it to its owner as HEADWATER_TOKEN", err=True)


@key.command("list")
def list_keys(json_output: _Json = False, url: UrlOption = DEFAULT_URL) -> None:
    """List API keys, including revoked ones, without their secrets.

    Example: headwater access key list
    """
    with _as_admin(url) as client:
        keys = client.get("/access/keys")["keys"]
    if json_output:
        typer.echo(orjson.dumps(keys))
    else:
        say(*map(_line, keys) if keys else ("no API keys",))


@key.command()
def revoke(
    name: Annotated[str, typer.Argument(metavar="NAME|ID", help="Which key.", show_default=False)],
    url: UrlOption = DEFAULT_URL,
    json_output: JsonOption = False,
) -> None:
    """Revoke an API key, effective at once.

    Example: headwater access key revoke dashboards
    """
    with _as_admin(url) as client:
        gone = client.delete(f"/access/keys/{in_path(name)}")
    print_result(f"revoked {gone['name']} ({gone['id']})", gone, json_output=json_output)


def operators_token() -> str | None:
    """A token for one minute, made with the log's key; None if the environment has a token, or there is no such key."""
    if bearer() or not ((home := headwater_home()) / "keys" / "log.key").exists():
        return None
    return operator_token(log_key(home, None, ""), who(), time.time_ns() // 1_000)


@contextmanager
def _as_admin(url: str) -> Iterator[ServiceClient]:
    """A client with the token in the environment, else with an operator's token."""
    with service_at(url, token=operators_token()) as client:
        yield client


def _line(key: dict[str, Any]) -> str:
    end = "revoked" if key["isRevoked"] else f"until {key['until']}" if key["until"] else ""
    nodes = "" if EVERYTHING in key["nodes"] else f"node {' '.join(key['nodes']) or 'none'}"
    restricted = "restricted" if key["knowsRestricted"] else ""
    words = [",".join(key["roles"]), " ".join(key["scopes"]), nodes, restricted, end]
    return "  ".join([key["id"], key["name"], *filter(None, words)])
