"""Records an export as an entry of the log: through the running service, else directly in its store."""

import time
import uuid
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx

from headwater.access.operator import operator_token
from headwater.cli.who import who
from headwater.errors import SetupError
from headwater.http_client import opened_client
from headwater.service.writing.actions import export_entry
from headwater.signing.note import NoteSigner
from headwater.store.entries import entry_of
from headwater.store.opening import open_existing

_TIMEOUT_S = 10.0


def note_export(home: Path, where: str | Path, signer: NoteSigner, url: str, export: Mapping[str, Any]) -> None:
    """Record in the log who exported what; it is stored when this returns.

    Raises:
        SetupError: a service uses the store, but not the one at the URL.
        UnavailableError: the store does not answer.
    """
    now_us, user = time.time_ns() // 1_000, who()
    if _recorded_by_service(url, signer, user, now_us, export):
        return
    entry = export_entry(str(uuid.uuid4()), now_us, f"operator:{user}", export)
    try:
        with closing(open_existing(where, home / "segments")) as store:
            store.add([entry_of(entry, "unsigned", None, now_us)])
    except SetupError as fault:
        raise SetupError(f"{fault}; an export is an entry of the log, so name that service with --url") from fault


def _recorded_by_service(url: str, signer: NoteSigner, user: str, now_us: int, export: Mapping[str, Any]) -> bool:
    """Whether the service at the URL has this log, and has recorded the export."""
    headers = {
        "authorization": f"Bearer {operator_token(signer, user, now_us)}",
        "x-headwater-user": f"operator:{user}",
    }
    try:
        with opened_client(base_url=f"{url.rstrip('/')}/api/v1", timeout=_TIMEOUT_S) as client:
            if client.get("/log/key").text.strip() != str(signer.verifier):
                return False
            return (
                client.post("/actions/exports", json=dict(export), headers=headers).status_code == httpx.codes.CREATED
            )
    except (httpx.HTTPError, httpx.InvalidURL):
        return False
