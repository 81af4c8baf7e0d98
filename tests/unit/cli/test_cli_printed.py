"""All output for people is escaped in one place, so that text from an event cannot control the terminal."""

import ast
from pathlib import Path

import pytest
from rich.console import Console

from headwater.cli import printed
from headwater.cli.printed import Line, harmless

ROOM = Path(printed.__file__).parent
OF_MACHINES = ("json.dumps(", "orjson.dumps(", "write_jwks(", "nl=False")
"""The beginnings of calls that print JSON, or no line."""
FOR_PEOPLE = {"rich.text", "rich.markup"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jorders", r"\x1b[2Jorders"),
        ("or\nders\r\x08", r"or\nders\r\x08"),
        ("\x9b31m\x7f", r"\x9b31m\x7f"),
        ("a\u202eb\u2066c\u200fd\u2028e", r"a\u202eb\u2066c\u200fd\u2028e"),
        ("\udcff", r"\udcff"),
        ("naïve 魚 👩\u200d💻 🏴󠁧󠁢󠁥󠁮󠁧󠁿 मछली\u00a0\u3000\t|", "naïve 魚 👩\u200d💻 🏴󠁧󠁢󠁥󠁮󠁧󠁿 मछली\u00a0\u3000\t|"),
    ],
)
def test_only_control_characters_are_escaped(text: str, shown: str) -> None:
    assert harmless(text) == shown


def test_a_line_in_colours_stays_one_line() -> None:
    console = Console(force_terminal=True, width=80)
    line = Line("a\x1bb\n", style="bold").append("c\x1b\nd", "red").append(Line("\x07"))

    with console.capture() as captured:
        console.print(line)

    assert captured.get() == "\x1b[1ma\\x1bb\\n\x1b[0m\x1b[1;31mc\\x1b\\nd\x1b[0m\x1b[1m\\x07\x1b[0m\n"


def test_every_command_prints_text_through_it() -> None:
    others = [f"{path.name}: {call}" for path in sorted(ROOM.rglob("*.py")) for call in _prints(path)]

    assert others == []


def _prints(path: Path) -> list[str]:
    tree = ast.parse(path.read_text())
    calls = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    echoes = [call.removeprefix("typer.echo(") for call in calls if call.startswith("typer.echo(")]
    imported = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    own = path.name == "printed.py"
    prints = [echo for echo in echoes if not echo.startswith(OF_MACHINES)] + [*FOR_PEOPLE.intersection(imported)]
    return [] if own else prints
