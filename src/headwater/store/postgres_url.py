"""The address of a PostgreSQL database: a URL that may contain a password, and what may be shown of it."""

import re
from dataclasses import dataclass, field
from typing import Final

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from headwater.errors import SetupError

_EXPECTED: Final = "expected postgresql://USER:PASSWORD@HOST:5432/DATABASE"
_DEFAULTS: Final = {
    "connect_timeout": "3",  # seconds
    "tcp_user_timeout": "10000",  # milliseconds until a connection counts as lost that acknowledges nothing
    "keepalives_idle": "30",  # seconds of silence before the server is probed
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "application_name": "headwater",
}


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    """A database; its text form is for people, and has no password."""

    parameters: dict[str, str] = field(repr=False)
    """As libpq names them."""

    def __str__(self) -> str:
        """Its address and user."""
        shown = {key: self.parameters.get(key) for key in ("host", "port", "dbname", "user")}
        return " ".join(f"{key}={value}" for key, value in shown.items() if value is not None) or "by libpq's defaults"

    def without_secrets(self, text: str) -> str:
        """A text with the password removed."""
        secrets = (self.parameters.get(key) for key in ("password", "sslpassword"))
        for secret in filter(None, secrets):
            text = text.replace(secret, "…")
        return text


def database_address(url: str) -> DatabaseAddress:
    """Read a database's URL.

    Raises:
        SetupError: it cannot be read; the message shows nothing of it.

    Source: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
    """
    if not re.match(r"postgres(ql)?://", url):
        raise SetupError(f"the database's URL has an unknown scheme; {_EXPECTED}")
    authority, _, rest = url.partition("://")[2].partition("/")
    if "@" in rest or authority.count("@") > 1:  # libpq would take a part of the password for a host, and tell it
        raise SetupError("the database's URL has a second '@', or '/' before it; in a password write %40 and %2F")
    try:
        return DatabaseAddress({**_DEFAULTS, **{key: str(value) for key, value in conninfo_to_dict(url).items()}})
    except ProgrammingError:
        raise SetupError(f"the database's URL cannot be read; {_EXPECTED}") from None
