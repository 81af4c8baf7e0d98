"""What people are asked for in their own words."""

from headwater.errors import InvalidInputError


def in_words(text: str | None, field: str) -> str:
    """The text as it is, which says something.

    Raises:
        InvalidInputError: it is missing, or white space alone.
    """
    if text is None or not text.strip():
        raise InvalidInputError(f"{field}: expected some words, and not white space alone")
    return text
