"""`headwater key`: this machine's signing key, its public half only."""

from typing import Annotated

import typer

from headwater.cli.home import headwater_home
from headwater.signing.jwks import encoded_public_key, write_jwks
from headwater.signing.keyfile import key_path, load_or_create

key = typer.Typer(name="key", help="This machine's signing key.", no_args_is_help=True)


@key.callback()
def _group() -> None:
    """This machine's signing key."""


@key.command()
def show(
    jwks: Annotated[
        bool, typer.Option("--jwks", help="Print a JSON Web Key Set, which `headwater verify --keys` reads.")
    ] = False,
) -> None:
    """Show the public key, never the private one; the first use makes the key.

    Example: headwater key show --jwks > node.jwks
    """
    home = headwater_home()
    is_new = not key_path(home).exists()
    node_key = load_or_create(home)
    if is_new:
        typer.echo(f"made a new node key: {key_path(home)}", err=True)
    if jwks:
        typer.echo(write_jwks({node_key.key_id: node_key.public_key}))
        return
    typer.echo(f"node        {node_key.node_id}")
    typer.echo(f"key id      {node_key.key_id}")
    typer.echo(f"public key  {encoded_public_key(node_key.public_key)}  (Ed25519, base64url)")
