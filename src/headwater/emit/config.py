"""An emitter's configuration: its targets and limits."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from headwater.emit.log_keys import PinnedKey
from headwater.errors import InvalidInputError
from headwater.model.addresses import is_of_web_server

DEFAULT_ENDPOINT: Final = "http://localhost:5000/api/v1/lineage"
"""The endpoint of a service on this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpConfig:
    """Where to post events.

    Attributes:
        endpoint: the whole URL; left out of `repr`, since its query may hold a key.
        timeout_s: for connecting, sending and each wait for an answer.
        token_env: the name of the environment variable that holds the bearer token; it is read at every delivery.
        log_key: the key that must have signed the heads of the service's log; None accepts any.

    Raises:
        InvalidInputError: the endpoint is not an http(s) URL, or holds a user name or password, which would show in
            logs.
    """

    endpoint: str = field(default=DEFAULT_ENDPOINT, repr=False)
    timeout_s: float = 3.0
    token_env: str | None = None
    log_key: PinnedKey | None = None

    @property
    def target(self) -> str:
        """The endpoint without its query, which may hold a key."""
        return urlsplit(self.endpoint)._replace(query="", fragment="").geturl()

    def __post_init__(self) -> None:
        """Validate the endpoint."""
        if not is_of_web_server(self.endpoint):  # it is not repeated: it may hold a password
            raise InvalidInputError(
                "the endpoint for events, from endpoint, --endpoint or HEADWATER_ENDPOINT, is not an HTTP URL; "
                f"expected one like {DEFAULT_ENDPOINT}"
            )
        if "@" in urlsplit(self.endpoint).netloc:
            raise InvalidInputError(
                "the endpoint for events holds credentials; name an environment variable with a token instead: "
                "token_env, --token-env, or lineage.http.auth.token_env of a pipeline file"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileConfig:
    """The file to append events to, and the size at which it is rotated."""

    path: Path = Path("events.jsonl")
    rotation_size_mb: float = 64

    @property
    def target(self) -> str:
        """The file's absolute path."""
        return str(self.path.absolute())


@dataclass(frozen=True, slots=True, kw_only=True)
class EmitConfig:
    """An emitter's transports and limits.

    Attributes:
        queue_size: the most events that wait in memory for the worker; more go to the overflow on disk.
        drain_timeout_s: how long `close` waits for deliveries before it leaves the events in the spool.
        spool: the directory of all spools, on a local disk; None keeps events in memory only.
        spool_max_mb: the limit of a target's backlog on disk; events beyond it are dropped and counted.
        event_max_mb: a larger event is dropped and counted.
        heartbeat_s: a heartbeat is sent after so long without an event; None disables heartbeats.
    """

    http: HttpConfig | None = None
    file: FileConfig | None = None
    queue_size: int = 1024
    drain_timeout_s: float = 5.0
    spool: Path | None = None
    spool_max_mb: float = 256
    event_max_mb: float = 16
    heartbeat_s: float | None = None

    @property
    def enabled(self) -> bool:
        """Whether there is a target to send events to."""
        return self.http is not None or self.file is not None
