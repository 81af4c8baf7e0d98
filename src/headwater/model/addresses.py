"""Addresses that Java can read: over one that it cannot read, a client of Marquez's loses the whole answer."""

import re
from typing import Final
from urllib.parse import quote, urlsplit

_SCHEMES: Final = frozenset({"file", "ftp", "http", "https", "jar", "mailto"})
_NOT_IN_A_URI: Final = re.compile(r'[\x00-\x20\x7f-\x9f\s"<>\\^`{|}]|%(?![0-9A-Fa-f]{2})')


def is_url(text: str) -> bool:
    """Whether `java.net.URL` reads it: it knows a few schemes, and wants a port to be a number.

    >>> [is_url(text) for text in ("https://git.example.org/etl", "git@example.org:etl.git", "/dags/load.py")]
    [True, False, False]

    Source: https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/net/URL.html
    """
    try:
        parts = urlsplit(text)
        scheme, _ = parts.scheme, parts.port
    except ValueError:
        return False
    return scheme in _SCHEMES


def as_uri(text: str) -> str:
    """The address with percent signs for what may not stand in one, so that `java.net.URI` reads it; else as it is.

    >>> as_uri("jdbc:sqlserver://db:1433;databaseName=the shop")
    'jdbc:sqlserver://db:1433;databaseName=the%20shop'

    Source: https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/net/URI.html
    """
    return _NOT_IN_A_URI.sub(lambda found: quote(found[0], safe=""), text)
