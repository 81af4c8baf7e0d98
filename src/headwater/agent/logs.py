"""The log of each execution: a file under HEADWATER_HOME/agent/logs, by its run id."""

import contextlib
import logging
import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final

from headwater.pipeline.printed import appended

log = logging.getLogger(__name__)

_FORMAT: Final = "%(asctime)s.%(msecs)03dZ %(levelname)-7s %(message)s"
_MOST_BYTES: Final = 1_000_000
_FULL_BYTES: Final = 8_000_000
"""A log of this size is rotated, replacing the last rotated one: a stream runs for months."""


def log_of(home: Path, run_id: str) -> Path:
    """The path of an execution's log."""
    return home / "agent" / "logs" / f"{run_id}.log"


def log_to_standard_error() -> None:
    """Log from INFO on, but no HTTP requests of pipelines or emitters: a URL may hold a key or a record's value."""
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(threadName)s: %(message)s", stream=sys.stderr
    )
    logging.getLogger("httpx").setLevel(logging.WARNING)


@contextmanager
def written_log(path: Path, run_id: str) -> Iterator[None]:
    """Within the block, write log records of the execution's threads, and those that name its run, to its log.

    A failing disk does not stop the execution.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(path, maxBytes=_FULL_BYTES, backupCount=1, encoding="utf-8")
    except OSError as fault:
        log.warning("cannot open the log file of an execution", extra={"run_id": run_id, "why": fault.strerror})
        yield
        return
    formatter = logging.Formatter(_FORMAT, "%Y-%m-%dT%H:%M:%S")
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    handler.addFilter(lambda record: _concerns(record, run_id))
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        with contextlib.suppress(OSError):  # flushing fails again on a full disk
            handler.close()


def last_lines(path: Path, lines: int) -> list[str]:
    """The last lines of a log; empty if there is none."""
    newest = _end_of(path)
    before = _end_of(_put_aside(path)) if len(newest) < _MOST_BYTES else b""
    return (before + newest).decode(errors="replace").splitlines()[-lines:]


def bound_log(path: Path) -> None:
    """Rotate a full log by copy and truncate, so that writers go on; lines written in this instant may be lost."""
    with contextlib.suppress(OSError):
        if path.stat().st_size > _FULL_BYTES:
            _put_aside(path).unlink(missing_ok=True)
            with path.open("rb") as full, appended(_put_aside(path)) as aside:
                shutil.copyfileobj(full, aside)
            os.truncate(path, 0)


def remove_logs(home: Path, run_ids: Iterable[str]) -> None:
    """Delete the logs of executions."""
    for run_id in run_ids:
        path = log_of(home, run_id)
        try:
            for each in (path, _put_aside(path)):
                each.unlink(missing_ok=True)
        except OSError as fault:
            log.warning("cannot remove the log file of an execution", extra={"run_id": run_id, "why": fault.strerror})


def _put_aside(path: Path) -> Path:
    return path.with_name(f"{path.name}.1")


def _end_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _MOST_BYTES))
            return file.read()
    except FileNotFoundError:
        return b""


def _concerns(record: logging.LogRecord, run_id: str) -> bool:
    return run_id in (record.threadName or "") or getattr(record, "run_id", None) == run_id
