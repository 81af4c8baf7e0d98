"""Java stack traces without the values in them.

What an engine fails on is often a record, and its exceptions quote it. So of a trace the classes and the frames are
kept, and the messages of those kinds of exception alone that speak of connections, files and settings. Which these are
depends on the engine: where Connect's `IOException` names a file, Flink's quotes the line that it cannot read.
"""

import re
from typing import Final, NamedTuple

from headwater.model.credentials import without_credentials

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
"""How the names begin of exceptions whose messages hold no record in any engine, as regular expressions."""
_QUOTES_ANOTHER: Final = re.compile(r"[\w$]+(?:\.[\w$]+)*(?:Exception|Error)\b")
_MAX_CHARS: Final = 20_000


class Trace(NamedTuple):
    """Why something failed: what was thrown in the end, what it was caused by in the first place, and where."""

    message: str
    root: str
    """The deepest cause, in one line."""
    text: str


def kinds(*beginnings: str) -> re.Pattern[str]:
    """Exceptions whose messages are kept: those of every engine, and those whose names begin like one of these."""
    return re.compile(rf"(?:{'|'.join((*SPEAK_OF_SETTINGS, *beginnings))}).*")


def without_values(trace: str, kept: re.Pattern[str]) -> Trace:
    """A Java stack trace, without the values that its messages may quote; `kept` are the kinds whose messages stay."""
    lines: list[str] = []
    for line in trace.splitlines():
        if _FRAME.fullmatch(line):
            lines.append(line)
        elif thrown := _THROWN.fullmatch(line.rstrip()):
            lines.append(_thrown(thrown, kept))
        # Anything else goes on with a message.
    messages = [line for line in lines if not _FRAME.fullmatch(line)] or ["failed, without a trace"]
    causes = [line for line in messages if line.startswith(_CAUSED_BY)] or messages[:1]
    return Trace(messages[0], causes[-1].removeprefix(_CAUSED_BY), "\n".join(lines)[:_MAX_CHARS])


def _thrown(thrown: re.Match[str], kept: re.Pattern[str]) -> str:
    kind, message = thrown["kind"], thrown["message"]
    if message is None:
        return f"{thrown['lead']}{kind}"
    is_kept = kept.fullmatch(kind) and not _QUOTES_ANOTHER.search(message)
    return f"{thrown['lead']}{kind}: {without_credentials(message) if is_kept else WITHHELD}"
