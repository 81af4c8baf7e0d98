"""The numbers that stand for names and runs in one SQLite file: given out by the writer, read back by readers."""

import sqlite3
from collections.abc import Iterable
from typing import Final

from headwater.store.bulk import Insert
from headwater.store.tables import run_id_of_key, run_key

_REMEMBERED_RUNS: Final = 100_000
# An update that changes nothing makes the statement return rows that are there already, too.
_NAMES: Final = Insert("name (namespace, name)", 2, "ON CONFLICT DO UPDATE SET name = name RETURNING id")
_RUNS: Final = Insert("run (run_id)", 1, "ON CONFLICT DO UPDATE SET run_id = run_id RETURNING run_id, id")


class GivenNumbers:
    """Finds the number of a name or a run, and gives one to whoever has none; within the writer's transaction."""

    def __init__(self, writer: sqlite3.Connection) -> None:
        self._writer = writer
        self._names: dict[tuple[str, str], int] = {}
        self._runs: dict[str, int] = {}

    def forget(self) -> None:
        """Look everything up again: what was given out since the last commit may have been rolled back."""
        self._names.clear()
        self._runs.clear()

    def name(self, pair: tuple[str, str]) -> int:
        """The number of a pair (namespace, name)."""
        known = self._names.get(pair)
        if known is None:
            [(number,)] = _NAMES.run(self._writer, [pair])
            known = self._names[pair] = number
        return known

    def run(self, run_id: str) -> int:
        """The number of a run."""
        if run_id not in self._runs:
            self.meet_runs([run_id])
        return self._runs[run_id]

    def meet_runs(self, run_ids: Iterable[str]) -> None:
        """Find the numbers of many runs at once."""
        if len(self._runs) >= _REMEMBERED_RUNS:
            self._runs.clear()
        new = dict.fromkeys(run_id for run_id in run_ids if run_id not in self._runs)
        for key, number in _RUNS.run(self._writer, [(run_key(run_id),) for run_id in new]):
            self._runs[run_id_of_key(key)] = number


class ReadNames:
    """All names and runs of a file at one moment."""

    def __init__(self, reader: sqlite3.Connection) -> None:
        self._pairs: dict[int, tuple[str, str]] = {
            row[0]: (row[1], row[2]) for row in reader.execute("SELECT * FROM name")
        }
        self._run_ids: dict[int, str] = {row[0]: run_id_of_key(row[1]) for row in reader.execute("SELECT * FROM run")}

    def name(self, number: int) -> tuple[str, str]:
        """The pair (namespace, name)."""
        return self._pairs[number]

    def run(self, number: int) -> str:
        """The run's id."""
        return self._run_ids[number]
