"""By what a person said a value: the error that is about it names that."""

import re
from datetime import datetime
from typing import Annotated, Final

import typer

from headwater.errors import InvalidInputError, SetupError
from headwater.model.times import read_time
from headwater.signing.note import checked_name

RUN: Final = "run:"
"""What stands before a run's id in a node's."""
_MOST: Final = 1_000_000_000
"""Thirty years in seconds."""
_HOST: Final = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", re.IGNORECASE)


def said_by(context: typer.Context, parameter: typer.CallbackParam) -> str:
    """The option or argument as it is written, or the environment variable, where the value came from that.

    For example `--database`, `FROM` or `HEADWATER_DATABASE_URL`.
    """
    source = context.get_parameter_source(parameter.name or "")
    if source is not None and source.name == "ENVIRONMENT":
        return str(parameter.envvar)
    return str(parameter.metavar) if parameter.param_type_name == "argument" else parameter.opts[0]


def readable_database(context: typer.Context, parameter: typer.CallbackParam, value: str | None) -> str | None:
    """The same database, a SQLite file's path or a URL that can be read.

    Raises:
        SetupError: it is a URL, and none of PostgreSQL; the message shows nothing of it.
    """
    if value and "://" in value:
        from headwater.store.postgres_url import place_of  # here, not above: its driver takes 0.2 s to load

        try:
            place_of(value)
        except SetupError as fault:
            raise SetupError(f"{said_by(context, parameter)}: {fault}") from None
    return value


def postgres_url(context: typer.Context, parameter: typer.CallbackParam, value: str | None) -> str | None:
    """The same URL of a PostgreSQL database.

    Raises:
        SetupError: it is none; the message shows nothing of it.
    """
    if value and "://" not in value:
        told = said_by(context, parameter)
        raise SetupError(f"{told}: expected postgresql://…; without it, a SQLite file in HEADWATER_HOME is used")
    return readable_database(context, parameter, value)


def name_of_key(context: typer.Context, parameter: typer.CallbackParam, value: str | None) -> str | None:
    """The same name, one under which a log or a witness can sign.

    Raises:
        InvalidInputError: it is none.
    """
    try:
        return None if value is None else checked_name(value)
    except InvalidInputError as fault:
        raise InvalidInputError(f"{said_by(context, parameter)}: {fault}") from None


def host_names(context: typer.Context, parameter: typer.CallbackParam, value: list[str] | None) -> list[str] | None:
    """The same names of hosts.

    Raises:
        InvalidInputError: one of them is none, or is more than that.
    """
    if (wrong := next((name for name in value or () if _HOST.fullmatch(name) is None), None)) is not None:
        expected = "expected a host's name alone, like lineage.example.org"
        raise InvalidInputError(f"{said_by(context, parameter)}: {expected}, not {wrong!r}")
    return value


def as_long_as_can_be(context: typer.Context, parameter: typer.CallbackParam, value: float | None) -> float | None:
    """The same number of hours or seconds, so many as clocks can count.

    Raises:
        InvalidInputError: they are too many, without end, or no number.
    """
    if value is not None and not value <= _MOST:
        raise InvalidInputError(f"{said_by(context, parameter)}: expected a number up to {_MOST:,}, not {value}")
    return value


def bare_run(value: str | None) -> str | None:
    """A run's id, which may be said as a node's, too, as answers have it: `run:ID`."""
    return None if value is None else value.removeprefix(RUN)


def read_with_zone(text: str, by: str) -> datetime:
    """A time, with its zone.

    Raises:
        InvalidInputError: it is none, or has no zone.
    """
    try:
        time = read_time(text)
    except ValueError:
        time = datetime.min
    if time.tzinfo is None:
        raise InvalidInputError(f"{by}: expected a time with its zone, such as 2026-05-22T14:00:00Z, not {text!r}")
    return time


DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--database",
        envvar="HEADWATER_DATABASE_URL",
        metavar="URL",
        callback=readable_database,
        help="As `headwater serve` has it.",
    ),
]
