"""A watcher's state as a JSON file."""

import os
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import orjson

from headwater.errors import SetupError, UnavailableError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_FORMAT: Final = 1
StateT = TypeVar("StateT")


def load(path: Path) -> dict[str, Any] | None:
    """The saved state; None if there is no file yet.

    Raises:
        SetupError: the file cannot be parsed.
    """
    try:
        state: dict[str, Any] = orjson.loads(path.read_bytes())
        if state.pop("format") == _FORMAT:
            return state
    except FileNotFoundError:
        return None
    except (orjson.JSONDecodeError, KeyError, AttributeError, TypeError):
        pass
    raise _unreadable(path)


def load_as(path: Path, read: Callable[[dict[str, Any]], StateT]) -> StateT:
    """The saved state, parsed by `read`; if there is no file yet, what `read` makes of an empty object.

    Raises:
        SetupError: the file cannot be parsed.
    """
    try:
        return read(load(path) or {})
    except (ValueError, LookupError, TypeError, AttributeError):
        raise _unreadable(path) from None


def save(path: Path, state: Mapping[str, Any]) -> None:
    """Save the state atomically: a crash leaves either the old or the new one.

    Raises:
        UnavailableError: the disk is full or fails.
    """
    new = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(orjson.dumps({"format": _FORMAT, **state}, default=tuple, option=orjson.OPT_NON_STR_KEYS))
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as failure:
        raise UnavailableError(f"cannot save the state to {path}: {failure.strerror}") from failure


def save_all_of(path: Path, state: "DataclassInstance") -> None:
    """Save all fields of a dataclass, for `load_as`.

    Raises:
        UnavailableError: the disk is full or fails.
    """
    save(path, {each.name: getattr(state, each.name) for each in fields(state)})


def _unreadable(path: Path) -> SetupError:
    """The error for a file that another program or version has written."""
    return SetupError(f"{path}: not a state file of this version; remove it to start afresh")
