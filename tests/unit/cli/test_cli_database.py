"""A database's invalid URL is reported by the option or variable that gave it, and never shown."""

import pytest
from typer.testing import CliRunner

from headwater.cli.main import app
from headwater.errors import SetupError


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("host=db password=hu5h", "expected postgresql://"),
        ("mysql://u:hu5h@db/lineage", "unknown scheme; expected postgresql://"),
    ],
)
def test_serve_refuses_an_invalid_database_url_without_showing_it(
    url: str, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("HEADWATER_DATABASE_URL", url)
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))

    result = CliRunner().invoke(app, ["serve", "--port", "0"])

    assert isinstance(result.exception, SetupError)
    assert message in str(result.exception)
    assert "hu5h" not in f"{result.exception} {result.output}"


@pytest.mark.parametrize(
    ("command", "source"),
    [
        (["serve", "--port", "0", "--database", "mysql://u:hu5h@db/x"], "--database"),
        (["serve", "--port", "0", "--database", "host=db password=hu5h"], "--database"),
        (["audit", "export", "-o", "x.zip", "--database", "mysql://u:hu5h@db/x"], "--database"),
        (
            ["log", "redact", "1", "run", "--reason", "x", "--by", "x", "--database", "mysql://u:hu5h@db/x"],
            "--database",
        ),
        (["store", "copy", "mysql://u:hu5h@db/x", "x.db"], "FROM"),
        (["store", "copy", "x.db", "mysql://u:hu5h@db/x"], "TO"),
    ],
)
def test_an_invalid_database_url_is_reported_with_its_option(
    command: list[str], source: str, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    monkeypatch.delenv("HEADWATER_DATABASE_URL", raising=False)

    result = CliRunner().invoke(app, command)

    assert isinstance(result.exception, SetupError)
    assert str(result.exception).startswith(f"{source}: ")
    assert "hu5h" not in f"{result.exception} {result.output}"


def test_an_invalid_database_url_in_the_environment_is_reported_with_the_variable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    monkeypatch.setenv("HEADWATER_DATABASE_URL", "mysql://u:hu5h@db/x")

    result = CliRunner().invoke(app, ["audit", "export", "-o", "x.zip"])

    assert str(result.exception).startswith("HEADWATER_DATABASE_URL: ")


def test_the_help_of_serve_does_not_show_the_configured_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_DATABASE_URL", "postgresql://u:hu5h@db/lineage")

    result = CliRunner().invoke(app, ["serve", "--help"])

    assert result.exit_code == 0
    assert "hu5h" not in result.output
