"""Hides secrets in a SQL text: the log is kept for good, and texts hold more than addresses with passwords."""

import re
from collections.abc import Iterator
from typing import Final

from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from headwater.model.credentials import SENSITIVE_KEY, without_secrets
from headwater.sql.reading import dialect_named

_HIDDEN: Final = "'***'"
_CONNECTING: Final = frozenset(
    {
        *("azureblobstorage", "deltalake", "gcs", "hudi", "iceberg", "jdbc", "mongodb", "mysql", "odbc", "oss"),
        *("postgresql", "redis", "remote", "remotesecure", "s3", "s3cluster"),  # ClickHouse's
        *("dblink", "dblink_connect", "opendatasource", "openrowset"),
        *("aes_decrypt", "aes_encrypt", "decrypt", "decryptbypassphrase", "encrypt", "encryptbypassphrase"),
        *("pgp_sym_decrypt", "pgp_sym_encrypt"),
    }
)
"""Functions in whose arguments a text may be a password or a key by its position."""
_TEXTS: Final = frozenset(
    {
        *(TokenType.BYTE_STRING, TokenType.HEREDOC_STRING, TokenType.NATIONAL_STRING, TokenType.RAW_STRING),
        *(TokenType.STRING, TokenType.UNICODE_STRING),
    }
)
_EQUALS: Final = frozenset({TokenType.EQ, TokenType.FARROW})
_KEY: Final = re.compile(SENSITIVE_KEY, re.IGNORECASE)
_PAIR: Final = re.compile(rf"(?i)(?<![\w.-])({SENSITIVE_KEY}\s*=)[^;]*")
"""In a connection string: `host=db password=x`, `Server=db;PWD=x;`."""
_ANY_TEXT: Final = re.compile(r"'[^']*(?:'|\Z)|\"[^\"]*(?:\"|\Z)")


def sql_without_secrets(sql: str, dialect: str) -> str:
    """The text without passwords in addresses, connection strings, options and arguments of connecting functions.

    A text that cannot be split into tokens has no literals left.

    >>> sql_without_secrets("SELECT * FROM mysql('db:3306', 'shop', 'orders', 'ann', 'x') WHERE a = 'b'", "clickhouse")
    "SELECT * FROM mysql('***', '***', '***', '***', '***') WHERE a = 'b'"
    >>> sql_without_secrets("SELECT 'Server=db;PWD=x;App=y', f(password => 'x')", "postgres")
    "SELECT 'Server=db;PWD=***;App=y', f(password => '***')"

    Raises:
        UnreadableSqlError: the dialect is unknown.
    """
    known = dialect_named(dialect)
    try:
        tokens = known.tokenize(sql)
    except SqlglotError:
        return without_secrets(_ANY_TEXT.sub(_HIDDEN, sql))
    shown, end = [], 0
    for token, is_secret in _texts(tokens):
        written = sql[token.start : token.end + 1]
        shown += [sql[end : token.start], _HIDDEN if is_secret else _without_pairs(written)]
        end = token.end + 1
    return without_secrets("".join((*shown, sql[end:])))


def _texts(tokens: list[Token]) -> Iterator[tuple[Token, bool]]:
    """The literals, each with whether it is a secret by its place."""
    depth, hidden_from = 0, None
    before = [None, None, *tokens]
    for key, previous, token in zip(before, before[1:], tokens, strict=False):
        if token.token_type is TokenType.L_PAREN:
            depth += 1
            if hidden_from is None and previous is not None and previous.text.lower() in _CONNECTING:
                hidden_from = depth
        elif token.token_type is TokenType.R_PAREN:
            hidden_from = None if hidden_from == depth else hidden_from
            depth -= 1
        elif token.token_type in _TEXTS:
            yield token, hidden_from is not None or _is_value_of_secret(key, previous)


def _is_value_of_secret(key: Token | None, equals: Token | None) -> bool:
    if key is None or equals is None:
        return False
    return equals.token_type in _EQUALS and _KEY.fullmatch(key.text) is not None


def _without_pairs(literal: str) -> str:
    """The literal, whose last character is a quote, without the values of secret options."""
    return _PAIR.sub(r"\1***", literal[:-1]) + literal[-1]
