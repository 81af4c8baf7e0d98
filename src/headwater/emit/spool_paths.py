"""Paths in the spool directory: a directory for each target's backlog, and those of the node itself."""

import hashlib
from pathlib import Path
from typing import Final

from headwater.emit.claim import orphans
from headwater.emit.config import EmitConfig

_KINDS: Final = ("http", "file", "overflow")


def spool_path(spool: Path | None, kind: str, *targets: str) -> Path | None:
    """The directory of a kind for these targets: its name is a digest, which reveals nothing about them."""
    return None if spool is None else spool / spool_name(kind, *targets)


def spool_name(kind: str, *targets: str) -> str:
    """The name of that directory, or of a file of that kind."""
    return f"{kind}-{hashlib.sha256(chr(0).join(targets).encode()).hexdigest()[:16]}"


def spool_paths(config: EmitConfig) -> list[Path]:
    """The directories in which events for the targets wait: the spools of each, and the overflow for all of them."""
    http = [] if config.http is None else [config.http.target]
    file = [] if config.file is None else [config.file.target]
    spools = [
        *(spool_path(config.spool, "http", each) for each in http),
        *(spool_path(config.spool, "file", each) for each in file),
    ]
    return [each for each in (*spools, spool_path(config.spool, "overflow", *http, *file)) if each is not None]


def is_anything_waiting(spool: Path) -> bool:
    """Whether events may wait for any target, of any process, dead or alive."""
    return any(True for kind in _KINDS for _ in spool.glob(f"{kind}-*/[0-9]*"))


def is_clear(config: EmitConfig) -> bool:
    """Whether no event waits for the targets, of any process, dead or alive."""
    return not any(True for folder in spool_paths(config) for _ in folder.glob("[0-9]*"))


def is_left(config: EmitConfig) -> bool:
    """Whether dead processes left events for the targets.

    Raises:
        OSError: the disk fails.
    """
    for folder in spool_paths(config):
        for claim in orphans(folder):
            claim.release()
            return True
    return False
