"""Secrets, which a pipeline refers to by environment variables."""

import os

from headwater.errors import SetupError
from headwater.pipeline.terms import EnvName


def from_environment(variable: EnvName) -> str:
    """The variable's value, to be used at once and not stored.

    Raises:
        SetupError: it is not set.
    """
    try:
        return os.environ[variable]
    except KeyError:
        raise SetupError(f"the pipeline needs the environment variable {variable}, which is not set") from None
