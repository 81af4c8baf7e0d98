"""Services and pipelines in processes of their own, so that they can be killed."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.support.event_file import whole_lines

HERE = Path(__file__).parent


@dataclass
class Service:
    """A service in a process of its own, which can be killed and started again on the same port."""

    port: int
    file: Path
    process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api/v1/lineage"

    @property
    def numbers(self) -> list[int]:
        """The numbers of the events that arrived, in order of arrival."""
        return [json.loads(line)["n"] for line in whole_lines(self.file)]

    def start(self) -> None:
        command = [sys.executable, str(HERE / "emit_receiver.py"), str(self.port), str(self.file)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "listening\n"

    def kill(self) -> None:
        if self.process is not None:
            with self.process:
                self.process.kill()
            self.process = None


@dataclass
class Pipeline:
    """`emit_pipeline.py` in a process of its own: it runs commands, one per line, and answers each."""

    process: subprocess.Popen[str]

    def request(self, *words: object) -> str:
        self.send(*words)
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def send(self, *words: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
