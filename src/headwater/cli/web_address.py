"""Addresses of web servers that are typed, looked at before anybody is asked there."""

import httpx

from headwater.errors import InvalidInputError


def web_address(option: str, typed: str) -> str:
    """The address that was typed for the option.

    Raises:
        InvalidInputError: it is none of a web server.
    """
    try:
        url = httpx.URL(typed)
    except httpx.InvalidURL:
        url = httpx.URL("")
    if url.scheme not in ("http", "https") or not url.host:
        what = "" if "@" in typed else f", not {typed!r}"  # it may hold a password
        raise InvalidInputError(f"{option}: expected the address of a web server, such as http://localhost:8081{what}")
    return typed
