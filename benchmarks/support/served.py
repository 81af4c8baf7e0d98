"""Shared by benchmarks: a service on a home, the load generator, and response times."""

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx
import psycopg

Figures = Mapping[str, Any]
"""The load generator's figures: `p50_ms`, `p99_ms`, `events_per_s` …"""


_IDLE_S: Final = 0.1
"""CPU seconds in two seconds: an idle service uses less."""


class Served(NamedTuple):
    """A running service."""

    url: str
    pid: int
    started_s: float
    """Seconds from its start until it listened."""

    def settle(self, timeout_s: float) -> float:
        """Wait until its background work is done, up to a limit; returns the seconds that took."""
        begin = time.perf_counter()
        used_s, last_s = self._cpu_s, 1.0
        while last_s > _IDLE_S and time.perf_counter() - begin < timeout_s:
            time.sleep(2)
            used_s, last_s = self._cpu_s, self._cpu_s - used_s
        return time.perf_counter() - begin

    @property
    def _cpu_s(self) -> float:
        return sum(_cpu_s(pid) for pid in self._pids)

    @property
    def rss_mb(self) -> float:
        """Its memory, with that of its child processes."""
        return sum(_rss_mb(pid) for pid in self._pids)

    @property
    def _pids(self) -> list[int]:
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        return [self.pid, *map(int, children.split())]


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _rss_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1_024 for line in lines if line.startswith("VmRSS:"))


@contextmanager
def served(home: Path, *options: str, database: str | None = None) -> Iterator[Served]:
    """A service on this home for the duration of the block; on SQLite, or on the database with this URL."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "headwater.cli.main", "serve", "--port", "0", *options]
    environment = {**os.environ, "HEADWATER_HOME": str(home), "HEADWATER_DATABASE_URL": database or ""}
    service = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        line = service.stdout.readline() if service.stdout else ""
        yield Served(line.removeprefix("listening on ").strip(), service.pid, time.perf_counter() - begin)
    finally:
        service.terminate()
        service.wait()


class Fresh(NamedTuple):
    """A service with an empty store, and its home."""

    service: Served
    home: Path


@contextmanager
def fresh(postgresql: str | None) -> Iterator[Fresh]:
    """A service on an empty home: on SQLite, or in a new schema of the database with this URL."""
    with (
        tempfile.TemporaryDirectory() as folder,
        _schema(postgresql) as database,
        served(Path(folder), database=database) as service,
    ):
        yield Fresh(service, Path(folder))


@contextmanager
def _schema(postgresql: str | None) -> Iterator[str | None]:
    """The URL of a new schema, which is dropped at the end."""
    if postgresql is None:
        yield None
        return
    name = f"benchmark_{secrets.token_hex(6)}"
    with psycopg.connect(postgresql, autocommit=True) as db:
        db.execute(f"CREATE SCHEMA {name}")
        try:
            yield f"{postgresql}{'&' if '?' in postgresql else '?'}options=-csearch_path%3D{name}"
        finally:
            db.execute(f"DROP SCHEMA {name} CASCADE")


def free_port() -> int:
    """An unused port of this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def load_generator() -> Path:
    """The load generator of the shared folder: $HEADWATER_SHARED, or ../shared beside the checkout."""
    shared = Path(os.environ.get("HEADWATER_SHARED") or Path(__file__).resolve().parents[3] / "shared")
    path = shared / "bench" / "olload.py"
    if not path.exists():
        sys.exit(f"no load generator at {path}: set HEADWATER_SHARED to the folder that contains bench/olload.py")
    return path


def generated(options: Sequence[str]) -> Generator[bytes]:
    """The events that the load generator creates with these options."""
    command = [sys.executable, str(load_generator()), "gen", *options]
    generator = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        if generator.stdout is not None:
            yield from iter(generator.stdout.readline, b"")  # not the pipe itself, which would be closed first
    finally:
        generator.terminate()  # the caller may not read all events
        generator.wait()


def measured(mode: str, options: Sequence[str], url: str) -> Figures:
    """The load generator's own figures of `ingest` or `read`; exits if any request failed."""
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_text("[]")
        command = [sys.executable, str(load_generator()), mode, *options, "--json", file.name, "--url", url]
        subprocess.run(command, capture_output=True, text=True, check=True)
        (found,) = json.loads(Path(file.name).read_text())
    parts = found["endpoints"] if mode == "read" else {mode: found}
    failed = {name: part["errors"] for name, part in parts.items() if part["errors"]}
    if failed:
        sys.exit(f"requests failed: {failed}")
    return parts


def latency(client: httpx.Client, urls: Iterable[httpx.URL | str]) -> dict[str, float]:
    """Response times of sequential requests, in milliseconds; every one must succeed."""
    took: list[float] = []
    for url in urls:
        begin = time.perf_counter()
        client.get(url).raise_for_status()
        took.append((time.perf_counter() - begin) * 1_000)
    took.sort()
    parts = {f"p{part}_ms": took[min(len(took) - 1, len(took) * part // 100)] for part in (50, 95, 99)}
    return {**parts, "max_ms": took[-1]}
