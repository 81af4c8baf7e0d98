"""Where a command posts the events that it tells."""

from typing import Annotated

import typer

_HELP = "The OpenLineage endpoint that events are posted to, any backend's, with its path"

EndpointOption = Annotated[str, typer.Option(envvar="HEADWATER_ENDPOINT", help=f"{_HELP}.")]
OptionalEndpointOption = Annotated[
    str | None, typer.Option(help=f"{_HELP}; else HEADWATER_ENDPOINT, or a service on this machine.")
]
"""None leaves it to the emitter."""
TokenEnvOption = Annotated[str | None, typer.Option(help="The environment variable with the bearer token.")]
