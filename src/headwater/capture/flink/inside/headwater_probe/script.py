"""Splits a file of SQL into statements, each with its first line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*|/\*(?!\+).*?\*/)|(?P<quoted>'(?:[^']|'')*'|`(?:[^`]|``)*`|"(?:[^"]|"")*")"""
    r"""|(?P<end>;)|(?P<other>[^-/'`";]+|.)""",
    re.DOTALL,
)
_BEGIN = re.compile(r"\s*(?:EXECUTE\s+STATEMENT\s+SET\s+)?BEGIN(?:\s+STATEMENT\s+SET)?\b", re.IGNORECASE)
_END = re.compile(r"\s*END\s*", re.IGNORECASE)
_SETTING = re.compile(r"\s*SET\s+'(?P<key>[^']+)'\s*=\s*'(?P<value>(?:[^']|'')*)'\s*", re.IGNORECASE)


class Statement(NamedTuple):
    """A statement's text without comments and semicolon, and its first line, from 1."""

    text: str
    line: int


def statements(script: str) -> list[Statement]:
    """The statements of a file; a statement set is one, as Flink's parser expects."""
    found: list[Statement] = []
    for one in _apart(script):
        if found and _is_open(found[-1].text):
            last = found.pop()
            between = "\n" * (one.line - last.line - last.text.count("\n"))
            end = "" if _END.fullmatch(one.text) else ";"
            found.append(Statement(last.text + between + one.text + end, last.line))
        elif _BEGIN.match(one.text):
            found.append(Statement(_as_set(one.text), one.line))
        else:
            found.append(one)
    return found


def setting(text: str) -> tuple[str, str] | None:
    """Name and value of `SET 'name' = 'value'`; None for other statements."""
    found = _SETTING.fullmatch(text)
    return (found["key"], found["value"].replace("''", "'")) if found else None


def _as_set(text: str) -> str:
    """A statement set's head in the form of a single statement, with the text after BEGIN on its line."""
    found = _BEGIN.match(text)
    rest = text[found.end() :] if found else ""
    return f"EXECUTE STATEMENT SET BEGIN{rest};" if rest.strip() else "EXECUTE STATEMENT SET BEGIN"


def _is_open(text: str) -> bool:
    return bool(_BEGIN.match(text)) and not re.search(r"\bEND\s*$", text, re.IGNORECASE)


def _apart(script: str) -> Iterator[Statement]:
    """Split at semicolons outside quotes and comments; a comment is replaced by its line breaks."""
    text, line = "", 1
    for token in _TOKEN.finditer(script):
        piece = token.group()
        if token["end"]:
            yield from _stripped(text, line)
            line += text.count("\n")
            text = ""
        else:
            text += "\n" * piece.count("\n") if token["comment"] else piece
    yield from _stripped(text, line)


def _stripped(text: str, line: int) -> Iterator[Statement]:
    bare = text.strip()
    if bare:
        before = text[: len(text) - len(text.lstrip())]
        yield Statement(bare, line + before.count("\n"))
