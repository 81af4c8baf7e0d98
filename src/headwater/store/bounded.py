"""One connection that is read from, perhaps only for what events until some time say."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar

from headwater.store.bulk import marks
from headwater.store.connection import Connection

ValueT = TypeVar("ValueT")

END_OF_TIME_US: Final = 2**62
IN_ONE_QUESTION: Final = 500
"""Values of a list."""

RUN: Final = "(SELECT id FROM run WHERE run_id = ?)"
NAME: Final = "(SELECT id FROM name WHERE namespace = ? AND name = ?)"


class Bounded:
    """What every reader has; called from one thread at a time, which need not be the writer's.

    Every method of every reader raises UnavailableError where the database does not answer.
    """

    def __init__(self, connection: Connection, until_us: int | None = None) -> None:
        """Read from a connection; with `until_us` only what events until that time say, as far as rows tell."""
        self._reader = connection
        self._until_us = END_OF_TIME_US if until_us is None else until_us
        # Not even asked where there is no bound: several answers then come from an index alone.
        # A value in either, not a part of the text: so a statement that was prepared serves all times.
        self._if_happened = "" if until_us is None else " AND +event_us <= ?"
        self._if_told = "" if until_us is None else " AND +stamp_us <= ?"
        self._bound = () if until_us is None else (until_us,)
        self._rows = connection.rows
        self._key = connection.run_key

    def _wait_for_facts(self) -> None:
        """See to it that the facts of every event in the log can be read, as far as possible now."""

    def close(self) -> None:
        """Close the connection."""
        self._reader.close()

    def _value(self, sql: str, values: Sequence[object] = ()) -> Any:  # noqa: ANN401  whatever the column holds
        return next((row[0] for row in self._rows(sql, values)), None)


def parts(values: Sequence[ValueT]) -> Iterator[Sequence[ValueT]]:
    """So many as go into one question, whose number no database takes without end."""
    return (values[begin : begin + IN_ONE_QUESTION] for begin in range(0, len(values), IN_ONE_QUESTION))


def runs(run_ids: Sequence[str]) -> str:
    """The rows of these runs, whose keys go in as values."""
    return f"(SELECT * FROM run WHERE run_id IN ({marks(run_ids)}))"  # noqa: S608  marks only
