"""Ten minutes of mixed reads and writes of every kind: response times and memory over time.

    .venv/bin/python benchmarks/soak.py [--minutes 10] [--events-per-s 100] [--reads-per-s 10]

Starts a service on an empty home. Events of about 10 kB from the load generator of the shared folder
($HEADWATER_SHARED, or ../shared beside the checkout) are posted one by one and in batches, some late, some twice, some
invalid; meanwhile all kinds of reads are made, of the current state and of past times, and a listener follows the
stream and reconnects after breaks. Prints a line per minute. Exits with 1 if the service failed any request (5xx, or no
answer), refused an event or took an invalid one, if response times grew, or if memory grew faster than the log.
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, NoReturn
from urllib.parse import quote, urlencode

import aiohttp
from support.served import Served, generated, served

NAMESPACE: Final = "iceberg://lake"
DATASETS: Final = 1_000
LOAD: Final = ["--datasets", str(DATASETS), "--jobs", str(DATASETS), "--layers", "20", "--pipelines", "8"]
MIXED: Final = ["--shuffle", "0.2", "--dup", "0.1", "--running", "1"]
"""Some runs report their end first, some report it twice, and all send RUNNING events."""

KEPT_MB: Final = 64
"""The memory limit of cached past states: low, so that it is soon reached, as it is by hours of an ordinary load."""
MIN_MINUTES: Final = 4
PER_BATCH: Final = 32
JSON: Final = "application/json"
NDJSON: Final = "application/x-ndjson"
BAD: Final = (b"", b"{", b'{"eventType":"START"}', b"\xff\xfe", b'{"a":1,"a":2}', b"[1, 2, 3]")
LATENCY_GROWTH: Final = 2.0
"""The highest growth of p99 from the first third to the last, beyond `SLACK_MS`."""
SLACK_MS: Final = 25.0
MEMORY_GROWTH: Final = 1.5
"""The highest growth of memory per event from the first third to the last, beyond `SLACK_MB`."""
SLACK_MB: Final = 30.0


class Minute(NamedTuple):
    """The figures of one minute."""

    answers: Counter[int]
    writes_ms: list[float]
    reads_ms: list[float]
    events: int
    """The number in the log at its end."""
    rss_mb: float


@dataclass(slots=True)
class Load:
    """One service under load, and the figures since the last minute."""

    url: str
    session: aiohttp.ClientSession
    rng: random.Random
    events: Iterator[bytes]
    answers: Counter[int] = field(default_factory=Counter)
    """By status; 0: no answer."""
    writes_ms: list[float] = field(default_factory=list)
    reads_ms: list[float] = field(default_factory=list)
    by_kind: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Response times by kind of read, in milliseconds."""
    faults: list[str] = field(default_factory=list)
    heard: int = 0
    past: str | None = None
    node: str = f"dataset:{NAMESPACE}:wh.db00.tbl_000000"

    async def post(self, event: bytes, *, is_valid: bool = True) -> None:
        """Post an event, which must be stored, or refused if it is invalid."""
        status, content = await self._write("lineage", event, JSON)
        if (status < 300) != is_valid:
            self.faults.append(f"POST lineage: {status} {content[:200]!r}")

    async def post_batch(self, events: Sequence[bytes]) -> None:
        """Post events together; all must be stored."""
        status, content = await self._write("lineage/batch", b"".join(events), NDJSON)
        summary = json.loads(content)["summary"] if status == 200 else None
        if summary is None or summary["failed"]:
            self.faults.append(f"POST lineage/batch: {status} {content[:200]!r}")

    async def _write(self, path: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        status, content, took_ms = await self._request("POST", path, body, {"content-type": content_type})
        self.writes_ms.append(took_ms)
        return status, content

    async def read(self, path: str) -> bytes:
        """Get a path; returns the body."""
        _, content, took_ms = await self._request("GET", path)
        self.reads_ms.append(took_ms)
        kind = "/".join(part for part in path.partition("?")[0].split("/") if "." not in part and "%" not in part)
        self.by_kind[f"{kind}{' asOf' * ('asOf' in path)}"].append(took_ms)
        return content

    async def _request(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, bytes, float]:
        begin = time.perf_counter()
        status, content = 0, b""
        try:
            async with self.session.request(method, f"{self.url}/{path}", data=body, headers=headers) as answer:
                status, content = answer.status, await answer.read()
        except (aiohttp.ClientError, TimeoutError) as fault:
            content = repr(fault).encode()
        took_ms = (time.perf_counter() - begin) * 1_000
        self.answers[status] += 1
        if status == 0 or status >= 500:
            self.faults.append(f"{method} {path}: {status} {content[:200]!r}")
        return status, content, took_ms


def main() -> None:
    """Run the load, and check the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=int, default=10, help="how long (default 10)")
    parser.add_argument("--events-per-s", type=float, default=100, help="approximate rate of events (default 100)")
    parser.add_argument("--reads-per-s", type=float, default=10, help="approximate rate of reads (default 10)")
    options = parser.parse_args()
    if options.minutes < MIN_MINUTES:
        parser.error(f"--minutes: at least {MIN_MINUTES}, to compare the first third with the last")
    with tempfile.TemporaryDirectory() as home, served(Path(home), "--kept-mb", str(KEPT_MB)) as service:
        found, faults = asyncio.run(run_load(service, options.minutes, options.events_per_s, options.reads_per_s))
    verdict = failed_checks(found, faults)
    print("\n".join(verdict) or "passed: no failed requests, response times and memory within their limits")
    sys.exit(1 if verdict else 0)


async def run_load(
    service: Served, minutes: int, events_per_s: float, reads_per_s: float
) -> tuple[list[Minute], list[str]]:
    """Load the service, minute by minute."""
    options = [*LOAD, *MIXED, "--events", str(round((minutes + 1) * 60 * events_per_s * 2))]
    timeout = aiohttp.ClientTimeout(total=120)
    with closing(generated(options)) as events:
        async with aiohttp.ClientSession(timeout=timeout) as session:
            load = Load(f"{service.url}/api/v1", session, random.Random(7), events)  # noqa: S311  the same load each time
            tasks = [asyncio.create_task(each) for each in _tasks(load, events_per_s, reads_per_s)]
            print("minute  answers  5xx  write p50     p99  read p50     p99   events     MB   (ms; 5xx: or no answer)")
            found = []
            for number in range(1, minutes + 1):
                await asyncio.sleep(60)
                found.append(await _minute(load, service))
                _print(number, found[-1])
            _print_kinds(load.by_kind)
            faults = list(load.faults)  # requests cancelled at the end are not faults
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
    failed = [
        f"a task of this benchmark failed: {end!r}" for end in ended if not isinstance(end, asyncio.CancelledError)
    ]
    silent = [] if load.heard else ["the stream sent no events"]
    return found, [*faults, *failed, *silent]


def _tasks(load: Load, events_per_s: float, reads_per_s: float) -> Iterator[Coroutine[None, None, NoReturn]]:
    singles, batches = events_per_s / 2, events_per_s / 2 / PER_BATCH
    yield _repeat(singles, lambda: _single(load))
    yield _repeat(batches, lambda: _batch(load))
    yield _repeat(2, lambda: load.post(load.rng.choice(BAD), is_valid=False))
    yield _repeat(reads_per_s, lambda: _read_any(load))
    yield _repeat(1 / 15, lambda: _read_past(load))
    yield _listen(load)


async def _repeat(per_s: float, act: Callable[[], Awaitable[object]]) -> NoReturn:
    """Repeat an action at this rate, without waiting for the previous one; at most 16 run at once."""
    slots = asyncio.Semaphore(16)
    running: set[asyncio.Task[None]] = set()

    async def acted() -> None:
        try:
            await act()
        finally:
            slots.release()

    while True:
        await slots.acquire()
        task = asyncio.create_task(acted())
        running.add(task)
        task.add_done_callback(running.discard)
        await asyncio.sleep(1 / per_s)


async def _single(load: Load) -> None:
    await load.post(next(load.events))


async def _batch(load: Load) -> None:
    await load.post_batch([*islice(load.events, PER_BATCH)])


async def _read_any(load: Load) -> None:
    number = load.rng.randrange(DATASETS)
    load.node = f"dataset:{NAMESPACE}:wh.db{number % 17:02d}.tbl_{number:06d}"
    await load.read(load.rng.choice([*_reads_of(load)]))


async def _read_past(load: Load) -> None:
    """Read as of a past time: one used before, or, one in four times, a new one."""
    if load.past is None or load.rng.random() < 0.25:
        answer = await load.read("events/lineage?limit=1&offset=" + str(load.rng.randrange(1_000)))
        events = json.loads(answer).get("events", ()) if answer else ()
        load.past = events[0]["eventTime"] if events else load.past
    if load.past is not None:
        for path in (f"lineage?{urlencode({'nodeId': load.node})}", "summary", "jobs?limit=25"):
            await load.read(f"{path}{'&' if '?' in path else '?'}{urlencode({'asOf': load.past})}")


def _reads_of(load: Load) -> Iterator[str]:
    node, name = urlencode({"nodeId": load.node}), quote(load.node.removeprefix(f"dataset:{NAMESPACE}:"), safe="")
    dataset = f"namespaces/{quote(NAMESPACE, safe='')}/datasets/{name}"
    yield from (f"lineage?{node}", f"lineage?{node}&depth=2", f"column-lineage?{node}&withDownstream=true")
    yield from (
        f"impact?{node}",
        f"impact?{node}&change=drop",
        f"root-cause?{node}",
        f"flow?{node}",
        f"identity?{node}",
    )
    yield from (f"quality?{node}", dataset, f"{dataset}/versions", "summary", "namespaces", "jobs?limit=25", "tags")
    yield from ("sources", "coverage?limit=10", "quarantine", "silent-streams", "events/lineage?limit=20", "edits")
    yield from (f"search?q={name[-7:-2]}", "stats/jobs?period=DAY", "stats/lineage-events?period=DAY", "none")


async def _listen(load: Load) -> NoReturn:
    """Follow the stream, disconnect every half minute, and resume after the last event."""
    last = ""
    while True:
        headers = {"Last-Event-ID": last} if last else {}
        try:
            async with asyncio.timeout(30), load.session.get(f"{load.url}/stream", headers=headers) as answer:
                async for line in answer.content:
                    if line.startswith(b"id:"):
                        last = line.removeprefix(b"id:").strip().decode()
                        load.heard += 1
        except (TimeoutError, aiohttp.ClientError):
            continue


async def _minute(load: Load, service: Served) -> Minute:
    async with load.session.get(f"{load.url}/summary") as answer:
        events = (await answer.json())["events"]["stored"]
    minute = Minute(load.answers, sorted(load.writes_ms), sorted(load.reads_ms), events, service.rss_mb)
    load.answers, load.writes_ms, load.reads_ms = Counter(), [], []
    return minute


def _print(number: int, minute: Minute) -> None:
    faults = sum(count for status, count in minute.answers.items() if status == 0 or status >= 500)
    waits = "".join(
        f"{_percentile(waited, 50):{first}.1f}{_percentile(waited, 99):8.1f}"
        for waited, first in ((minute.writes_ms, 11), (minute.reads_ms, 10))
    )
    print(
        f"{number:6}{minute.answers.total():9}{faults:5}{waits}{minute.events:9}{minute.rss_mb:7.0f}",
        flush=True,
    )


def _print_kinds(by_kind: Mapping[str, list[float]]) -> None:
    """Print the response times by kind of read, those with the longest total first."""
    print(f"\n{'read':34}{'times':>7}{'p50 ms':>9}{'p99 ms':>9}")
    for kind, waited in sorted(by_kind.items(), key=lambda each: -sum(each[1])):
        ordered = sorted(waited)
        print(f"{kind:34}{len(ordered):7}{_percentile(ordered, 50):9.1f}{_percentile(ordered, 99):9.1f}")
    print(flush=True)


def _percentile(waited: list[float], part: int) -> float:
    return waited[min(len(waited) - 1, len(waited) * part // 100)] if waited else 0.0


def failed_checks(found: list[Minute], faults: list[str]) -> list[str]:
    """The failed checks; empty if all passed. The first minute is a warm-up and is not counted."""
    wrong = [f"{len(faults)} faults, the first: {faults[0]}"] if faults else []
    steady = found[1:]
    third = len(steady) // 3
    first, last = steady[:third], steady[-third:]
    for name in ("writes", "reads"):
        early, late = (
            sum(_percentile(getattr(each, f"{name}_ms"), 99) for each in part) / third for part in (first, last)
        )
        if late > early * LATENCY_GROWTH + SLACK_MS:
            wrong.append(f"p99 of {name} grew from {early:.0f} ms in the first third to {late:.0f} ms in the last")
    early_mb, early_events = found[third].rss_mb - found[0].rss_mb, found[third].events - found[0].events
    late_mb, late_events = found[-1].rss_mb - found[-1 - third].rss_mb, found[-1].events - found[-1 - third].events
    allowed_mb = max(early_mb, 0) / max(early_events, 1) * late_events * MEMORY_GROWTH + SLACK_MB
    if late_mb > allowed_mb:
        wrong.append(
            f"memory grew by {late_mb:.0f} MB in the last third; by the first third, {allowed_mb:.0f} MB are allowed"
        )
    return wrong


if __name__ == "__main__":
    main()
