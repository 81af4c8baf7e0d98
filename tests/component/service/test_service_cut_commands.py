"""Commands whose output is read only in part, as by `head`."""

import json
import os
import subprocess
from pathlib import Path
from typing import IO

import pytest

from tests.component.service.test_service_client import answering
from tests.support.program import COMMAND


def exit_status(*arguments: str, folder: Path, stdout: int | IO[str], stderr: int | IO[str], **variables: str) -> int:
    """The exit status of a command."""
    environment = {**os.environ, "HEADWATER_HOME": str(folder), "COLUMNS": "80", **variables}
    result = subprocess.run(
        [*COMMAND, *arguments], stdout=stdout, stderr=stderr, env=environment, cwd=folder, check=False
    )
    return result.returncode


@pytest.fixture
def closed_pipe() -> int:
    """The write end of a pipe whose read end is closed."""
    reading, writing = os.pipe()
    os.close(reading)
    return writing


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("impact", "--help"),
        ("--version",),
        ("lint", "--explain", "HW001"),
        ("verify", "{}/events.jsonl", "--keys", "{}/keys.jwks"),
        ("verify", "{}/events.jsonl", "--keys", "{}/keys.jwks", "--json"),
        ("node", "list"),
        ("node", "list", "--json"),
        ("key", "show"),
    ],
    ids=" ".join,
)
def test_a_command_whose_output_is_no_longer_read_ends_with_status_141(
    arguments: tuple[str, ...], tmp_path: Path, closed_pipe: int
) -> None:
    (tmp_path / "events.jsonl").write_text("{}\n" * 10_000)
    (tmp_path / "keys.jwks").write_text('{"keys": []}')
    errors = tmp_path / "said"

    with answering(200, json.dumps({"nodes": [], "totalCount": 0}).encode()) as url, errors.open("w") as stderr:
        command = [argument.format(tmp_path) for argument in arguments]
        status = exit_status(*command, folder=tmp_path, stdout=closed_pipe, stderr=stderr, HEADWATER_URL=url)

    assert status == 141
    assert "Traceback" not in errors.read_text()
    assert "Exception ignored" not in errors.read_text()


def test_a_command_whose_errors_are_no_longer_read_ends_with_status_141(tmp_path: Path, closed_pipe: int) -> None:
    status = exit_status(
        "coverage", "--url", "http://127.0.0.1:9", folder=tmp_path, stdout=subprocess.DEVNULL, stderr=closed_pipe
    )

    assert status == 141
