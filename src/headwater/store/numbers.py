"""The numbers that stand for names and runs in one SQLite file: given out by the writer, read back by readers."""

import sqlite3
from typing import Any, Final

from headwater.store.tables import run_id_of_key, run_key

_REMEMBERED_RUNS: Final = 100_000


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
            known = self._names[pair] = self._given(
                "SELECT id FROM name WHERE namespace = ? AND name = ?",
                "INSERT INTO name (namespace, name) VALUES (?, ?)",
                tuple(pair),
            )
        return known

    def run(self, run_id: str) -> int:
        """The number of a run."""
        known = self._runs.get(run_id)
        if known is None:
            if len(self._runs) >= _REMEMBERED_RUNS:
                self._runs.clear()
            known = self._runs[run_id] = self._given(
                "SELECT id FROM run WHERE run_id = ?", "INSERT INTO run (run_id) VALUES (?)", (run_key(run_id),)
            )
        return known

    def _given(self, select: str, insert: str, values: tuple[Any, ...]) -> int:
        found = self._writer.execute(select, values).fetchone()
        number: int | None = found[0] if found else self._writer.execute(insert, values).lastrowid
        assert number is not None  # noqa: S101  an insert into a rowid table has one
        return number


class ReadNames:
    """All names and runs of a file at one moment."""

    def __init__(self, reader: sqlite3.Connection) -> None:
        self._pairs = {row[0]: (row[1], row[2]) for row in reader.execute("SELECT * FROM name")}
        self._run_ids = {row[0]: run_id_of_key(row[1]) for row in reader.execute("SELECT * FROM run")}

    def name(self, number: int) -> tuple[str, str]:
        """The pair (namespace, name)."""
        return self._pairs[number]

    def run(self, number: int) -> str:
        """The run's id."""
        return self._run_ids[number]
