"""A Trino that is asked."""

import time
from typing import Any

import httpx

_WITHIN_S = 120.0


def ask(url: str, sql: str) -> list[list[Any]]:
    """The rows that a statement answers with, once it has come to its end.

    Source: https://trino.io/docs/476/develop/client-protocol.html
    """
    until = time.monotonic() + _WITHIN_S
    page = httpx.post(f"{url}/v1/statement", content=sql, headers={"X-Trino-User": "lab"}, timeout=30).json()
    rows = [*page.get("data", [])]
    while (following := page.get("nextUri")) is not None:
        assert time.monotonic() < until, f"{sql} goes on and on"
        page = httpx.get(following, timeout=30).json()
        rows += page.get("data", [])
    assert "error" not in page, f"{sql}: {page['error']['message']}"
    return rows
