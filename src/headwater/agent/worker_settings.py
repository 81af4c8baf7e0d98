"""The settings of a worker."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettings:
    """The settings of a worker.

    Attributes:
        master: where Spark runs.
        spark: configuration of the one Spark.
        stop_grace_s: how long a stopped run may take to end.
    """

    home: Path
    master: str
    spark: Mapping[str, str]
    stop_grace_s: float


def settings_line(settings: WorkerSettings) -> bytes:
    """The settings as a JSON line, the first that a worker reads."""
    return orjson.dumps(settings, default=str, option=orjson.OPT_APPEND_NEWLINE)


def read_settings(line: bytes) -> WorkerSettings:
    """Parse the settings."""
    members = orjson.loads(line)
    return WorkerSettings(**{**members, "home": Path(members["home"])})
