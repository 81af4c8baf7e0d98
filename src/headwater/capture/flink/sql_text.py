"""Removes secrets from SQL: options of tables may hold passwords, and the log is kept for good."""

import re
from typing import Final

from headwater.model.credentials import without_secrets

_SHOWN: Final = frozenset(
    ("catalog-type", "connector", "format", "path", "scan.startup.mode", "sink.partitioner", "table-name", "topic")
)
_BETWEEN: Final = r"(?:\s|--[^\n]*\n|/\*(?:[^*]|\*(?!/))*+\*/)*+"
_TEXT: Final = r"(?:[uU]&|[nN]|_\w+)?'(?:[^']|'')*+'"
_OPTION: Final = re.compile(
    rf"'(?P<key>[^'=,()\s][^'=,()\n]*+)'(?P<equals>{_BETWEEN}={_BETWEEN}){_TEXT}(?:{_BETWEEN}{_TEXT})*+"
)
"""A key is any text without what stands between literals. A value may be several adjacent literals, with comments in
between."""


def shown_sql(sql: str) -> str:
    r"""The text with the values of options hidden, except for a few that name things, and no password in an address.

    >>> shown_sql("INSERT INTO t /*+ OPTIONS('sink.password'='x') */ SELECT 'a' FROM s WHERE b = 'c'")
    "INSERT INTO t /*+ OPTIONS('sink.password'='***') */ SELECT 'a' FROM s WHERE b = 'c'"
    >>> shown_sql("WITH ('password' /* of ann */ = U&'x' -- or\n 'y', 'topic' = 't')")
    "WITH ('password' /* of ann */ = '***', 'topic' = 't')"
    >>> shown_sql("WITH ('path' = 's3://key:x@lake/raw')")
    "WITH ('path' = 's3://lake/raw')"
    """

    def hidden(found: re.Match[str]) -> str:
        return found[0] if found["key"] in _SHOWN else f"'{found['key']}'{found['equals']}'***'"

    return without_secrets(_OPTION.sub(hidden, sql))
