"""A watcher in a process of its own, and the events that it sent."""

import json
from pathlib import Path
from typing import Any

from tests.support.event_file import whole_lines
from tests.support.program import Program
from tests.support.service import Service


class Watch(Program):
    """`headwater watch …`, which can be started and killed; `arguments` name the target."""

    def __init__(self, home: Path, service: Service, *arguments: str, lost_after_s: int = 5) -> None:
        super().__init__(home)
        self.file = home / "events.jsonl"
        self._arguments = [
            *arguments,
            *("--endpoint", f"{service.url}/api/v1/lineage"),
            *("--file", str(self.file)),
            *("--lost-after", str(lost_after_s)),
        ]

    def start(self) -> None:
        assert self.begin("watch", *self._arguments).startswith("watching ")

    def events(self, job: str) -> list[dict[str, Any]]:
        # A watcher that was killed sends some again, in the same bytes.
        lines = dict.fromkeys(whole_lines(self.file))
        return [event for line in lines if (event := json.loads(line))["job"]["name"] == job]

    def newest(self, job: str) -> dict[str, Any]:
        """The run facets of the newest event."""
        reported = self.events(job)
        facets: dict[str, Any] = reported[-1]["run"]["facets"] if reported else {}
        return facets

    def flows(self, job: str) -> tuple[list[str], list[str]]:
        """The names of the inputs and outputs of the newest event."""
        event = self.events(job)[-1]
        return [each["name"] for each in event.get("inputs", [])], [each["name"] for each in event.get("outputs", [])]

    def transitions(self, job: str) -> list[str]:
        """The job's reported transitions, without the RUNNINGs between; each once, by time.

        A watcher that was killed before it saved a run's end reports that end again, possibly with more figures.
        """
        reported = {
            (event["eventTime"], event["eventType"]): event["run"]["facets"]["headwater_run"].get("stopReason", "")
            for event in self.events(job)
            if event["eventType"] != "RUNNING"
        }
        return [f"{kind} {why}".strip() for (_, kind), why in reported.items()]
