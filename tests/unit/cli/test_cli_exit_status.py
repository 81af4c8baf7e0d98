"""The exit status of a command: 2 where it could not be done, 1 where it was and the answer is bad."""

import inspect
import re
from pathlib import Path

import pytest

from headwater import errors
from headwater.cli import main as program
from headwater.cli.exit_status import status_of
from headwater.errors import HeadwaterError

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
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["headwater", *arguments])

    with pytest.raises(SystemExit) as ended:
        program.main()

    assert ended.value.code == 2


def test_no_command_has_statuses_of_its_own() -> None:
    folder = Path(program.__file__).parent

    own = [path.name for path in folder.rglob("*.py") if re.search(r"Exit\([12]\b|exit\([12]\b", path.read_text())]

    assert own == []
