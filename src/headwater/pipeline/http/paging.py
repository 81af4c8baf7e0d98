"""Paging of an API: the next page, and the records of an answer; pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

import msgspec

from headwater.errors import InvalidInputError
from headwater.pipeline.spec import Paging

_ON_ONE_LINE: Final = bytes.maketrans(b"\r\n", b"  ")


@dataclass(frozen=True, slots=True)
class Page:
    """A page to request.

    Attributes:
        params: query parameters; those of a link are in its URL.
        at: with `page` the page's number, with `offset` the number of records before it.
    """

    url: str
    params: Mapping[str, str]
    at: int = 0


def first_page(url: str, params: Mapping[str, str], paging: Paging | None) -> Page:
    """The first page."""
    if paging is None:
        return Page(url, params)
    sized = {paging.size_parameter: str(paging.size)} if paging.size_parameter is not None else {}
    known = {**params, **sized}
    match paging.by:
        case "page":
            return Page(url, {**known, paging.parameter or "page": str(paging.first)}, paging.first)
        case "offset":
            return Page(url, {**known, paging.parameter or "offset": "0"})
        case _:
            return Page(url, known)


def next_page(page: Page, paging: Paging | None, records: int, answer: object, link: str | None) -> Page | None:
    """The page after `page`; None if that was the last.

    Args:
        page: the current page.
        paging: the API's paging.
        records: the number of records in the answer.
        answer: the parsed answer.
        link: the URL of its `Link` with rel=next.

    Raises:
        InvalidInputError: the link leads to another host, which is not called.
    """
    if paging is None:
        return None
    match paging.by:
        case "cursor":
            cursor = _at(answer, paging.next or "")
            known = page.params
            return replace(page, params={**known, paging.parameter or "cursor": str(cursor)}) if cursor else None
        case "link":
            return None if link is None else Page(_on_same_host(page.url, link), {})
        case by:
            if records == 0 or (paging.size is not None and records < paging.size):
                return None
            at = page.at + (1 if by == "page" else records)
            return replace(page, at=at, params={**page.params, paging.parameter or by: str(at)})


def records_of(answer: object, where: str | None) -> list[dict[str, Any]]:
    """The records of an answer.

    Raises:
        InvalidInputError: there is no list at `where`, or an item is not an object.
    """
    found = answer if where is None else _at(answer, where)
    if not isinstance(found, list):
        raise InvalidInputError(f"records: the answer has no list at {where or 'its top level'}")
    if not all(isinstance(record, dict) for record in found):
        raise InvalidInputError("records: expected objects in the list, found something else")
    return found


def as_sent(answer: bytes, where: str | None) -> list[bytes]:
    """The records of an answer, as `records_of`, one line each, with numbers of any size exactly as sent.

    Parsing would reduce numbers to 64 bits. Line breaks can be dropped: in JSON they occur only as white space.
    """
    for step in where.split(".") if where is not None else ():
        answer = bytes(msgspec.json.decode(answer, type=dict[str, msgspec.Raw])[step])
    return [bytes(record).translate(_ON_ONE_LINE) for record in msgspec.json.decode(answer, type=list[msgspec.Raw])]


def _at(answer: object, where: str) -> Any:  # noqa: ANN401
    """The value in an answer at a path such as `data.items`; None if there is none."""
    for step in where.split("."):
        answer = answer.get(step) if isinstance(answer, dict) else None
    return answer


def _on_same_host(url: str, link: str) -> str:
    target = urljoin(url, link)
    if urlsplit(target)[:2] != urlsplit(url)[:2]:
        raise InvalidInputError("paging: refused to follow the link to the next page, as it leads to another host")
    return target
