"""The log of each execution: a file under HEADWATER_HOME/agent/logs, by its run id."""

import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_FORMAT: Final = "%(asctime)s.%(msecs)03dZ %(levelname)-7s %(message)s"
_MOST_BYTES: Final = 1_000_000


def log_of(home: Path, run_id: str) -> Path:
    """Where an execution's log is."""
    return home / "agent" / "logs" / f"{run_id}.log"


@contextmanager
def written_log(path: Path, run_id: str) -> Iterator[None]:
    """Meanwhile, write what concerns the execution: what its threads log, and what names its run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(path, encoding="utf-8")
    formatter = logging.Formatter(_FORMAT, "%Y-%m-%dT%H:%M:%S")
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    handler.addFilter(lambda record: _concerns(record, run_id))
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()


def last_lines(path: Path, lines: int) -> list[str]:
    """The end of a log; nothing where there is none."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _MOST_BYTES))
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return []
    return text.splitlines()[-lines:]


def remove_logs(home: Path, run_ids: Iterable[str]) -> None:
    """Delete the logs of executions that are forgotten."""
    for run_id in run_ids:
        log_of(home, run_id).unlink(missing_ok=True)


def _concerns(record: logging.LogRecord, run_id: str) -> bool:
    return run_id in (record.threadName or "") or getattr(record, "run_id", None) == run_id
