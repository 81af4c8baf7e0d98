"""The next page, for each way in which APIs return records in pages."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import InvalidInputError
from headwater.pipeline.http.paging import first_page, next_page, records_of
from headwater.pipeline.spec import Paging

URL = "https://shop.test/api/orders"


def test_without_paging_there_is_one_page() -> None:
    page = first_page(URL, {"day": "1"}, None)

    assert (page.url, page.params) == (URL, {"day": "1"})
    assert next_page(page, None, 100, [], None) is None


def test_pages_are_read_until_one_is_not_full() -> None:
    paging = Paging(by="page", parameter="p", first=0, size=2, size_parameter="limit")
    first = first_page(URL, {"day": "1"}, paging)

    second = next_page(first, paging, 2, [], None)

    assert first.params == {"day": "1", "limit": "2", "p": "0"}
    assert second is not None
    assert second.params == {"day": "1", "limit": "2", "p": "1"}
    assert next_page(second, paging, 1, [], None) is None


def test_a_cursor_is_followed_until_there_is_none() -> None:
    paging = Paging(by="cursor", parameter="after", next="meta.next")
    first = first_page(URL, {}, paging)

    second = next_page(first, paging, 2, {"meta": {"next": "abc"}}, None)

    assert first.params == {}
    assert second is not None
    assert second.params == {"after": "abc"}
    ends: tuple[object, ...] = ({"meta": {"next": None}}, {"meta": {}}, [])
    for end in ends:
        assert next_page(second, paging, 2, end, None) is None


def test_a_link_is_followed_only_on_the_same_host() -> None:
    paging = Paging(by="link")
    first = first_page(URL, {"day": "1"}, paging)

    second = next_page(first, paging, 2, [], "/api/orders?day=1&page=2")

    assert second is not None
    assert (second.url, second.params) == (f"{URL}?day=1&page=2", {})
    with pytest.raises(InvalidInputError, match="another host"):
        next_page(second, paging, 2, [], "https://elsewhere.test/api/orders?page=3")


@given(st.lists(st.integers()), st.integers(1, 5), st.booleans())
def test_offsets_read_every_record_once(all_records: list[int], size: int, has_size: bool) -> None:
    paging = Paging(by="offset", size=size if has_size else None)
    page, read = first_page(URL, {}, paging), []

    while page is not None:
        offset = int(page.params["offset"])
        records = all_records[offset : offset + size]
        read += records
        page = next_page(page, paging, len(records), records, None)  # type: ignore[assignment]

    assert read == all_records


@pytest.mark.parametrize(
    ("answer", "path", "message"),
    [
        ({"data": []}, None, "no list at its top"),
        ({"data": {}}, "data.items", "no list at data.items"),
        ([1], None, "expected objects"),
    ],
)
def test_an_answer_without_the_configured_records_is_refused(answer: Any, path: str | None, message: str) -> None:  # noqa: ANN401
    with pytest.raises(InvalidInputError, match=message):
        records_of(answer, path)


def test_records_are_found_at_the_configured_path() -> None:
    assert records_of({"data": {"items": [{"id": 1}]}}, "data.items") == [{"id": 1}]
