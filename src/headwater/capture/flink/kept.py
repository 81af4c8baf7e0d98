"""What the watcher knows of a cluster, on disk."""

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from headwater.capture import kept
from headwater.capture.flink.life import Run


@dataclass(slots=True)
class Kept:
    """The runs that go on, and what of the cluster's jobs is done with."""

    runs: list[Run] = field(default_factory=list)
    over: list[str] | None = None
    """None before the first look."""
    namespace: str | None = None
    version: str | None = None


def load(path: Path) -> Kept:
    """What was kept; nothing the first time.

    Raises:
        SetupError: the file cannot be understood.
    """
    return kept.load_as(path, _ADAPTER)


def save(path: Path, known: Kept) -> None:
    """Keep it.

    Raises:
        UnavailableError: the disk does not take it.
    """
    kept.save(path, {each.name: getattr(known, each.name) for each in fields(known)})


_ADAPTER: Final = TypeAdapter(Kept)
