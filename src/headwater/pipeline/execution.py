"""One start of a pipeline: what all its parts need to know about it."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """One start of a pipeline, which is one run.

    Attributes:
        run_id: a UUID in lower case.
        started_at: with a time zone.
        node_id: of this machine, as in its key id.
        home: the HEADWATER_HOME, where its key is.
    """

    run_id: str
    started_at: datetime
    node_id: str
    host: str
    home: Path


def fetched_folder(home: Path, run_id: str) -> Path:
    """Where a run keeps what it has fetched, until it ends; of a run that was killed it stays."""
    return home.absolute() / "fetched" / run_id
