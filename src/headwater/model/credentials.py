"""Addresses without what opens them: the log is kept for good, so no secret may get into it."""

import re
from typing import Final

_USER: Final = re.compile(r"(?<=//)[^/?#;@]*@")
_SECRET: Final = re.compile(
    r"(?i)(?<=[?&;:])(?:user|username|password|passwd|pwd|secret|token|access_?key)=[^&;]*[&;]?"
)


def without_credentials(url: str) -> str:
    """The address, without user and password in front of the host, and without options that hold them.

    >>> without_credentials("jdbc:postgresql://ann:s3cret@db:5432/shop?password=s3cret&ssl=true")
    'jdbc:postgresql://db:5432/shop?ssl=true'
    """
    return _SECRET.sub("", _USER.sub("", url)).rstrip("?;&") if url else url
