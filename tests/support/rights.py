"""Running as a user who has no right to some files."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_NOBODY = 65534


@contextmanager
def limited(*paths: Path, to: int = 0) -> Iterator[None]:
    """Change the mode of these paths, and do not run as the superuser meanwhile, who may do anything."""
    former = {path: path.stat().st_mode for path in paths}
    for path in paths:
        path.chmod(to)
    user = os.geteuid()
    if user == 0:
        os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)
        for path, mode in former.items():
            path.chmod(mode)
