"""Java stack traces without data values.

An engine often fails on a record, and its exceptions quote it. So messages are kept only of exceptions about
connections, files and settings. Which these are depends on the engine: Connect's `IOException` names a file, Flink's
quotes the line that it cannot read.

A record may itself be a log with a stack trace, whose frames and causes look like those of the exception that quotes
it. Only what comes before the first message that may quote a record is certainly not the record's. From what follows,
no message is kept, and only those classes and frames that belong to well-known libraries: they tell nobody's data.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from headwater.model.credentials import without_credentials, without_secrets

WITHHELD: Final = "(message withheld: it may quote a record)"
_CAUSED_BY: Final = "Caused by: "
_THROWN: Final = re.compile(
    r"(?P<lead>(?:\s*(?:Caused by: |Suppressed: ))?)"
    r"(?P<kind>(?:[\w$]+\.)+[\w$]*(?:Exception|Error|Throwable)[\w$]*)(?:: (?P<message>.*))?"
)
_FRAME: Final = re.compile(r"\s+(?:at [^\s()]+\([^()]*\)|\.\.\. \d+ more)")
SPEAK_OF_SETTINGS: Final = (
    r"java\.net\.",
    r"java\.nio\.file\.",
    r"java\.io\.FileNotFoundException",
    r"java\.lang\.ClassNotFound",
    r"org\.apache\.kafka\.common\.config\.",
    r"org\.apache\.kafka\.common\.errors\.(?!Serialization|Record|Invalid)",
)
"""Regular expressions for the beginnings of exception names whose messages quote no record in any engine."""
_FIXED: Final = frozenset(
    {
        "java.io.IOException: Failed to deserialize consumer record due to",
        "java.lang.RuntimeException: One or more fetchers have encountered exception",
        "org.apache.flink.streaming.runtime.tasks.ExceptionInChainedOperatorException:"
        " Could not forward element to next operator",
        "org.apache.kafka.connect.errors.DataException:"
        " Converting byte[] to Kafka Connect data failed due to serialization error:",
        "org.apache.kafka.connect.errors.DataException:"
        " Converting Kafka Connect data to byte[] failed due to serialization error:",
    }
)
"""Exceptions in which an engine wraps one that quotes a record, each with the message that it always has."""
_FETCHER: Final = re.compile(
    r"java\.lang\.RuntimeException: SplitFetcher thread \d+ received unexpected exception while polling the records"
)
_LIBRARIES: Final = (
    "java|javax|jakarta|jdk|sun|com.sun|scala|kotlin|org.apache|org.eclipse|io.netty|okhttp3|headwater"
    "|io.aiven|io.apicurio|io.confluent|io.debezium|com.fasterxml|com.google|org.json|co.elastic|org.elasticsearch"
    "|org.opensearch|org.postgresql|org.mariadb|com.mysql|oracle.jdbc|com.microsoft|com.mongodb|com.clickhouse"
    "|com.datastax|net.snowflake|com.amazonaws|software.amazon|com.azure"
).replace(".", r"\.")
_CLASS_OF_LIBRARY: Final = rf"(?:{_LIBRARIES})\.(?:[a-z0-9_]+\.)*(?P<outer>[A-Z]\w*)(?:\$\w+)*"
_OF_LIBRARY: Final = re.compile(_CLASS_OF_LIBRARY, re.ASCII)
_FRAME_OF_LIBRARY: Final = re.compile(
    r"\s+(?:at (?:(?:app|platform)//)?(?:j(?:ava|dk)\.[a-z.]+/)?"
    rf"(?:{_CLASS_OF_LIBRARY}|(?:Stream|Batch)Exec[A-Za-z]+\$\d{{1,5}})\.[\w$<>]+"
    r"\((?:Unknown Source|Native Method|(?P=outer)\.(?:java|scala|kt)(?::\d{1,5})?)\)|\.\.\. \d{1,4} more)",
    re.ASCII,
)
"""Frames of well-known libraries, and of the code that Flink generates."""
_QUOTES_ANOTHER: Final = re.compile(r"[\w$]+(?:\.[\w$]+)*(?:Exception|Error)\b")
_MAX_CHARS: Final = 20_000


class Trace(NamedTuple):
    """Why something failed: the root cause, and the frames."""

    root: str
    """The root cause, on one line."""
    text: str


def kinds(*beginnings: str) -> re.Pattern[str]:
    """The exceptions whose messages are kept: those safe in every engine, and those with one of these prefixes."""
    return re.compile(rf"(?:{'|'.join((*SPEAK_OF_SETTINGS, *beginnings))}).*")


def without_values(trace: str, kept: re.Pattern[str]) -> Trace:
    """A Java stack trace without messages that may quote a record; `kept` matches the exceptions whose messages do not.

    The root cause is the last that is certainly not from a record.
    """
    certain: list[str] = []
    rest = iter(trace.splitlines())
    for line in rest:
        thrown = _THROWN.fullmatch(line.rstrip())
        if certain and _FRAME.fullmatch(line):
            certain.append(line)
        elif thrown and bool(certain) == bool(thrown["lead"]):
            is_harmless = _quotes_no_record(thrown, kept)
            certain.append(_shown(thrown, is_harmless))
            if not is_harmless:
                break
        else:  # the message goes on
            break
    messages = [line for line in certain if not _FRAME.fullmatch(line)] or ["failed, without a stack trace"]
    causes = [line for line in messages if line.startswith(_CAUSED_BY)] or messages[:1]
    lines = [*certain, *_of_libraries(rest)] if certain else []
    return Trace(causes[-1].removeprefix(_CAUSED_BY), "\n".join(lines)[:_MAX_CHARS])


def _of_libraries(lines: Iterator[str]) -> Iterator[str]:
    """The frames of well-known libraries, and their exceptions without messages."""
    for line in lines:
        thrown = _THROWN.fullmatch(line.rstrip())
        if _FRAME_OF_LIBRARY.fullmatch(line):
            yield line
        elif thrown and thrown["lead"] and _OF_LIBRARY.fullmatch(thrown["kind"]):
            yield _shown(thrown, is_harmless=False)


def _quotes_no_record(thrown: re.Match[str], kept: re.Pattern[str]) -> bool:
    kind, message = thrown["kind"], thrown["message"]
    if message is None:
        return True
    if message == WITHHELD:  # its values are removed already
        return False
    whole = f"{kind}: {message}".rstrip()
    if whole in _FIXED or _FETCHER.fullmatch(whole):
        return True
    return kept.fullmatch(kind) is not None and not _QUOTES_ANOTHER.search(message)


def _shown(thrown: re.Match[str], is_harmless: bool) -> str:
    message = thrown["message"]
    if message is None:
        return f"{thrown['lead']}{thrown['kind']}"
    # The message is an address, or has some among its words.
    text = without_credentials(without_secrets(message)) if is_harmless else WITHHELD
    return f"{thrown['lead']}{thrown['kind']}: {text}"
