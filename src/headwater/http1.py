"""HTTP/1.1, whatever else a client offers to speak instead."""

from typing import Final

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_CONNECT: Final = b"CONNECT"
_REFUSED: Final = "Invalid HTTP request received."
_MOST: Final = 65_536
"""Bytes of a request's address and headers, together."""
_TOO_LONG: Final = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class StaysWithHttp1(HttpToolsProtocol):
    """Passes over the header `Upgrade`, and reads no endless headers, which it would hold before anybody is asked for.

    Java's HTTP client offers HTTP/2 with each request until a server takes it up. To httptools such a request ends with
    its head, and its body is no HTTP any more. So the head is read once more, without the offer, and then what follows.

    Source: RFC 9110, 7.8: a server may ignore the offer.
    """

    _fields = 0
    """Bytes of the address and of the headers of the request that is read, its trailers too."""
    _unended = 0
    """Bytes of the line that is read, but for those of what came with its beginning."""
    _is_further = False
    """Whether something of a request has ended since more of it came."""

    def data_received(self, data: bytes) -> None:
        """Read what came: a part of a request, or several requests."""
        self._unset_keepalive_if_required()
        unread = data
        self._is_further = False
        while unread:
            try:
                self.parser.feed_data(unread)
                break
            except HttpParserUpgrade as offer:
                unread = self._head_without_offer() + unread[offer.args[0] :]
                self.parser = HttpRequestParser(self)
            except HttpParserError:
                self._refuse()
                return
        self._unended = 0 if self._is_further else self._unended + len(data)
        if self._unended > _MOST:
            self._refuse()

    def _refuse(self) -> None:
        if max(self._fields, self._unended) > _MOST:
            self.logger.warning("A request's headers are longer than %d bytes: the connection is closed.", _MOST)
            self.transport.write(_TOO_LONG)
            self.transport.close()
        else:
            self.logger.warning(_REFUSED)
            self.send_400_response(_REFUSED)

    def _count(self, size: int) -> None:
        self._is_further = True
        self._fields += size
        if self._fields > _MOST:
            raise HttpParserError

    def on_message_begin(self) -> None:
        """Begin with a request's address."""
        self._fields, self._is_further = 0, True
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Take a part of the address."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, or what stands behind a body as if it were one."""
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        self._is_further = True
        super().on_body(body)

    def on_headers_complete(self) -> None:
        """Begin with a request."""
        if self.parser.get_method() == _CONNECT:
            raise HttpParserError  # it asks for a tunnel, and would do so without the header, too
        if not self.parser.should_upgrade():
            super().on_headers_complete()

    def on_message_complete(self) -> None:
        """End the request's body."""
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def _head_without_offer(self) -> bytes:
        version = self.parser.get_http_version().encode()
        lines = [self.parser.get_method() + b" " + self.url + b" HTTP/" + version]
        lines += [name + b": " + value for name, value in self.headers if name != b"upgrade"]
        return b"\r\n".join([*lines, b"", b""])
