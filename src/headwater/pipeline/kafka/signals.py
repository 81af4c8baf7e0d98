"""Signals from a record inside Spark to the driver: an expression can only raise an error with a text.

The text holds the record's position and what is wrong with it, never anything of its value.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import Column
from pyspark.sql import functions as F

from headwater.errors import InvalidInputError

_SIGNAL: Final = re.compile(
    r"headwater:(?P<kind>schema|record) (?P<input>\w+)"
    r" (?P<topic>[\w.-]+) (?P<partition>\d+) (?P<offset>\d+) (?P<rest>.*)"
)
_DEEPEST: Final = 20


NEW_TOPIC: Final = -1
"""In place of a schema id: the record's topic did not exist when the stream was started."""


@dataclass(frozen=True, slots=True)
class UnknownSchema:
    """A record's schema or topic did not exist when the stream was started."""

    input: str
    topic: str
    schema_id: int


class UnreadableRecordError(InvalidInputError):
    """A record is unreadable, and no dead letter target is configured."""


def unknown_schema(name: str, schema_id: Column) -> Column:
    """A column that fails the micro-batch, so that the stream is restarted with the new schema."""
    return _signal("schema", name, schema_id.cast("string"))


def unreadable(name: str, reason: Column) -> Column:
    """A column that fails the run."""
    return _signal("record", name, reason)


def signal_in(error: BaseException) -> UnknownSchema | UnreadableRecordError | None:
    """The signal of a record, if that is why Spark failed."""
    for text in _raised_texts(error):
        found = _SIGNAL.fullmatch(text)
        if found and found["kind"] == "schema":
            return UnknownSchema(found["input"], found["topic"], int(found["rest"]))
        if found:
            return UnreadableRecordError(
                f"{found['input']}: topic {found['topic']}, partition {found['partition']}, offset {found['offset']}:"
                f" {found['rest']}; set dead_letter on the input to collect such records"
            )
    return None


def _signal(kind: str, name: str, rest: Column) -> Column:
    text = F.concat_ws(" ", F.lit(f"headwater:{kind} {name}"), "topic", "partition", "offset", rest)
    return F.raise_error(text)


def _raised_texts(error: BaseException) -> Iterator[str]:
    java = _java_of(error)
    for _ in range(_DEEPEST):
        if java is None:
            return
        try:
            if java.getCondition() == "USER_RAISED_EXCEPTION":
                yield str(java.getMessageParameters()["errorMessage"])
        except Py4JError:  # no `SparkThrowable`
            pass
        java = java.getCause()


def _java_of(error: BaseException) -> Any:  # noqa: ANN401  (a Java object)
    match error:
        case CapturedException(_origin=java):
            return java
        case Py4JJavaError():
            return error.java_exception
        case _:
            return None
