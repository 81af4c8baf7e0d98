"""Validates URLs of web servers from the command line before they are used."""

import httpx

from headwater.errors import InvalidInputError
from headwater.model.addresses import is_of_web_server


def is_web_address(typed: str) -> bool:
    """Whether the text is an http(s) URL."""
    try:
        httpx.URL(typed).host  # noqa: B018 - httpx validates the host only when it is read
    except (httpx.InvalidURL, UnicodeError):
        return False
    return is_of_web_server(typed)


def web_address(option: str, typed: str) -> str:
    """Validate the URL given for an option; returns it unchanged.

    Raises:
        InvalidInputError: it is not an http(s) URL.
    """
    if not is_web_address(typed):
        what = "" if "@" in typed else f", not {typed!r}"  # it may hold a password
        raise InvalidInputError(f"{option}: expected the address of a web server, such as http://localhost:8081{what}")
    return typed
