"""Nested columns, by their paths: `person.age` is nested in `person`."""

from collections.abc import Iterable, Iterator


def structs_of(column: str) -> Iterator[str]:
    """The enclosing structs of a nested field, innermost first.

    >>> list(structs_of("a.b.c"))
    ['a.b', 'a']
    """
    while "." in column:
        column = column.rpartition(".")[0]
        yield column


def lies_in(column: str, struct: str) -> bool:
    """Whether one column is nested in the other.

    >>> lies_in("a.b.c", "a"), lies_in("a", "a"), lies_in("ab.c", "a")
    (True, False, False)
    """
    return column.startswith(f"{struct}.")


class Nesting:
    """Which of a set of columns are nested in which."""

    def __init__(self, columns: Iterable[str]) -> None:
        """Index the columns; most are not nested."""
        self._columns = {*columns}
        self._inside: dict[str, list[str]] = {}
        for column in sorted(each for each in self._columns if "." in each):
            for struct in structs_of(column):
                self._inside.setdefault(struct, []).append(column)

    def related(self, column: str) -> list[str]:
        """The enclosing structs and nested fields of a column.

        >>> Nesting(["a", "a.b", "a.c", "ab"]).related("a.b")
        ['a']
        """
        structs = [struct for struct in structs_of(column) if struct in self._columns]
        return [*structs, *self._inside.get(column, ())]

    def touches(self, column: str) -> bool:
        """Whether the column, an enclosing struct or a nested field is among these columns."""
        return column in self._columns or bool(self.related(column))
