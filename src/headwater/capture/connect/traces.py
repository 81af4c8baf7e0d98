"""Stack traces without the values in them.

What a connector fails on is often a record, and its exceptions quote it. So of a trace the classes and the frames are
kept, and the messages of those kinds of exception alone that speak of connections, files and settings.
"""

import re
from typing import Final, NamedTuple

from headwater.model.credentials import without_credentials

WITHHELD: Final = "(message withheld: it may quote a record)"
_THROWN: Final = re.compile(
    r"(?P<lead>(?:Caused by: |Suppressed: )?)"
    r"(?P<kind>(?:[\w$]+\.)+[\w$]*(?:Exception|Error|Throwable)[\w$]*)(?:: (?P<message>.*))?"
)
_FRAME: Final = re.compile(r"\s+(?:at [\w$.@/<>-]+\([\w$.: ]*\)|\.\.\. \d+ more)")
_SPEAKS_OF_SETTINGS: Final = re.compile(
    r"(?:java\.net\.|java\.nio\.file\.|java\.io\.(?:IO|FileNotFound)Exception|java\.lang\.ClassNotFound|"
    r"org\.apache\.kafka\.common\.(?:config\.|errors\.(?!Serialization|Record|Invalid))|"
    r"org\.apache\.kafka\.connect\.errors\.(?:Connect|NotFound|AlreadyExists)Exception).*"
)
_QUOTES_ANOTHER: Final = re.compile(r"[\w$]+(?:\.[\w$]+)*(?:Exception|Error)\b")
_MAX_CHARS: Final = 20_000


class Trace(NamedTuple):
    """Why something failed, in one line, and where."""

    message: str
    text: str


def without_values(trace: str) -> Trace:
    """A Java stack trace, without the values that its messages may quote."""
    lines: list[str] = []
    for line in trace.splitlines():
        if _FRAME.fullmatch(line):
            lines.append(line)
        elif thrown := _THROWN.fullmatch(line.rstrip()):
            lines.append(_thrown(thrown))
        # Anything else goes on with a message.
    message = next((line for line in lines if not _FRAME.fullmatch(line)), "failed, without a trace")
    return Trace(message, "\n".join(lines)[:_MAX_CHARS])


def _thrown(thrown: re.Match[str]) -> str:
    kind, message = thrown["kind"], thrown["message"]
    if message is None:
        return f"{thrown['lead']}{kind}"
    is_kept = _SPEAKS_OF_SETTINGS.fullmatch(kind) and not _QUOTES_ANOTHER.search(message)
    return f"{thrown['lead']}{kind}: {without_credentials(message) if is_kept else WITHHELD}"
