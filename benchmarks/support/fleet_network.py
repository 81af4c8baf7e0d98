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

_REPEATED_LATER: Final = 200
"""Bodies that are remembered, to be sent again when nobody expects them."""


@dataclass
class Faults:
    """How likely each is for one request; `cut`: no request gets through; `shuffled`: events come in another order."""

    cut: bool = False
    answer_lost: float = 0.0
    sent_twice: float = 0.0
    sent_again_later: float = 0.0
    shuffled: float = 0.0
    held_up: float = 0.0
    held_up_s: float = 0.5


@dataclass
class Network:
    """A proxy in a thread of its own; `acknowledged`: the digests of events whose sender knows that they are stored."""

    service: str
    seed: int
    faults: Faults = field(default_factory=Faults)
    acknowledged: set[str] = field(default_factory=set)
    happened: Counter[str] = field(default_factory=Counter)
    url: str = ""

    def __enter__(self) -> Self:
        """Begin to listen."""
        self._rng = random.Random(self.seed)  # noqa: S311  faults, no secrets
        self._kept: deque[tuple[str, dict[str, str], bytes]] = deque(maxlen=_REPEATED_LATER)
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
        if self._happens(faults.held_up, "held up"):
            await asyncio.sleep(self._rng.uniform(0, faults.held_up_s))
        if self._kept and self._happens(faults.sent_again_later, "sent again later"):
            await self._forwarded(*self._rng.choice(self._kept))
        headers = {name: request.headers[name] for name in ("Content-Type", "Prefer") if name in request.headers}
        sent = (request.path_qs, headers, body)
        self._kept.append(sent)
        if self._happens(faults.sent_twice, "sent twice"):
            await self._forwarded(*sent)
        if b"\n" in body and self._happens(faults.shuffled, "shuffled"):
            await self._forwarded(request.path_qs, headers, self._shuffled(body))
        answer = await self._forwarded(*sent)
        if answer is None:
            return self._broken(request, "service away")
        if self._happens(faults.answer_lost, "answer lost"):
            return self._broken(request, "answer lost")
        self._note(body, *answer)
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

    def _note(self, body: bytes, status: int, answer: bytes) -> None:
        if status not in (200, 201):
            self.happened[f"answered {status}"] += 1
            return
        events = body.split(b"\n")
        told = json.loads(answer) if answer else {}
        refused = {each["index"] for each in told.get("failed_events", ())}
        self.acknowledged.update(
            hashlib.sha256(event).hexdigest() for place, event in enumerate(events) if event and place not in refused
        )

    def _happens(self, likely: float, what: str) -> bool:
        happens = self._rng.random() < likely
        self.happened[what] += happens
        return happens

    def _broken(self, request: web.Request, what: str) -> web.Response:
        """Nothing comes back, as from a host that is gone."""
        self.happened[what] += what != "answer lost"
        if request.transport is not None:
            request.transport.abort()
        return web.Response(status=503)
