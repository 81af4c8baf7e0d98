"""What reading and writing a database have in common."""

import os

from headwater.errors import SetupError
from headwater.pipeline.spec import SqlInput, SqlOutput
from headwater.pipeline.terms import EnvName


def connection_options(database: SqlInput | SqlOutput) -> dict[str, str]:
    """Spark's options for the connection; user and password come from the environment and go nowhere else.

    Raises:
        SetupError: a variable that the file names is not set.
    """
    given = {
        "url": database.url,
        "driver": database.driver,
        "user": _from_environment(database.user_env),
        "password": _from_environment(database.password_env),
    }
    return {option: value for option, value in given.items() if value is not None}


def _from_environment(variable: EnvName | None) -> str | None:
    if variable is None:
        return None
    try:
        return os.environ[variable]
    except KeyError:
        raise SetupError(f"the environment variable {variable}, which the pipeline names, is not set") from None
