"""One run of the demo, shared by tests that need real lineage: it takes a minute."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

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
