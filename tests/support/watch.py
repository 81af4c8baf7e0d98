"""A watcher in a process of its own, and what it has told."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.service import Service


class Watch:
    """`headwater watch …`, started and killed at will; `arguments` say which, and what to watch."""

    def __init__(self, home: Path, service: Service, *arguments: str) -> None:
        self.home = home
        self.file = home / "events.jsonl"
        self._arguments = [
            *arguments,
            *("--endpoint", f"{service.url}/api/v1/lineage"),
            *("--file", str(self.file)),
            *("--lost-after", "5"),
        ]
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "headwater.cli.main", "watch", *self._arguments]
        environment = {**os.environ, "HEADWATER_HOME": str(self.home)}
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self._process.stdout is not None
        assert self._process.stdout.readline().startswith("watching ")

    def end(self, number: signal.Signals) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.send_signal(number)
        self._process.wait(60)
        self._process.stdout.close()

    def events(self, job: str) -> list[dict[str, Any]]:
        # A watcher that was killed tells some again, in the same bytes.
        lines = dict.fromkeys(self.file.read_bytes().splitlines() if self.file.exists() else [])
        return [event for line in lines if (event := json.loads(line))["job"]["name"] == job]

    def newest(self, job: str) -> dict[str, Any]:
        """The run facets of the newest event."""
        told = self.events(job)
        facets: dict[str, Any] = told[-1]["run"]["facets"] if told else {}
        return facets

    def flows(self, job: str) -> tuple[list[str], list[str]]:
        """The names of what the newest event reads and writes."""
        event = self.events(job)[-1]
        return [each["name"] for each in event.get("inputs", [])], [each["name"] for each in event.get("outputs", [])]

    def transitions(self, job: str) -> list[str]:
        """What was told of it, without the RUNNINGs between."""
        return [
            f"{event['eventType']} {event['run']['facets']['headwater_run'].get('stopReason', '')}".strip()
            for event in self.events(job)
            if event["eventType"] != "RUNNING"
        ]
