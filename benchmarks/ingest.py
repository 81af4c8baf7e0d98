"""How many events a second the service takes, one POST each, and how long one waits.

    .venv/bin/python benchmarks/ingest.py [--events 8000]
    .venv/bin/python benchmarks/ingest.py --evidence 8 [--events 2000]

Starts a service on an empty home, sends it events of about 10 kB with the load generator of the shared folder
($HEADWATER_SHARED, or ../shared beside the checkout), over 1 and 8 connections, then the same events signed, one by
one, at half of the rate that this gave, and in batches of 64 (there a wait is that of a whole batch). Printed beside
it: what the peer was measured to take on such a machine, and the bare cost of the disk in this very run.

With `--evidence N` it says what evidence costs instead: so many events as they are, and as many signed, chained and
answered with receipts, in N pairs on one service, who begins changing from pair to pair; the median of the pairs'
ratios. Exit status 1 where less than 0.8 of the rate is left.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import aiohttp

from headwater.emit.chain import Chain
from headwater.signing.keyfile import load_or_create
from headwater.signing.sign import sign_event

PEER_EVENTS_PER_S = {1: 13.0, 8: 31.0}
"""Marquez, single POSTs of 10 kB events at 1 and 8 connections, on a quiet machine of this kind."""


PER_BATCH = 64
EPOCH = "01a2011d-e5dc-7d03-8f97-97226895efc4"
LEAST_LEFT = 0.8
"""Of the rate without evidence."""


class Figures(NamedTuple):
    """Of one load."""

    events_per_s: float
    p50_ms: float
    p99_ms: float


def main() -> None:
    """Run the loads and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=8000, help="for each load (default 8000)")
    parser.add_argument("--evidence", type=int, default=0, metavar="PAIRS", help="say what evidence costs")
    wanted = parser.parse_args()
    count, olload = wanted.events, _load_generator()
    if wanted.evidence:
        sys.exit(_evidence(olload, count, wanted.evidence))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        print(f"{'':26}{'events/s':>10}{'p50 ms':>9}{'p99 ms':>9}{'peer':>8}{'ratio':>8}")
        with _service(home / "unsigned") as url:
            for connections, start in ((1, 0), (8, count)):
                figures = _generated(olload, url, connections, count, start)
                _print(f"{connections} connections", figures, PEER_EVENTS_PER_S[connections])
        with _service(home / "signed") as url:
            events = _signed(olload, 2 * count, home / "signed")
            single = asyncio.run(_posted(f"{url}/api/v1/lineage", events[:count], 8))
            _print("8 connections, signed", single, PEER_EVENTS_PER_S[8])
            calm = _posted(f"{url}/api/v1/lineage", events[count:], 8, per_s=single.events_per_s / 2)
            _print("the same at half the rate", asyncio.run(calm), PEER_EVENTS_PER_S[8])
            _expect_verified(url, len(set(events)))
        with _service(home / "batches") as url:
            events = _signed(olload, count, home / "batches")
            bodies = [b"\n".join(events[at : at + PER_BATCH]) for at in range(0, len(events), PER_BATCH)]
            batches = asyncio.run(_posted(f"{url}/api/v1/lineage/batch", bodies, 4))
            per_event = batches._replace(events_per_s=batches.events_per_s * len(events) / len(bodies))
            _print(f"4, batches of {PER_BATCH}, signed", per_event, PEER_EVENTS_PER_S[8])
            _expect_verified(url, len(set(events)))
        print(f"one flush of 10 kB to this disk: {_flush_ms(home):.2f} ms")


