"""Warns of log rows whose time or run differs from the event's bytes: somebody edited the database."""

from collections.abc import Iterator, Sequence
from typing import Final

from headwater.model.words import so_many

_MOST_NAMED: Final = 5


def misplaced_warning(entries: Sequence[int], what: str) -> Iterator[str]:
    """The warning about these entries, if any; `what` names the file built from the bytes, for example "bundle"."""
    if entries:
        named = ", ".join(map(str, entries[:_MOST_NAMED])) + (" …" if len(entries) > _MOST_NAMED else "")
        yield (
            f"the database has {so_many(len(entries), 'event')} under a time or run that differs from the bytes "
            "(columns event_us and run, which no leaf covers), so the service may show wrong past states and wrong "
            f"events of runs; entries: {named}; the {what} uses the bytes"
        )
