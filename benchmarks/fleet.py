"""A fleet of edge nodes and everything that goes wrong with one: is anything lost, doubled, slowed or hidden?

    .venv/bin/python benchmarks/fleet.py [--nodes 200] [--events 100000] [--processes 4] [--seed 1]

Real emitters of many nodes, in a few processes, tell their runs to a real service that takes signed events only,
through a network that is cut, holds up, loses answers, shuffles, and sends twice and again later. Meanwhile the service
and the nodes' processes are killed, disks are full, clocks jump by hours, some nodes may spool very little, and of one
node's spool some events are taken away. In the end it holds the log against the nodes' own ledgers. Prints what
happened and what was found; exits with 1 if

- an event that was acknowledged is not in the log, or stands there twice
- an event that was signed is not in the log, and its node's record tells neither a hole nor a drop of it
- the events that were taken away are not a hole in that node's record, or any record has a fork or a broken link
- pipelines do less than 0.98 of their work with the service dead, held against the service alive, in turns
"""

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from support.fleet_network import Faults, Network
from support.fleet_record import Played, judged, take_away
from support.served import free_port

from headwater.signing.jwks import write_jwks
from headwater.signing.keyfile import load_or_create

SMALL_MB: Final = 0.02
"""What every tenth node may spool."""
FULL_DISK_BYTES: Final = 4_096
AT_ONCE: Final = 5
"""Units of work between two faults, of each node."""
SPEED: Final = 0.98
WORST: Final = Faults(answer_lost=0.05, sent_twice=0.05, sent_again_later=0.05, shuffled=0.1, held_up=0.1)
DRAIN_S: Final = 1_800

Fault = Literal["cut", "service killed", "nodes killed", "disk full", "clock jumped", "events taken away", "none"]
FAULTS: Final[Sequence[Fault]] = ("cut", "service killed", "nodes killed", "disk full", "clock jumped", "none")
"""What goes wrong from step to step, in an order that is drawn anew for each round."""


@dataclass
class Process:
    """Some of the nodes, in a process that may be killed."""

    homes: Sequence[Path]
    endpoint: str
    heartbeat_s: float
    running: "subprocess.Popen[str] | None" = None

    def start(self) -> None:
        """Begin, or begin again."""
        program = str(Path(__file__).with_name("fleet_edge.py"))
        command = [sys.executable, program, self.endpoint, str(SMALL_MB), str(self.heartbeat_s)]
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

    def ask(self, line: str) -> dict[str, Any]:
        """Have it do something, and wait."""
        self.tell(line)
        return self.answer()

    def kill(self) -> None:
        """End it in the middle of whatever it does."""
        assert self.running is not None  # noqa: S101
        self.running.kill()
        self.running.communicate()

    def kill_and_start(self) -> None:
        """End it, and have it begin again where the kill left it."""
        self.kill()
        self.start()


@dataclass
class Service:
    """The lineage service, always on the same port."""

    home: Path
    port: int = field(default_factory=free_port)
    running: "subprocess.Popen[str] | None" = None

    def start(self) -> None:
        """Begin, or begin again."""
        command = [sys.executable, "-m", "headwater.cli.main", "serve", "--port", str(self.port), "--require-signed"]
        environment = {**os.environ, "HEADWATER_HOME": str(self.home)}
        self.running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        if self.running.stdout is None or not self.running.stdout.readline():
            sys.exit("the service did not start")

    def kill(self) -> None:
        """End it in the middle of whatever it does."""
        assert self.running is not None  # noqa: S101
        self.running.kill()
        self.running.communicate()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"


@dataclass
class Fleet:
    """All of it, and what was played with it so far."""

    service: Service
    network: Network
    processes: Sequence[Process]
    rng: random.Random
    robbed: Path | None = None
    happened: Counter[Fault] = field(default_factory=Counter)

    def step(self, fault: Fault) -> None:
        """Have every node work, with something going wrong."""
        self.happened[fault] += 1
        process = self.rng.choice(self.processes)
        self.network.faults = Faults(cut=True) if fault == "cut" else WORST
        if fault == "disk full":
            process.ask(f"disk {FULL_DISK_BYTES}")
            self.network.faults = Faults(cut=self.rng.random() < 0.5)
        self.work(meanwhile=fault)
        if fault == "disk full":
            process.kill_and_start() if self.rng.random() < 0.5 else process.ask("disk 0")
        if fault == "clock jumped":
            process.ask(f"clock {self.rng.uniform(-7200, 7200)}")

    def work(self, units: int = AT_ONCE, meanwhile: Fault = "none") -> list[float]:
        """Have every node do some work; the seconds that each process took."""
        for process in self.processes:
            process.tell(f"work {units}")
        if meanwhile == "service killed":
            self.service.kill()
            self.service.start()
        elif meanwhile == "nodes killed":
            killed = self.rng.choice(self.processes)
            time.sleep(self.rng.uniform(0, 0.5))
            killed.kill_and_start()
            killed.tell(f"work {units}")  # it has work to answer for, too
        elif meanwhile == "events taken away":
            self._rob(self.processes[0])
        return [process.answer()["seconds"] for process in self.processes]

    def drained(self) -> bool:
        """Wait until all that waits has gone out; False if it takes too long."""
        self.network.faults = Faults()
        self.work()
        for process in self.processes:
            process.tell(f"drain {DRAIN_S}")
        return all([process.answer()["isEmpty"] for process in self.processes])

    def _rob(self, process: Process) -> None:
        """With the network cut, kill a process and take events out of the middle of one of its nodes' spools."""
        process.answer()
        self.network.faults = Faults(cut=True)
        process.ask(f"work {AT_ONCE}")
        process.kill()
        self.robbed = process.homes[1]
        take_away(self.robbed)
        process.start()
        process.tell(f"work {AT_ONCE}")


