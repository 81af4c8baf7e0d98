"""Where the commands send their events that send any."""

import pytest
from typer.testing import CliRunner

from headwater.cli.main import app


@pytest.mark.parametrize(
    "command", ["watch connect", "watch flink", "watch registry", "watch trino", "flink run", "sql run"]
)
def test_every_command_with_an_endpoint_takes_that_of_the_environment(command: str) -> None:
    told = CliRunner().invoke(app, [*command.split(), "--help"], terminal_width=200)

    assert "--endpoint" in told.output
    assert "HEADWATER_ENDPOINT" in told.output
