"""The list of commands that `headwater --help` shows."""

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from headwater.cli import main as program

GROUP: Any = typer.main.get_command(program.app)


@pytest.mark.parametrize("name", GROUP.list_commands(None))
def test_a_summary_is_how_the_help_of_the_command_begins(name: str) -> None:
    own = " ".join(GROUP.get_command(None, name).help.split())

    assert own.startswith(program._COMMANDS[name].removesuffix("."))


def test_a_usage_line_marks_optional_and_repeated_arguments_once() -> None:
    doubled = re.compile(r"\[\[|\]\]|…|\.\.\.\S")

    assert [usage for usage in usages(GROUP, "headwater") if doubled.search(usage)] == []


def usages(command: Any, name: str, parent: Any = None) -> Iterator[str]:  # noqa: ANN401  typer's own
    """The usage lines of a command and of its subcommands."""
    context = command.context_class(command, info_name=name, parent=parent)
    yield command.get_usage(context)
    for each in getattr(command, "list_commands", lambda _: ())(context):
        yield from usages(command.get_command(context, each), each, context)


def test_the_list_shows_each_command_and_imports_none() -> None:
    listed = "import sys; from headwater.cli.main import app; app(['--help'], standalone_mode=False)"
    printed = subprocess.run(
        [sys.executable, "-c", f"{listed}; print('imported', *sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    shown, _, imported = printed.partition("imported ")

    assert re.findall(r"^│ ([a-z-]+)", shown.partition("Commands")[2], re.MULTILINE) == GROUP.list_commands(None)
    assert {"fastapi", "httpx", "yaml", "headwater.graph.lineage"}.isdisjoint(imported.split())
