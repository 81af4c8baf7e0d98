"""SQL that may be shown: options of tables may hold passwords, and the log is kept for good."""

import re
from typing import Final

_SHOWN: Final = frozenset(
    ("catalog-type", "connector", "format", "path", "scan.startup.mode", "sink.partitioner", "table-name", "topic")
)
_OPTION: Final = re.compile(r"'(?P<key>[A-Za-z][\w.-]*)'(?P<equals>\s*=\s*)'(?:[^']|'')*'")


def shown_sql(sql: str) -> str:
    """The text with the values of options hidden, but for those of a few that name things.

    >>> shown_sql("INSERT INTO t /*+ OPTIONS('sink.password'='x') */ SELECT 'a' FROM s WHERE b = 'c'")
    "INSERT INTO t /*+ OPTIONS('sink.password'='***') */ SELECT 'a' FROM s WHERE b = 'c'"
    """

    def hidden(found: re.Match[str]) -> str:
        return found[0] if found["key"] in _SHOWN else f"'{found['key']}'{found['equals']}'***'"

    return _OPTION.sub(hidden, sql)
