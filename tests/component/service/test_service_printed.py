"""Names and messages with control characters, as the commands print them; and output that cannot be written."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headwater.cli.main import app
from tests.support.app import Body, dataset, event, facet
from tests.support.service import Service, running

EVIL = "\x1b[2J\nFAKE\x07\u202e"
SAFE = r"\x1b[2J\nFAKE\x07\u202e"
CONTROL_CHARACTERS = frozenset("\x1b\x07\u202e")
MARK = {"namespace": "lake", "name": f"raw{EVIL}"}
FISH = "fish 🐟"
DOTS = {"namespace": "..", "name": ".."}


def columns(*names: str) -> Body:
    return facet(fields=[{"name": name, "type": f"int{EVIL}"} for name in names])


def run(number: int, kind: str, job: str, columns_read: Body, **changes: object) -> Body:
    reads = [{**MARK, "facets": {"schema": columns_read}}]
    return event(
        eventType=kind,
        eventTime=f"2026-05-22T14:{number:02d}:00Z",
        run={
            "runId": f"r{EVIL}{number}",
            "facets": {"errorMessage": facet(message=f"no{EVIL}", programmingLanguage="X")},
        },
        job={"namespace": f"etl{EVIL}", "name": job},
        **{"inputs": reads, "outputs": [dataset(f"mart{EVIL}", schema=columns(f"b{EVIL}"))], **changes},
    )


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("home")) as service:
        one, two = columns(f"a{EVIL}", "c"), columns("c")
        events = [run(1, "COMPLETE", f"load{EVIL}", one), run(2, "FAIL", f"load{EVIL}", two)]
        fish = run(3, "COMPLETE", FISH, two, outputs=[dataset("bowl")])
        dots = run(4, "COMPLETE", "dot", two, outputs=[{**DOTS, "facets": {"schema": columns("c")}}, dataset(".", "a")])
        quarantined = run(5, "COMPLETE", "lost", two, outputs=[{"namespace": "", "name": f"q{EVIL}"}])
        service.post_events([*events, fish, dots, quarantined])
        yield service


@pytest.mark.parametrize(
    "command",
    [
        ["trace", f"mart{EVIL}"],
        ["impact", f"raw{EVIL}"],
        ["impact", f"raw{EVIL}:c", "--change", "rename:x"],
        ["root-cause", f"mart{EVIL}"],
        ["coverage"],
        ["drift"],
        ["diff", "log:0"],
    ],
    ids=lambda command: " ".join(command).replace(EVIL, ""),
)
def test_no_control_character_in_a_name_is_printed(service: Service, command: list[str]) -> None:
    text = CliRunner().invoke(app, [*command, "--url", service.url]).stdout
    answer = CliRunner().invoke(app, [*command, "--url", service.url, "--json"]).stdout

    assert SAFE in text
    assert not CONTROL_CHARACTERS.intersection(text)
    assert not [line for line in text.splitlines() if line.startswith("FAKE")]
    assert json.dumps(EVIL)[1:-1] in answer


def test_an_error_message_shows_control_characters_escaped(service: Service) -> None:
    result = CliRunner().invoke(app, ["trace", f"mart{EVIL}:nothing", "--url", service.url])

    assert str(result.exception).endswith(f"it has b{SAFE}")


def program(
    service: Service, *arguments: str, to: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "headwater.cli.main", *arguments, "--url", service.url]
    with (to or Path(os.devnull)).open("wb") as output:
        return subprocess.run(
            command,
            stdout=output if to else subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **variables},
            check=False,
        )


def test_a_character_that_the_terminal_lacks_is_replaced(service: Service) -> None:
    result = program(service, "trace", "bowl", PYTHONIOENCODING="latin-1")

    assert (result.returncode, result.stderr) == (0, b"")
    assert b"fish ?" in result.stdout


@pytest.mark.parametrize("command", [["coverage"], ["trace", "bowl", "--json"]], ids=" ".join)
def test_a_full_disk_is_reported_in_one_sentence(service: Service, command: list[str]) -> None:
    result = program(service, *command, to=Path("/dev/full"))

    assert (result.returncode, result.stderr.decode()) == (
        2, "headwater: cannot write the output: No space left on device\n"
    )  # fmt: skip


def test_the_reader_of_the_output_may_close_it_early(tmp_path: Path) -> None:
    (events := tmp_path / "events.jsonl").write_text("{}\n")
    (keys := tmp_path / "keys.jwks").write_text('{"keys": []}')
    ours, theirs = os.pipe()
    os.close(ours)

    command = [sys.executable, "-m", "headwater.cli.main", "verify", str(events), "--keys", str(keys), "--json"]
    with os.fdopen(theirs, "wb") as nobody:
        result = subprocess.run(command, stdout=nobody, stderr=subprocess.PIPE, check=False)

    assert (result.returncode, result.stderr) == (141, b"")


@pytest.mark.parametrize("name", ["..:..:c", "a:.:c", "..:.."])
def test_a_name_of_dots_is_not_a_relative_path(service: Service, name: str) -> None:
    result = CliRunner().invoke(app, ["impact", name, "--url", service.url])

    if name.startswith("a"):
        assert str(result.exception) == "a:. has no column 'c'; it has no known columns"
    else:
        assert (result.exit_code, result.exception) == (0, None)
    with_namespace = CliRunner().invoke(app, ["coverage", "--namespace", "..", "--url", service.url])
    assert with_namespace.exit_code == 0
