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
def test_serve_refuses_what_is_no_url_of_postgresql_and_does_not_show_it(
    url: str, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("HEADWATER_DATABASE_URL", url)
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))

    result = CliRunner().invoke(app, ["serve", "--port", "0"])

    assert isinstance(result.exception, SetupError)
    assert message in str(result.exception)
    assert "hu5h" not in f"{result.exception} {result.output}"


def test_the_help_of_serve_does_not_show_the_url_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_DATABASE_URL", "postgresql://u:hu5h@db/lineage")

    result = CliRunner().invoke(app, ["serve", "--help"])

    assert result.exit_code == 0
    assert "hu5h" not in result.output
