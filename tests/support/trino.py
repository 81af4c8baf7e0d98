"""A Trino that is asked, as the script of its lab asks it."""

from pathlib import Path
from typing import Any

from tests.support.script import loaded

_PLAY = loaded(Path(__file__).parents[2] / "labs" / "02-end-to-end" / "play.py")


def ask(url: str, sql: str) -> list[list[Any]]:
    """The rows that a statement answers with, once it has come to its end."""
    rows: list[list[Any]] = _PLAY.ask_trino(sql, url)
    return rows
