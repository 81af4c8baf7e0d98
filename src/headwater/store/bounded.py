"""Queries over one connection, optionally limited to what events up to a time say."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from headwater.model.times import AFTER_ALL_US
from headwater.store.bulk import marks
from headwater.store.connection import Connection, Row

IN_ONE_QUESTION: Final = 500
"""Values per query: databases limit their number."""

RUN: Final = "(SELECT id FROM run WHERE run_id = ?)"
RUNS: Final = "(SELECT * FROM run WHERE run_id IN ({}))"
"""A subquery for the rows of runs, whose keys are the values of `Bounded._rows_in`."""
NAME: Final = "(SELECT id FROM name WHERE namespace = ? AND name = ?)"


class Bounded:
    """Base of all readers; called from one thread at a time, which need not be the writer's.

    Every method of every reader raises UnavailableError where the database does not answer.
    """

    def __init__(self, connection: Connection, until_us: int | None = None) -> None:
        """Read from a connection; with `until_us`, only what events up to that time say, as far as rows can tell."""
        self.connection = connection
        """The connection; may be shared with another reader that is called from the same thread."""
        self._until_us = AFTER_ALL_US if until_us is None else until_us
        # Not even asked where there is no bound: several answers then come from an index alone.
        # A value in either, not a part of the text: so a statement that was prepared serves all times.
        self._if_happened = "" if until_us is None else " AND +event_us <= ?"
        self._if_reported = "" if until_us is None else " AND +stamp_us <= ?"
        self._bound = () if until_us is None else (until_us,)
        self._rows = connection.rows
        self._key = connection.run_key

    def wait_for_facts(self) -> None:
        """Ensure that the facts of every event in the log can be read.

        Raises:
            UnavailableError: some cannot be stored now, so reads might be incomplete.
        """

    def _fact_rows(self, sql: str, values: Sequence[object] = ()) -> Iterator[Row]:
        """The rows of a query about facts."""
        self.wait_for_facts()
        return self._rows(sql, values)

    def _rows_in(
        self, sql: str, many: Sequence[object], *, before: Sequence[object] = (), behind: Sequence[object] = ()
    ) -> Iterator[Row]:
        """The rows of a query for any number of values, which go where it says `IN ({})`.

        The values are queried in chunks, lazily: grouping and order hold within a chunk only, and without values
        nothing is queried. `before` and `behind` are the query's other values.
        """
        for begin in range(0, len(many), IN_ONE_QUESTION):
            some = many[begin : begin + IN_ONE_QUESTION]
            yield from self._rows(sql.format(marks(some)), (*before, *some, *behind))

    def _fact_rows_in(
        self, sql: str, many: Sequence[object], *, before: Sequence[object] = (), behind: Sequence[object] = ()
    ) -> Iterator[Row]:
        """The rows of a query about facts; otherwise as `_rows_in`."""
        self.wait_for_facts()
        return self._rows_in(sql, many, before=before, behind=behind)

    def _keys(self, run_ids: Sequence[str]) -> list[bytes | str]:
        return [*map(self._key, run_ids)]

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def _value(self, sql: str, values: Sequence[object] = ()) -> Any:  # noqa: ANN401  whatever the column holds
        return next((row[0] for row in self._rows(sql, values)), None)
