"""What tests share: one run of the demo, which takes a minute, and a browser."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.browser import Opened, running_browser
from tests.support.ports import free_port


@dataclass(frozen=True)
class Demo:
    """A finished `headwater demo --once`."""

    home: Path
    output: str

    @property
    def events(self) -> list[bytes]:
        """Every event that it emitted, as written to the file."""
        return (self.home / "demo" / "events.jsonl").read_bytes().splitlines()


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    home = tmp_path_factory.mktemp("demo-home")
    command = [sys.executable, "-m", "headwater.cli.main", "demo", "--once", "--port", str(free_port())]
    result = subprocess.run(
        command, env={**os.environ, "HEADWATER_HOME": str(home)}, capture_output=True, text=True, timeout=600
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return Demo(home, result.stdout)


@pytest.fixture(scope="module")
def opened() -> Iterator[Opened]:
    """Opens pages in one browser. For a module only: as long as it runs, no other event loop can run in this thread."""
    with running_browser() as opened:
        yield opened
