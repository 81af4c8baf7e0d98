"""Progress of long work, on standard error."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from headwater.cli.printed import say

_PRINT_EVERY: Final = 20_000
"""Steps between two lines, if there is no terminal."""

Count = Callable[[str, int, int], None]
"""Takes the name of the work, how much is done, and the total; 0 if that is unknown."""


@contextmanager
def shown_progress(first: str) -> Iterator[Callable[[str], None]]:
    """Yields a function that takes the stage of the work: a spinner on a terminal, else one line per stage."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda stage: say(stage, err=True)
        return
    with console.status(first) as status:
        yield lambda stage: status.update(stage)


@contextmanager
def counted_progress() -> Iterator[Count]:
    """Yields a function that takes counts: a bar on a terminal, else an occasional line."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines()
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("")
        yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total or None)


def _lines() -> Count:
    printed: dict[str, int] = {}

    def print_count(what: str, done: int, total: int) -> None:
        if done == total or done // _PRINT_EVERY > printed.get(what, 0):
            printed[what] = done // _PRINT_EVERY
            say(f"{what}: {done:,} of {total:,}" if total else f"{what}: {done:,}", err=True)

    return print_count
