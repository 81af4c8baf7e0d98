"""The TLS certificate of a server, reloaded from its files when they are replaced."""

import logging
import ssl
from collections.abc import Sequence
from pathlib import Path

from headwater.errors import SetupError

log = logging.getLogger(__name__)


class Certificate:
    """A certificate and its private key, in two PEM files that may be replaced while the server runs."""

    def __init__(self, path: Path, key: Path) -> None:
        """Check that the files are a certificate and its key.

        Raises:
            SetupError: they cannot be read, or do not belong together.
        """
        self.path = path
        self.key = key
        self._loaded = self._state()
        try:
            self._load_into(_scratch())
        except OSError as fault:  # of ssl, too
            raise SetupError(
                f"--tls-cert, --tls-key: expected a certificate and its private key in PEM ({fault.strerror})"
            ) from fault

    def renew(self, used: ssl.SSLContext) -> None:
        """Reload the files into the context in use, for new connections, if they were replaced.

        A pair that does not belong together, as while only one of the files has been written, is logged and ignored:
        the previous certificate stays in use until the files change again.
        """
        state = self._state()
        if state == self._loaded:
            return
        self._loaded = state
        try:
            self._load_into(_scratch())  # loading a bad pair straight into `used` would drop its key
            self._load_into(used)
        except OSError as fault:
            log.warning(
                "cannot load the new TLS certificate; the old one stays in use",
                extra={"path": str(self.path), "why": fault.strerror},
            )
        else:
            log.info("loaded a new TLS certificate", extra={"path": str(self.path)})

    def _load_into(self, context: ssl.SSLContext) -> None:
        context.load_cert_chain(self.path, self.key)

    def _state(self) -> Sequence[tuple[int, int] | None]:
        return [_state_of(file) for file in (self.path, self.key)]


def _state_of(file: Path) -> tuple[int, int] | None:
    """Changes whenever the file is written or replaced; None if it does not exist."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def _scratch() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
