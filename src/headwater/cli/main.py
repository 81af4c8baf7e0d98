"""The `headwater` command: its subcommands, its logging, and its error reporting."""

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
"""The module of each command, which has the command's name there."""

_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""System errors of output that cannot be written, for instance on a full disk."""

_NO_TEXT: Final = "surrogates not allowed"
"""Part of the message of Python and its libraries about invalid UTF-8."""


class _OnDemand(TyperGroup):
    """Imports a command only when it is called: a watcher needs no web server, and `--version` nothing at all."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401  typer's own
        super().__init__(**settings)
        self.commands = cast(Any, dict.fromkeys(_COMMANDS))  # from these names typer suggests corrections

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
    """Run the command line; an error ends it with a message on standard error and its exit status."""
    log_to_stderr()
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a character that the terminal lacks must not stop the command
    try:
        status = _run()
    except BrokenPipeError:
        _discard_unread_output()
        status = CUT
    sys.exit(status)


def _run() -> int | str | None:
    """Run the command and report an error that ended it; returns the exit status.

    Raises:
        BrokenPipeError: the reader of its output is gone.
    """
    try:
        try:
            app()
        finally:
            typer.echo(nl=False)  # flush what is buffered
    except SystemExit as ended:
        match ended.__context__:  # typer and Rich exit with 1 themselves
            case BrokenPipeError() as cut:
                raise cut from None
            case typer.Abort() as end_of_input:
                return _report_fault(end_of_input)
        return ended.code
    except HeadwaterError as error:
        say(*lines_of([f"headwater: {error}"]), err=True)
        return status_of(error)
    except BrokenPipeError:
        raise
    except OSError as fault:
        if fault.errno not in _NO_ROOM:
            return _report_fault(fault)
        _discard(sys.stdout)
        say(f"headwater: cannot write the output: {fault.strerror}", err=True)
        return NOT_DONE
    except Exception as fault:
        return _report_fault(fault)
    return 0


def _report_fault(fault: Exception) -> int:
    """Report an unexpected error."""
    if _NO_TEXT in str(fault) and any(map(_has_invalid_utf8, sys.argv)):
        say("headwater: an argument is not valid UTF-8", err=True)
        return NOT_DONE
    say(*lines_of(["".join(traceback.format_exception(fault)).rstrip()]), err=True)
    say("headwater: this is a bug in Headwater; please report it with the lines above", err=True)
    return FAULT


def _has_invalid_utf8(argument: str) -> bool:
    """Whether it has invalid UTF-8, which Python represents by lone surrogates."""
    return re.search("[\ud800-\udfff]", argument) is not None


def _discard_unread_output() -> None:
    for stream in filter(None, (sys.__stdout__, sys.__stderr__)):
        try:
            stream.flush()
        except OSError:
            _discard(stream)


def _discard(stream: TextIO) -> None:
    """Redirect a stream's buffered output to nowhere: Python would try to flush it at exit, and report the failure."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    main()
