"""The ingest rate of the service in events per second, one POST per event, and the response times.

    .venv/bin/python benchmarks/ingest.py [--events 8000] [--postgresql postgresql://USER@HOST/DATABASE]
    .venv/bin/python benchmarks/ingest.py --evidence 8 [--events 2000]

Starts a service on an empty home and sends it events of about 10 kB with the load generator of the shared folder
($HEADWATER_SHARED, or ../shared beside the checkout), over 1 and 8 connections; then the same events signed: one by
one, at half of the rate measured for these, and in batches of 64 (where a response time is that of a whole batch). For
comparison: Marquez's rate, measured on such a machine, and the time to flush 10 kB to this disk. The store is SQLite,
or new schemas in the PostgreSQL database with this URL, which are dropped at the end.

With `--evidence N` it measures the cost of evidence instead: events as they are, and as many signed, chained and
answered with receipts, in N pairs on one service, in alternating order. Prints the median of the pairs' ratios; exit
status 1 if less than 0.8 of the rate remains.
"""

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

import aiohttp
import httpx
from support.served import fresh, generated, measured

from headwater.emit.chain import Chain
from headwater.signing.keyfile import load_or_create
from headwater.signing.sign import sign_event

MARQUEZ_EVENTS_PER_S: Final[Mapping[int, float]] = {1: 16, 8: 31, 32: 26}
"""Marquez, by connections: single POSTs of 10 kB events on an idle machine of this kind, the better of two runs."""


PER_BATCH = 64
EPOCH = "01a2011d-e5dc-7d03-8f97-97226895efc4"
LEAST_REMAINING = 0.8
"""The least share of the rate that must remain with evidence."""


class Figures(NamedTuple):
    """The figures of one load; a response time is that of one POST."""

    events_per_s: float
    p50_ms: float
    p99_ms: float


class Sent(NamedTuple):
    """One load and its figures."""

    what: str
    figures: Figures
    connections: int


