"""The `headwater` command: its subcommands, its logging, and how its errors are told."""

import logging
import sys

import typer

from headwater.cli.coverage import coverage
from headwater.cli.demo.command import demo
from headwater.cli.diff import diff
from headwater.cli.impact import impact
from headwater.cli.key import key
from headwater.cli.lab import lab
from headwater.cli.lint import lint
from headwater.cli.root_cause import root_cause
from headwater.cli.run import run
from headwater.cli.serve import serve
from headwater.cli.store import store
from headwater.cli.trace import trace
from headwater.cli.verify import verify
from headwater.errors import HeadwaterError
from headwater.model.producer import VERSION

app = typer.Typer(
    name="headwater",
    help="Data lineage you can prove, from the source.",
    epilog="Start with: headwater demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (serve, run, lint, verify, trace, impact, diff, root_cause, coverage, demo):
    app.command()(command)
app.add_typer(key)
app.add_typer(store)
app.add_typer(lab)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"headwater {VERSION}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version."),
) -> None:
    """Data lineage you can prove, from the source."""


def main() -> None:
    """Run the command line; an error we know ends it with one sentence on standard error and exit status 1."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    try:
        app()
    except HeadwaterError as error:
        typer.echo(f"headwater: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
