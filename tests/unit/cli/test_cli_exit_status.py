"""The exit status of a command: 2 if it could not be done, 1 if it was done with a negative result."""

import inspect
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

from headwater import errors
from headwater.cli import main as program
from headwater.cli.exit_status import status_of
from headwater.errors import HeadwaterError
from headwater.signing.note import ED25519, NoteSigner
from tests.support.rights import limited

LOG = str(NoteSigner.from_seed("log.example.org", bytes(32), ED25519).verifier)
TRUST = (errors.UntrustedEventError, errors.UntrustedNoteError)
TREE = [each for _, each in inspect.getmembers(errors, inspect.isclass) if issubclass(each, HeadwaterError)]


@pytest.mark.parametrize("kind", TREE)
def test_only_an_untrusted_event_or_note_is_a_negative_result(kind: type[HeadwaterError]) -> None:
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
def test_a_command_that_could_not_be_done_exits_with_2(
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
        ["watch", "flink", "--url", "http://127.0.0.1:9", "--interval"],
        ["watch", "flink", "--url", "http://127.0.0.1:9", "--lost-after"],
        ["watch", "registry", "--url", "http://127.0.0.1:9", "--bootstrap", "broker:9092", "--interval"],
        ["watch", "trino", "--etc", "/etc/trino", "--interval"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("value", ["inf", "1e300"])
def test_an_infinite_or_huge_duration_exits_with_2(
    option: list[str], value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status = status_of_call([*option, value], tmp_path, monkeypatch)

    assert status == 2
    assert capsys.readouterr().err.startswith(f"headwater: {option[-1]}: expected a number up to 1,000,000,000, not ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["log", "cosign", "http://127.0.0.1:9", "--url", "http://ann:hunter2@127.0.0.1:9"],
        ["witness", "http://ann:hunter2@127.0.0.1:9", "--log-key", LOG, "--once"],
        ["verify", __file__, "--keys", "http://ann:hunter2@127.0.0.1:9/keys.jwks"],
        ["trace", "orders", "--url", "http://ann:hunter2@127.0.0.1:9"],
    ],
    ids=["log cosign", "witness", "verify", "trace"],
)
def test_the_password_in_an_address_without_an_answer_is_not_shown(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")

    assert status_of_call(arguments, tmp_path, monkeypatch) == 2

    said = capsys.readouterr().err
    assert "http://127.0.0.1:9" in said
    assert "hunter2" not in said


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
def test_an_argument_that_is_not_valid_text_exits_with_2(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEADWATER_URL", "http://127.0.0.1:9")

    status = status_of_call(arguments, tmp_path, monkeypatch)

    assert status == 2
    assert "Traceback" not in capsys.readouterr().err


def test_an_unexpected_error_is_shown_with_its_traceback_and_has_its_own_exit_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "headwater.cli.lint", None)  # an installation that lacks it

    status = status_of_call(["lint", "orders.yaml"], tmp_path, monkeypatch)

    *trace, error, message = capsys.readouterr().err.splitlines()
    assert status == 70
    assert trace[0] == "Traceback (most recent call last):"
    assert error.startswith("ModuleNotFoundError: ")
    assert message == "headwater: this is a bug in Headwater; please report it with the lines above"


def test_a_file_that_the_user_may_not_reach_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import_module("headwater.cli.audit")  # the other user may not reach Python's files either
    closed = tmp_path / "closed"
    closed.mkdir()

    with limited(closed):
        status = status_of_call(["audit", "export", "-o", str(closed / "bundle.zip")], tmp_path, monkeypatch)

    assert (status, capsys.readouterr().err) == (2, f"headwater: {closed}/bundle.zip: Permission denied\n")


def status_of_call(arguments: list[str], home: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setenv("HEADWATER_HOME", str(home))
    monkeypatch.setattr("sys.argv", ["headwater", *arguments])
    with pytest.raises(SystemExit) as exit_info:
        program.main()
    return exit_info.value.code


def test_no_command_has_its_own_exit_statuses() -> None:
    folder = Path(program.__file__).parent

    own = [path.name for path in folder.rglob("*.py") if re.search(r"Exit\([12]\b|exit\([12]\b", path.read_text())]

    assert own == []
