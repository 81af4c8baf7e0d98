"""A fleet of edge nodes under faults of every kind: are events lost, doubled or hidden, or pipelines slowed?

    .venv/bin/python benchmarks/fleet.py [--nodes 200] [--events 100000] [--processes 4] [--seed 1]

Real emitters of many nodes, in a few processes, send their runs to a real service that accepts only signed events,
through a network that is cut, delays, loses answers, shuffles batches, and repeats requests at once or later. Meanwhile
the service and the nodes' processes are killed, disks are full, clocks jump by hours, some nodes have a tiny spool, and
some events are deleted from one node's spool. At the end, the log is compared with the nodes' own ledgers. Prints the
faults and the findings; exits with 1 if

- an acknowledged event is not in the log, or is there twice
- a signed event is not in the log, and its node's record reports neither a gap nor a drop for it
- the deleted events are not a gap in that node's record, or any record has a fork or a broken link
- pipelines run at less than 0.98 of their speed while the service is down, compared with up, in turns
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
from support.fleet_record import Outcome, delete_events, problems
from support.served import free_port

from headwater.signing.jwks import write_jwks
from headwater.signing.keyfile import load_or_create

SMALL_MB: Final = 0.02
"""The spool limit of every tenth node."""
FULL_DISK_BYTES: Final = 4_096
UNITS_PER_STEP: Final = 5
"""Units of work of each node between two faults."""
LEAST_SPEED: Final = 0.98
WORST: Final = Faults(answer_lost=0.05, sent_twice=0.05, sent_again_later=0.05, shuffled=0.1, delayed=0.1)
DRAIN_S: Final = 1_800

Fault = Literal["cut", "service killed", "nodes killed", "disk full", "clock jumped", "events deleted", "none"]
FAULTS: Final[Sequence[Fault]] = ("cut", "service killed", "nodes killed", "disk full", "clock jumped", "none")
"""The faults of a round, one per step, in a random order per round."""


@dataclass(kw_only=True)
class Killable:
    """A process that may be killed."""

    running: "subprocess.Popen[str] | None" = None

    def kill(self) -> None:
        """Kill it, whatever it does."""
        assert self.running is not None  # noqa: S101
        self.running.kill()
        self.running.communicate()


@dataclass
class Process(Killable):
    """A process with some of the nodes."""

    homes: Sequence[Path]
    endpoint: str
    heartbeat_s: float

    def start(self) -> None:
        """Start, or start again."""
        program = str(Path(__file__).with_name("fleet_edge.py"))
        command = [sys.executable, program, self.endpoint, str(SMALL_MB), str(self.heartbeat_s)]
        self.running = subprocess.Popen(
            [*command, *map(str, self.homes)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.answer()

    def send(self, line: str) -> None:
        """Send a command; `answer` waits for its result."""
        assert self.running is not None and self.running.stdin is not None  # noqa: S101, PT018
        self.running.stdin.write(line + "\n")
        self.running.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """The result of the last command."""
        assert self.running is not None and self.running.stdout is not None  # noqa: S101, PT018
        answer: dict[str, Any] = json.loads(self.running.stdout.readline())
        return answer

    def ask(self, line: str) -> dict[str, Any]:
        """Send a command and wait for its result."""
        self.send(line)
        return self.answer()

    def kill_and_start(self) -> None:
        """Kill it, and start it again on the same homes."""
        self.kill()
        self.start()


@dataclass
class Service(Killable):
    """The lineage service, always on the same port."""

    home: Path
    port: int = field(default_factory=free_port)

    def start(self) -> None:
        """Start, or start again."""
        command = [sys.executable, "-m", "headwater.cli.main", "serve", "--port", str(self.port), "--require-signed"]
        environment = {**os.environ, "HEADWATER_HOME": str(self.home)}
        self.running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        if self.running.stdout is None or not self.running.stdout.readline():
            sys.exit("the service did not start")

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.port}"


@dataclass
class Fleet:
    """The fleet, its network and service, and the faults so far."""

    service: Service
    network: Network
    processes: Sequence[Process]
    rng: random.Random
    tampered: Path | None = None
    happened: Counter[Fault] = field(default_factory=Counter)

    def step(self, fault: Fault) -> None:
        """Have every node work during a fault."""
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

    def work(self, units: int = UNITS_PER_STEP, meanwhile: Fault = "none") -> list[float]:
        """Have every node do some work; returns the seconds of each process."""
        for process in self.processes:
            process.send(f"work {units}")
        if meanwhile == "service killed":
            self.service.kill()
            self.service.start()
        elif meanwhile == "nodes killed":
            killed = self.rng.choice(self.processes)
            time.sleep(self.rng.uniform(0, 0.5))
            killed.kill_and_start()
            killed.send(f"work {units}")  # an answer is awaited from it too
        elif meanwhile == "events deleted":
            self._delete_events(self.processes[0])
        return [process.answer()["seconds"] for process in self.processes]

    def drained(self) -> bool:
        """Wait until all spools are empty; False if that takes too long."""
        self.network.faults = Faults()
        self.work()
        for process in self.processes:
            process.send(f"drain {DRAIN_S}")
        return all([process.answer()["isEmpty"] for process in self.processes])

    def _delete_events(self, process: Process) -> None:
        """With the network cut, kill a process and delete events from the middle of one of its nodes' spools."""
        process.answer()
        self.network.faults = Faults(cut=True)
        process.ask(f"work {UNITS_PER_STEP}")
        process.kill()
        self.tampered = process.homes[1]
        delete_events(self.tampered)
        process.start()
        process.send(f"work {UNITS_PER_STEP}")


