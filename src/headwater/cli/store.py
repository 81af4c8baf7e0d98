"""`headwater store`: what is done with a whole store, while no service uses it."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Final

import orjson
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from headwater.emit.home import headwater_home
from headwater.errors import SetupError
from headwater.store.copying import Copied, Digest
from headwater.store.copying import copy as copied
from headwater.store.opening import open_store

_TOLD_EVERY: Final = 20_000
"""Entries between two lines about progress, where there is no terminal."""

store = typer.Typer(name="store", help="The whole store: copy it from one database to another.", no_args_is_help=True)


@store.callback()
def _group() -> None:
    """The whole store: copy it from one database to another."""


@store.command()
def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A SQLite file, or postgresql://USER@HOST/DATABASE.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="As FROM; empty, or with the beginning of FROM's log.")],
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Copy everything from one database to another, and compare the two; exit 0 only if they are the same.

    Stop the services first. What was broken off goes on where it ended. Leave a password to ~/.pgpass.

    Example: headwater store copy ~/.headwater/headwater.db postgresql://headwater@db.example.org/lineage
    """
    if "://" not in source and not Path(source).exists():
        raise SetupError(f"FROM: there is no file {source}")
    segments = headwater_home() / "segments"
    with (
        closing(open_store(source, segments)) as here,
        closing(open_store(target, segments)) as there,
        _progress() as advance,
    ):
        result = copied(here, there, advance)
    typer.echo(orjson.dumps(_members(result)) if json_output else _sentence(result))
    if not result.is_same:
        raise typer.Exit(1)


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _tell
        return
    columns = ("copying", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("copying", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _tell(done: int, total: int) -> None:
    if done % _TOLD_EVERY < 128 or done == total:
        typer.echo(f"{done:,} of {total:,} entries", err=True)


def _sentence(result: Copied) -> str:
    there = result.target
    if not result.is_same:
        return f"NOT THE SAME: FROM has {_shown(result.source)}; TO has {_shown(there)}"
    return f"{result.copied:,} entries copied; FROM and TO are the same: {_shown(there)}"


def _shown(digest: Digest) -> str:
    log = f"{digest.entries:,} entries sha256:{digest.log} tree:{digest.tree}"
    return f"{log}, {digest.facts:,} facts sum:{digest.of_facts}"


def _members(result: Copied) -> dict[str, object]:
    return {
        "same": result.is_same,
        "copied": result.copied,
        "from": result.source._asdict(),
        "to": result.target._asdict(),
    }
