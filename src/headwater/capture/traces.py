"""Java stack traces without data values.

An engine often fails on a record, and its exceptions quote it. So only a trace's classes and frames are kept, and
messages only of exceptions about connections, files and settings. Which these are depends on the engine: Connect's
`IOException` names a file, Flink's quotes the line that it cannot read.
"""

import re
from typing import Final, NamedTuple

from headwater.model.credentials import without_credentials, without_secrets

WITHHELD: Final = "(message withheld: it may quote a record)"
_CAUSED_BY: Final = "Caused by: "
_THROWN: Final = re.compile(
    r"(?P<lead>(?:Caused by: |Suppressed: )?)"
    r"(?P<kind>(?:[\w$]+\.)+[\w$]*(?:Exception|Error|Throwable)[\w$]*)(?:: (?P<message>.*))?"
)
_FRAME: Final = re.compile(r"\s+(?:at [\w$.@/<>-]+\([\w$.: ]*\)|\.\.\. \d+ more)")
SPEAK_OF_SETTINGS: Final = (
    r"java\.net\.",
    r"java\.nio\.file\.",
    r"java\.io\.FileNotFoundException",
    r"java\.lang\.ClassNotFound",
    r"org\.apache\.kafka\.common\.config\.",
    r"org\.apache\.kafka\.common\.errors\.(?!Serialization|Record|Invalid)",
)
"""Regular expressions for the beginnings of exception names whose messages quote no record in any engine."""
_QUOTES_ANOTHER: Final = re.compile(r"[\w$]+(?:\.[\w$]+)*(?:Exception|Error)\b")
_MAX_CHARS: Final = 20_000


class Trace(NamedTuple):
    """Why something failed: the exception thrown, its root cause, and the frames."""

    message: str
    root: str
    """The root cause, on one line."""
    text: str


def kinds(*beginnings: str) -> re.Pattern[str]:
    """The exceptions whose messages are kept: those safe in every engine, and those with one of these prefixes."""
    return re.compile(rf"(?:{'|'.join((*SPEAK_OF_SETTINGS, *beginnings))}).*")


def without_values(trace: str, kept: re.Pattern[str]) -> Trace:
    """A Java stack trace without messages that may quote values; `kept` matches the exceptions whose messages stay."""
    lines: list[str] = []
    is_message = False
    for line in trace.splitlines():
        thrown = _THROWN.fullmatch(line.rstrip())
        if _FRAME.fullmatch(line):
            lines.append(line)
            is_message = False
        elif thrown and (not lines or (thrown["lead"] and not is_message)):
            lines.append(_thrown(thrown, kept))
            is_message = False
        else:  # it continues a message, perhaps one that quotes another trace, until the next frame
            is_message = True
    messages = [line for line in lines if not _FRAME.fullmatch(line)] or ["failed, without a stack trace"]
    causes = [line for line in messages if line.startswith(_CAUSED_BY)] or messages[:1]
    return Trace(messages[0], causes[-1].removeprefix(_CAUSED_BY), "\n".join(lines)[:_MAX_CHARS])


def _thrown(thrown: re.Match[str], kept: re.Pattern[str]) -> str:
    kind, message = thrown["kind"], thrown["message"]
    if message is None:
        return f"{thrown['lead']}{kind}"
    is_kept = kept.fullmatch(kind) and not _QUOTES_ANOTHER.search(message)
    # The message is an address, or has some among its words.
    shown = without_credentials(without_secrets(message)) if is_kept else WITHHELD
    return f"{thrown['lead']}{kind}: {shown}"
