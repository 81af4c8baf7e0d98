"""Why a run failed, without any value of the data.

Spark's messages quote values: a failed cast the text that it could not cast, a database the duplicate key, a user's
function anything. So a message is never passed on as it is. It is built from the template of Spark's error condition,
with only those parameters filled in that name tables, columns or types. Of other exceptions the class is reported, and
the message only for classes whose messages name nothing but files, hosts and tables.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.errors.exceptions.captured import CapturedException, PythonException

from headwater.errors import HeadwaterError
from headwater.observe.failure import MOST_FRAMES, Failure, python_message, python_trace

# Raised by the analysis of a query, before a row is read: they only quote the pipeline file or a schema.
_BEFORE_ANY_ROW: Final = frozenset({"AnalysisException", "ExtendedAnalysisException", "ParseException"})

_NAMES_NO_VALUE: Final = frozenset(
    {
        *(
            "sourceType",
            "targetType",
            "toType",
            "fromType",
            "dataType",
            "sqlType",
            "typeName",
            "inputType",
            "requiredType",
        ),
        *("objectName", "columnName", "tableName", "relationName", "fieldName", "colName", "viewName", "catalogName"),
        *("functionName", "routineName", "operation", "className", "format", "path", "ansiConfig", "config"),
    }
)

# Classes in which Spark wraps the actual error.
_WRAPPERS: Final = frozenset(
    {"STREAM_FAILED", "TASK_WRITE_FAILED", "FAILED_EXECUTE_UDF", "FOREACH_BATCH_USER_FUNCTION_ERROR", "INTERNAL_ERROR"}
)

# They contain a Python traceback: from a worker process, and from a function that the JVM called in this process.
_OF_PYTHON: Final = frozenset({"PythonException", "Py4JException"})

_SPEAKS_OF_PLACES: Final = frozenset(
    {
        *("java.net.ConnectException", "java.net.UnknownHostException", "java.net.SocketTimeoutException"),
        *(
            "java.nio.file.NoSuchFileException",
            "java.nio.file.AccessDeniedException",
            "java.nio.file.FileSystemException",
        ),
        *("java.io.FileNotFoundException", "java.lang.ClassNotFoundException", "java.lang.OutOfMemoryError"),
        "org.apache.hadoop.fs.FileAlreadyExistsException",
        "org.apache.hadoop.security.AccessControlException",
        *(
            "org.apache.kafka.common.errors.TimeoutException",
            "org.apache.kafka.common.errors.UnknownTopicOrPartitionException",
        ),
        *("org.apache.iceberg.exceptions.CommitFailedException", "org.apache.iceberg.exceptions.NoSuchTableException"),
    }
)

_PYTHON_FRAME = re.compile(r'^\s*File "(?P<file>[^"\n]+)", line (?P<line>\d+), in (?P<function>\S+)$', re.MULTILINE)
_PYTHON_TRACEBACK = re.compile(
    r"(?:^|Return Message: )Traceback \(most recent call last\):\n"
    r"(?P<frames>(?:[ \t].*\n|\n)*)(?P<error>[A-Za-z_][\w.]*)",
    re.MULTILINE,
)


def failure_of(error: BaseException) -> Failure:
    """Classify an exception that ended a run."""
    where = "; ".join(getattr(error, "__notes__", ()))
    found = _classified(error)
    return Failure(
        f"{where}: {found.message}" if where else found.message, found.stack_trace, found.language, found.lost_jvm
    )


def java_failure(error: Any) -> Failure:  # noqa: ANN401  (a Java object)
    """Classify an exception of the JVM's."""
    return _java_failure(error)


def kinds_of(error: BaseException) -> list[str]:
    """The classes of a JVM exception and its causes, outermost first; none for an exception of Python's."""
    match error:
        case CapturedException(_origin=java) | Py4JJavaError(java_exception=java) if java is not None:
            return [each.class_name for each in _causes(java)]
        case _:
            return []


def was_cancelled(error: Any) -> bool:  # noqa: ANN401  (a Java object)
    """Whether Spark cancelled a job on request, or because Spark itself was being stopped."""
    try:
        return any(
            throwable.condition == "SPARK_JOB_CANCELLED" or "cancelled because SparkContext" in _text(throwable)
            for throwable in _causes(error)
        )
    except (Py4JError, ConnectionError):
        return False


def _classified(error: BaseException) -> Failure:
    match error:
        case HeadwaterError():
            return Failure(str(error), python_trace(error), "PYTHON")
        case PythonException():
            found, frames = read_traceback(str(error))
            return Failure(_python_worker_message(found, frames), "\n".join([found, *_at(frames)]), "PYTHON")
        case CapturedException(_origin=java) if java is not None:
            return _java_failure(java)
        case Py4JJavaError():
            return _java_failure(error.java_exception)
        case Py4JNetworkError() | ConnectionError():
            return Failure("the connection to Spark's JVM was lost", python_trace(error), "JAVA", lost_jvm=True)
        case Py4JError():
            return Failure("the call into Spark's JVM failed", python_trace(error), "JAVA", lost_jvm=True)
        case PySparkException():
            condition = error.getCondition()
            return Failure(
                f"{type(error).__name__}{f' [{condition}]' if condition else ''}", python_trace(error), "PYTHON"
            )
        case _:
            return Failure(python_message(error), python_trace(error), "PYTHON")


