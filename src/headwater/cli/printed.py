"""Output for people: everything but JSON goes through here, so that no text can control the terminal.

Names and messages come from events, which anybody may have sent: their control characters and line breaks are escaped.
"""

import re
from collections.abc import Iterable
from typing import Final

import typer
from rich.console import Console
from rich.style import Style
from rich.text import Text

_STEERS: Final = re.compile("[\0-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters except the tab, line breaks, characters that change the text direction, and lone surrogates."""


def harmless(text: str) -> str:
    r"""The text with characters that could control a terminal escaped; letters of any script and emoji stay.

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
        """Append a text; returns the line itself."""
        super().append(harmless(text) if isinstance(text, str) else text, style)
        return self


def unbroken_console() -> Console:
    """A console that leaves long lines to the terminal, which wraps them; Rich would cut off those of a tree at 80."""
    return Console(soft_wrap=True, width=10_000)


def lines_of(texts: Iterable[str]) -> Iterable[str]:
    """The lines of texts that may have several, as other programs' messages do."""
    return (line for text in texts for line in text.split("\n"))
