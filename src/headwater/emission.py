"""Opens emitters: for other people's Python programs, and for pipelines from their file's `lineage:` section."""

import os
import secrets
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

from headwater.emit.config import DEFAULT_ENDPOINT, EmitConfig, FileConfig, HttpConfig
from headwater.emit.emitter import Emitter
from headwater.emit.home import headwater_home
from headwater.emit.log_keys import pinned_key
from headwater.model.run_ids import RANDOM_BITS, run_id
from headwater.pipeline.spec import LineageSpec
from headwater.signing.keyfile import load_or_create


def opened_emitter(endpoint: str | None, file: str | Path | None, token_env: str | None) -> Emitter:
    """An emitter that signs with this machine's key.

    Events go to the endpoint, to the file, or to both. If neither is given, they go to `$HEADWATER_ENDPOINT`, or else
    to the service's default address on this machine.

    Raises:
        InvalidInputError: the endpoint is not an http(s) URL, or holds credentials.
        SetupError: the key cannot be read or created.
    """
    home = headwater_home()
    if endpoint is None and file is None:
        endpoint = os.environ.get("HEADWATER_ENDPOINT") or DEFAULT_ENDPOINT
    http = (
        None
        if endpoint is None
        else HttpConfig(endpoint=endpoint, token_env=token_env, log_key=pinned_key(home, endpoint))
    )
    to_file = None if file is None else FileConfig(path=Path(file))
    return Emitter.of_node(EmitConfig(http=http, file=to_file, spool=home / "spool"), load_or_create(home))


def new_run_id() -> str:
    """A fresh UUID of version 7."""
    return run_id(time.time_ns() // 1_000_000, secrets.randbits(RANDOM_BITS))


def emit_config(lineage: LineageSpec, home: Path) -> EmitConfig:
    """The emitter's configuration from a pipeline file's `lineage:` section."""
    http = HttpConfig(
        endpoint=lineage.http.endpoint,
        timeout_s=lineage.http.timeout,
        token_env=None if lineage.http.auth is None else lineage.http.auth.token_env,
        log_key=pinned_key(home, lineage.http.endpoint, lineage.http.log_key),
    )
    file = FileConfig(path=_local_path(lineage.file.path), rotation_size_mb=lineage.file.rotation_size_mb)
    return EmitConfig(
        http=http if lineage.transport in ("http", "both") else None,
        file=file if lineage.transport in ("file", "both") else None,
        queue_size=lineage.queue_size,
        drain_timeout_s=lineage.drain_timeout,
        spool=home / "spool",
        heartbeat_s=lineage.heartbeat or None,
    )


def _local_path(location: str) -> Path:
    return Path(unquote(urlsplit(location).path)) if location.startswith("file:") else Path(location)
