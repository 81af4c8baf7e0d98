"""HEAD: GET without the body."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class AnswersHead:
    """ASGI middleware: answers HEAD by running GET and sending only the headers.

    Source: RFC 9110, 9.3.2: who answers GET answers HEAD.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope.get("method") != "HEAD":
            await self._app(scope, receive, send)
            return
        is_sent = False

        async def head_only(message: Message) -> None:
            nonlocal is_sent
            if message["type"] == "http.response.start":
                await send(message)
            elif not is_sent:
                is_sent = True
                # This completes the answer, so a stream sees that its client is gone.
                await send({"type": "http.response.body"})

        await self._app({**scope, "method": "GET"}, receive, head_only)
