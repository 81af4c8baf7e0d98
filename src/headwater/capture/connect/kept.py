"""What the watcher knows, on disk: how far it has read, and the lives that go on."""

import os
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Final

import orjson
from pydantic import TypeAdapter, ValidationError

from headwater.capture.connect.life import Connector
from headwater.errors import SetupError, UnavailableError

_FORMAT: Final = 1


@dataclass(slots=True)
class Kept:
    """How far the watcher has read, and what it knew then."""

    connectors: list[Connector] = field(default_factory=list)
    offsets: dict[str, int] = field(default_factory=dict)
    """The next offset, by `TOPIC/PARTITION`."""
    workers_seen_ms: int = 0
    """When a worker was in the group last."""


def load(path: Path) -> Kept:
    """What was kept; nothing the first time.

    Raises:
        SetupError: the file cannot be understood.
    """
    try:
        body = orjson.loads(path.read_bytes())
        if body.pop("format") != _FORMAT:
            raise SetupError(f"{path} was written by another version; remove it to read Connect's topics anew")
        return _ADAPTER.validate_python(body)
    except FileNotFoundError:
        return Kept()
    except (orjson.JSONDecodeError, ValidationError, KeyError, AttributeError) as fault:
        raise SetupError(
            f"{path} cannot be understood ({type(fault).__name__}); remove it to read Connect's topics anew"
        ) from fault


def save(path: Path, kept: Kept) -> None:
    """Keep it; a crash leaves either what was kept before, or this.

    Raises:
        UnavailableError: the disk does not take it.
    """
    said = {each.name: getattr(kept, each.name) for each in fields(kept)}
    new = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(orjson.dumps({"format": _FORMAT, **said}, option=orjson.OPT_NON_STR_KEYS))
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as failure:
        raise UnavailableError(f"the state cannot be kept in {path}: {failure.strerror}") from failure


_ADAPTER: Final = TypeAdapter(Kept)
