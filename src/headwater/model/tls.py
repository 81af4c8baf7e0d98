"""Servers whose certificates are not trusted, in words; whoever asks them, it is one thing that helps."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from headwater.errors import SetupError

TRUST_IT: Final = "where an authority of your own made it, set SSL_CERT_FILE to that authority's certificate, PEM"
"""What a person can do."""
_SAYS_SO: Final = "CERTIFICATE_VERIFY_FAILED"
"""How OpenSSL calls it, in the message of whatever exception."""


def is_not_trusted(fault: Exception) -> bool:
    """Whether a connection came to nothing because nobody vouches for the server's certificate."""
    return _SAYS_SO in str(fault)


def not_trusted(server: str, why: object) -> str:
    """What to say of such a server, by its URL or in words."""
    return f"the certificate of {server} is not trusted ({why}); {TRUST_IT}"


@contextmanager
def authorities_to_trust() -> Iterator[None]:
    """Around what reads them, as whoever opens a client does.

    Raises:
        SetupError: those that somebody named cannot be read.
    """
    try:
        yield
    except OSError as fault:
        unread = f"the certificates that SSL_CERT_FILE or SSL_CERT_DIR names cannot be read: {fault.strerror}"
        raise SetupError(f"{unread}; name a file of them, PEM, or unset it") from None
