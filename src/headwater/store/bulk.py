"""Many rows in one statement.

Row by row, Python's lock changes hands at every step, and the writer's thread waits up to 5 ms each time for the thread
that serves requests: eight posts at once then took three times as long.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from headwater.store.connection import Connection, Row

_MOST_ROWS: Final = 128
_FEW_ROWS: Final = 16
"""Up to so many rows go into one statement of exactly that size."""
MOST_STATEMENTS: Final = 1024
"""Size of the statement cache: more than the different statements over all tables, so none is prepared again."""


class Insert(NamedTuple):
    """An INSERT of rows with this many columns; `rest` is what follows the values."""

    table: str
    columns: int
    rest: str = ""

    def run(self, connection: Connection, rows: Sequence[Row]) -> list[Row]:
        """Insert rows with distinct keys; returns what `rest` returns."""
        returned: list[Row] = []
        for part in _parts(rows):
            values = [value for row in part for value in row]
            returned += connection.execute(_insert(self, len(part)), values)
        return returned


def select_in(connection: Connection, sql: str, values: Sequence[object]) -> list[Row]:
    """Run a query that ends in `IN`, over any number of values."""
    return [row for part in _parts(values) for row in connection.execute(f"{sql} ({marks(part)})", part)]


def marks(values: Sequence[object]) -> str:
    """As many placeholders as there are values, for `IN` or `VALUES`."""
    return ", ".join("?" * len(values))


def _parts(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Chunks whose sizes are small or powers of two, so that there are few different statements to prepare."""
    begin = 0
    while left := len(rows) - begin:
        size = left if left <= _FEW_ROWS else min(_MOST_ROWS, 1 << (left.bit_length() - 1))
        yield rows[begin : begin + size]
        begin += size


@lru_cache(maxsize=MOST_STATEMENTS)
def _insert(insert: Insert, rows: int) -> str:
    row = f"({', '.join('?' * insert.columns)})"
    return f"INSERT INTO {insert.table} VALUES {', '.join([row] * rows)} {insert.rest}"  # noqa: S608  names of ours
