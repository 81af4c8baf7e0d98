"""JDBC URLs of databases that are files of this machine."""

import os
from pathlib import Path
from typing import Final

_SQLITE: Final = "jdbc:sqlite:"


def local_url(url: str, directory: str | Path = "") -> str:
    """A JDBC URL with the path of a database that is a file made absolute: against the directory, or where we are.

    >>> local_url("jdbc:sqlite:shop.db", "/data"), local_url("jdbc:postgresql://db/shop", "/data")
    ('jdbc:sqlite:/data/shop.db', 'jdbc:postgresql://db/shop')
    """
    path = url.removeprefix(_SQLITE)
    if path == url or not path or path.startswith(("file:", ":")):
        return url
    return f"{_SQLITE}{os.path.abspath(os.path.join(directory, path))}"
