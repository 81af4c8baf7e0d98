"""A process of the simulated fleet: several nodes, each with its key, its spool and its emitter. See `fleet.py`.

It reads commands from standard input, one per line, and answers each with a line of JSON:

    work N     every node does N units of work and reports each as a run; returns the seconds that took
    clock S    the nodes' clocks jump by S seconds, forward or back
    disk B     files cannot grow beyond B bytes, as on a full disk; 0 lifts the limit
    drain S    waits up to S seconds for the spools to drain; returns whether they did, and the number of dropped events

A run's id is written to the node's ledger once its event is signed and spooled: from then on it must arrive.
"""

import hashlib
import json
import logging
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from headwater.emit.config import EmitConfig, HttpConfig
from headwater.emit.emitter import Emitter
from headwater.signing.keyfile import load_or_create

WORK = b"x" * 2_000_000
"""The data that a unit of work hashes, in place of a pipeline's batch."""
PADDING = "x" * 200


@dataclass
class Clock:
    """The nodes' clock, in seconds since 1970."""

    ahead_s: float = 0.0

    def __call__(self) -> float:
        """The time."""
        return time.time() + self.ahead_s


@dataclass
class Edge:
    """One node."""

    home: Path
    emitter: Emitter
    clock: Clock
    unsettled: list[str] = field(default_factory=list)

    def work(self) -> None:
        """Do a unit of work, and report it as a run."""
        hashlib.sha256(WORK).digest()
        run_id = str(uuid4())
        self.emitter.put(_event(run_id, self.home.name, self.clock()))
        self.unsettled.append(run_id)

    def settle(self) -> None:
        """Write the spooled runs to the ledger."""
        if self.emitter.settle(60.0):
            with _room_on_disk(), (self.home / "ledger").open("a") as ledger:
                ledger.writelines(f"{run_id}\n" for run_id in self.unsettled)
            self.unsettled.clear()


def main() -> None:
    """Execute commands until the input ends; then exit without closing the emitters, as if killed."""
    logging.disable(logging.WARNING)  # an unavailable service is part of the test
    endpoint, small_mb, heartbeat_s = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
    clock = Clock()
    edges = [_edge(Path(home), endpoint, small_mb, heartbeat_s, clock) for home in sys.argv[4:]]
    print(json.dumps({"nodes": len(edges)}), flush=True)
    for line in sys.stdin:
        command, number = line.split()
        print(json.dumps(_execute(edges, clock, command, float(number))), flush=True)


def _edge(home: Path, endpoint: str, small_mb: float, heartbeat_s: float, clock: Clock) -> Edge:
    """A node; a file `small` in its home limits its spool."""
    spool_mb = small_mb if (home / "small").exists() else 256.0
    config = EmitConfig(
        http=HttpConfig(endpoint=endpoint),
        spool=home / "spool",
        spool_max_mb=spool_mb,
        heartbeat_s=heartbeat_s,
        drain_timeout_s=0.1,
    )
    return Edge(home, Emitter.of_node(config, load_or_create(home), clock=clock), clock)


def _execute(edges: list[Edge], clock: Clock, command: str, number: float) -> object:
    if command == "work":
        begin = time.perf_counter()
        for _ in range(int(number)):
            for edge in edges:
                edge.work()
        took_s = time.perf_counter() - begin
        for edge in edges:
            edge.settle()
        return {"seconds": took_s}
    if command == "clock":
        clock.ahead_s += number
        return {"ahead": clock.ahead_s}
    if command == "disk":
        _limit_files(int(number) or resource.RLIM_INFINITY)
        return {"bytes": number}
    until = time.monotonic() + number
    is_empty = all([edge.emitter.drain(max(0.0, until - time.monotonic())) for edge in edges])
    return {"isEmpty": is_empty, "dropped": sum(sum(edge.emitter.stats().dropped.values()) for edge in edges)}


@contextmanager
def _room_on_disk() -> Iterator[None]:
    """Lifts the file size limit: the ledger belongs to the test, and is written during every fault."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    _limit_files(resource.RLIM_INFINITY)
    try:
        yield
    finally:
        _limit_files(limit)


def _limit_files(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def _event(run_id: str, node: str, at_s: float) -> bytes:
    at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at_s)) + f".{int(at_s % 1 * 1000):03d}Z"
    producer = "https://example.org/fleet"
    event = {
        "eventType": "COMPLETE",
        "eventTime": at,
        "producer": producer,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": run_id, "facets": {}},
        "job": {"namespace": "fleet", "name": node, "facets": {}},
        "inputs": [{"namespace": "fleet", "name": f"{node}-in", "facets": {}}],
        "outputs": [{"namespace": "fleet", "name": f"{node}-out-{PADDING}", "facets": {}}],
    }
    return json.dumps(event).encode()


if __name__ == "__main__":
    main()
