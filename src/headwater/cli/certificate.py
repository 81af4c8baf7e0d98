"""The certificate that a server shows, and what takes its place once it is renewed."""

import logging
import ssl
from collections.abc import Sequence
from pathlib import Path

from headwater.errors import SetupError

log = logging.getLogger(__name__)


class Certificate:
    """A certificate and its key, as PEM files, either of which somebody may replace while the server runs."""

    def __init__(self, path: Path, key: Path) -> None:
        """Take the files, known to fit together.

        Raises:
            SetupError: they cannot be read, or are no certificate with its key.
        """
        self.path = path
        self.key = key
        self._taken = self._state()
        try:
            self._load_into(_nobodys())
        except OSError as fault:  # of ssl, too
            raise SetupError(f"--tls-cert, --tls-key: no certificate with its key in PEM ({fault.strerror})") from fault

    def renew(self, used: ssl.SSLContext) -> None:
        """Show new connections what is in the files by now, if they were replaced.

        Where that is no certificate with its key, as between the writing of the one file and of the other, the one
        before is shown until they are replaced again.
        """
        state = self._state()
        if state == self._taken:
            return
        self._taken = state
        try:
            self._load_into(_nobodys())  # one that does not fit would take the key from the one that is used
            self._load_into(used)
        except OSError as fault:
            log.warning("the new certificate cannot be used", extra={"path": str(self.path), "why": fault.strerror})
        else:
            log.info("a new certificate is used", extra={"path": str(self.path)})

    def _load_into(self, context: ssl.SSLContext) -> None:
        context.load_cert_chain(self.path, self.key)

    def _state(self) -> Sequence[tuple[int, int] | None]:
        return [_state_of(file) for file in (self.path, self.key)]


def _state_of(file: Path) -> tuple[int, int] | None:
    """What is another once the file was written, or another one put in its place; None where none can be found."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def _nobodys() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
