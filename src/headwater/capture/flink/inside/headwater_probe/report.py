"""Lines of JSON to whoever started this process."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

from .java import Java, kind_of
from .noted import Write, told, writes


class Report:
    """Where jobs are told of. Nothing that goes wrong in here may hold the job up: it is told as a gap instead."""

    def __init__(self, descriptor: int) -> None:
        self._out = os.fdopen(descriptor, "w", encoding="utf-8")

    def line(self, event: str, **said: Any) -> None:  # noqa: ANN401  (JSON)
        """Tell one thing."""
        self._out.write(json.dumps({"event": event, **said}) + "\n")
        self._out.flush()

    def noted(self, environment: Java, operation: Callable[[], Java | None]) -> list[Write | str]:
        """What an operation will do; its class where nothing is known of it, that of the error where it is not seen."""
        try:
            found = operation()
            return [] if found is None else list(writes(environment, found)) or [kind_of(found)]
        except Exception as unseen:
            return [type(unseen).__name__]

    def job(self, environment: Java | None, job_id: str, noted: Iterable[Write | str], sql: str | None = None) -> None:
        """Tell of a job that was submitted, and what was noted of it."""
        found: list[dict[str, Any]] = []
        gaps: list[str] = []
        for one in noted:
            try:
                gaps.append(one) if isinstance(one, str) else found.append(told(environment, one))
            except Exception as unseen:
                print(f"headwater: a table cannot be described: {unseen}"[:500], file=sys.stderr)  # noqa: T201
                gaps.append(type(unseen).__name__)
        self.line("job", id=job_id, writes=found, gaps=gaps, sql=sql)
