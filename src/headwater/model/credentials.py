"""Addresses without what opens them: the log is kept for good, so no secret may get into it."""

import re
from typing import Final

_USER: Final = re.compile(r"(?<=//)[^/?#;]*@")
_JDBC_USER: Final = re.compile(r"(?<=//)[^?;]*@|(?<=:thin:)[^@?]+(?=@)", re.IGNORECASE)
"""There a password may hold slashes, and Oracle's stands before the address."""
_SECRET: Final = re.compile(
    r"(?i)(?<=[?&;:])(?:user|username|password|passwd|pwd|secret|token|access_?key)=[^&;]*[&;]?"
)


def without_credentials(url: str) -> str:
    """The address, without user and password in front of the host, and without options that hold them.

    >>> without_credentials("jdbc:postgresql://ann:s3cret@db:5432/shop?password=s3cret&ssl=true")
    'jdbc:postgresql://db:5432/shop?ssl=true'
    """
    user = _JDBC_USER if url[:5].lower() == "jdbc:" else _USER
    return _SECRET.sub("", user.sub("", url)).rstrip("?;&")
