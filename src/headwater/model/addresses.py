"""Addresses of web servers, and those that Java can parse: on any other, Marquez's client loses the entire answer."""

import re
from typing import Final
from urllib.parse import quote, urlsplit

_SCHEMES: Final = frozenset({"file", "ftp", "http", "https", "jar", "mailto"})
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_PARTS: Final = re.compile(r"([a-z][a-z0-9+.-]*:)?(//[^/?#]*)?([^?#]*)(\?[^#]*)?(#?)(.*)", re.A | re.I | re.S)
_HOST_ALONE: Final = re.compile(r"[^/?#:]*:")
_NOT_IN_A_URI: Final = re.compile(r"""%(?![0-9a-fA-F]{2})|[\s\x00-\x20\x7f-\x9f"<>\\^`{|}]""")
_BRACKET: Final = re.compile(r"[\[\]]")
_HOST_IN_BRACKETS: Final = re.compile(r"//\[[0-9a-fA-F:.]+\](?::\d*)?")


def is_of_web_server(text: str) -> bool:
    """Whether the text is an HTTP URL: scheme `http` or `https`, a host, and a valid port.

    >>> [is_of_web_server(f"{start}/lineage") for start in ("https://[::1]:5000", "localhost:5000", "http://db:65536")]
    [True, False, False]
    """
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def is_url(text: str) -> bool:
    """Whether `java.net.URL` parses it: it knows a few schemes, and requires a numeric port.

    >>> [is_url(text) for text in ("https://git.example.org/etl", "git@example.org:etl.git", "/dags/load.py")]
    [True, False, False]

    Source: https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/net/URL.html
    """
    try:
        parts = urlsplit(text)
        scheme, _ = parts.scheme, parts.port
    except ValueError:
        return False
    return scheme in _SCHEMES and not _CONTROL.search(text)


def url_or_none(text: str | None) -> str | None:
    """The text, if `java.net.URL` parses it."""
    return text if text is not None and is_url(text) else None


def as_uri(text: str) -> str:
    """The address with percent signs for what may not stand in one, so that `java.net.URI` reads it; else as it is.

    A host without a scheme gets `//`, a scheme with nothing behind it a `/`.

    >>> as_uri("jdbc:sqlserver://db:1433;databaseName=a b"), as_uri("my_db:5432/shop"), as_uri("hive://")
    ('jdbc:sqlserver://db:1433;databaseName=a%20b', '//my_db:5432/shop', 'hive:///')

    Source: RFC 3986, 2 and 4.2; https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/net/URI.html
    """
    parts = _PARTS.findall(text)[0]
    if not parts[0] and _HOST_ALONE.match(text):
        parts = _PARTS.findall(f"//{text}")[0]
    scheme, host, path, query, sign, fragment = parts
    if (scheme or host) and host in ("", "//") and not query:
        path = path or "/"
    if not _HOST_IN_BRACKETS.fullmatch(host):
        host = _BRACKET.sub(_encoded, host)
    if host or path.startswith("/") or not scheme:
        path = _BRACKET.sub(_encoded, path)
    fragment = fragment.replace("#", "%23")
    return _NOT_IN_A_URI.sub(_encoded, f"{scheme}{host}{path}{query}{sign}{fragment}")


def _encoded(found: re.Match[str]) -> str:
    return quote(found[0], safe="")
