"""Why a run failed, without any value of the data."""

import traceback
from dataclasses import dataclass
from typing import Final, Literal

MOST_FRAMES: Final = 40
"""The most frames of a reported stack trace."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure, for people and for the `errorMessage` facet.

    Attributes:
        message: begins with the place in the pipeline file, if known.
        stack_trace: classes, files and lines, outermost first; no messages.
        lost_jvm: whether Spark's JVM died, which may be the effect of a stop from outside.
    """

    message: str
    stack_trace: str
    language: Literal["JAVA", "PYTHON"]
    lost_jvm: bool = False


UNKNOWN_FAILURE: Final = Failure("Spark gives no reason", "", "JAVA")


def is_exit(error: BaseException | None) -> bool:
    """Whether this is a `SystemExit` with a status of success."""
    return isinstance(error, SystemExit) and error.code in (None, 0)


def python_message(error: BaseException) -> str:
    """The exception's class and place, without its message, which may hold values."""
    frames = traceback.extract_tb(error.__traceback__)
    at = f" in {frames[-1].name} ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}{at}"


def python_trace(error: BaseException) -> str:
    """Class, functions, files and lines, outermost first."""
    frames = traceback.extract_tb(error.__traceback__)[-MOST_FRAMES:]
    return "\n".join([type(error).__name__, *(f"\tat {one.name}({one.filename}:{one.lineno})" for one in frames)])
