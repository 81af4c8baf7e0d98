"""The settings of a worker."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from headwater.agent.endpoints import Endpoint, allowed_by


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettings:
    """The settings of a worker.

    Attributes:
        master: where Spark runs.
        spark: configuration of the one Spark.
        stop_grace_s: how long a stopped run may take to end.
        allowed_endpoints: as in the agent's configuration, which may be newer than an execution.
    """

    home: Path
    master: str
    spark: Mapping[str, str]
    stop_grace_s: float
    allowed_endpoints: tuple[str, ...] | None = None

    @property
    def allowed(self) -> tuple[Endpoint, ...] | None:
        """The allowed endpoints, parsed."""
        return None if self.allowed_endpoints is None else tuple(map(allowed_by, self.allowed_endpoints))


def settings_line(settings: WorkerSettings) -> bytes:
    """The settings as a JSON line, the first that a worker reads."""
    return orjson.dumps(settings, default=str, option=orjson.OPT_APPEND_NEWLINE)


def read_settings(line: bytes) -> WorkerSettings:
    """Parse the settings."""
    members = orjson.loads(line)
    allowed = members["allowed_endpoints"]
    return WorkerSettings(
        **{
            **members,
            "home": Path(members["home"]),
            "allowed_endpoints": None if allowed is None else tuple(allowed),
        }
    )
