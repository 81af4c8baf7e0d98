"""Long work shows where it stands, on standard error."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer
from rich.console import Console


@contextmanager
def shown_progress(first: str) -> Iterator[Callable[[str], None]]:
    """Gives a function that takes the stage of the work: a spinner on a terminal, else a line a stage."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda stage: typer.echo(stage, err=True)
        return
    with console.status(first) as status:
        yield lambda stage: status.update(stage)
