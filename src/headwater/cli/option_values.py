"""Validates option values; errors name the option, argument or environment variable that a value came from."""

import re
from datetime import datetime
from typing import Annotated, Final

import typer

from headwater.errors import InvalidInputError, SetupError
from headwater.model.times import read_time
from headwater.signing.note import checked_name

RUN: Final = "run:"
"""The prefix of a run's node id."""
_MOST: Final = 1_000_000_000
"""The limit, about thirty years in seconds."""
_HOST: Final = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", re.IGNORECASE)


def said_by(context: typer.Context, parameter: typer.CallbackParam) -> str:
    """The option or argument as written, or the environment variable, that the value came from.

    For example `--database`, `FROM` or `HEADWATER_DATABASE_URL`.
    """
    source = context.get_parameter_source(parameter.name or "")
    if source is not None and source.name == "ENVIRONMENT":
        return str(parameter.envvar)
    return str(parameter.metavar) if parameter.param_type_name == "argument" else parameter.opts[0]


def readable_database(context: typer.Context, parameter: typer.CallbackParam, value: str | None) -> str | None:
    """Validate a database: a SQLite file's path or a PostgreSQL URL; returns it unchanged.

    Raises:
        SetupError: it is a URL, but not a valid one of PostgreSQL; the message does not quote it.
    """
    if value and "://" in value:
        from headwater.store.postgres_url import database_address  # imported here: its driver takes 0.2 s to load

        try:
            database_address(value)
        except SetupError as fault:
            raise SetupError(f"{said_by(context, parameter)}: {fault}") from None
    return value


def postgres_url(context: typer.Context, parameter: typer.CallbackParam, value: str | None) -> str | None:
    """Validate the URL of a PostgreSQL database; returns it unchanged.

    Raises:
        SetupError: it is not one; the message does not quote it.
    """
    if value and "://" not in value:
        option = said_by(context, parameter)
        raise SetupError(f"{option}: expected postgresql://…; without it, a SQLite file in HEADWATER_HOME is used")
    return readable_database(context, parameter, value)


def name_of_key(context: typer.Context, parameter: typer.CallbackParam, value: str | None) -> str | None:
    """Validate a name of a log's or witness's key; returns it unchanged.

    Raises:
        InvalidInputError: it is not a valid key name.
    """
    try:
        return None if value is None else checked_name(value)
    except InvalidInputError as fault:
        raise InvalidInputError(f"{said_by(context, parameter)}: {fault}") from None


def host_names(context: typer.Context, parameter: typer.CallbackParam, value: list[str] | None) -> list[str] | None:
    """Validate host names; returns them unchanged.

    Raises:
        InvalidInputError: one of them is not just a host name.
    """
    if (wrong := next((name for name in value or () if _HOST.fullmatch(name) is None), None)) is not None:
        expected = "expected a host's name alone, like lineage.example.org"
        raise InvalidInputError(f"{said_by(context, parameter)}: {expected}, not {wrong!r}")
    return value


def as_long_as_can_be(context: typer.Context, parameter: typer.CallbackParam, value: float | None) -> float | None:
    """Validate a number of hours or seconds; returns it unchanged.

    Raises:
        InvalidInputError: it is too large, infinite, or not a number.
    """
    if value is not None and not value <= _MOST:
        raise InvalidInputError(f"{said_by(context, parameter)}: expected a number up to {_MOST:,}, not {value}")
    return value


def bare_run(value: str | None) -> str | None:
    """A run's id, which may also be given as a node id, as in answers: `run:ID`."""
    return None if value is None else value.removeprefix(RUN)


def read_with_zone(text: str, by: str) -> datetime:
    """Parse a time with a zone.

    Raises:
        InvalidInputError: it is not a time, or has no zone.
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
        help="The database, as for `headwater serve`.",
    ),
]
