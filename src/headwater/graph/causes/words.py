"""Time spans, lists and clipped texts for messages."""

from collections.abc import Sequence
from typing import Final

_UNITS: Final = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
_ALMOST: Final = 0.99
"""A day less some minutes is a day."""
_MOST_NAMES: Final = 5
_MOST_LETTERS: Final = 200


def span(microseconds: float) -> str:
    """A length of time in its largest unit.

    >>> span(5_400_000_000), span(86_399_000_000), span(1_200_000)
    ('1.5 h', '1 d', '1.2 s')
    """
    seconds = microseconds / 1_000_000
    unit, size = next((pair for pair in _UNITS if seconds >= _ALMOST * pair[1]), ("s", 1))
    return f"{seconds / size:.1f}".removesuffix(".0") + f" {unit}"


def listed(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    shown = ", ".join(names[:_MOST_NAMES])
    return shown if len(names) <= _MOST_NAMES else f"{shown} and {len(names) - _MOST_NAMES:,} more"


def and_last(words: Sequence[str]) -> str:
    """All of them, with "and" before the last.

    >>> and_last(["1", "2", "3"])
    '1, 2 and 3'
    """
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def clipped(text: str) -> str:
    """The first line of a text, cut where it is very long."""
    line = next(iter(text.strip().splitlines()), "")
    return line if len(line) <= _MOST_LETTERS else f"{line[:_MOST_LETTERS]}…"