def main() -> None:
    """Run it, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--heartbeat", type=float, default=15.0, help="seconds between two of a node's heartbeats")
    parser.add_argument("--turns", type=int, default=6, help="of work with the service alive and dead; 0: no measure")
    wanted = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that nothing is left behind
    with tempfile.TemporaryDirectory() as folder, ExitStack() as open_things:
        found = _played(Path(folder), wanted, open_things)
    for fault in found:
        print(f"WRONG: {fault}")
    sys.exit(1 if found else 0)


def _played(folder: Path, wanted: argparse.Namespace, open_things: ExitStack) -> Sequence[str]:
    homes = _prepared(folder, wanted.nodes)
    fleet = _started(folder, homes, wanted, open_things)
    ratio = _speed(fleet, wanted.turns) if wanted.turns else SPEED
    _go_wrong(fleet, max(len(FAULTS) + 1, wanted.events // (wanted.nodes * AT_ONCE)))
    print(", ".join(f"{times} x {fault}" for fault, times in sorted(fleet.happened.items())))
    if not (fleet.drained() and _after(2 * wanted.heartbeat, fleet)):  # drops are told by heartbeats
        return ["what waited did not go out"]
    print(", ".join(f"{times} x {what}" for what, times in sorted(fleet.network.happened.items())))
    played = Played(homes, folder / "service", fleet.service.url, fleet.network.acknowledged, fleet.robbed)
    slow = [] if ratio >= SPEED else [f"pipelines had {ratio:.3f} of their speed with the service dead"]
    return [*judged(played), *slow]


def _prepared(folder: Path, nodes: int) -> list[Path]:
    """Homes with keys, and a service's home that trusts these."""
    homes = [folder / f"node-{number:03}" for number in range(nodes)]
    keys = {(key := load_or_create(home)).key_id: key.public_key for home in homes}
    for home in homes[::10]:
        (home / "small").touch()
    trusted = folder / "service" / "keys"
    trusted.mkdir(parents=True)
    (trusted / "fleet.jwks").write_text(write_jwks(keys))
    return homes


def _started(folder: Path, homes: Sequence[Path], wanted: argparse.Namespace, open_things: ExitStack) -> Fleet:
    service = Service(folder / "service")
    service.start()
    open_things.callback(service.kill)
    network = open_things.enter_context(Network(service.url, wanted.seed))
    endpoint = f"{network.url}/api/v1/lineage"
    shares = [homes[begin :: wanted.processes] for begin in range(wanted.processes)]
    processes = [Process(share, endpoint, wanted.heartbeat) for share in shares]
    for process in processes:
        process.start()
        open_things.callback(process.kill)
    return Fleet(service, network, processes, random.Random(wanted.seed))  # noqa: S311  faults, no secrets


def _speed(fleet: Fleet, turns: int) -> float:
    """What pipelines do with the service dead, held against alive; in pairs, since machines are noisy."""
    ratios = []
    for turn in range(turns):
        took = {}
        for is_dead in (False, True) if turn % 2 else (True, False):
            fleet.network.faults = Faults(cut=is_dead)
            took[is_dead] = statistics.fmean(fleet.work())
        ratios.append(took[False] / took[True])
    fleet.network.faults = Faults()
    ratio = statistics.median(ratios)
    print(f"pipelines' speed with the service dead, held against alive, median of {turns} pairs: {ratio:.3f}")
    return ratio


def _go_wrong(fleet: Fleet, steps: int) -> None:
    begin, round_of_faults = time.monotonic(), list[Fault]()
    for step in range(steps):
        if not round_of_faults:
            round_of_faults = fleet.rng.sample(FAULTS, len(FAULTS))
        fleet.step("events taken away" if step == steps // 2 else round_of_faults.pop())
        taken = len(fleet.network.acknowledged)
        passed_s = time.monotonic() - begin
        print(f"step {step + 1} of {steps}, {passed_s:.0f} s, {taken:,} events taken", file=sys.stderr, flush=True)


def _after(wait_s: float, fleet: Fleet) -> bool:
    time.sleep(wait_s)
    return fleet.drained()


if __name__ == "__main__":
    main()
