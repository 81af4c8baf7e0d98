"""`headwater store`: operations on a whole store."""

import os
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import orjson
import typer

from headwater.cli.exit_status import IS_BAD
from headwater.cli.json_output import JsonOption
from headwater.cli.misplaced import misplaced_warning
from headwater.cli.option_values import readable_database
from headwater.cli.printed import say
from headwater.cli.progress import counted_progress
from headwater.cli.signals import Terminated, sigterm_interrupts
from headwater.emit.home import headwater_home
from headwater.errors import SetupError, UnavailableError
from headwater.model.words import so_many
from headwater.store.backup import BackedUp, back_up
from headwater.store.copying import Copied, Digest
from headwater.store.copying import copy as copied
from headwater.store.opening import open_existing, open_store

store = typer.Typer(
    name="store", help="Back up the whole store, or copy it from one database to another.", no_args_is_help=True
)
_INCOMPLETE: Final = "TO is not complete: the same command continues the copy"


@store.callback()
def _group() -> None:
    """Back up the whole store, or copy it from one database to another."""


@store.command()
def backup(
    target: Annotated[Path, typer.Argument(metavar="TO", help="The file to create; segments go into TO.segments.")],
    json_output: JsonOption = False,
) -> None:
    """Copy this machine's SQLite store with its segments, and verify the copy.

    The service may keep running. Keys are not copied: back up `keys/` of HEADWATER_HOME once. For PostgreSQL, use its
    own backup tools.

    Example: headwater store backup /backup/lineage-$(date +%F).db
    """
    if os.environ.get("HEADWATER_DATABASE_URL"):
        raise SetupError("HEADWATER_DATABASE_URL is set: back a PostgreSQL database up with its own pg_dump")
    try:
        with counted_progress() as count:
            held = back_up(headwater_home() / "headwater.db", target, count)
    except OSError as fault:
        raise SetupError(f"{target} cannot be written: {fault.strerror}") from fault
    if json_output:
        typer.echo(orjson.dumps(held._asdict()))
    else:
        say(_backed_up(target, held))


@store.command()
def copy(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FROM", callback=readable_database, help="A SQLite file, or postgresql://USER@HOST/DATABASE."
        ),
    ],
    target: Annotated[
        str,
        typer.Argument(
            metavar="TO", callback=readable_database, help="Like FROM; empty, or with the beginning of FROM's log."
        ),
    ],
    json_output: JsonOption = False,
) -> None:
    """Copy everything from one database to another, and compare the two; exit 0 only if they are the same.

    Stop the services first. An interrupted copy continues where it stopped. Put a password into ~/.pgpass.

    Example: headwater store copy ~/.headwater/headwater.db postgresql://headwater@db.example.org/lineage
    """
    if source == target or _is_same_file(source, target):
        raise SetupError("FROM and TO are the same database; expected another TO")
    segments = _segments()
    with (
        closing(open_existing(source, segments)) as here,
        closing(open_store(target, segments)) as there,
        counted_progress() as count,
    ):
        try:
            with sigterm_interrupts():
                result = copied(here, there, partial(count, "copying"))
        except UnavailableError as fault:
            raise UnavailableError(f"{fault}; {_INCOMPLETE}") from fault
        except KeyboardInterrupt as stop:
            say(_INCOMPLETE, err=True)
            if isinstance(stop, Terminated):
                raise typer.Exit(stop.status) from None
            raise
    warnings = [*misplaced_warning(result.misplaced, "copy")]
    for warning in warnings:
        say(f"warning: {warning}", err=True)
    if json_output:
        typer.echo(orjson.dumps(_members(result) | {"warnings": warnings}))
    else:
        say(_sentence(result))
    if not result.is_same:
        raise typer.Exit(IS_BAD)


def _segments() -> Path | None:
    """Where the segments of a PostgreSQL database are, which few have; None where this user may not look."""
    try:
        return headwater_home() / "segments"
    except SetupError:
        return None


def _is_same_file(source: str, target: str) -> bool:
    return all(Path(each).exists() for each in (source, target)) and Path(source).samefile(target)


def _backed_up(target: Path, held: BackedUp) -> str:
    are = "is" if held.entries == 1 else "are"
    size_mb = held.size_bytes / 1_000_000
    return f"{so_many(held.entries, 'entry')} tree:{held.tree} {are} in {target}, {size_mb:,.1f} MB; read back"


def _sentence(result: Copied) -> str:
    there = result.target
    if not result.is_same:
        return f"NOT IDENTICAL: FROM has {_shown(result.source)}; TO has {_shown(there)}"
    return f"{so_many(result.copied, 'entry')} copied; FROM and TO are identical: {_shown(there)}"


def _shown(digest: Digest) -> str:
    log = f"{so_many(digest.entries, 'entry')} sha256:{digest.log} tree:{digest.tree}"
    return f"{log}, {so_many(digest.facts, 'fact')} sum:{digest.of_facts}"


def _members(result: Copied) -> dict[str, object]:
    return {
        "same": result.is_same,
        "copied": result.copied,
        "from": result.source._asdict(),
        "to": result.target._asdict(),
    }
