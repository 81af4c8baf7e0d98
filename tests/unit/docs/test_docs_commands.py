"""Commands and options that documentation and help show are there."""

import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from headwater.cli.main import app
from tests.unit.docs.test_docs_links import PAGES, ROOT

SHOWN = re.compile(r"`(?:[A-Z_]+=\S+ )*(headwater [^`]+)`|^    (?:[A-Z_]+=\S+ )*(headwater [a-z].*)$", re.MULTILINE)
EXAMPLE = re.compile(r"Example: (?:[A-Z_]+=\S+ )?(headwater .+)")
NO_COMMAND = "headwater record v1"  # the words before what a record's signature covers
DOCS = [page for page in PAGES if page.name != "CHANGELOG.md"]  # it tells of what was


def commands(command: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:  # noqa: ANN401  the click within typer
    below = [*command.list_commands(None)] if hasattr(command, "list_commands") else []
    for name in below:
        yield from commands(command.get_command(None, name), *path, name)
    if not below:
        yield path, command


COMMANDS = dict(commands(typer.main.get_command(app)))


def unknown(line: str) -> list[str]:
    """What of a line is neither a command nor an option of it; nothing if it names no command."""
    words = shlex.split(re.split(r" #|\[|\|", line)[0].replace("'", "").replace('"', "").rstrip("\\& "))[1:]
    path = next((tuple(words[:length]) for length in (3, 2, 1) if tuple(words[:length]) in COMMANDS), None)
    if path is None:
        groups = {known[:length] for known in COMMANDS for length in range(len(known))}
        named = tuple(word for word in words if re.fullmatch(r"[a-z][a-z-]*", word))
        return [] if not words or words[0].startswith("-") or named in groups or words == ["…"] else [line]
    options = {option for each in COMMANDS[path].params for option in (*each.opts, *each.secondary_opts)}
    given = [word.partition("=")[0] for word in words[len(path) :] if re.match(r"--?[a-z]", word)]
    return [f"{line}: {option}" for option in given if option not in {*options, "--help"}]


@pytest.mark.parametrize("page", DOCS, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_and_option_that_a_page_shows_is_there(page: Any) -> None:  # noqa: ANN401
    lines = [one or other for one, other in SHOWN.findall(page.read_text())]

    assert [fault for line in lines if line != NO_COMMAND for fault in unknown(line)] == []


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_help_has_an_example_of_its_own_command(path: tuple[str, ...]) -> None:
    [example, *_] = EXAMPLE.findall(COMMANDS[path].help or "")

    assert example.split()[1 : 1 + len(path)] == [*path]
    assert unknown(example) == []


def test_a_command_or_an_option_that_is_not_there_is_found() -> None:
    assert unknown("headwater run orders.yaml --sett a=b") == ["headwater run orders.yaml --sett a=b: --sett"]
    assert unknown("headwater runn orders.yaml") == ["headwater runn orders.yaml"]
    assert unknown("headwater access key create a --role read") == []
