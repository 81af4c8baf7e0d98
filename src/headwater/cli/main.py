"""The `headwater` command: its subcommands, its logging, and how its errors are told."""

import errno
import os
import re
import sys
import traceback
from collections.abc import Mapping
from importlib import import_module
from io import TextIOWrapper
from typing import Any, Final, TextIO, cast

import typer
from typer.core import TyperGroup

from headwater.cli.exit_status import CUT, FAULT, NOT_DONE, status_of
from headwater.cli.printed import lines_of, say
from headwater.errors import HeadwaterError
from headwater.model.producer import VERSION
from headwater.service.logs import log_to_stderr

_COMMANDS: Final[Mapping[str, str]] = {
    "serve": "headwater.cli.serve",
    "run": "headwater.cli.run",
    "lint": "headwater.cli.lint",
    "agent": "headwater.cli.agent",
    "job": "headwater.cli.job",
    "execution": "headwater.cli.execution",
    "verify": "headwater.cli.verify",
    "ship": "headwater.cli.ship",
    "audit": "headwater.cli.audit",
    "witness": "headwater.cli.witness",
    "trace": "headwater.cli.trace",
    "impact": "headwater.cli.impact",
    "diff": "headwater.cli.diff",
    "root-cause": "headwater.cli.root_cause",
    "coverage": "headwater.cli.coverage",
    "drift": "headwater.cli.drift",
    "demo": "headwater.cli.demo.command",
    "node": "headwater.cli.node",
    "key": "headwater.cli.key",
    "flink": "headwater.cli.flink",
    "access": "headwater.cli.access",
    "watch": "headwater.cli.watch",
    "dashboards": "headwater.cli.dashboards",
    "sql": "headwater.cli.sql",
    "store": "headwater.cli.store",
    "log": "headwater.cli.log",
    "lab": "headwater.cli.lab",
}
"""Where each command is; it stands there under its own name."""

_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""What the system says where output cannot be written, as on a disk that is full."""

_NO_TEXT: Final = "surrogates not allowed"
"""What Python and its libraries say of what is no UTF-8."""


class _OnDemand(TyperGroup):
    """Imports a command once it is called: a watcher needs no web server, and `--version` nothing at all."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401  typer's own
        super().__init__(**settings)
        self.commands = cast(Any, dict.fromkeys(_COMMANDS))  # by these names typer helps one who mistypes

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401  the click within typer
        return [*_COMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401  the click within typer
        if cmd_name not in _COMMANDS:
            return None
        found = getattr(import_module(_COMMANDS[cmd_name]), cmd_name.replace("-", "_"))
        if isinstance(found, typer.Typer):
            return typer.main.get_group(found)
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        alone.command(cmd_name)(found)
        return typer.main.get_command(alone)


app = typer.Typer(
    name="headwater",
    cls=_OnDemand,
    help="Data lineage you can prove, from the source.",
    epilog="Start with: headwater demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"headwater {VERSION}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version."),
) -> None:
    """Data lineage you can prove, from the source."""


def main() -> None:
    """Run the command line; an error ends it with a sentence on standard error and its exit status."""
    log_to_stderr()
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # one letter that the terminal lacks is no reason to stop
    try:
        status = _run()
    except BrokenPipeError:
        _let_go_of_what_nobody_reads()
        status = CUT
    sys.exit(status)


def _run() -> int | str | None:
    """Run the command and tell the error that ended it; gives the exit status.

    Raises:
        BrokenPipeError: nobody reads what it says any more.
    """
    try:
        try:
            app()
        finally:
            typer.echo(nl=False)  # nothing more, but all that waits
    except SystemExit as ended:
        match ended.__context__:  # typer and Rich say 1 themselves
            case BrokenPipeError() as cut:
                raise cut from None
            case typer.Abort() as end_of_input:
                return _told_fault(end_of_input)
        return ended.code
    except HeadwaterError as error:
        say(*lines_of([f"headwater: {error}"]), err=True)
        return status_of(error)
    except BrokenPipeError:
        raise
    except OSError as fault:
        if fault.errno not in _NO_ROOM:
            return _told_fault(fault)
        _let_go_of(sys.stdout)
        say(f"headwater: the output could not be written: {fault.strerror}", err=True)
        return NOT_DONE
    except Exception as fault:
        return _told_fault(fault)
    return 0


def _told_fault(fault: Exception) -> int:
    """Tell an error that no command expected."""
    if _NO_TEXT in str(fault) and any(map(_is_no_text, sys.argv)):
        say("headwater: an argument is no text in UTF-8", err=True)
        return NOT_DONE
    say(*lines_of(["".join(traceback.format_exception(fault)).rstrip()]), err=True)
    say("headwater: this is a fault of Headwater's own; please report it, with the lines above", err=True)
    return FAULT


def _is_no_text(argument: str) -> bool:
    """Whether it has bytes that are no UTF-8: Python keeps these as halves of characters."""
    return re.search("[\ud800-\udfff]", argument) is not None


def _let_go_of_what_nobody_reads() -> None:
    for stream in filter(None, (sys.__stdout__, sys.__stderr__)):
        try:
            stream.flush()
        except OSError:
            _let_go_of(stream)


def _let_go_of(stream: TextIO) -> None:
    """Have what waits to be written go nowhere: Python would try again at its end, and show that it cannot."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    main()
