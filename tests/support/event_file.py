"""A file of events that another process or thread may be writing."""

from pathlib import Path


def whole_lines(file: Path) -> list[bytes]:
    """The lines written so far; one that is still being written is left out, and a missing file has none."""
    data = file.read_bytes() if file.exists() else b""
    return data[: data.rfind(b"\n") + 1].splitlines()
