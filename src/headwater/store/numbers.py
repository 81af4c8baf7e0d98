"""Surrogate keys: numbers that stand for names and runs in one database; assigned by writers, resolved by readers."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NoReturn, TypeVar
from uuid import UUID

from headwater.errors import UnavailableError
from headwater.model.names import is_uuid
from headwater.store.bulk import Insert
from headwater.store.connection import RESTORED, Connection

_REMEMBERED_RUNS: Final = 100_000
# An update that changes nothing makes the statement return rows that are there already, too.
_NAMES: Final = Insert(
    "name (namespace, name)",
    2,
    "ON CONFLICT (namespace, name) DO UPDATE SET name = excluded.name RETURNING namespace, name, id",
)
_RUNS: Final = Insert(
    "run (run_id)", 1, "ON CONFLICT (run_id) DO UPDATE SET run_id = excluded.run_id RETURNING run_id, id"
)
_UNKNOWN: Final = -1

Named = TypeVar("Named")


def run_key(run_id: str) -> bytes | str:
    """The stored form of a run id in a column that takes either: 16 bytes for a UUID, else its text."""
    return UUID(run_id).bytes if is_uuid(run_id) else run_id


@lru_cache(maxsize=4096)  # rows of one run follow each other
def run_id_of_key(key: bytes | str) -> str:
    """The run id of a stored key."""
    if not isinstance(key, bytes):
        return key
    digits = key.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"  # a third of UUID's time


class AssignedNumbers:
    """Looks up and assigns the numbers of names and runs, within the writer's transaction."""

    def __init__(self, writer: Connection) -> None:
        self._writer = writer
        self._names: dict[tuple[str, str], int] = {}
        self._runs: dict[str, int] = {}
        self._new_names: set[tuple[str, str]] = set()
        self._new_runs: set[str] = set()

    def forget(self) -> None:
        """Clear the cache: numbers assigned since the last commit may have been rolled back."""
        for each in (self._names, self._runs, self._new_names, self._new_runs):
            each.clear()

    def name(self, pair: tuple[str, str]) -> int:
        """The number of a pair (namespace, name); an unused number if it has none yet, until `assign_new`."""
        if pair not in self._names:
            self._new_names.add(pair)
        return self._names.get(pair, _UNKNOWN)

    def run(self, run_id: str) -> int:
        """The number of a run; an unused number if it has none yet, until `assign_new`."""
        if run_id not in self._runs:
            self._new_runs.add(run_id)
        return self._runs.get(run_id, _UNKNOWN)

    def assign_new(self) -> bool:
        """Assign numbers to all names and runs asked for that had none; False if there were none."""
        are_new = bool(self._new_names or self._new_runs)
        for namespace, name, number in _NAMES.run(self._writer, sorted(self._new_names)):
            self._names[namespace, name] = number
        self._new_names.clear()
        self._assign_runs(sorted(self._new_runs))
        self._new_runs.clear()
        return are_new

    def assign_runs(self, run_ids: Iterable[str]) -> None:
        """Look up or assign the numbers of many runs at once."""
        if len(self._runs) >= _REMEMBERED_RUNS:
            self._runs.clear()
        self._assign_runs(list(dict.fromkeys(run_id for run_id in run_ids if run_id not in self._runs)))

    def _assign_runs(self, new: Sequence[str]) -> None:
        for key, number in _RUNS.run(self._writer, [(self._writer.run_key(run_id),) for run_id in new]):
            self._runs[run_id_of_key(key)] = number


class _Known(dict[int, Named]):
    """Names or runs by number."""

    def __missing__(self, number: int) -> NoReturn:
        _missing(number)


def _missing(number: int) -> NoReturn:
    raise UnavailableError(f"the database has facts about number {number}, which is no name or run in it: {RESTORED}")


class ReadNames:
    """All names and runs of a database, in one snapshot."""

    def __init__(self, reader: Connection) -> None:
        names = reader.many_rows("SELECT id, namespace, name FROM name")
        # Asked for each row that is read: a dictionary's own method answers in a third of a method's time.
        self.name = _Known({row[0]: (row[1], row[2]) for row in names}).__getitem__
        """The pair (namespace, name) of a number."""
        runs = reader.many_rows("SELECT id, run_id FROM run")
        self.run = _Known({row[0]: run_id_of_key(row[1]) for row in runs}).__getitem__
        """The run id of a number."""


class LookedUpNames:
    """Names and runs looked up one by one, for a few facts."""

    def __init__(self, reader: Connection) -> None:
        self._reader = reader
        self._pairs: dict[int, tuple[str, str]] = {}

    def name(self, number: int) -> tuple[str, str]:
        """The pair (namespace, name)."""
        pair = self._pairs.get(number)
        if pair is None:
            rows = self._reader.rows("SELECT namespace, name FROM name WHERE id = ?", (number,))
            pair = self._pairs[number] = next(rows, None) or _missing(number)
        return pair

    def run(self, number: int) -> str:
        """The run id."""
        rows = self._reader.rows("SELECT run_id FROM run WHERE id = ?", (number,))
        return run_id_of_key((next(rows, None) or _missing(number))[0])
