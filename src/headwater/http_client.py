"""HTTP clients with the certificates and proxies of the environment."""

import os
from typing import Any, Final

import httpx

from headwater.errors import SetupError
from headwater.model.tls import authorities_to_trust

_PROXIES: Final = frozenset({"http_proxy", "https_proxy", "all_proxy"})
"""Environment variables of proxies, in lower or upper case."""


def opened_client(**settings: Any) -> httpx.Client:  # noqa: ANN401  as httpx has them
    """A client, not yet connected.

    Raises:
        SetupError: the environment names certificates that cannot be read, or a proxy that cannot be used.
    """
    try:
        with authorities_to_trust():
            return httpx.Client(**settings)
    except (ImportError, ValueError, httpx.InvalidURL):  # their messages may show a password
        raise SetupError(
            f"{' or '.join(_unusable_proxies())} holds no valid proxy address; set it to one like "
            "http://proxy.example.org:3128, or unset it"
        ) from None


def _unusable_proxies() -> list[str]:
    """The variables with proxies of unsupported kinds; if there are none, all that name a proxy."""
    named = {name: value for name, value in os.environ.items() if name.lower() in _PROXIES and value}
    odd = [name for name, value in named.items() if "://" in value and not value.startswith(("http://", "https://"))]
    return sorted(odd or named)
