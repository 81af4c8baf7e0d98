"""JSON lines to the parent process."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

from .java import Java, kind_of
from .statement_writes import Write, with_tables, writes


class Report:
    """Reports jobs. A failure in here must never stop the job: it is reported as a gap instead."""

    def __init__(self, descriptor: int) -> None:
        self._out = os.fdopen(descriptor, "w", encoding="utf-8")

    def line(self, event: str, **members: Any) -> None:  # noqa: ANN401  (JSON)
        """Write one line."""
        self._out.write(json.dumps({"event": event, **members}) + "\n")
        self._out.flush()

    def writes_of(self, environment: Java, operation: Callable[[], Java | None]) -> list[Write | str]:
        """The writes of an operation; as gaps, its class if that is unknown, or the class of an error."""
        try:
            found = operation()
            return [] if found is None else list(writes(environment, found)) or [kind_of(found)]
        except Exception as unseen:
            return [type(unseen).__name__]

    def job(
        self, environment: Java | None, job_id: str, statements: Iterable[Write | str], sql: str | None = None
    ) -> None:
        """Report a submitted job with the lineage of its statements."""
        found: list[dict[str, Any]] = []
        gaps: list[str] = []
        for one in statements:
            try:
                gaps.append(one) if isinstance(one, str) else found.append(with_tables(environment, one))
            except Exception as unseen:
                print(f"headwater: cannot describe a table: {unseen}"[:500], file=sys.stderr)  # noqa: T201
                gaps.append(type(unseen).__name__)
        self.line("job", id=job_id, writes=found, gaps=gaps, sql=sql)
