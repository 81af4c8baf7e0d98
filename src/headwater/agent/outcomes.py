"""How executions ended, as the worker leaves it on the disk until the agent has recorded it.

A run that has told its end may not be closed as crashed, even if agent and worker are killed in the next instant.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from headwater.agent.messages import Over, read_report, report_line


def keep_outcome(home: Path, over: Over) -> None:
    """Write how the execution ended."""
    path = _path(home, over.run_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    unseen = path.with_suffix(".new")
    with unseen.open("wb") as file:
        file.write(report_line(over))
        file.flush()
        os.fsync(file.fileno())
    unseen.replace(path)


def kept_outcomes(home: Path) -> Iterator[Over]:
    """What nobody has recorded yet."""
    for path in sorted(_folder(home).glob("*.json")):
        over = read_report(path.read_bytes())
        if isinstance(over, Over):
            yield over


def drop_outcome(home: Path, run_id: str) -> None:
    """It is recorded."""
    _path(home, run_id).unlink(missing_ok=True)


def _folder(home: Path) -> Path:
    return home / "agent" / "ended"


def _path(home: Path, run_id: str) -> Path:
    return _folder(home) / f"{run_id}.json"
