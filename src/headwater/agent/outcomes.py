"""How executions ended, as the worker leaves it on the disk until the agent has recorded it.

A run that has told its end may not be closed as crashed, even if agent and worker are killed in the next instant.
"""

import contextlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path

from headwater.agent.messages import Over, read_report, report_line

log = logging.getLogger(__name__)


def keep_outcome(home: Path, over: Over) -> None:
    """Write how the execution ended; where the disk does not take it, the agent hears of it unless both are killed."""
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
        log.error("how an execution ended is not kept", extra={"run_id": over.run_id, "why": fault.strerror})


def kept_outcomes(home: Path) -> Iterator[Over]:
    """What nobody has recorded yet; what the disk has damaged is put aside."""
    for path in sorted(_folder(home).glob("*.json")):
        try:
            over = read_report(path.read_bytes())
        except ValueError:
            log.error("how an execution ended cannot be read", extra={"path": str(path)})
            path.replace(path.with_suffix(".damaged"))
            continue
        if isinstance(over, Over):
            yield over


def drop_outcome(home: Path, run_id: str) -> None:
    """Delete the file of a run's outcome, which the agent has recorded by now.

    Where the disk refuses, the file stays: the agent meets it at its next start, and records the same once more.
    """
    with contextlib.suppress(OSError):
        _path(home, run_id).unlink(missing_ok=True)


def _folder(home: Path) -> Path:
    return home / "agent" / "ended"


def _path(home: Path, run_id: str) -> Path:
    return _folder(home) / f"{run_id}.json"
