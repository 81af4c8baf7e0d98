"""The key with which a service's log signs, as this node pinned it: by configuration, or when it enrolled its own key.

`keys/logs` under `HEADWATER_HOME` has a line for each service: its address, and its log's key as NAME+HASH+KEY. `#`
begins a comment; of two lines for one service the later one counts.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from headwater.errors import InvalidInputError, SetupError
from headwater.model.words import ELSEWHERE
from headwater.signing.note import NoteVerifier, parse_log_key
from headwater.signing.secretfile import write_whole

VARIABLE: Final = "HEADWATER_LOG_KEY"
_SETTING: Final = "lineage.http.log_key"
_ROUTE: Final = "/api/v1/lineage"
_PORTS: Final = {"http": 80, "https": 443}
_THIS_MACHINE: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class PinnedKey(NamedTuple):
    """The key of a log, and where it is set; None: what is set there is no key, so nothing counts as signed."""

    verifier: NoteVerifier | None
    where: str


def pinned_key(
    home: Path, endpoint: str, configured: str | None = None, environ: Mapping[str, str] = os.environ
) -> PinnedKey | None:
    """The key of the log behind an endpoint or service: configured, else in the environment, else kept by `keep_key`.

    None if there is none. Never raises: lineage is an observer.
    """
    if configured is not None:
        return PinnedKey(_key(configured), _SETTING)
    if named := environ.get(VARIABLE):
        return PinnedKey(_key(named), VARIABLE)
    path = kept_path(home)
    try:
        key = _kept(path).get(_service(endpoint))
    except (OSError, ValueError):
        return PinnedKey(None, str(path))
    return None if key is None else PinnedKey(_key(key), str(path))


def keep_key(home: Path, url: str, key: NoteVerifier) -> None:
    """Keep the key of a service's log.

    Raises:
        SetupError: the file cannot be read or written.
    """
    path = kept_path(home)
    try:
        before = path.read_bytes() if path.exists() else b""
        separator = b"" if before.endswith(b"\n") or not before else b"\n"
        write_whole(path, [before, separator, f"{_service(url)} {key}\n".encode()])
    except OSError as failure:
        raise SetupError(f"cannot keep the log's key in {path}: {failure.strerror}; {ELSEWHERE}") from failure


def kept_path(home: Path) -> Path:
    """The path of the kept keys."""
    return home / "keys" / "logs"


def _kept(path: Path) -> dict[str, str]:
    """The kept keys by service.

    Raises:
        OSError: the file cannot be read.
        ValueError: a line is not an address and a key.
    """
    if not path.exists():
        return {}
    lines = [line.split() for line in path.read_text().splitlines() if not line.lstrip().startswith("#")]
    return {_service(address): key for address, key in filter(None, lines)}


def _key(text: str) -> NoteVerifier | None:
    try:
        return parse_log_key(text)
    except InvalidInputError:
        return None


def _service(url: str) -> str:
    """The address that all URLs of one service share: without the path of its API, its default port, credentials.

    >>> _service("http://localhost:5000/api/v1/lineage"), _service("https://User:x@Example.org:443/lineage/")
    ('http://127.0.0.1:5000', 'https://example.org/lineage')

    Raises:
        ValueError: it is no URL.
    """
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port
    host = "127.0.0.1" if host in _THIS_MACHINE else host
    host = f"[{host}]" if ":" in host else host
    place = host if port in (None, _PORTS.get(parts.scheme)) else f"{host}:{port}"
    return f"{parts.scheme}://{place}{parts.path.rstrip('/').removesuffix(_ROUTE)}"