def _java_failure(java: Any) -> Failure:  # noqa: ANN401  (a Java object)
    try:
        chain = list(_causes(java))
        return Failure(_java_message(chain), "\n".join(_java_trace(chain)), "JAVA")
    except (Py4JError, ConnectionError):
        return Failure("the connection to Spark's JVM was lost", "", "JAVA", lost_jvm=True)


@dataclass(frozen=True, slots=True)
class _Throwable:
    """The parts of a Java exception; `condition` is Spark's error condition."""

    java: Any
    class_name: str
    condition: str | None
    parameters: dict[str, str]

    @property
    def short_name(self) -> str:
        return self.class_name.rpartition(".")[2]


def _causes(java: Any) -> Iterator[_Throwable]:  # noqa: ANN401  (a Java object)
    depth = 0
    while java is not None and depth < 20:
        condition, parameters = _condition(java)
        yield _Throwable(java, java.getClass().getName(), condition, parameters)
        java = java.getCause()
        depth += 1


def _condition(java: Any) -> tuple[str | None, dict[str, str]]:  # noqa: ANN401  (a Java object)
    try:
        condition = java.getCondition()
        return condition, dict(java.getMessageParameters() or {})
    except Py4JError:  # no `SparkThrowable`
        return None, {}


def _java_message(chain: list[_Throwable]) -> str:
    """The message of the innermost cause that has a safe one, else all classes, outermost first."""
    for throwable in reversed(chain):
        if throwable.condition and throwable.condition not in _WRAPPERS:
            return f"{throwable.short_name} [{throwable.condition}] {_filled_template(throwable)}".rstrip()
        if throwable.class_name in _SPEAKS_OF_PLACES:
            return f"{throwable.short_name}: {_first_line(throwable.java.getMessage())}"
        if throwable.short_name in _OF_PYTHON:
            raised, frames = read_traceback(_text(throwable))
            if frames or throwable.short_name == "PythonException":
                return _python_worker_message(raised, frames)
        if code := _sql_code(throwable):
            return f"{throwable.short_name} [{code}]"
    return " caused by ".join(dict.fromkeys(throwable.short_name for throwable in chain))


def _filled_template(throwable: _Throwable) -> str:
    """The condition's text; a parameter that may hold a value stays as its name: `The value <expression> …`."""
    template = _template(throwable.condition or "")
    is_safe = throwable.short_name in _BEFORE_ANY_ROW
    for name, value in throwable.parameters.items():
        if is_safe or name in _NAMES_NO_VALUE:
            template = template.replace(f"<{name}>", value)
    return _first_line(template)


def _template(condition: str) -> str:
    helper = SparkContext._jvm.org.apache.spark.SparkThrowableHelper
    return str(helper.errorReader().getMessageTemplate(condition))


def _sql_code(throwable: _Throwable) -> str | None:
    """The database's error code: the SQLSTATE, or else the vendor's code."""
    try:
        state, code = throwable.java.getSQLState(), throwable.java.getErrorCode()
    except Py4JError:  # no `java.sql.SQLException`
        return None
    return f"SQLSTATE {state}" if state else f"error code {code}" if code else None


def _java_trace(chain: list[_Throwable]) -> Iterator[str]:
    for depth, throwable in enumerate(chain):
        condition = f" [{throwable.condition}]" if throwable.condition else ""
        yield f"{'Caused by: ' if depth else ''}{throwable.class_name}{condition}"
        if throwable.short_name in _OF_PYTHON:
            yield from _at(read_traceback(_text(throwable))[1])
        frames = throwable.java.getStackTrace()
        yield from (f"\tat {frames[number].toString()}" for number in range(min(len(frames), MOST_FRAMES)))


def _python_worker_message(error: str, frames: list[str]) -> str:
    """The class and place from a traceback of Spark's Python worker."""
    return f"{error} in a Python function{f', at {frames[-1]}' if frames else ''}"


def _at(frames: list[str]) -> list[str]:
    return [f"\tat {frame}" for frame in frames]


def read_traceback(text: str) -> tuple[str, list[str]]:
    """The class and the frames of the first traceback in a text.

    Frames are indented; the first line that is not starts with the class, followed by the message.
    """
    found = _PYTHON_TRACEBACK.search(text)
    if found is None:
        return "an exception", []
    frames = [f"{one['function']}({one['file']}:{one['line']})" for one in _PYTHON_FRAME.finditer(found["frames"])]
    return found["error"], frames


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]


def _text(throwable: _Throwable) -> str:
    return throwable.java.getMessage() or ""
