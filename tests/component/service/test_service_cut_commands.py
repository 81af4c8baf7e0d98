"""Commands whose output is read in part, as `head` does."""

import json
import os
import subprocess
from pathlib import Path
from typing import IO

import pytest

from tests.component.service.test_service_client import answering
from tests.support.program import COMMAND


def ended(*arguments: str, folder: Path, stdout: int | IO[str], stderr: int | IO[str], **variables: str) -> int:
    """The exit status of a command."""
    environment = {**os.environ, "HEADWATER_HOME": str(folder), "COLUMNS": "80", **variables}
    done = subprocess.run(
        [*COMMAND, *arguments], stdout=stdout, stderr=stderr, env=environment, cwd=folder, check=False
    )
    return done.returncode


@pytest.fixture
def cut() -> int:
    """The end of a pipe that nobody reads."""
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
def test_who_reads_no_further_gets_the_status_that_shells_give(
    arguments: tuple[str, ...], tmp_path: Path, cut: int
) -> None:
    (tmp_path / "events.jsonl").write_text("{}\n" * 10_000)
    (tmp_path / "keys.jwks").write_text('{"keys": []}')
    said = tmp_path / "said"

    with answering(200, json.dumps({"nodes": [], "totalCount": 0}).encode()) as url, said.open("w") as stderr:
        call = [argument.format(tmp_path) for argument in arguments]
        status = ended(*call, folder=tmp_path, stdout=cut, stderr=stderr, HEADWATER_URL=url)

    assert status == 141
    assert "Traceback" not in said.read_text()
    assert "Exception ignored" not in said.read_text()


def test_an_error_that_nobody_reads_gets_it_too(tmp_path: Path, cut: int) -> None:
    status = ended("coverage", "--url", "http://127.0.0.1:9", folder=tmp_path, stdout=subprocess.DEVNULL, stderr=cut)

    assert status == 141
