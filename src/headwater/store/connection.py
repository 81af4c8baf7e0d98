"""What readers and writers need of a connection to a database, whichever it is.

SQL is written once, in the words that SQLite and PostgreSQL share, with `?` for values; a connection to PostgreSQL
puts the few things right that it says otherwise.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

Row = tuple[Any, ...]


class Connection(Protocol):
    """A connection, used by one thread at a time."""

    def execute(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """Run a statement within a transaction, which translates its faults; gives the rows it returns."""

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
        """Within it, every query sees the database as it is now. Raises as `rows` does."""

    def transaction(self, *, is_acknowledged: bool) -> AbstractContextManager[None]:
        """Write in one transaction, alone; one that somebody is told of is on disk when this ends.

        Raises:
            UnavailableError: the disk is full, or the database does not answer; nothing was written as far as is known.
            InvalidEventError: the database does not take a value; nothing was written.
        """

    def forget_freed(self) -> None:
        """Overwrite what is deleted from now on, and what was, as far as the database can."""

    def answers_within(self, seconds: float) -> None:
        """Give up on a database that says nothing for so long; what it was asked then raises UnavailableError."""

    def run_key(self, run_id: str) -> bytes | str:
        """What stands for a run id in this database's tables."""

    def close(self) -> None:
        """Close it."""
