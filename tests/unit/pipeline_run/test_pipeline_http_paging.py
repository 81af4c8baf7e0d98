"""Which page comes next: for each way in which APIs hand out their records."""

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


def test_pages_are_counted_until_one_is_not_full() -> None:
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
    for end in ({"meta": {"next": None}}, {"meta": {}}, []):
        assert next_page(second, paging, 2, end, None) is None


def test_a_link_is_followed_on_the_same_host_alone() -> None:
    paging = Paging(by="link")
    first = first_page(URL, {"day": "1"}, paging)

    second = next_page(first, paging, 2, [], "/api/orders?day=1&page=2")

    assert second is not None
    assert (second.url, second.params) == (f"{URL}?day=1&page=2", {})
    with pytest.raises(InvalidInputError, match="another host"):
        next_page(second, paging, 2, [], "https://elsewhere.test/api/orders?page=3")


@given(st.lists(st.integers()), st.integers(1, 5), st.booleans())
def test_offsets_hand_out_every_record_once(everything: list[int], size: int, is_size_told: bool) -> None:
    paging = Paging(by="offset", size=size if is_size_told else None)
    page, got = first_page(URL, {}, paging), []

    while page is not None:
        at = int(page.params["offset"])
        records = everything[at : at + size]
        got += records
        page = next_page(page, paging, len(records), records, None)  # type: ignore[assignment]

    assert got == everything


@pytest.mark.parametrize(
    ("answer", "where", "told"),
    [
        ({"data": []}, None, "no list at its top"),
        ({"data": {}}, "data.items", "no list at data.items"),
        ([1], None, "expected objects"),
    ],
)
def test_an_answer_that_is_not_as_was_said_is_refused(answer: Any, where: str | None, told: str) -> None:  # noqa: ANN401
    with pytest.raises(InvalidInputError, match=told):
        records_of(answer, where)


def test_records_are_found_where_they_stand() -> None:
    assert records_of({"data": {"items": [{"id": 1}]}}, "data.items") == [{"id": 1}]
