"""HTTP/1.1, whatever else a client offers to speak instead."""

from typing import Final

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_CONNECT: Final = b"CONNECT"
_REFUSED: Final = "Invalid HTTP request received."


class StaysWithHttp1(HttpToolsProtocol):
    """Passes over the header `Upgrade`.

    Java's HTTP client offers HTTP/2 with each request until a server takes it up. To httptools such a request ends with
    its head, and its body is no HTTP any more. So the head is read once more, without the offer, and then what follows.

    Source: RFC 9110, 7.8: a server may ignore the offer.
    """

    def data_received(self, data: bytes) -> None:
        """Read what came: a part of a request, or several requests."""
        self._unset_keepalive_if_required()
        unread = data
        while unread:
            try:
                self.parser.feed_data(unread)
                return
            except HttpParserUpgrade as offer:
                unread = self._head_without_offer() + unread[offer.args[0] :]
                self.parser = HttpRequestParser(self)
            except HttpParserError:
                self.logger.warning(_REFUSED)
                self.send_400_response(_REFUSED)
                return

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
