"""JDBC URLs of databases that are local files."""

import os
from pathlib import Path
from typing import Final

_SQLITE: Final = "jdbc:sqlite:"


def local_url(url: str, directory: str | Path = "") -> str:
    """A JDBC URL, with a local database file's path made absolute against the directory, or the current one.

    >>> local_url("jdbc:sqlite:shop.db", "/data"), local_url("jdbc:postgresql://db/shop", "/data")
    ('jdbc:sqlite:/data/shop.db', 'jdbc:postgresql://db/shop')
    """
    path = url.removeprefix(_SQLITE)
    if path == url or not path or path.startswith(("file:", ":")):
        return url
    return f"{_SQLITE}{os.path.abspath(os.path.join(directory, path))}"
