"""Where a command posts the events that it tells, by which key, and whether they arrived."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import urlsplit

import typer

from headwater.cli.printed import say
from headwater.cli.service_client import TOKEN, key_in
from headwater.emit.home import headwater_home
from headwater.model.words import so_many

if TYPE_CHECKING:
    from headwater.emit.emitter import Emitter

_LINEAGE: Final = "/api/v1/lineage"
_HELP = "The OpenLineage endpoint that events are posted to, any backend's, with its path"

EndpointOption = Annotated[str, typer.Option(envvar="HEADWATER_ENDPOINT", help=f"{_HELP}.")]
OptionalEndpointOption = Annotated[
    str | None, typer.Option(help=f"{_HELP}; else HEADWATER_ENDPOINT, or a service on this machine.")
]
"""None leaves it to the emitter."""
TokenEnvOption = Annotated[str | None, typer.Option(help="The environment variable with the bearer token.")]
KeyEnvOption = Annotated[
    str | None,
    typer.Option(
        "--token-env", metavar="NAME", help=f"The environment variable with the service's API key; else {TOKEN}."
    ),
]
"""Of a command that tells the service at `--url`, which others ask by the key in the environment."""


def lineage_at(url: str) -> str:
    """Where the service at a URL takes events; the URL may name that itself."""
    path = urlsplit(url).path.rstrip("/")
    return url if path.endswith(_LINEAGE) else f"{url.rstrip('/')}{_LINEAGE}"


def key_variable(token_env: str | None) -> str | None:
    """The variable with the key by which a service is told: the one that is named, else the one by which it is asked.

    None where neither is set: a service may ask nobody.
    """
    return token_env or (TOKEN if key_in(TOKEN) else None)


@contextmanager
def closing_aloud(emitter: "Emitter") -> Iterator["Emitter"]:
    """Close an emitter, and say on standard error what of its events waits."""
    try:
        with emitter:
            yield emitter
    finally:
        stats = emitter.stats()
        if stats.spooled:
            waits = f"{so_many(stats.spooled, 'lineage event')} not sent yet, in {headwater_home() / 'spool'}"
            say(f"{waits}: {stats.last_error}; the next run that tells the same target sends all, too", err=True)
