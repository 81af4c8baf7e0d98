"""Outcomes of executions, which the worker keeps on disk until the agent has recorded them.

A run whose terminal event is out must not be closed as crashed, even if agent and worker are killed right after it.
"""

import contextlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path

from headwater.agent.messages import RunEnded, read_report, report_line

log = logging.getLogger(__name__)


def save_outcome(home: Path, over: RunEnded) -> None:
    """Write the outcome; if the disk fails, the agent still gets it as a report, unless both are killed."""
    path = _path(home, over.run_id)
    unseen = path.with_suffix(".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with unseen.open("wb") as file:
            file.write(report_line(over))
            file.flush()
            os.fsync(file.fileno())
        unseen.replace(path)
    except OSError as fault:
        log.error("cannot write the outcome of an execution", extra={"run_id": over.run_id, "why": fault.strerror})


def unrecorded_outcomes(home: Path) -> Iterator[RunEnded]:
    """The outcomes that the agent has not recorded yet; files that cannot be read are renamed."""
    for path in sorted(_folder(home).glob("*.json")):
        try:
            over = read_report(path.read_bytes())
        except (OSError, ValueError):
            log.error("cannot read the outcome file of an execution", extra={"path": str(path)})
            with contextlib.suppress(OSError):
                path.replace(path.with_suffix(".damaged"))
            continue
        if isinstance(over, RunEnded):
            yield over


def drop_outcome(home: Path, run_id: str) -> None:
    """Delete a run's outcome once the agent has recorded it.

    If the disk fails, the file stays: at its next start the agent records the same once more.
    """
    with contextlib.suppress(OSError):
        _path(home, run_id).unlink(missing_ok=True)


def _folder(home: Path) -> Path:
    return home / "agent" / "ended"


def _path(home: Path, run_id: str) -> Path:
    return _folder(home) / f"{run_id}.json"