def main() -> None:
    """Run it, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--heartbeat", type=float, default=15.0, help="seconds between two of a node's heartbeats")
    parser.add_argument(
        "--turns", type=int, default=6, help="pairs of work with the service up and down; 0: not measured"
    )
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that all processes are ended
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        found = _outcome(Path(folder), options, stack)
    for fault in found:
        print(f"WRONG: {fault}")
    sys.exit(1 if found else 0)


def _outcome(folder: Path, options: argparse.Namespace, stack: ExitStack) -> Sequence[str]:
    homes = _prepared(folder, options.nodes)
    fleet = _started(folder, homes, options, stack)
    ratio = _speed(fleet, options.turns) if options.turns else LEAST_SPEED
    _inject_faults(fleet, max(len(FAULTS) + 1, options.events // (options.nodes * UNITS_PER_STEP)))
    print(", ".join(f"{times} x {fault}" for fault, times in sorted(fleet.happened.items())))
    if not (fleet.drained() and _after(2 * options.heartbeat, fleet)):  # drops are reported by heartbeats
        return ["not all spools were drained"]
    print(", ".join(f"{times} x {what}" for what, times in sorted(fleet.network.happened.items())))
    outcome = Outcome(homes, folder / "service", fleet.service.url, fleet.network.acknowledged, fleet.tampered)
    slow = [] if ratio >= LEAST_SPEED else [f"pipelines ran at {ratio:.3f} of their speed while the service was down"]
    return [*problems(outcome), *slow]


def _prepared(folder: Path, nodes: int) -> list[Path]:
    """Homes with keys, and a home for the service with these keys trusted."""
    homes = [folder / f"node-{number:03}" for number in range(nodes)]
    keys = {(key := load_or_create(home)).key_id: key.public_key for home in homes}
    for home in homes[::10]:
        (home / "small").touch()
    trusted = folder / "service" / "keys"
    trusted.mkdir(parents=True)
    (trusted / "fleet.jwks").write_text(write_jwks(keys))
    return homes


def _started(folder: Path, homes: Sequence[Path], options: argparse.Namespace, stack: ExitStack) -> Fleet:
    service = Service(folder / "service")
    service.start()
    stack.callback(service.kill)
    network = stack.enter_context(Network(service.url, options.seed))
    endpoint = f"{network.url}/api/v1/lineage"
    shares = [homes[begin :: options.processes] for begin in range(options.processes)]
    processes = [Process(share, endpoint, options.heartbeat) for share in shares]
    for process in processes:
        process.start()
        stack.callback(process.kill)
    return Fleet(service, network, processes, random.Random(options.seed))  # noqa: S311  faults, no secrets


def _speed(fleet: Fleet, turns: int) -> float:
    """The pipelines' speed with the service down, relative to up; in pairs, since machines are noisy."""
    ratios = []
    for turn in range(turns):
        took = {}
        for is_dead in (False, True) if turn % 2 else (True, False):
            fleet.network.faults = Faults(cut=is_dead)
            took[is_dead] = statistics.fmean(fleet.work())
        ratios.append(took[False] / took[True])
    fleet.network.faults = Faults()
    ratio = statistics.median(ratios)
    print(f"pipelines' speed with the service down, relative to up, median of {turns} pairs: {ratio:.3f}")
    return ratio


def _inject_faults(fleet: Fleet, steps: int) -> None:
    begin, round_of_faults = time.monotonic(), list[Fault]()
    for step in range(steps):
        if not round_of_faults:
            round_of_faults = fleet.rng.sample(FAULTS, len(FAULTS))
        fleet.step("events deleted" if step == steps // 2 else round_of_faults.pop())
        stored = len(fleet.network.acknowledged)
        passed_s = time.monotonic() - begin
        print(
            f"step {step + 1} of {steps}, {passed_s:.0f} s, {stored:,} events acknowledged", file=sys.stderr, flush=True
        )


def _after(wait_s: float, fleet: Fleet) -> bool:
    time.sleep(wait_s)
    return fleet.drained()


if __name__ == "__main__":
    main()
