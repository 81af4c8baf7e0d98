"""Reads the body of a request up to a limit; a larger one is refused without being buffered."""

import zlib
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request

DEFAULT_LIMIT: Final = 16 * 1024 * 1024
_MEGABYTE: Final = 1024 * 1024
_GZIP: Final = zlib.MAX_WBITS | 16  # expects a gzip header


async def read_body(request: Request, limit: int) -> bytes:
    """Read the whole body, decompressed if it is gzip.

    Raises:
        HTTPException: 413 for more than `limit` bytes, packed or unpacked; 415 for a packing that is not known; 400 for
            a length or a gzip stream that cannot be read.
    """
    length = request.headers.get("content-length")
    if length is not None and _number(length) > limit:
        raise _too_large(limit)
    packing = request.headers.get("content-encoding", "identity").strip().lower()
    match packing:
        case "identity" | "":
            return await _plain(request.stream(), limit)
        case "gzip" | "x-gzip":
            return await _unpacked(request.stream(), limit)
    raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"content-encoding: {packing[:40]!r} is unknown; use gzip")


def _number(length: str) -> int:
    if not (length.isascii() and length.isdigit()) or len(length) > 18:
        raise HTTPException(HTTPStatus.BAD_REQUEST, "content-length: expected a number")
    return int(length)


async def _plain(chunks: AsyncIterator[bytes], limit: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for chunk in chunks:
        size += len(chunk)
        if size > limit:
            raise _too_large(limit)
        parts.append(chunk)
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def _unpacked(chunks: AsyncIterator[bytes], limit: int) -> bytes:
    """The content of every member of a gzip stream, concatenated.

    Source: RFC 1952, 2.2: a stream may have several members, as files have that were joined.
    """
    unpacker = zlib.decompressobj(_GZIP)
    body = bytearray()
    size = 0
    async for chunk in chunks:
        size += len(chunk)
        rest = chunk
        while rest:
            if unpacker.eof:
                unpacker = zlib.decompressobj(_GZIP)
            try:
                body += unpacker.decompress(rest, limit + 1 - len(body))
            except zlib.error:
                raise HTTPException(HTTPStatus.BAD_REQUEST, "body: not a gzip stream") from None
            if max(len(body), size) > limit:
                raise _too_large(limit)
            rest = unpacker.unused_data
    if not unpacker.eof:
        raise HTTPException(HTTPStatus.BAD_REQUEST, "body: the gzip stream is truncated")
    return bytes(body)


def _too_large(limit: int) -> HTTPException:
    size = f"{limit // _MEGABYTE} MB" if limit % _MEGABYTE == 0 else f"{limit} bytes"
    return HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"body: larger than {size}, the limit")
