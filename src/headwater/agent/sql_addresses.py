"""The addresses that a Spark SQL text names: pure.

Spark reads a file by its address as a name (``csv.`s3://bucket/x` ``), and takes options of a table
(`WITH ('path' = …)`). What puts a name together, or runs other code, cannot be determined from the text.

Source: Spark 4.1 `SqlBaseLexer.g4`, https://github.com/apache/spark/blob/v4.1.1/sql/api/src/main/antlr4/
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(
    r"""(?P<space>\s+|--(?:\\\n|[^\r\n])*)
    |(?P<comment>/\*(?!\+))
    |(?P<backquoted>`(?:[^`]|``)*`)
    |(?P<raw>[rR](?:'[^']*'|"[^"]*"))
    |(?P<double>"(?:[^"\\]|\\.|"")*")
    |(?P<string>'(?:[^'\\]|\\.|'')*')
    |(?P<unclosed>[`"'])
    |(?P<word>\w+)
    |(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_COMMENT_MARK: Final = re.compile(r"/\*\+?|\*/")
_CALLS_JAVA: Final = frozenset({"REFLECT", "TRY_REFLECT", "JAVA_METHOD"})


class UndeterminedAddressError(Exception):
    """The text may name an address that it does not show; the message says by what."""


class SqlAddress(NamedTuple):
    """A name or option's value that may be an address; `option` is the option's key, or empty."""

    text: str
    option: str = ""


class _Token(NamedTuple):
    kind: str
    text: str

    @property
    def word(self) -> str:
        """A keyword or function's name in upper case; Spark accepts functions' names in backquotes, too."""
        return {"word": self.text, "backquoted": self.text.strip("`")}.get(self.kind, "").upper()

    @property
    def is_text(self) -> bool:
        return self.kind in ("string", "double", "raw")

    @property
    def inside(self) -> str:
        """What stands between the quotes."""
        return self.text[1:-1].replace(self.text[0] * 2, self.text[0])

    @property
    def literal(self) -> str:
        """The text of a literal without escapes.

        Raises:
            UndeterminedAddressError: it has escapes.
        """
        if self.kind == "raw" or "\\" in self.text or self.text[0] in self.text[1:-1]:
            raise UndeterminedAddressError("a name or option in SQL is not one literal without escapes")
        return self.text[1:-1]


_END: Final = _Token("end", "")


def sql_addresses(sql: str) -> Iterator[SqlAddress]:
    """Every name and option in the text that may be an address; most are not.

    Raises:
        UndeterminedAddressError: there may be more.
    """
    if "${" in sql:
        raise UndeterminedAddressError("Spark replaces ${…} in SQL by settings and environment variables")
    tokens = [*_tokens(sql), _END, _END, _END]
    for index, token in enumerate(tokens[:-3]):
        match token.word, tokens[index + 1]:
            case "IDENTIFIER", _Token(text="("):
                yield from sql_addresses(_only_literal(tokens[index + 2 : index + 4]))
            case word, _Token(text="(") if word in _CALLS_JAVA:
                raise UndeterminedAddressError(f"{word.lower()}(…) in SQL calls any Java method")
            case "USING", following if following.is_text:
                raise UndeterminedAddressError("USING with a text in SQL runs a program")
            case "WITH", _Token(text="("):
                yield from _options(tokens[index + 2 :])
        if token.kind == "backquoted" or (token.kind == "double" and tokens[index - 1].text == "."):
            yield SqlAddress(token.inside)


def _tokens(sql: str) -> Iterator[_Token]:
    """The text's tokens without white space and comments."""
    start = 0
    while found := _TOKEN.match(sql, start):
        start = found.end()
        match found.lastgroup:
            case "space":
                pass
            case "comment":
                start = _end_of_comment(sql, start)
            case "unclosed":
                raise UndeterminedAddressError("this SQL has a quote without its end")
            case kind:
                yield _Token(str(kind), found[0])


def _end_of_comment(sql: str, start: int) -> int:
    """Comments nest, and a hint does not begin one."""
    depth = 1
    for mark in _COMMENT_MARK.finditer(sql, start):
        if mark[0] == "/*+":
            break
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    raise UndeterminedAddressError("this SQL has a comment without an unambiguous end")


def _only_literal(argument: Sequence[_Token]) -> str:
    literal, end = argument
    if not literal.is_text or end.text != ")":
        raise UndeterminedAddressError("the name in IDENTIFIER(…) is not one literal without escapes")
    return literal.literal


def _options(tokens: Sequence[_Token]) -> Iterator[SqlAddress]:
    """The options up to the closing bracket: a key of one or more parts, and after it the value."""
    key = ""
    is_after_text = False
    for token in tokens:
        if token.text in (")", ""):
            return
        if token.is_text and is_after_text:  # Spark joins them
            raise UndeterminedAddressError("a name or option in SQL is not one literal without escapes")
        is_after_text = token.is_text
        if token.text == ",":
            key = ""
        elif token.is_text:
            yield SqlAddress(token.literal, key)
            key += token.literal
        elif token.text != "=":
            key += token.text
