"""Why a run failed, told without a single value of the data."""

import traceback
from dataclasses import dataclass
from typing import Final, Literal

MOST_FRAMES: Final = 40
"""Of a stack trace that is told."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong, for people and for the `errorMessage` facet.

    Attributes:
        message: begins with where in the pipeline file it happened, if that is known.
        stack_trace: classes, files and lines, outermost first; no messages.
        lost_jvm: Spark's JVM went away, which may be how a stop from outside looks.
    """

    message: str
    stack_trace: str
    language: Literal["JAVA", "PYTHON"]
    lost_jvm: bool = False


UNKNOWN_FAILURE: Final = Failure("Spark does not tell why", "", "JAVA")


def is_exit(error: BaseException | None) -> bool:
    """Whether this is how a program that is content with itself exits."""
    return isinstance(error, SystemExit) and error.code in (None, 0)


def python_message(error: BaseException) -> str:
    """The class and the place; the message may hold anything."""
    frames = traceback.extract_tb(error.__traceback__)
    at = f" in {frames[-1].name} ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}{at}"


def python_trace(error: BaseException) -> str:
    """Class, functions, files and lines, outermost first."""
    frames = traceback.extract_tb(error.__traceback__)[-MOST_FRAMES:]
    return "\n".join([type(error).__name__, *(f"\tat {one.name}({one.filename}:{one.lineno})" for one in frames)])
