"""The cost of `headwater watch connect`: memory, and CPU as a share of one core, at 100 connectors of 10 tasks.

    .venv/bin/python benchmarks/connect_watch.py [--connectors 100] [--tasks 10] [--seconds 60]

Starts a real broker and writes Connect's own topics as workers would: every connector with its tasks, then `--changes`
tasks per second that fail and are restarted. The watcher posts to a real service. For comparison: the cost of the same
process with nothing to watch.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from support.served import free_port

from headwater.lab.lab import Lab


class Cost(NamedTuple):
    """The cost of one process over a period."""

    rss_mb: float
    cpu_percent: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connectors", type=int, default=100)
    parser.add_argument("--tasks", type=int, default=10, help="of each connector")
    parser.add_argument("--changes", type=int, default=1, help="tasks per second that fail and are restarted")
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab("kafka", Path(folder) / "lab", {"broker": free_port()})
        try:
            lab.up(["broker"], lambda line: print(line, file=sys.stderr))
            _measure(lab.address("broker"), Path(folder), options)
        finally:
            lab.down(lambda _: None)


def _measure(bootstrap: str, folder: Path, options: argparse.Namespace) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    names = ("connect-configs", "connect-status", "none-configs", "none-status")
    for created in admin.create_topics([NewTopic(name, 1, 1) for name in names]).values():
        created.result(30)
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 20})
    port = free_port()
    with _process(folder / "service", "serve", "--port", str(port)):
        address = ("--bootstrap", bootstrap, "--endpoint", f"http://127.0.0.1:{port}/api/v1/lineage")
        topics = ("--config-topic", "none-configs", "--status-topic", "none-status")
        with _process(folder / "idle", "watch", "connect", *address, *topics) as idle:
            nothing = _cost(idle, 10, lambda _: None)
        _create(producer, options.connectors, options.tasks)
        with _process(folder / "busy", "watch", "connect", *address) as busy:
            time.sleep(5)  # its first events are not measured

            def change(second: int) -> None:
                for number in range(options.changes):
                    task = (second * options.changes + number) % (options.connectors * options.tasks)
                    for state in ("FAILED", "UNASSIGNED", "RUNNING"):
                        _status(producer, f"connector-{task // options.tasks:03}", task % options.tasks, state)
                producer.flush(10)

            watched = _cost(busy, options.seconds, change)
    print(f"{'':44}{'memory MB':>10}{'CPU % of a core':>17}")
    print(f"{'nothing to watch':44}{nothing.rss_mb:10.0f}{nothing.cpu_percent:17.2f}")
    name = f"{options.connectors} connectors of {options.tasks} tasks, {options.changes} failures/s"
    print(f"{name:44}{watched.rss_mb:10.0f}{watched.cpu_percent:17.2f}")


def _cost(process: "subprocess.Popen[str]", seconds: int, each_second: Callable[[int], None]) -> Cost:
    watched = psutil.Process(process.pid)
    before, began = watched.cpu_times(), time.monotonic()
    for second in range(seconds):
        each_second(second)
        time.sleep(max(0.0, began + second + 1 - time.monotonic()))
    after = watched.cpu_times()
    used = (after.user - before.user) + (after.system - before.system)
    return Cost(watched.memory_info().rss / 1e6, 100 * used / (time.monotonic() - began))


def _create(producer: Producer, connectors: int, tasks: int) -> None:
    for number in range(connectors):
        name = f"connector-{number:03}"
        properties = {"connector.class": "FileStreamSink", "topics": f"topic-{number}", "file": f"/data/{name}"}
        _record(producer, "connect-configs", f"connector-{name}", {"properties": properties})
        _status(producer, name, None, "RUNNING")
        _record(producer, "connect-configs", f"commit-{name}", {"tasks": tasks})
        for task in range(tasks):
            _status(producer, name, task, "RUNNING")
        _record(producer, "connect-status", f"status-topic-topic-{number}:connector-{name}", {"topic": {}})
    producer.flush(60)


def _status(producer: Producer, connector: str, task: int | None, state: str) -> None:
    key = f"status-connector-{connector}" if task is None else f"status-task-{connector}-{task}"
    body = {"state": state, "trace": None, "worker_id": "127.0.0.1:8083", "generation": 1}
    _record(producer, "connect-status", key, body)


def _record(producer: Producer, topic: str, key: str, body: object) -> None:
    producer.produce(topic, key=key.encode(), value=json.dumps(body).encode())
    producer.poll(0)


@contextmanager
def _process(home: Path, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
    command: Sequence[str] = [sys.executable, "-m", "headwater.cli.main", *arguments]
    environment = {**os.environ, "HEADWATER_HOME": str(home)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        if process.stdout is None or not process.stdout.readline():
            raise SystemExit(f"headwater {arguments[0]} did not start")
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


if __name__ == "__main__":
    main()
