"""A request's body: read up to a limit, with and without gzip, in any chunks."""

import asyncio
import gzip
from collections.abc import Sequence

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message

from headwater.service.http.body import read_body

LIMIT = 1_000


def read(chunks: Sequence[bytes], **headers: str) -> bytes:
    remaining = [*chunks, b""]

    async def receive() -> Message:
        return {"type": "http.request", "body": remaining.pop(0), "more_body": bool(remaining)}

    raw_headers = [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]
    return asyncio.run(read_body(Request({"type": "http", "headers": raw_headers}, receive), LIMIT))


def refusal(chunks: Sequence[bytes], **headers: str) -> tuple[int, str]:
    with pytest.raises(HTTPException) as refused:
        read(chunks, **headers)
    return refused.value.status_code, refused.value.detail


def each_byte(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


def test_the_chunks_of_a_body_are_joined() -> None:
    assert read([b'{"a"', b":", b"1}"]) == b'{"a":1}'
    assert read([b"a" * LIMIT]) == b"a" * LIMIT
    assert read([]) == b""


def test_a_gzip_body_in_chunks_is_decompressed_with_all_its_members() -> None:
    compressed = gzip.compress(b'{"a"') + gzip.compress(b"") + gzip.compress(b":1}")

    assert read([compressed], content_encoding="gzip") == b'{"a":1}'
    assert read(each_byte(compressed), content_encoding=" X-GZIP ") == b'{"a":1}'
    assert read([gzip.compress(b"a" * LIMIT)], content_encoding="gzip") == b"a" * LIMIT


@pytest.mark.parametrize("missing", [1, 8, 9])
def test_a_truncated_gzip_body_is_refused(missing: int) -> None:
    truncated = gzip.compress(b"{}")[:-missing]

    assert refusal([truncated], content_encoding="gzip") == (400, "body: the gzip stream is truncated")
    assert refusal([gzip.compress(b"{}"), truncated], content_encoding="gzip")[0] == 400


@pytest.mark.parametrize(
    "chunks",
    [
        [gzip.compress(b"a" * (LIMIT + 1))],
        [gzip.compress(b"a" * LIMIT), gzip.compress(b"a")],
        [gzip.compress(b"")] * LIMIT,  # larger than the limit, though it decompresses to nothing
    ],
)
def test_a_gzip_body_is_limited_both_compressed_and_decompressed(chunks: list[bytes]) -> None:
    assert refusal(chunks, content_encoding="gzip") == (413, f"body: larger than {LIMIT} bytes, the limit")


@pytest.mark.parametrize(
    ("length", "status"), [("1001", 413), ("9" * 18, 413), ("9" * 5_000, 400), ("-1", 400), ("1e3", 400), ("²", 400)]
)
def test_a_content_length_is_a_number_within_the_limit(length: str, status: int) -> None:
    assert refusal([], content_length=length)[0] == status
