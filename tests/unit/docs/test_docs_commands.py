"""Commands and options in documentation, help, errors and the page exist."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from headwater.cli.main import app
from tests.unit.docs.test_docs_links import PAGES, ROOT

SHOWN = re.compile(r"`(?:[A-Z_]+=\S+ )*(headwater [^`]+)`|^    (?:[A-Z_]+=\S+ )*(headwater [a-z].*)$", re.MULTILINE)
EXAMPLE = re.compile(r"Example: (?:[A-Z_]+=\S+ )?(headwater .+)")
NO_COMMAND = "headwater record v1"  # the context before the signed bytes of a record
IN_TEXT = re.compile(r"(?<![\w./'@-])(headwater [a-z][^`\n]*)")
IN_PAGE = re.compile(r"(?:<code>|`)(headwater [a-z][^`<{]*)")
NO_COMMANDS = ("headwater operator", "headwater segment 1", "headwater names that are not shown")
"""Beginnings of texts that are not calls: first lines of signed or stored data, and a name inside the service."""
DOCS = [page for page in PAGES if page.name != "CHANGELOG.md"]  # it describes former versions


def commands(command: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:  # noqa: ANN401  the click within typer
    below = [*command.list_commands(None)] if hasattr(command, "list_commands") else []
    for name in below:
        yield from commands(command.get_command(None, name), *path, name)
    if not below:
        yield path, command


COMMANDS = dict(commands(typer.main.get_command(app)))
ON_PAGES = {option for page in DOCS for option in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", page.read_text())}


def unknown(line: str) -> list[str]:
    """The parts of a line that are neither a command nor its option; empty if it does not name a command."""
    words = shlex.split(re.split(r" #|\[|\|", line)[0].replace("'", "").replace('"', "").rstrip("\\& "))[1:]
    path = next((tuple(words[:length]) for length in (3, 2, 1) if tuple(words[:length]) in COMMANDS), None)
    if path is None:
        groups = {known[:length] for known in COMMANDS for length in range(len(known))}
        group = tuple(word for word in words if re.fullmatch(r"[a-z][a-z-]*", word))
        return [] if not words or words[0].startswith("-") or group in groups or words == ["…"] else [line]
    options = {option for each in COMMANDS[path].params for option in (*each.opts, *each.secondary_opts)}
    options_given = [word.partition("=")[0] for word in words[len(path) :] if re.match(r"--?[a-z]", word)]
    return [f"{line}: {option}" for option in options_given if option not in {*options, "--help"}]


@pytest.mark.parametrize("page", DOCS, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_and_option_on_a_page_exists(page: Any) -> None:  # noqa: ANN401
    lines = [first or second for first, second in SHOWN.findall(page.read_text())]

    assert [fault for line in lines if line != NO_COMMAND for fault in unknown(line)] == []


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_option_of_a_command_is_on_a_page(path: tuple[str, ...]) -> None:
    named = [{*each.opts, *each.secondary_opts} for each in COMMANDS[path].params if each.opts[0].startswith("-")]

    assert [sorted(options) for options in named if not options & ON_PAGES] == []


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_help_has_an_example_of_its_command(path: tuple[str, ...]) -> None:
    [example, *_] = EXAMPLE.findall(COMMANDS[path].help or "")

    assert example.split()[1 : 1 + len(path)] == [*path]
    assert unknown(example) == []


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that the examples read, in the working folder."""
    (tmp_path / "lineage").mkdir()
    for name in ("events.jsonl", "may.zip"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_example_is_a_valid_call(path: tuple[str, ...]) -> None:
    [example, *_] = EXAMPLE.findall(COMMANDS[path].help or "")
    call = example.partition(" > ")[0].replace("/media/usb/", "").replace("$(date +%F)", "2026-05-22")

    COMMANDS[path].make_context("headwater", shlex.split(call)[1 + len(path) :])


def texts(source: Path) -> Iterator[str]:
    """The string literals of a Python file, with X in place of interpolated values."""
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_every_command_in_our_texts_exists() -> None:
    sources = sorted((ROOT / "src").rglob("*.py"))
    mentioned = {(source.name, line) for source in sources for text in texts(source) for line in IN_TEXT.findall(text)}
    calls = [(name, line) for name, line in sorted(mentioned) if not line.startswith(NO_COMMANDS)]

    assert len(calls) > 100
    assert [(name, fault) for name, line in calls for fault in unknown(line)] == []


def test_every_command_in_the_page_or_a_plugin_exists() -> None:
    sources = [*(ROOT / "web" / "src").rglob("*.ts*"), *(ROOT / "jvm").glob("*/src/**/*.java")]
    mentioned = {(source.name, line) for source in sources for line in IN_PAGE.findall(source.read_text())}

    assert len(mentioned) > 5
    assert [(name, fault) for name, line in sorted(mentioned) for fault in unknown(line)] == []


def test_a_missing_command_or_option_is_found() -> None:
    assert unknown("headwater run orders.yaml --sett a=b") == ["headwater run orders.yaml --sett a=b: --sett"]
    assert unknown("headwater runn orders.yaml") == ["headwater runn orders.yaml"]
    assert unknown("headwater access key create a --role read") == []
