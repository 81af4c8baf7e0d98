"""The network between the simulated fleet and its service, which loses, repeats, delays and cuts. See `fleet.py`."""

import asyncio
import hashlib
import json
import random
import threading
from collections import Counter, deque
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Self

import aiohttp
from aiohttp import web

_REMEMBERED: Final = 200
"""The number of last request bodies remembered, to be sent again later."""


@dataclass
class Faults:
    """The probability of each fault per request; `cut`: no request gets through; `shuffled`: a batch out of order."""

    cut: bool = False
    answer_lost: float = 0.0
    sent_twice: float = 0.0
    sent_again_later: float = 0.0
    shuffled: float = 0.0
    delayed: float = 0.0
    delayed_s: float = 0.5


@dataclass
class Network:
    """A proxy in its own thread; `acknowledged`: digests of the events acknowledged to their senders."""

    service: str
    seed: int
    faults: Faults = field(default_factory=Faults)
    acknowledged: set[str] = field(default_factory=set)
    happened: Counter[str] = field(default_factory=Counter)
    url: str = ""

    def __enter__(self) -> Self:
        """Start to listen."""
        self._rng = random.Random(self.seed)  # noqa: S311  faults, no secrets
        self._remembered: deque[tuple[str, dict[str, str], bytes]] = deque(maxlen=_REMEMBERED)
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="network", daemon=True)
        self._thread.start()
        self._ready.wait(30)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(30)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._run())

    async def _run(self) -> None:
        self._end = asyncio.Event()
        app = web.Application(client_max_size=64 << 20)
        app.router.add_post("/{path:.*}", self._pass)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        (address,) = runner.addresses
        self.url = f"http://127.0.0.1:{address[1]}"
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=120)) as self._session:
            self._ready.set()
            await self._end.wait()
        await runner.cleanup()

    async def _pass(self, request: web.Request) -> web.StreamResponse:
        body, faults = await request.read(), self.faults
        if faults.cut:
            return self._broken(request, "cut")
        if self._happens(faults.delayed, "delayed"):
            await asyncio.sleep(self._rng.uniform(0, faults.delayed_s))
        if self._remembered and self._happens(faults.sent_again_later, "sent again later"):
            await self._forwarded(*self._rng.choice(self._remembered))
        headers = {name: request.headers[name] for name in ("Content-Type", "Prefer") if name in request.headers}
        sent = (request.path_qs, headers, body)
        self._remembered.append(sent)
        if self._happens(faults.sent_twice, "sent twice"):
            await self._forwarded(*sent)
        if b"\n" in body and self._happens(faults.shuffled, "shuffled"):
            await self._forwarded(request.path_qs, headers, self._shuffled(body))
        answer = await self._forwarded(*sent)
        if answer is None:
            return self._broken(request, "service unavailable")
        if self._happens(faults.answer_lost, "answer lost"):
            return self._broken(request, "answer lost")
        self._record(body, *answer)
        return web.Response(status=answer[0], body=answer[1], content_type="application/json")

    async def _forwarded(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes] | None:
        try:
            async with self._session.post(self.service + path, data=body, headers=headers) as answer:
                return answer.status, await answer.read()
        except (aiohttp.ClientError, TimeoutError):
            return None

    def _shuffled(self, body: bytes) -> bytes:
        events = body.splitlines()
        self._rng.shuffle(events)
        return b"\n".join(events)

    def _record(self, body: bytes, status: int, answer: bytes) -> None:
        if status not in (200, 201):
            self.happened[f"answered {status}"] += 1
            return
        events = body.split(b"\n")
        answered = json.loads(answer) if answer else {}
        refused = {each["index"] for each in answered.get("failed_events", ())}
        self.acknowledged.update(
            hashlib.sha256(event).hexdigest() for index, event in enumerate(events) if event and index not in refused
        )

    def _happens(self, probability: float, what: str) -> bool:
        happens = self._rng.random() < probability
        self.happened[what] += happens
        return happens

    def _broken(self, request: web.Request, what: str) -> web.Response:
        """Abort the connection without an answer, as if the host had failed."""
        self.happened[what] += what != "answer lost"
        if request.transport is not None:
            request.transport.abort()
        return web.Response(status=503)
