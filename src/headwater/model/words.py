"""Text for people, and checks of their text."""

import re
from typing import Final

from headwater.errors import InvalidInputError

ELSEWHERE: Final = "let this user write there, or set HEADWATER_HOME to another folder"
"""The remedy for a folder that cannot be written to."""


def in_words(text: str | None, field: str) -> str:
    """The text unchanged, after checking that it is not empty.

    Raises:
        InvalidInputError: it is missing, or white space only.
    """
    if text is None or not text.strip():
        raise InvalidInputError(f"{field}: expected text other than white space")
    return text


def so_many(count: int, what: str) -> str:
    """A count with its noun, which is passed in the singular.

    >>> so_many(1, "job"), so_many(1_000, "job"), so_many(2, "key"), so_many(2, "entry")
    ('1 job', '1,000 jobs', '2 keys', '2 entries')
    """
    return f"{count:,} {what if count == 1 else _many(what)}"


def _many(what: str) -> str:
    """The plural, of words that end in one of the ways that ours do."""
    return re.sub("(?<=[^aeiou])y$", "ie", what) + "s"