def main() -> None:
    """Run the loads and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=8000, help="for each load (default 8000)")
    parser.add_argument("--evidence", type=int, default=0, metavar="PAIRS", help="measure the cost of evidence")
    parser.add_argument("--postgresql", metavar="URL", help="the database (default: SQLite)")
    options = parser.parse_args()
    if options.evidence:
        sys.exit(_evidence(options.events, options.evidence, options.postgresql))
    print(f"{'':30}{'events/s':>10}{'p50 ms':>9}{'p99 ms':>9}{'Marquez':>8}{'ratio':>8}")
    loads = unsigned_loads(options.events, options.postgresql), signed_loads(options.events, options.postgresql)
    for load in chain.from_iterable(loads):
        marquez, figures = MARQUEZ_EVENTS_PER_S[1 if load.connections == 1 else 8], load.figures
        waits = f"{figures.p50_ms:9.1f}{figures.p99_ms:9.1f}"
        print(f"{load.what:30}{figures.events_per_s:10.0f}{waits}{marquez:8.0f}{figures.events_per_s / marquez:7.0f}x")
    with tempfile.TemporaryDirectory() as folder:
        print(f"one flush of 10 kB to this disk: {_flush_ms(Path(folder)):.2f} ms")


def unsigned_loads(count: int, postgresql: str | None = None) -> Iterator[Sent]:
    """Single posts by the load generator itself."""
    with fresh(postgresql) as (service, _):
        for connections, start in ((1, 0), (8, count)):
            options = ["--events", str(count), "--start", str(start), "-c", str(connections), "--pregen"]
            found = measured("ingest", options, service.url)["ingest"]
            figures = Figures(found["events_per_s"], found["p50_ms"], found["p99_ms"])
            yield Sent(f"{connections} connection{'s' * (connections > 1)}", figures, connections)


def signed_loads(count: int, postgresql: str | None = None) -> Iterator[Sent]:
    """Signed events: single posts, the same at half of that rate, and batches."""
    with fresh(postgresql) as (service, home):
        events = _signed(2 * count, home)
        url = f"{service.url}/api/v1/lineage"
        single = asyncio.run(_posted(url, events[:count], 8))
        yield Sent("8 connections, signed", single, 8)
        half_rate = _posted(url, events[count:], 8, per_s=single.events_per_s / 2)
        yield Sent("8, signed, at half that rate", asyncio.run(half_rate), 8)
        _expect_verified(service.url, len(set(events)))
    with fresh(postgresql) as (service, home):
        events = _signed(count, home)
        bodies = [b"\n".join(events[at : at + PER_BATCH]) for at in range(0, len(events), PER_BATCH)]
        batches = asyncio.run(_posted(f"{service.url}/api/v1/lineage/batch", bodies, 4))
        per_event = batches._replace(events_per_s=batches.events_per_s * len(events) / len(bodies))
        yield Sent(f"4, signed, in batches of {PER_BATCH}", per_event, 4)
        _expect_verified(service.url, len(set(events)))


def _evidence(count: int, pairs: int, postgresql: str | None) -> int:
    """Print the share of the rate that remains with evidence; returns 0 if it is enough."""
    ratios = []
    with fresh(postgresql) as (service, home):
        load = EvidenceLoad(service.url, count, Chain(load_or_create(home), EPOCH, None, print))
        for name, per_body, connections in (("one by one", 1, 8), (f"in batches of {PER_BATCH}", PER_BATCH, 4)):
            rates = [load.pair(per_body, connections, evidence_first=turn % 2 == 0) for turn in range(pairs + 1)]
            rates = rates[1:]  # the first is a warm-up
            ratios.append(statistics.median(proven / bare for bare, proven in rates))
            bare, with_evidence = (statistics.median(side) for side in zip(*rates, strict=True))
            rate = f"{bare:.0f} events/s, {with_evidence:.0f} with evidence"
            print(f"{name}: {rate}; median ratio of {pairs} pairs {ratios[-1]:.3f}")
        _expect_verified(service.url, load.sent // 2)
    return 0 if min(ratios) >= LEAST_REMAINING else 1


@dataclass
class EvidenceLoad:
    """Sends events to a service, half of them with evidence."""

    url: str
    count: int
    chain: Chain
    sent: int = 0

    def pair(self, per_body: int, connections: int, *, evidence_first: bool) -> tuple[float, float]:
        """Events per second without evidence, and with."""
        rates = {
            kind: self._rate(per_body, connections, evidence=kind) for kind in (evidence_first, not evidence_first)
        }
        return rates[False], rates[True]

    def _rate(self, per_body: int, connections: int, *, evidence: bool) -> float:
        events = _events(self.count, self.sent)
        self.sent += len(events)
        if evidence:
            events = [self.chain.sign(event) for event in events]
        bodies = [b"\n".join(events[at : at + per_body]) for at in range(0, len(events), per_body)]
        url = f"{self.url}/api/v1/lineage{'/batch' if per_body > 1 else ''}"
        figures = asyncio.run(_posted(url, bodies, connections, receipts=evidence))
        return figures.events_per_s * len(events) / len(bodies)


def _signed(count: int, home: Path) -> list[bytes]:
    key = load_or_create(home)
    return [sign_event(event, key) for event in _events(count, 0)]


def _events(count: int, start: int) -> list[bytes]:
    return [event.rstrip() for event in generated(["--events", str(count), "--start", str(start)])]


async def _posted(
    url: str, bodies: Sequence[bytes], connections: int, *, receipts: bool = False, per_s: float = float("inf")
) -> Figures:
    """Post the bodies as fast as the connections allow, at an even rate of at most `per_s`."""
    waited: list[float] = []
    waiting = iter(enumerate(bodies))
    headers = {"content-type": "application/x-ndjson", **({"prefer": "receipt"} if receipts else {})}

    async def post() -> None:
        for number, body in waiting:
            await asyncio.sleep(start + number / per_s - time.perf_counter())
            begin = time.perf_counter()
            async with session.post(url, data=body, headers=headers) as answer:
                await answer.read()
                answer.raise_for_status()
            waited.append((time.perf_counter() - begin) * 1000)

    async with aiohttp.ClientSession() as session:
        start = time.perf_counter()
        await asyncio.gather(*(post() for _ in range(connections)))
        took = time.perf_counter() - start
    waited.sort()
    return Figures(len(waited) / took, waited[len(waited) // 2], waited[len(waited) * 99 // 100])


def _expect_verified(url: str, count: int) -> None:
    verified = httpx.get(f"{url}/api/v1/summary").json()["events"]["verified"]
    if verified != count:
        sys.exit(f"only {verified} of {count} events were verified")


def _flush_ms(folder: Path) -> float:
    """The median time to append 10 kB and flush it to disk."""
    took = []
    with (folder / "flush").open("wb", buffering=0) as file:
        for _ in range(200):
            begin = time.perf_counter()
            file.write(b"x" * 10_240)
            os.fdatasync(file.fileno())
            took.append((time.perf_counter() - begin) * 1000)
    return sorted(took)[100]


if __name__ == "__main__":
    main()
