"""The footprint of an agent: the memory of its processes before, while and after it runs a pipeline, and its disk use.

    python benchmarks/agent_footprint.py

RSS includes shared pages, as in `ps`; PSS divides these among the processes that share them. The pipeline has its
lineage switched off, so anything besides the agent and its worker (keys, spools, connections) would be a fault.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final

import psutil

COMMAND: Final = [sys.executable, "-m", "headwater.cli.main"]
CONFIG: Final = "{master: 'local[2]', idle_timeout: 3s, spark: {spark.driver.memory: 512m}}"
PIPELINE: Final = """
name: footprint
namespace: benchmark
mode: stream
input: {generate: {rows_per_second: 10}}
output: {file: {path: out, format: json, mode: append}}
stream: {interval: 1s}
lineage: {enabled: false}
"""
MAX_IDLE_MB: Final = 120.0
MB: Final = 1 << 20
TIMEOUT_S: Final = 90.0


@contextmanager
def agent_on(home: Path) -> Iterator[psutil.Process]:
    """An agent on this home, ended after the block."""
    config = home / "agent.yaml"
    config.write_text(CONFIG)
    process = subprocess.Popen(
        [*COMMAND, "agent", "--config", str(config)],
        env={**os.environ, "HEADWATER_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None  # noqa: S101  it is a pipe
    process.stdout.readline()
    try:
        yield psutil.Process(process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def output(home: Path, *arguments: str) -> Any:  # noqa: ANN401  JSON
    """The JSON output of a command."""
    environment = {**os.environ, "HEADWATER_HOME": str(home)}
    return json.loads(subprocess.run([*COMMAND, *arguments, "--json"], env=environment, stdout=-1, check=True).stdout)


def wait_for_state(home: Path, state: str) -> None:
    """Wait until the newest execution has this state."""
    deadline = time.monotonic() + TIMEOUT_S
    while output(home, "execution", "list")[0]["state"] != state:
        if time.monotonic() > deadline:
            raise SystemExit(f"the execution did not reach the state {state} within {TIMEOUT_S:g} s")
        time.sleep(0.5)


def show(when: str, agent: psutil.Process) -> float:
    """Print a line per process; returns the agent's RSS in MB."""
    for process in (agent, *agent.children(recursive=True)):
        memory = process.memory_full_info()
        kind = {agent.pid: "agent"}.get(process.pid, "JVM" if process.name() == "java" else "worker")
        sizes = f"RSS {memory.rss / MB:7.1f} MB  PSS {memory.pss / MB:7.1f} MB"
        peers = [one.raddr.ip for one in process.net_connections("tcp") if one.raddr]
        remote = [peer for peer in peers if not ip_address(peer.removeprefix("::ffff:")).is_loopback]
        print(f"{when:<24} {kind:<7} {sizes}  {process.num_threads():>3} threads  {len(remote)} remote connections")
    return float(agent.memory_info().rss / MB)


def main() -> None:
    """Measure, and fail if the idle agent is too large."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    with tempfile.TemporaryDirectory(prefix="hw-") as folder, agent_on(Path(folder)) as agent:
        home = Path(folder)
        time.sleep(1)
        idle_mb = show("nothing deployed", agent)
        (home / "footprint.yaml").write_text(PIPELINE)
        output(home, "job", "deploy", str(home / "footprint.yaml"))
        wait_for_state(home, "running")
        time.sleep(3)
        show("a stream runs", agent)
        output(home, "job", "stop", "footprint")
        wait_for_state(home, "stopped")
        deadline = time.monotonic() + TIMEOUT_S
        while agent.children() and time.monotonic() < deadline:
            time.sleep(0.5)
        after_mb = show("stopped, and idle again", agent)
        print("keys, spools:", [name for name in ("keys", "spool") if (home / name).exists()] or "none")
    print(f"idle: {idle_mb:.1f} MB, afterwards {after_mb:.1f} MB (at most {MAX_IDLE_MB:g})")
    raise SystemExit(max(idle_mb, after_mb) >= MAX_IDLE_MB)


if __name__ == "__main__":
    main()
