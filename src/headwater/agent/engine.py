"""The worker's process as the agent sees it: started when there is something to run, and it may die."""

import asyncio
import contextlib
import logging
import sys
from collections.abc import Callable
from typing import Final

from headwater.agent.logs import bound_log
from headwater.agent.messages import Command, Quit, Report, Unfit, command_line, read_report
from headwater.agent.worker_settings import WorkerSettings, settings_line
from headwater.errors import UnavailableError
from headwater.pipeline.printed import appended

log = logging.getLogger(__name__)

_QUIT_WITHIN_S: Final = 3.0


class Engine:
    """Starts, supervises and ends one worker at a time.

    Attributes:
        is_fit: whether there is a worker that accepts executions.
    """

    def __init__(
        self, settings: WorkerSettings, on_report: Callable[[Report], None], on_exit: Callable[[], None]
    ) -> None:
        """`on_report` and `on_exit` are called in the event loop, `on_exit` after the last report."""
        self._settings = settings
        self._printed = settings.home / "log" / "worker.log"
        self._on_report = on_report
        self._on_exit = on_exit
        self._process: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[None] | None = None
        self.is_fit = False

    @property
    def is_running(self) -> bool:
        """Whether there is a worker, fit or not."""
        return self._process is not None

    @property
    def pid(self) -> int | None:
        """The worker's process id."""
        return None if self._process is None else self._process.pid

    async def start(self) -> None:
        """Start a worker if there is none.

        Raises:
            UnavailableError: the machine lacks memory or disk space for it now.
        """
        if self._process is not None:
            return
        try:
            self._process = await self._started()
        except OSError as fault:
            raise UnavailableError(f"cannot start the worker process: {fault}") from fault
        assert self._process.stdin is not None  # noqa: S101  it is a pipe
        self._process.stdin.write(settings_line(self._settings))
        self.is_fit = True
        self._listening = asyncio.create_task(self._listen(self._process))
        log.info("worker started", extra={"pid": self._process.pid})

    def tidy(self) -> None:
        """Bound the size of the file with the worker's output."""
        bound_log(self._printed)

    def send(self, command: Command) -> None:
        """Send a command; ignored if there is no worker, which `on_exit` reports."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(command_line(command))

    async def end(self) -> None:
        """End the worker, even while it is busy."""
        process, listening = self._process, self._listening
        if process is None or listening is None:
            return
        self.is_fit = False
        self.send(Quit())
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(listening), _QUIT_WITHIN_S)
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await listening

    async def _started(self) -> asyncio.subprocess.Process:
        with appended(self._printed) as out:  # append mode, since `tidy` truncates the file meanwhile
            return await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "headwater.agent.worker",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=out,
                start_new_session=True,  # Ctrl-C goes to the agent only
                limit=1 << 24,
            )

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None  # noqa: S101  it is a pipe
        try:
            async for line in process.stdout:
                report = read_report(line)
                if isinstance(report, Unfit):
                    self.is_fit = False
                self._on_report(report)
        except Exception as fault:  # without a reader its executions would run for ever
            known = {"pid": process.pid, "why": type(fault).__name__}
            log.error("the worker sent an unreadable message and is being stopped", extra=known)
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        status = await process.wait()
        log.info("worker ended", extra={"pid": process.pid, "status": status})
        self._process, self.is_fit = None, False
        self._on_exit()
