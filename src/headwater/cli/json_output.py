"""`--json`: what a command tells, for a script, on standard output in place of words for people."""

import json
from typing import Annotated

import typer

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
AnswerOption = Annotated[bool, typer.Option("--json", help="Print the service's answer as JSON.")]


def tell(words: str, members: object, *, json_output: bool) -> None:
    """Print the one or the other, on standard output; JSON on one line."""
    typer.echo(json.dumps(members) if json_output else words)
