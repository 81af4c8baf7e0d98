"""A fleet of edge nodes and everything that goes wrong with one: is anything lost, doubled, slowed or hidden?

    .venv/bin/python benchmarks/fleet.py [--nodes 200] [--events 100000] [--processes 4] [--seed 1]

Real emitters of many nodes, in a few processes, tell their runs to a real service that takes signed events only,
through a network that is cut, holds up, loses answers, and sends twice and again later. Meanwhile the service and the
nodes' processes are killed, clocks jump by hours, some nodes may spool very little, and of one node's spool some events
are taken away. In the end it holds the log against the nodes' own ledgers. Prints what happened and what was found;
exits with 1 if

- an event that was acknowledged is not in the log, or stands there twice
- an event that was in a spool is not in the log, and its node's record tells neither a hole nor a drop of it
- the events that were taken away are not a hole in that node's record, or any record has a fork or a broken link
- pipelines do less than 0.98 of their work with the service dead, held against the service alive, in turns
"""

import argparse
import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
from fleet_edge import HEARTBEAT_S
from fleet_network import Faults, Network
from served import free_port

from headwater.signing.jwks import write_jwks
from headwater.signing.keyfile import load_or_create
from headwater.store.numbers import run_id_of_key

SMALL_MB: Final = 0.02
"""What every tenth node may spool."""
TAKEN_AWAY: Final = 3
AT_ONCE: Final = 5
"""Units of work between two faults, of each node."""
SPEED: Final = 0.98
WORST: Final = Faults(answer_lost=0.05, sent_twice=0.05, sent_again_later=0.05, held_up=0.1)


