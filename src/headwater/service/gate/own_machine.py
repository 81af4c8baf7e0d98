"""ASGI middleware for a service without access control: against cross-site requests and DNS rebinding in browsers.

A browser sends requests for any page, to 127.0.0.1 too; and a page whose host name was rebound to 127.0.0.1 can read
the answers. So neither the requested host nor the requesting page's may be a name that somebody elsewhere can own.
Programs other than browsers send no `Origin`, and request the machine by an address or a name of its own.
"""

from collections.abc import Set
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final
from urllib.parse import urlsplit

from fastapi import Request
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from headwater.errors import ForbiddenError
from headwater.service.http.failures import failed

_THIS_MACHINE: Final = "localhost"
_NOBODYS: Final = (".localhost", ".internal")
"""Endings of host names that nobody can register. Source: RFC 6761, 6.3; ICANN's resolution 2024.07.29.06"""
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_REMEDY: Final = (
    "if it is yours, start `headwater serve` with --allow-host and its name, or with --access (docs/access.md)"
)
_LONGEST: Final = 253
"""Length limit of a host name. Source: RFC 1035, 2.3.4"""


class OwnMachine:
    """Refuses cross-site requests."""

    def __init__(self, app: ASGIApp, hosts: Set[str]) -> None:
        """`hosts` are further names of this machine, in lower case, as a proxy passes on the requested one."""
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, if it comes from this machine itself."""
        fault = self._fault(scope["method"], Headers(scope=scope)) if scope["type"] == "http" else None
        if fault is None:
            await self._app(scope, receive, send)
            return
        response = await failed(Request(scope), ForbiddenError(fault, is_retriable=True))
        await response(scope, receive, send)

    def _fault(self, method: str, headers: Headers) -> str | None:
        """Why the request is refused; None if it is not."""
        host, origin = headers.get("host"), headers.get("origin")
        if host and not self._allows_host(name := _name(f"//{host}")):
            return f"Host: {name!r} is not a known name of this machine; {_REMEDY}"
        if origin is not None and origin.partition("://")[2] != host and not self._allows_origin(name := _name(origin)):
            return f"Origin: pages of {name!r} may not send requests; {_REMEDY}"
        if origin is None and method not in _SAFE and headers.get("sec-fetch-site") == "cross-site":
            return f"Sec-Fetch-Site: cross-site requests may not write; {_REMEDY}"
        return None

    def _allows_host(self, name: str) -> bool:
        """Whether no foreign page can have this host name: an address, or a single label, cannot be rebound."""
        is_nobodys = bool(name) and ("." not in name or name.endswith(_NOBODYS) or _address(name) is not None)
        return is_nobodys or name in self._hosts

    def _allows_origin(self, name: str) -> bool:
        address = _address(name)
        is_here = name == _THIS_MACHINE or name.endswith(f".{_THIS_MACHINE}")
        return is_here or (address is not None and address.is_loopback) or name in self._hosts


def _name(url: str) -> str:
    """The host name in a URL; empty if there is none."""
    try:
        return (urlsplit(url).hostname or "").removesuffix(".")[:_LONGEST]
    except ValueError:
        return ""


def _address(name: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(name)
    except ValueError:
        return None