def _evidence(olload: Path, count: int, pairs: int) -> int:
    """Print what is left of the rate with evidence; 0 if it is enough."""
    ratios = []
    with tempfile.TemporaryDirectory() as folder, _service(Path(folder)) as url:
        told = Told(olload, url, count, Chain(load_or_create(Path(folder)), EPOCH, None, print))
        for name, per_body, connections in (("one by one", 1, 8), (f"in batches of {PER_BATCH}", PER_BATCH, 4)):
            rates = [told.pair(per_body, connections, evidence_first=turn % 2 == 0) for turn in range(pairs + 1)]
            rates = rates[1:]  # the first warms up
            ratios.append(statistics.median(told / bare for bare, told in rates))
            bare, with_evidence = (statistics.median(side) for side in zip(*rates, strict=True))
            rate = f"{bare:.0f} events/s, {with_evidence:.0f} with evidence"
            print(f"{name}: {rate}; median ratio of {pairs} pairs {ratios[-1]:.3f}")
        _expect_verified(url, told.sent // 2)
    return 0 if min(ratios) >= LEAST_LEFT else 1


@dataclass
class Told:
    """A service that is told events, half of them with evidence."""

    olload: Path
    url: str
    count: int
    chain: Chain
    sent: int = 0

    def pair(self, per_body: int, connections: int, *, evidence_first: bool) -> tuple[float, float]:
        """Events a second without evidence, and with."""
        rates = {
            kind: self._rate(per_body, connections, evidence=kind) for kind in (evidence_first, not evidence_first)
        }
        return rates[False], rates[True]

    def _rate(self, per_body: int, connections: int, *, evidence: bool) -> float:
        events = _events(self.olload, self.count, self.sent)
        self.sent += len(events)
        if evidence:
            events = [self.chain.sign(event) for event in events]
        bodies = [b"\n".join(events[at : at + per_body]) for at in range(0, len(events), per_body)]
        url = f"{self.url}/api/v1/lineage{'/batch' if per_body > 1 else ''}"
        figures = asyncio.run(_posted(url, bodies, connections, receipts=evidence))
        return figures.events_per_s * len(events) / len(bodies)


def _print(name: str, figures: Figures, peer: float) -> None:
    ratio = figures.events_per_s / peer
    print(f"{name:26}{figures.events_per_s:10.0f}{figures.p50_ms:9.1f}{figures.p99_ms:9.1f}{peer:8.0f}{ratio:7.0f}x")


def _load_generator() -> Path:
    shared = Path(os.environ.get("HEADWATER_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    path = shared / "bench" / "olload.py"
    if not path.exists():
        sys.exit(f"no load generator at {path}: set HEADWATER_SHARED to the folder that has bench/olload.py")
    return path


@contextmanager
def _service(home: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "headwater.cli.main", "serve", "--port", "0"]
    environment = {**os.environ, "HEADWATER_HOME": str(home)}
    service = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        yield (service.stdout.readline() if service.stdout else "").removeprefix("listening on ").strip()
    finally:
        service.terminate()
        service.wait()


def _generated(olload: Path, url: str, connections: int, count: int, start: int) -> Figures:
    """The figures of the load generator itself; every event must have been taken."""
    options = ["--events", str(count), "--start", str(start), "-c", str(connections), "--pregen", "--url", url]
    told = subprocess.run([sys.executable, str(olload), "ingest", *options], capture_output=True, text=True, check=True)
    found = json.loads(told.stdout.splitlines()[-1])
    if found["errors"]:
        sys.exit(f"the service refused events: {found['errors']} {found['first_error']}")
    return Figures(found["events_per_s"], found["p50_ms"], found["p99_ms"])


def _signed(olload: Path, count: int, home: Path) -> list[bytes]:
    key = load_or_create(home)
    return [sign_event(event, key) for event in _events(olload, count, 0)]


def _events(olload: Path, count: int, start: int) -> list[bytes]:
    generate = [sys.executable, str(olload), "gen", "--events", str(count), "--start", str(start)]
    return subprocess.run(generate, capture_output=True, check=True).stdout.splitlines()


async def _posted(
    url: str, bodies: Sequence[bytes], connections: int, *, receipts: bool = False, per_s: float = float("inf")
) -> Figures:
    """Post the bodies as fast as the connections allow, at most so many a second, evenly."""
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
    with urllib.request.urlopen(f"{url}/api/v1/summary") as answer:  # noqa: S310
        verified = json.load(answer)["events"]["verified"]
    if verified != count:
        sys.exit(f"only {verified} of {count} events were verified")


def _flush_ms(folder: Path) -> float:
    """The median time of appending 10 kB and waiting for the disk."""
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
