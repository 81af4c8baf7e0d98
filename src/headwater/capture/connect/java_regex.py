"""Regular expressions and replacements as Java reads them, as far as Python's mean the same."""

import re
from typing import Final

_PART: Final = re.compile(
    r"\\.|(?P<set>\[\^?\]?(?:\\.|[^\]\\\[])*(?P<nested>\[)?)|(?P<group>\(\?<(?![=!]))|(?P<python>\(\?(?:[PLa#(]|[a-z]*[aL]))",
    re.DOTALL,
)
"""The parts of an expression that mean another thing in Python: sets in sets, `(?<name>…)`, and what Java has not."""
_REPLACEMENT: Final = re.compile(
    r"\\(?P<literal>.)|\$(?:(?P<number>[0-9]+)|\{(?P<name>[A-Za-z][A-Za-z0-9]*)\})|(?P<wrong>[\\$])", re.DOTALL
)
"""An escaped character or a group in a replacement."""


class _OnlyJavaError(Exception):
    """Only Java can say."""


def matches(expression: str, name: str, *, any_case: bool = False) -> bool | None:
    """Whether a regular expression of Java matches the whole name; None if only Java reads it: the syntax differs."""
    try:
        return re.fullmatch(_pythons(expression), name, re.IGNORECASE if any_case else 0) is not None
    except (re.error, _OnlyJavaError):
        return None


def replaced_first(expression: str, replacement: str, text: str) -> str | None:
    """The text after Java's `Matcher.replaceFirst`; None if only Java can read the expression or the replacement.

    Source: `Matcher.appendReplacement` of Java, with groups `$1` and `${name}`
    """
    try:
        return re.sub(_pythons(expression), lambda found: _filled(replacement, found), text, count=1)
    except (re.error, IndexError, _OnlyJavaError):
        return None


def _pythons(expression: str) -> str:
    return _PART.sub(_as_python, expression)


def _as_python(part: re.Match[str]) -> str:
    if part["python"] or part["nested"] or "&&" in (part["set"] or ""):
        raise _OnlyJavaError
    return "(?P<" if part["group"] else part[0]


def _filled(replacement: str, found: re.Match[str]) -> str:
    return _REPLACEMENT.sub(lambda part: _meant(part, found), replacement)


def _meant(part: re.Match[str], found: re.Match[str]) -> str:
    if part["wrong"]:  # Java refuses it
        raise _OnlyJavaError
    if (number := part["number"]) is None:
        return part["literal"] or found[part["name"]] or ""
    digits = 1  # the longest number of a group that exists: of `$12`, with one group, `2` is text
    while digits < len(number) and int(number[: digits + 1]) <= found.re.groups:
        digits += 1
    return (found[int(number[:digits])] or "") + number[digits:]
