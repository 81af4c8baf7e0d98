"""Words for people: all that commands print but JSON goes through here, so that nothing in it steers the terminal.

Names and messages come from events, which anybody may have sent: in none of them may a control character act, or a
line end but where the command ends it.
"""

import re
from collections.abc import Iterable
from typing import Final

import typer
from rich.console import Console
from rich.style import Style
from rich.text import Text

_STEERS: Final = re.compile("[\0-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but the tab, ends of lines, what turns the direction of writing, and halves of characters."""


def harmless(text: str) -> str:
    r"""The text with what could steer a terminal spelled out; letters of any script and emoji stay as they are.

    >>> harmless("or\x1b[2Jders 🐟")
    'or\\x1b[2Jders 🐟'
    """
    return _STEERS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def say(*lines: str, err: bool = False) -> None:
    """Print lines, each as one line, on standard output or standard error."""
    for line in lines:
        typer.echo(harmless(line), err=err)


class Line(Text):
    """One line in colours, for a console."""

    def __init__(self, text: str = "", style: str = "") -> None:
        super().__init__(harmless(text), style=style)

    def append(self, text: Text | str, style: str | Style | None = None) -> "Line":
        """Add something at its end; gives itself."""
        super().append(harmless(text) if isinstance(text, str) else text, style)
        return self


def unbroken_console() -> Console:
    """A console that leaves long lines to the terminal, which wraps them; Rich would cut off a tree's at 80."""
    return Console(soft_wrap=True, width=10_000)


def lines_of(texts: Iterable[str]) -> Iterable[str]:
    """Each line of texts that have several, as messages do that programs printed."""
    return (line for text in texts for line in text.split("\n"))
