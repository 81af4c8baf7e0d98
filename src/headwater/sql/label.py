"""The dashboard that a comment in a query names: the one thing about its asker that passes through every engine.

/* dashboard: revenue, query: by_supplier */        -- dashboard=revenue query=by_supplier
/*dashboard='revenue',query='by_supplier'*/         as sqlcommenter writes it, values percent-encoded
"""

import re
from typing import Final, NamedTuple
from urllib.parse import unquote

DEFAULT_NAMESPACE: Final = "dashboards"

_MOST_CHARACTERS: Final = 20_000
_LONGEST_NAME: Final = 200
# Comment signs within quotes do not count, so quoted text is skipped; possessive (*+), so that nothing backtracks.
_QUOTES_AND_COMMENTS: Final = re.compile(
    r"""'(?:[^']|'')*+'|"(?:[^"]|"")*+"|--(?P<line>[^\n]*)|/\*(?P<block>(?:[^*]|\*(?!/))*+)\*/"""
)
_KEY: Final = r"(?:dashboard|query|namespace)\s*[:=]"
_SAID: Final = re.compile(
    rf"""\b(?P<key>dashboard|query|namespace)\s*[:=]\s*
    (?:'(?P<encoded>[^']*)'|"(?P<quoted>[^"]*)"|(?P<plain>[^,;'"\n]*?))
    \s*(?=[,;\n]|$|\b{_KEY})""",
    re.VERBOSE,
)


class Label(NamedTuple):
    """A query of a dashboard; `query` is empty if the dashboard has only one."""

    namespace: str
    dashboard: str
    query: str


def label_of(sql: str) -> Label | None:
    """The dashboard that a comment in the first 20,000 characters names; None where none does.

    >>> label_of("/* dashboard: revenue, query: by_supplier */ SELECT 1")
    Label(namespace='dashboards', dashboard='revenue', query='by_supplier')
    """
    for found in _QUOTES_AND_COMMENTS.finditer(sql[:_MOST_CHARACTERS]):
        comment = found["line"] or found["block"]
        if comment and "dashboard" in comment:
            said = {each["key"]: _value(each) for each in _SAID.finditer(comment.strip())}
            if said.get("dashboard") and all(len(value) <= _LONGEST_NAME for value in said.values()):
                return Label(said.get("namespace") or DEFAULT_NAMESPACE, said["dashboard"], said.get("query", ""))
    return None


def _value(said: re.Match[str]) -> str:
    if said["encoded"] is not None:
        return unquote(said["encoded"]).strip()
    return (said["quoted"] or said["plain"] or "").strip()
