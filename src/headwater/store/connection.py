"""The interface to a database connection.

SQL is written once, in what SQLite and PostgreSQL share, with `?` for values; a connection to PostgreSQL rewrites the
few differences.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol

RESTORED: Final = "was it restored in part? Restore it whole from a backup"
"""Advice where a database lacks a part of what it holds."""

Row = tuple[Any, ...]


class Connection(Protocol):
    """A connection, used by one thread at a time."""

    def execute(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """Run a statement within a transaction, which translates its errors; returns the rows."""

    def rows(self, sql: str, values: Sequence[object] = ()) -> Iterator[Row]:
        """Run a query.

        Raises:
            UnavailableError: the database does not answer.
        """

    def many_rows(self, sql: str) -> Iterator[Row]:
        """Run a query whose rows are not all held in memory; within `one_moment`. Raises as `rows` does.

        Other queries may be run while its rows are read.
        """

    def one_moment(self) -> AbstractContextManager[None]:
        """A context in which every query sees the same snapshot. Raises as `rows` does."""

    def transaction(self, *, is_acknowledged: bool) -> AbstractContextManager[None]:
        """Write in one exclusive transaction; if it is to be acknowledged, it is on disk when this ends.

        Raises:
            UnavailableError: the disk is full, or the database does not answer; nothing was written as far as is known.
            InvalidEventError: the database does not take a value; nothing was written.
        """

    def forget_freed(self) -> None:
        """Overwrite deleted data, from now on and from before, as far as the database can."""

    def answers_within(self, seconds: float) -> None:
        """Set a time-out: a statement without a response for so long raises UnavailableError."""

    def run_key(self, run_id: str) -> bytes | str:
        """The value stored for a run id in this database's tables."""

    def close(self) -> None:
        """Close it."""
