"""The endpoint and API key for a command's events, and a warning if they did not arrive."""

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
"""None leaves the choice to the emitter."""
TokenEnvOption = Annotated[str | None, typer.Option(help="The environment variable with the bearer token.")]
KeyEnvOption = Annotated[
    str | None,
    typer.Option(
        "--token-env", metavar="NAME", help=f"The environment variable with the service's API key; else {TOKEN}."
    ),
]
"""For commands that post events to the service at `--url`, which they also query."""


def lineage_at(url: str) -> str:
    """The endpoint for events of the service at a URL; the URL may be that endpoint itself."""
    path = urlsplit(url).path.rstrip("/")
    return url if path.endswith(_LINEAGE) else f"{url.rstrip('/')}{_LINEAGE}"


def key_variable(token_env: str | None) -> str | None:
    """The variable with the API key for posting events: the given one, else the one used for queries.

    None if neither is set: a service may require no authentication.
    """
    return token_env or (TOKEN if key_in(TOKEN) else None)


@contextmanager
def closed_with_warning(emitter: "Emitter") -> Iterator["Emitter"]:
    """Close an emitter, and warn on standard error if events still wait."""
    try:
        with emitter:
            yield emitter
    finally:
        stats = emitter.stats()
        if stats.spooled:
            waits = f"{so_many(stats.spooled, 'lineage event')} not sent yet, in {headwater_home() / 'spool'}"
            say(f"{waits}: {stats.last_error}; the next run with the same target sends them, too", err=True)
