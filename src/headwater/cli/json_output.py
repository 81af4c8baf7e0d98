"""`--json`: what a command tells, for a script, on standard output in place of words for people."""

import json
from collections.abc import Iterable
from typing import Annotated

import typer

from headwater.cli.printed import say

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
AnswerOption = Annotated[bool, typer.Option("--json", help="Print the service's answer as JSON.")]


def tell(words: str | Iterable[str], members: object, *, json_output: bool) -> None:
    """Print the one or the other, on standard output: a line or several of words, or JSON on one line."""
    if json_output:
        typer.echo(json.dumps(members))
    else:
        say(*([words] if isinstance(words, str) else words))
