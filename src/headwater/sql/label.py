"""The dashboard named in a query's comment: the only information on the caller that passes through every engine.

/* dashboard: revenue, query: by_supplier */        -- dashboard=revenue query=by_supplier
/*dashboard='revenue',query='by_supplier'*/         as sqlcommenter writes it, values percent-encoded
"""

import re
from typing import Final, NamedTuple
from urllib.parse import unquote

DEFAULT_NAMESPACE: Final = "dashboards"

_SEARCHED_CHARACTERS: Final = 20_000
_LONGEST_NAME: Final = 200
# Comment signs within quotes do not count, so quoted text is skipped; possessive (*+), so that nothing backtracks.
_QUOTES_AND_COMMENTS: Final = re.compile(
    r"""'(?:[^']|'')*+'|"(?:[^"]|"")*+"|--(?P<line>[^\n]*)|/\*(?P<block>(?:[^*]|\*(?!/))*+)\*/"""
)
_KEY: Final = r"(?:dashboard|query|namespace)\s*[:=]"
_ENTRY: Final = re.compile(
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
    """The dashboard named in a comment in the first 20,000 characters; None if there is none.

    >>> label_of("/* dashboard: revenue, query: by_supplier */ SELECT 1")
    Label(namespace='dashboards', dashboard='revenue', query='by_supplier')
    """
    for found in _QUOTES_AND_COMMENTS.finditer(sql[:_SEARCHED_CHARACTERS]):
        comment = found["line"] or found["block"]
        if comment and "dashboard" in comment:
            values = {each["key"]: _value(each) for each in _ENTRY.finditer(comment.strip())}
            if values.get("dashboard") and all(len(value) <= _LONGEST_NAME for value in values.values()):
                return Label(values.get("namespace") or DEFAULT_NAMESPACE, values["dashboard"], values.get("query", ""))
    return None


def _value(entry: re.Match[str]) -> str:
    if entry["encoded"] is not None:
        return unquote(entry["encoded"]).strip()
    return (entry["quoted"] or entry["plain"] or "").strip()
