"""Secrets, which a pipeline names by their environment variables."""

import os

from headwater.errors import SetupError
from headwater.pipeline.terms import EnvName


def from_environment(variable: EnvName) -> str:
    """The variable's value, for use at once.

    Raises:
        SetupError: it is not set.
    """
    try:
        return os.environ[variable]
    except KeyError:
        raise SetupError(f"the environment variable {variable}, which the pipeline names, is not set") from None
