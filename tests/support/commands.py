"""Commands of `headwater`, run in this process."""

from typer.testing import CliRunner

from headwater.cli.main import app


def output_of(*arguments: str, status: int = 0) -> str:
    """What a command prints that ends with that status."""
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == status, result.output
    return result.stdout
