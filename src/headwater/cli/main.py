"""The `headwater` command: its subcommands, its logging, and its error reporting."""

import errno
import os
import re
import sys
import traceback
from collections.abc import Mapping
from importlib import import_module
from io import TextIOWrapper
from typing import Any, Final, TextIO

import typer
from typer.core import TyperCommand, TyperGroup

from headwater.cli.exit_status import CUT, FAULT, NOT_DONE, status_of
from headwater.cli.printed import lines_of, say
from headwater.errors import HeadwaterError
from headwater.model.producer import VERSION
from headwater.service.logs import log_to_stderr

_COMMANDS: Final[Mapping[str, str]] = {
    "serve": "Run the lineage service.",
    "run": "Run a pipeline file on Spark, and report its lineage.",
    "lint": "Check pipeline files against the lint rules.",
    "agent": "Run deployed pipelines on this machine: scheduled batches, streams, restarts.",
    "job": "Pipelines that the agent of this machine runs.",
    "execution": "Executions of the agent of this machine.",
    "verify": "Verify the signatures of events, or of records; exit 0 only if there are any and all are ok.",
    "ship": "Send events of the file transport to a service: in order, from where the last shipment got to.",
    "audit": "Export a part of the log as a bundle that proves itself, and verify such bundles.",
    "witness": "Sign a log's head as long as the log only grows; exit status 1, with both heads kept, if it does not.",
    "trace": "Show what a dataset or column is made from, as a tree.",
    "impact": "Show what a change of a dataset or column reaches, and with --change what it breaks.",
    "diff": "Show what was added, removed or changed between two times or two runs, and by which event.",
    "root-cause": "Show what changed or failed in the runs that made a dataset or column, likeliest cause first.",
    "coverage": "Show the known gaps: what events should have reported and did not, or reported wrongly.",
    "drift": "Show schema changes, newest first: who reported each, which columns changed, and what depends on them.",
    "demo": "Run three pipelines over real flights and show their lineage, from the CSV files to the last column.",
    "node": "Edge machines, and whether their records are complete.",
    "key": "This machine's signing key.",
    "flink": "Jobs of Apache Flink, with their lineage.",
    "access": "API keys and their roles.",
    "watch": "Report the lineage of engines that do not report it themselves.",
    "dashboards": "Declare dashboards, their owners and the columns that they use.",
    "sql": "Query Iceberg tables on this machine, by DuckDB.",
    "store": "Back up the whole store, or copy it from one database to another.",
    "log": "The log: who did what; erase a facet without breaking any proof; ask for witnesses' signatures.",
    "lab": "Real components on this machine: Kafka with Connect and S3, Flink, Trino.",
}
"""The summary of each command, with which its own help begins; to list them no command is imported."""

_MODULES: Final[Mapping[str, str]] = {"demo": "headwater.cli.demo.command"}
"""The modules of commands that are not called like the command; each has the command's name there."""

_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""System errors of output that cannot be written, for instance on a full disk."""

_NO_TEXT: Final = "surrogates not allowed"
"""Part of the message of Python and its libraries about invalid UTF-8."""


class _OnDemand(TyperGroup):
    """Imports a command only when it is called: a watcher needs no web server, and `--version` nothing at all."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401  typer's own
        super().__init__(**settings)
        self.commands: Any = {name: TyperCommand(name, help=summary) for name, summary in _COMMANDS.items()}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401  the click within typer
        if cmd_name not in _COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        found = getattr(import_module(_MODULES.get(cmd_name, f"headwater.cli.{name}")), name)
        if isinstance(found, typer.Typer):
            return typer.main.get_group(found)
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        alone.command(cmd_name)(found)
        return typer.main.get_command(alone)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401  the click within typer
        only_listed = TyperGroup(commands=self.commands, params=self.params, help=self.help, epilog=self.epilog)
        only_listed.format_help(ctx, formatter)


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
        if isinstance(fault, PermissionError) and fault.filename is not None:
            say(*lines_of([f"headwater: {fault.filename}: {fault.strerror}"]), err=True)
            return NOT_DONE
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
