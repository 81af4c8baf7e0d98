"""The exit status of a command: 2 where it could not be done, 1 where it was and the answer is bad."""

import inspect
import re
import sys
from pathlib import Path

import pytest

from headwater import errors
from headwater.cli import main as program
from headwater.cli.exit_status import status_of
from headwater.errors import HeadwaterError
from headwater.signing.note import ED25519, NoteSigner

LOG = str(NoteSigner.from_seed("log.example.org", bytes(32), ED25519).verifier)
TRUST = (errors.UntrustedEventError, errors.UntrustedNoteError)
TREE = [each for _, each in inspect.getmembers(errors, inspect.isclass) if issubclass(each, HeadwaterError)]


@pytest.mark.parametrize("kind", TREE)
def test_only_what_was_looked_at_and_is_not_to_be_trusted_is_a_bad_answer(kind: type[HeadwaterError]) -> None:
    assert status_of(kind("orders")) == (1 if issubclass(kind, TRUST) else 2)


@pytest.mark.parametrize(
    "arguments",
    [
        ["job", "deploy", "no.yaml"],
        ["run", "no.yaml"],
        ["lint", "no.yaml"],
        ["dashboards", "lint", "no.yaml"],
        ["audit", "export", "-o", "bundle.zip"],
        ["impact", "lake.orders", "--url", "http://127.0.0.1:9"],
        ["log", "redact", "0", "run.facets.owner", "--reason", "asked for", "--by", "ann"],
        ["serve", "--host", "no.such.host.invalid", "--port", "0"],
        ["watch", "registry", "--once", "--url", "http://127.0.0.1:9", "--bootstrap", "broker:9092"],
        ["no-such-command"],
    ],
    ids=" ".join,
)
def test_what_could_not_be_done_exits_with_2(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert status_of_call(arguments, tmp_path / "home", monkeypatch) == 2


@pytest.mark.parametrize(
    "option",
    [
        ["key", "token", "--hours"],
        ["log", "cosign", "http://127.0.0.1:9", "--every"],
        ["witness", "http://127.0.0.1:9", "--log-key", LOG, "--every"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("value", ["inf", "1e300"])
def test_a_time_that_no_clock_counts_exits_with_2(
    option: list[str], value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status = status_of_call([*option, value], tmp_path, monkeypatch)

    assert status == 2
    assert capsys.readouterr().err.startswith(f"headwater: {option[-1]}: expected a number up to 1,000,000,000, not ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["log", "redact", "0", "run.facets.owner", "--reason", "\udcff", "--by", "ann"],
        ["sql", "run", "-e", "SELECT '\udcff'"],
        ["trace", "\udcff"],
        ["key", "revoke", "\udcff", "--from", "2026-05-22T14:00:00Z", "--reason", "lost"],
    ],
    ids=["log redact", "sql run", "trace", "key revoke"],
)
def test_an_argument_that_is_no_text_exits_with_2(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEADWATER_URL", "http://127.0.0.1:9")

    status = status_of_call(arguments, tmp_path, monkeypatch)

    assert status == 2
    assert "Traceback" not in capsys.readouterr().err


def test_what_nobody_expected_is_told_whole_and_exits_with_a_status_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "headwater.cli.lint", None)  # an installation that lacks it

    status = status_of_call(["lint", "orders.yaml"], tmp_path, monkeypatch)

    *trace, error, told = capsys.readouterr().err.splitlines()
    assert status == 70
    assert trace[0] == "Traceback (most recent call last):"
    assert error.startswith("ModuleNotFoundError: ")
    assert told == "headwater: this is a bug in Headwater; please report it with the lines above"


def status_of_call(arguments: list[str], home: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setenv("HEADWATER_HOME", str(home))
    monkeypatch.setattr("sys.argv", ["headwater", *arguments])
    with pytest.raises(SystemExit) as ended:
        program.main()
    return ended.value.code


def test_no_command_has_statuses_of_its_own() -> None:
    folder = Path(program.__file__).parent

    own = [path.name for path in folder.rglob("*.py") if re.search(r"Exit\([12]\b|exit\([12]\b", path.read_text())]

    assert own == []
