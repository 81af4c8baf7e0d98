"""The identity of one start of a pipeline, shared by all its parts."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """One start of a pipeline, which is one run.

    Attributes:
        run_id: a UUID in lower case.
        started_at: with a time zone.
        node_id: this machine's node id, as in its key id.
        home: the HEADWATER_HOME, with its key.
    """

    run_id: str
    started_at: datetime
    node_id: str
    host: str
    home: Path


def fetched_folder(home: Path, run_id: str) -> Path:
    """The folder of a run's fetched records; deleted when the run ends, but left behind by a killed run."""
    return home.absolute() / "fetched" / run_id
