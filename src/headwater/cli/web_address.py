"""Addresses of web servers that are typed, looked at before anybody is asked there."""

import httpx

from headwater.errors import InvalidInputError
from headwater.model.addresses import is_of_web_server


def is_web_address(typed: str) -> bool:
    """Whether it is the URL of a web server."""
    try:
        httpx.URL(typed).host  # noqa: B018 - to ask for it is what finds one that cannot be
    except (httpx.InvalidURL, UnicodeError):
        return False
    return is_of_web_server(typed)


def web_address(option: str, typed: str) -> str:
    """The address that was typed for the option.

    Raises:
        InvalidInputError: it is none of a web server.
    """
    if not is_web_address(typed):
        what = "" if "@" in typed else f", not {typed!r}"  # it may hold a password
        raise InvalidInputError(f"{option}: expected the address of a web server, such as http://localhost:8081{what}")
    return typed
