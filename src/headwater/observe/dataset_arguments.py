"""Parses datasets as a person passes them to `headwater.run`.

Names are signed and kept for good, so nothing that may be a password gets into a name or an error message.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from headwater.errors import InvalidNameError
from headwater.model.credentials import without_secrets
from headwater.model.names import DatasetId
from headwater.model.naming import file_dataset, kafka_dataset
from headwater.model.naming_jdbc import jdbc_dataset
from headwater.observe.described import Described, source_facet
from headwater.observe.local_url import local_url

Dataset = str | tuple[str, str]
"""A path or URL, `kafka://host:port/topic`, or a pair: a namespace or a database's JDBC URL, and a name."""

_A_DATASET: Final = "a path, a URL or a pair of texts (namespace, name)"
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[A-Za-z][A-Za-z0-9+.-]+:/|file:")
_KAFKA: Final = re.compile(r"kafka://(?P<servers>[^/?#]*)/?(?P<topic>[^?#]*)", re.IGNORECASE)
_JDBC: Final = re.compile(r"\s*jdbc:", re.IGNORECASE)
_MAY_HOLD_A_LOGIN: Final = re.compile(
    r"(?://)?[^/]*:.*@"  # user:password@host
    r"|[^/]+/[^/]*@//"  # user/password@//host
    r"|[A-Za-z][A-Za-z0-9+.-]+:.*[?;]",  # driver:place;password=…
    re.DOTALL,
)
"""Texts that are not URLs but may be addresses with credentials; a path that looks like one can begin with `./`."""


def described_datasets(parameter: str, datasets: Dataset | Iterable[Dataset]) -> list[Described]:
    """The datasets passed as this parameter; a string is one dataset.

    Raises:
        TypeError: one is neither a string nor a pair of strings.
        InvalidNameError: one cannot be read, or may hold a password; the message does not quote it.
    """
    if not isinstance(datasets, Iterable):
        raise TypeError(f"{parameter}: expected {_A_DATASET}, or several; found {type(datasets).__name__}")
    return [_described(parameter, one) for one in ([datasets] if isinstance(datasets, str) else datasets)]


def plain_name(parameter: str, text: str) -> str:
    """Validate a name and return it.

    Raises:
        TypeError: it is not a string.
        InvalidNameError: it is empty, or an address with a password.
    """
    if not isinstance(text, str):
        raise TypeError(f"{parameter}: expected text, found {type(text).__name__}")
    if not text.strip():
        raise InvalidNameError(f"{parameter}: expected a name, found nothing")
    if _JDBC.match(text) or without_secrets(text) != text:
        raise InvalidNameError(f"{parameter}: expected a name, found an address that may hold a password")
    return text


def _described(parameter: str, dataset: Dataset) -> Described:
    try:
        match dataset:
            case str():
                name = _named(dataset)
            case (str(namespace), str(table)) if _JDBC.match(namespace):
                name = jdbc_dataset(local_url(namespace.strip()), table)
            case (str(namespace), str(table)):
                if "://" not in namespace and _MAY_HOLD_A_LOGIN.match(namespace):
                    raise InvalidNameError("expected a namespace, found a text that may hold a password")
                name = DatasetId(namespace, table)
            case _:
                raise TypeError(f"{parameter}: expected {_A_DATASET}, found {_kind(dataset)}")
    except InvalidNameError as refusal:
        raise InvalidNameError(f"{parameter}: {refusal}") from None
    for part in name:
        plain_name(parameter, part)
    return Described(name, {"dataSource": source_facet(name)})


def _named(location: str) -> DatasetId:
    if not location.strip():
        raise InvalidNameError("expected a path or a URL, found nothing")
    if _JDBC.match(location):
        raise InvalidNameError("a JDBC URL names a database only: pass the pair (URL, table)")
    if found := _KAFKA.match(location):
        return kafka_dataset(found["servers"], found["topic"])
    if _URL.match(location):
        return file_dataset(location)
    if _MAY_HOLD_A_LOGIN.match(location):
        raise InvalidNameError(
            "expected a path or a URL with ://, found a text that may hold a password; a path may start with ./"
        )
    return file_dataset(str(Path(location).absolute()))


def _kind(value: object) -> str:
    size = f" of {len(value)}" if isinstance(value, tuple | list) else ""
    return f"{type(value).__name__}{size}"
