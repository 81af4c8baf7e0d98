"""HTTP/1.1 without protocol upgrades, and with a limit on the size of a request's head."""

from typing import Final

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_CONNECT: Final = b"CONNECT"
_REFUSED: Final = "Invalid HTTP request received."
_HEAD_MAX_BYTES: Final = 65_536
"""The limit on a request's target and headers together, in bytes."""
_TOO_LONG: Final = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class Http1OnlyProtocol(HttpToolsProtocol):
    """Ignores the `Upgrade` header, and refuses oversized headers, which would fill memory before authentication.

    Java's HTTP client offers an upgrade to HTTP/2 with each request until a server accepts it. httptools ends such a
    request after its headers and no longer parses its body as HTTP. So the headers are parsed again without `Upgrade`,
    and then the body.

    Source: RFC 9110, 7.8: a server may ignore the header.
    """

    _head_bytes = 0
    """Bytes so far of the current request's target, headers and trailers."""
    _unfinished_line = 0
    """Bytes of the unfinished line, not counting the chunk in which it began."""
    _made_progress = False
    """Whether the parser completed an element (a line, a part of the body) within the current chunk."""

    def data_received(self, data: bytes) -> None:
        """Parse a chunk: a part of a request, or several requests."""
        self._unset_keepalive_if_required()
        unread = data
        self._made_progress = False
        while unread:
            try:
                self.parser.feed_data(unread)
                break
            except HttpParserUpgrade as offer:
                unread = self._head_without_upgrade() + unread[offer.args[0] :]
                self.parser = HttpRequestParser(self)
            except HttpParserError:
                self._refuse()
                return
        self._unfinished_line = 0 if self._made_progress else self._unfinished_line + len(data)
        if self._unfinished_line > _HEAD_MAX_BYTES:
            self._refuse()

    def _refuse(self) -> None:
        if max(self._head_bytes, self._unfinished_line) > _HEAD_MAX_BYTES:
            self.logger.warning(
                "A request's headers are longer than %d bytes: the connection is closed.", _HEAD_MAX_BYTES
            )
            self.transport.write(_TOO_LONG)
            self.transport.close()
        else:
            self.logger.warning(_REFUSED)
            self.send_400_response(_REFUSED)

    def _count(self, size: int) -> None:
        self._made_progress = True
        self._head_bytes += size
        if self._head_bytes > _HEAD_MAX_BYTES:
            raise HttpParserError

    def on_message_begin(self) -> None:
        """Start counting for a new request."""
        self._head_bytes, self._made_progress = 0, True
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Count and pass on a part of the request target."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count and pass on a header or a trailer."""
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """Pass on a part of the body."""
        self._made_progress = True
        super().on_body(body)

    def on_headers_complete(self) -> None:
        """Start the request, unless it is a CONNECT."""
        if self.parser.get_method() == _CONNECT:
            raise HttpParserError  # it asks for a tunnel, with or without `Upgrade`
        if not self.parser.should_upgrade():
            super().on_headers_complete()

    def on_message_complete(self) -> None:
        """End the request's body."""
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def _head_without_upgrade(self) -> bytes:
        version = self.parser.get_http_version().encode()
        lines = [self.parser.get_method() + b" " + self.url + b" HTTP/" + version]
        lines += [name + b": " + value for name, value in self.headers if name != b"upgrade"]
        return b"\r\n".join([*lines, b"", b""])
