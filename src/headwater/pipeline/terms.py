"""The kinds of text and number in a pipeline file.

Each is a Python type annotated with the `Term` that parses it, so a value of the type has been validated.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from headwater.errors import InvalidInputError
from headwater.model.addresses import is_of_web_server
from headwater.signing.note import parse_log_key

_SECONDS_PER_UNIT = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?(ms|s|m|h|d)")
_LONGEST_DAYS = 10_000
"""Some 27 years. Threads and sockets cannot wait for longer than 292, and dates end in the year 9999."""

_JDBC_CREDENTIALS = re.compile(
    r"//[^/?;]*@"  # jdbc:postgresql://user:password@host
    r"|:thin:[^@/]+/[^@]+@"  # jdbc:oracle:thin:user/password@host
    r"|[?&;,]\s*(user|username|uid|\w*password|passwd|pwd|\w*token|\w*secret)\s*=",
    re.IGNORECASE,
)
_PASSWORD = re.compile(
    r"://[^/?#@:\[\s]*:(?!\d*/)[^@\s]{0,256}@"  # also a password with a slash, as AWS has them; but not a port
    r"|:thin:[^@/]+/[^@]+@"
    r"|:.*[?&;,]\s*(\w*password|passwd|pwd|\w*token|\w*secret)\s*=",
    re.IGNORECASE,
)
_LAST_PORT = 65_535
_LONGEST_NAME = 256
_CRON_FIELDS = 5


@dataclass(frozen=True, slots=True)
class Term:
    """How one kind of value is parsed.

    Attributes:
        expected: completes "expected …".
        read: returns the value; raises ValueError for anything else.
    """

    expected: str
    read: Callable[[object], object]


def _matching(pattern: str) -> Callable[[object], object]:
    def read(value: object) -> str:
        if not (isinstance(value, str) and re.fullmatch(pattern, value, re.ASCII)):
            raise ValueError
        return value

    return read


def _seconds(value: object) -> float:
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError
    seconds = float(match[1]) * _SECONDS_PER_UNIT[match[2]]
    if seconds > _LONGEST_DAYS * _SECONDS_PER_UNIT["d"]:
        raise ValueError
    return seconds


def _positive(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError
    return value


def _port(value: object) -> int:
    port = _positive(value)
    if port > _LAST_PORT:
        raise ValueError
    return port


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value


def _name(value: object) -> str:
    name = _text(value)
    if name != name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
        raise ValueError
    return name


def _instant(value: object) -> datetime:
    instant = datetime.fromisoformat(_text(value))
    if instant.tzinfo is None:
        raise ValueError
    return instant


def holds_password(url: str) -> bool:
    """Whether a URL contains a password: before its host, or in its query."""
    return bool(_PASSWORD.search(url))


def _uri(value: object) -> str:
    uri = _name(value)
    if holds_password(uri):
        raise ValueError
    return uri


def _jdbc_url(value: object) -> str:
    url = _name(value)
    if not re.match(r"jdbc:[a-z]", url) or _JDBC_CREDENTIALS.search(url):
        raise ValueError
    return url


def _http_url(value: object) -> str:
    url = _name(value)
    if not is_of_web_server(url) or "@" in urlsplit(url).netloc:
        raise ValueError
    return url


def _log_key(value: object) -> str:
    key = _name(value)
    try:
        parse_log_key(key)
    except InvalidInputError as fault:
        raise ValueError from fault
    return key


def _address(value: object) -> str:
    match = re.fullmatch(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})", _name(value), re.ASCII)
    if match is None or not 0 < int(match[1]) <= _LAST_PORT:
        raise ValueError
    return match[0]


def _pattern(value: object) -> str:
    text = _text(value)
    try:
        re.compile(text)
    except re.error as wrong:
        raise ValueError from wrong
    return text


def _cron(value: object) -> str:
    text = _text(value)
    if len(text.split()) != _CRON_FIELDS:  # the library allows a sixth, for seconds
        raise ValueError
    try:
        next(CronSim(text, datetime(2000, 1, 1)))
    except (CronSimError, StopIteration) as wrong:  # malformed, or a date that never occurs
        raise ValueError from wrong
    return text


def _time_zone(value: object) -> str:
    name = _text(value)
    try:
        ZoneInfo(name)
    except (OSError, ValueError, LookupError) as unknown:
        raise ValueError from unknown
    return name


Seconds = Annotated[
    float, Term(f"a duration of at most {_LONGEST_DAYS}d with its unit (ms, s, m, h, d), such as 5s", _seconds)
]
PositiveInt = Annotated[int, Term("a whole number from 1", _positive)]
Port = Annotated[int, Term("a port from 1 to 65535", _port)]
Instant = Annotated[datetime, Term("a time with its zone, such as '2026-01-31T12:00:00Z'", _instant)]

Cron = Annotated[str, Term("a cron expression of five fields whose time comes, such as '*/15 6-20 * * MON-FRI'", _cron)]
TimeZone = Annotated[str, Term("a time zone, such as Europe/Berlin", _time_zone)]

Text = Annotated[str, Term("text that is not empty", _text)]
Name = Annotated[str, Term(f"a name of 1 to {_LONGEST_NAME} printable characters", _name)]

LOCATION = Term("a path or a URI without a password", _uri)
Location = Annotated[str, LOCATION]
"""A URI, or a local path made absolute against the pipeline file's directory. May hold globs where files are read."""

FrameName = Annotated[
    str, Term("a name of letters, digits and _, not starting with a digit", _matching(r"[A-Za-z_][A-Za-z0-9_]{0,127}"))
]
TableName = Annotated[
    str,
    Term("a table with its catalog, such as lake.sales.orders", _matching(r"[A-Za-z_]\w*(\.[A-Za-z0-9_][\w-]*){2,}")),
]
EnvName = Annotated[str, Term("the name of an environment variable", _matching(r"[A-Za-z_][A-Za-z0-9_]*"))]
"""The variable's value is read when it is used and never kept."""

FunctionName = Annotated[
    str, Term("module:function, such as cleaning:trim_names", _matching(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*"))
]
"""The module may be in the pipeline file's directory."""

JDBC_URL = Term("jdbc:… without credentials (name them in user_env and password_env)", _jdbc_url)
JdbcUrl = Annotated[str, JDBC_URL]
"""For a file database, the path is made absolute against the pipeline file's directory."""

CatalogUri = Annotated[str, Term("a URI without a password (name it under options_env)", _uri)]

HttpUrl = Annotated[str, Term("http://… or https://… without credentials", _http_url)]

LogKey = Annotated[str, Term("a log's key, NAME+HASH+KEY, as the service's /api/v1/log/key shows it", _log_key)]

Address = Annotated[str, Term("host:port, such as localhost:9092", _address)]
Topic = Annotated[
    str, Term("a topic: letters, digits, '.', '_' and '-'", _matching(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}"))
]
Pattern = Annotated[str, Term("a regular expression", _pattern)]

SqlQuery = Annotated[str, Term("a SQL query", _text)]
SqlExpression = Annotated[str, Term("a SQL expression", _text)]

Ddl = Annotated[str, Term("columns with their types, such as 'order_id BIGINT, price DECIMAL(10,2)'", _text)]

RuleId = Annotated[str, Term("a lint rule's id, such as HW003", _matching(r"HW[0-9]{3}"))]
