"""A `headwater` program in its own process."""

import atexit
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TextIO

from headwater.cli.main import main

COMMAND = [sys.executable, "-m", "headwater.cli.main"]

_PREPARED = multiprocessing.get_context("forkserver")
"""Starts processes that have imported the longest-running commands: a service starts in a tenth of the time."""
_PREPARED.set_forkserver_preload([f"headwater.cli.{command}" for command in ("agent", "serve", "watch")])


class Program:
    """`headwater …` over a home; can be started, stopped and killed."""

    def __init__(self, home: Path, **variables: str) -> None:
        self.home = home
        self.variables = {**os.environ, "HEADWATER_HOME": str(home), **variables}
        self._process: multiprocessing.process.BaseProcess | None = None
        self._output: TextIO

    def begin(self, *arguments: str) -> str:
        """Start it; returns its first line of output, printed once it is ready."""
        ours, its_output = _PREPARED.Pipe(duplex=False)
        errors = Connection(os.dup(2), readable=False)
        with its_output, errors:
            given = (arguments, self.variables, Path.cwd(), its_output, errors)
            self._process = _PREPARED.Process(target=_run, args=given, daemon=True)
            self._process.start()
        self._output = os.fdopen(os.dup(ours.fileno()))
        ours.close()
        return self._output.readline()

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send it a signal, and wait; returns its exit status."""
        assert self._process is not None
        with suppress(ProcessLookupError):  # it ended by itself
            os.kill(self.pid, number)
        self._process.join(120)
        status = self._process.exitcode
        assert status is not None, f"it is still running after {number.name}"
        self._output.close()
        self._process = None
        return status

    @property
    def pid(self) -> int:
        assert self._process is not None
        assert self._process.pid is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None


def _run(
    arguments: Sequence[str], variables: Mapping[str, str], folder: Path, output: Connection, errors: Connection
) -> None:
    """In the process: what `headwater …` does from its start to its end."""
    for number, stream in (1, output), (2, errors):
        os.dup2(stream.fileno(), number)
        stream.close()
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w", 1, errors="backslashreplace")
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    sys.argv = ["headwater", *arguments]
    try:
        main()
    finally:
        threading._shutdown()  # type: ignore[attr-defined]  # with the next line: the end of a program, but not of a `Process`
        atexit._run_exitfuncs()
