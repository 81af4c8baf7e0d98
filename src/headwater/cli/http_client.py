"""Messages about failed requests."""

import os
import re
import socket
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from headwater.model.tls import is_not_trusted, not_trusted

_OF_A_SYSTEM: Final = re.compile(r"^\[Errno -?\d+\] | \(_ssl\.c:\d+\)$")
"""Technical parts of a reason that are removed."""
_LATE: Final = (httpx.ReadTimeout, httpx.WriteTimeout, httpx.PoolTimeout)
_ON_THE_WAY: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError, httpx.UnsupportedProtocol)


def reason(fault: httpx.HTTPError) -> str:
    """Why no answer came, in the system's words, without anything that was sent."""
    if isinstance(fault, httpx.LocalProtocolError):  # its message quotes a header, perhaps one with a key
        return type(fault).__name__
    return _OF_A_SYSTEM.sub("", str(fault)) or type(fault).__name__


def no_answer(fault: httpx.HTTPError, url: str, nobody: str) -> str:
    """The message for a URL without an answer: why, and what to do about it.

    `nobody` is the message if nothing listens there, with `{url}` and `{why}`.
    """
    why = reason(fault)
    if isinstance(fault, _LATE):
        return f"{url} did not answer in time ({why}): it is running, but slow or busy; try again later"
    if is_not_trusted(fault):
        return not_trusted(url, why)
    if isinstance(fault, _ON_THE_WAY) and (proxy := _proxy_to(url)):
        return (
            f"the proxy in {proxy} does not connect to {url} ({why}); correct or unset the variable, or add the host "
            "to NO_PROXY to bypass the proxy"
        )
    if "SSL" in why:
        return f"TLS failed with the server at {url} ({why}); if it does not use TLS, write http://"
    if isinstance(fault.__cause__ and fault.__cause__.__context__, socket.gaierror):
        return f"the host name in {url} cannot be resolved ({why}); check the name and the network"
    if isinstance(fault, _ON_THE_WAY):
        return nobody.format(url=url, why=why)
    hint = "if it uses TLS, write https://; otherwise try" if url.startswith("http:") else "try"
    return f"the server at {url} closed the connection before it answered ({why}); {hint} again later"


def _proxy_to(url: str) -> str | None:
    """The variable with the proxy for a URL; None without one."""
    scheme, host, *_ = urlsplit(url)
    proxies = getproxies()
    if not host or proxy_bypass(host):
        return None
    by = next((kind for kind in (scheme, "all") if kind in proxies), None)
    return next((name for name in os.environ if name.lower() == f"{by}_proxy"), None)
