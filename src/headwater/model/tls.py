"""Error messages for untrusted certificates, the same for every client."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from headwater.errors import SetupError

TRUST_IT: Final = "if your own authority issued it, set SSL_CERT_FILE to that authority's certificate (PEM)"
"""The remedy for the user."""
_SAYS_SO: Final = "CERTIFICATE_VERIFY_FAILED"
"""OpenSSL's error code, which is in the message of any exception about it."""


def is_not_trusted(fault: Exception) -> bool:
    """Whether a connection failed because the server's certificate is not trusted."""
    return _SAYS_SO in str(fault)


def not_trusted(server: str, why: object) -> str:
    """The message for such a server; `where` is its URL or a description."""
    return f"the certificate of {server} is not trusted ({why}); {TRUST_IT}"


@contextmanager
def authorities_to_trust() -> Iterator[None]:
    """Wraps code that loads trusted certificates, such as the creation of a client.

    Raises:
        SetupError: the configured certificates cannot be read.
    """
    try:
        yield
    except OSError as fault:
        unread = f"the certificates that SSL_CERT_FILE or SSL_CERT_DIR names cannot be read: {fault.strerror}"
        raise SetupError(f"{unread}; set it to a PEM file of certificates, or unset it") from None