@dataclass
class Process:
    """Some of the nodes, in a process that may be killed."""

    homes: Sequence[Path]
    endpoint: str
    running: "subprocess.Popen[str] | None" = None

    def start(self) -> None:
        """Begin, or begin again."""
        command = [sys.executable, str(Path(__file__).with_name("fleet_edge.py")), self.endpoint, str(SMALL_MB)]
        self.running = subprocess.Popen(
            [*command, *map(str, self.homes)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.answer()

    def tell(self, line: str) -> None:
        """Have it do something; `answer` waits for it."""
        assert self.running is not None and self.running.stdin is not None  # noqa: S101, PT018
        self.running.stdin.write(line + "\n")
        self.running.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """What came of it."""
        assert self.running is not None and self.running.stdout is not None  # noqa: S101, PT018
        answer: dict[str, Any] = json.loads(self.running.stdout.readline())
        return answer

    def kill(self) -> None:
        """End it in the middle of whatever it does."""
        assert self.running is not None  # noqa: S101
        self.running.kill()
        self.running.communicate()


@dataclass
class Fleet:
    """All of it."""

    folder: Path
    nodes: int
    processes: int
    rng: random.Random
    port: int = field(default_factory=free_port)

    def prepare(self) -> list[Path]:
        """Homes with keys, and a service that trusts these."""
        homes = [self.folder / f"node-{number:03}" for number in range(self.nodes)]
        keys = {(key := load_or_create(home)).key_id: key.public_key for home in homes}
        for home in homes[::10]:
            (home / "small").touch()
        trusted = self.folder / "service" / "keys"
        trusted.mkdir(parents=True)
        (trusted / "fleet.jwks").write_text(write_jwks(keys))
        return homes

    def serve(self) -> "subprocess.Popen[str]":
        """Start the service, always on the same port."""
        command = [sys.executable, "-m", "headwater.cli.main", "serve", "--port", str(self.port), "--require-signed"]
        environment = {**os.environ, "HEADWATER_HOME": str(self.folder / "service")}
        service = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        if service.stdout is None or not service.stdout.readline():
            sys.exit("the service did not start")
        return service

    @property
    def url(self) -> str:
        """Where the service is."""
        return f"http://127.0.0.1:{self.port}"


def main() -> None:
    """Run it, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fleet = Fleet(Path(folder), wanted.nodes, wanted.processes, random.Random(wanted.seed))  # noqa: S311
        found = _played(fleet, wanted.events, wanted.seed)
    for fault in found:
        print(f"WRONG: {fault}")
    sys.exit(1 if found else 0)


def _played(fleet: Fleet, events: int, seed: int) -> list[str]:
    homes = fleet.prepare()
    with ExitStack() as open_things:
        service = fleet.serve()
        network = open_things.enter_context(Network(fleet.url, seed))
        endpoint = f"{network.url}/api/v1/lineage"
        shares = [homes[begin :: fleet.processes] for begin in range(fleet.processes)]
        processes = [Process(share, endpoint) for share in shares]
        for process in processes:
            process.start()
            open_things.callback(process.kill)
        ratio = _speed(network, processes)
        service, taken = _trouble(fleet, network, service, processes, events)
        open_things.callback(service.terminate)
        return _settled(fleet, network, processes, homes, taken) + (
            [] if ratio >= SPEED else [f"pipelines had {ratio:.3f} of their speed with the service dead"]
        )


def _speed(network: Network, processes: Sequence[Process]) -> float:
    """What pipelines do with the service dead, held against alive; in turns, since machines are noisy."""
    took: dict[bool, list[float]] = {False: [], True: []}
    for turn in range(6):
        network.faults = Faults(cut=bool(turn % 2))
        took[bool(turn % 2)] += _work(processes)
    network.faults = Faults()
    ratio = statistics.median(took[False]) / statistics.median(took[True])
    print(f"pipelines' speed with the service dead: {ratio:.3f} of what it is with the service alive")
    return ratio


def _work(processes: Sequence[Process]) -> list[float]:
    for process in processes:
        process.tell(f"work {AT_ONCE}")
    return [process.answer()["seconds"] for process in processes]


def _trouble(
    fleet: Fleet, network: Network, service: "subprocess.Popen[str]", processes: Sequence[Process], events: int
) -> tuple["subprocess.Popen[str]", Path | None]:
    """Work on, with something going wrong at every step; gives the service, and the node that was robbed."""
    rng, robbed, begin = fleet.rng, None, time.monotonic()
    steps = max(6, events // (fleet.nodes * AT_ONCE))
    for step in range(steps):
        network.faults = Faults(cut=True) if rng.random() < 0.2 else WORST
        for process in processes:
            process.tell(f"work {AT_ONCE}")
        match rng.choice(("nothing", "service", "process", "clock")) if step != steps // 2 else "rob":
            case "service":
                service.kill()
                service.communicate()
                service = fleet.serve()
            case "process":
                processes = _killed_one(processes, rng)
            case "rob":
                robbed = _robbed(network, processes)
        for process in processes:
            process.answer()
        if rng.random() < 0.2:
            process = rng.choice(processes)
            process.tell(f"clock {rng.uniform(-7200, 7200)}")
            process.answer()
        if step % 10 == 0:
            print(f"{step + 1} of {steps} steps, {time.monotonic() - begin:.0f} s", file=sys.stderr)
    return service, robbed


def _killed_one(processes: Sequence[Process], rng: random.Random) -> Sequence[Process]:
    """Kill a process of nodes while it works, and start it again; the new one has work to answer for, too."""
    process = rng.choice(processes)
    time.sleep(rng.uniform(0, 0.5))
    process.kill()
    process.start()
    process.tell(f"work {AT_ONCE}")
    return processes


def _robbed(network: Network, processes: Sequence[Process]) -> Path:
    """With the network cut, kill a process and take events out of the middle of one of its nodes' spools."""
    process = processes[0]
    process.answer()
    network.faults = Faults(cut=True)
    process.tell(f"work {AT_ONCE}")
    process.answer()
    process.kill()
    node = process.homes[1]
    (spool,) = (node / "spool").glob("http-*/**/events.db")
    with closing(sqlite3.connect(spool)) as database, database:
        middle = "SELECT seq FROM event ORDER BY seq LIMIT ? OFFSET 1"
        database.execute(f"DELETE FROM event WHERE seq IN ({middle})", (TAKEN_AWAY,))  # noqa: S608
    process.start()
    process.tell(f"work {AT_ONCE}")
    return node


def _settled(
    fleet: Fleet, network: Network, processes: Sequence[Process], homes: Sequence[Path], robbed: Path | None
) -> list[str]:
    network.faults = Faults()
    if not (_drained(processes) and _drained(processes, after_s=2 * HEARTBEAT_S)):  # drops are told by heartbeats
        return ["what waited did not go out within ten minutes"]
    with closing(sqlite3.connect(f"file:{fleet.folder}/service/headwater.db?mode=ro", uri=True)) as database:
        digests = [bytes(row[0]).hex() for row in database.execute("SELECT digest FROM log")]
        runs = {run_id_of_key(row[0]) for row in database.execute("SELECT run_id FROM run")}
    told = {node["nodeId"]: node["troubles"] for node in _nodes(fleet.url)}
    print(
        f"{len(digests):,} events in the log; " + ", ".join(f"{n} x {w}" for w, n in sorted(network.happened.items()))
    )
    lost = network.acknowledged - set(digests)
    found = [f"{len(lost)} acknowledged events are not in the log"] if lost else []
    if len(digests) != len(set(digests)):
        found.append("events stand twice in the log")
    missing, drops = 0, 0
    for home in homes:
        ledger = set((home / "ledger").read_text().split())
        gone = len(ledger - runs)
        troubles = told[load_or_create(home).node_id]
        missing, drops = missing + gone, drops + troubles["dropped"]
        if gone > troubles["missing"] + troubles["dropped"]:
            found.append(f"{home.name}: {gone} events are gone, and its record tells of {troubles}")
        if home == robbed and troubles["missing"] < TAKEN_AWAY:
            found.append(f"{home.name}: {TAKEN_AWAY} events were taken away, and its record tells of {troubles}")
        if troubles["forks"] or troubles["broken"]:
            found.append(f"{home.name}: {troubles}")
    print(f"{len(homes)} nodes: {missing} of their spooled events are gone, all of them told; {drops} drops told")
    return found


def _drained(processes: Sequence[Process], after_s: float = 0.0) -> bool:
    time.sleep(after_s)
    _work(processes)
    for process in processes:
        process.tell("drain 600")
    return all([process.answer()["isEmpty"] for process in processes])


def _nodes(url: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while True:
        page = httpx.get(f"{url}/api/v1/nodes", params={"limit": 100, "offset": len(found)}, timeout=60).json()
        found += page["nodes"]
        if len(found) >= page["totalCount"]:
            return found


if __name__ == "__main__":
    main()
