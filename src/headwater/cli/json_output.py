"""`--json`: a command's result as JSON for scripts, in place of text for people."""

import json
from collections.abc import Iterable
from typing import Annotated

import typer

from headwater.cli.printed import say

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
AnswerOption = Annotated[bool, typer.Option("--json", help="Print the service's answer as JSON.")]


def print_answer(answer: object) -> None:
    """Print a service's answer, or what a command makes of it, as indented JSON."""
    typer.echo(json.dumps(answer, indent=2))


def print_result(words: str | Iterable[str], members: object, *, json_output: bool) -> None:
    """Print a result on standard output: as one or several lines of text, or as JSON on one line."""
    if json_output:
        typer.echo(json.dumps(members))
    else:
        say(*([words] if isinstance(words, str) else words))
