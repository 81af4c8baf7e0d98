"""Words for people, and what they are asked for in their own."""

from headwater.errors import InvalidInputError


def in_words(text: str | None, field: str) -> str:
    """The text as it is, which says something.

    Raises:
        InvalidInputError: it is missing, or white space alone.
    """
    if text is None or not text.strip():
        raise InvalidInputError(f"{field}: expected some words, and not white space alone")
    return text


def so_many(count: int, what: str) -> str:
    """How many there are of what a word says in the singular.

    >>> so_many(1, "job"), so_many(1_000, "job")
    ('1 job', '1,000 jobs')
    """
    return f"{count:,} {what}{'s' * (count != 1)}"
