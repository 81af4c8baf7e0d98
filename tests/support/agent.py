"""A real `headwater agent` in its own process."""

import json
import subprocess
from pathlib import Path
from typing import Any

import httpx
import psutil

from tests.support.program import COMMAND, Program
from tests.support.service import eventually

_STARTS_WITHIN_S = 300.0  # a JVM on a busy machine


class RealAgent(Program):
    """Can be started, stopped and killed; always over the same home."""

    def __init__(self, home: Path, config: str, **variables: str) -> None:
        super().__init__(home, **variables)
        self._config = home / "agent.yaml"
        self._config.parent.mkdir(parents=True, exist_ok=True)
        self._config.write_text(config)

    def start(self) -> str:
        """Start it; returns its first line of output, printed once it is ready."""
        line = self.begin("agent", "--config", str(self._config))
        assert line.startswith("agent ready: "), f"the agent printed {line!r}"
        return line

    def jvm(self) -> psutil.Process:
        """The JVM of Spark, a descendant of the worker."""
        below = psutil.Process(self.pid).children(recursive=True)
        return next(process for process in below if process.name() == "java")

    def command(self, *arguments: str) -> str:
        """The output of a command."""
        result = subprocess.run([*COMMAND, *arguments], env=self.variables, capture_output=True, text=True, timeout=120)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    def get(self, path: str, **params: str | int) -> Any:  # noqa: ANN401
        """Get a path of the control API over the agent's socket."""
        transport = httpx.HTTPTransport(uds=str(self.home / "agent" / "agent.sock"))
        with httpx.Client(base_url="http://agent/api/v1", transport=transport, timeout=30) as client:
            response = client.get(path, params=params)
            response.raise_for_status()
            return response.json()

    def execution(self, run_id: str) -> Any:  # noqa: ANN401
        return self.get(f"/executions/{run_id}")

    def newest(self, job: str) -> Any:  # noqa: ANN401
        """The newest execution of a job."""
        return next(each for each in self.get("/executions") if each["job"] == job)

    def wait_for(self, run_id: str, *states: str) -> Any:  # noqa: ANN401
        """Wait until the execution is in one of these states; return it."""
        is_reached = eventually(lambda: self.execution(run_id)["state"] in states, within_s=_STARTS_WITHIN_S)
        assert is_reached, json.dumps(self.execution(run_id))
        return self.execution(run_id)
