"""Warns of log rows whose time or run differs from the event's bytes: somebody edited the database."""

from collections.abc import Iterator, Sequence
from typing import Final

from headwater.model.words import so_many

_MOST_NAMED: Final = 5


def misplaced_warning(entries: Sequence[int], what: str) -> Iterator[str]:
    """The warning about these entries, if any; `what` was made from the bytes, for example "bundle"."""
    if entries:
        named = ", ".join(map(str, entries[:_MOST_NAMED])) + (" …" if len(entries) > _MOST_NAMED else "")
        yield (
            f"the database has {so_many(len(entries), 'event')} under another time or run than the bytes say (columns "
            "event_us and run, which are in no leaf), so what the service shows of a past, or as a run's events, is "
            f"not what the log took: {named}; the {what} goes by the bytes"
        )
