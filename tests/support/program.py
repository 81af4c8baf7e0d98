"""A `headwater` program in its own process."""

import os
import signal
import subprocess
import sys
from pathlib import Path

COMMAND = [sys.executable, "-m", "headwater.cli.main"]


class Program:
    """`headwater …` over a home; can be started, stopped and killed."""

    def __init__(self, home: Path, **variables: str) -> None:
        self.home = home
        self.variables = {**os.environ, "HEADWATER_HOME": str(home), **variables}
        self._process: subprocess.Popen[str] | None = None

    def begin(self, *arguments: str) -> str:
        """Start it; returns its first line of output, printed once it is ready."""
        command = [*COMMAND, *arguments]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=self.variables)
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send it a signal, and wait; returns its exit status."""
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.send_signal(number)
        status = self._process.wait(120)
        self._process.stdout.close()
        self._process = None
        return status

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None
