"""Connection options for reading and writing a database."""

from headwater.pipeline.environment import from_environment
from headwater.pipeline.spec import SqlInput, SqlOutput


def connection_options(database: SqlInput | SqlOutput) -> dict[str, str]:
    """Spark's options for the connection; user and password come from the environment and are passed nowhere else.

    Raises:
        SetupError: a variable that the file names is not set.
    """
    properties = {
        "url": database.url,
        "driver": database.driver,
        "user": database.user_env and from_environment(database.user_env),
        "password": database.password_env and from_environment(database.password_env),
    }
    return {option: value for option, value in properties.items() if value is not None}
