"""Run the whole lab: start it, create connectors, break things, and show what the lineage service knows.

python labs/01-kafka-connect/play.py           # stops everything at the end
python labs/01-kafka-connect/play.py --keep    # leaves it running; `headwater lab down` ends it
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx

HERE = Path(__file__).parent
BROKER = "127.0.0.1:9092"
REGISTRY = "http://127.0.0.1:8081"
SUBJECTS = f"{REGISTRY}/apis/ccompat/v7"
S3 = "http://127.0.0.1:9000"
CONNECT = "http://127.0.0.1:8083"
SERVICE = "http://127.0.0.1:5000"
# The lab's S3 and Glue accept any credentials; Spark requires some.
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "lab", "AWS_SECRET_ACCESS_KEY": "lab"}


def configuration(connector: str, registry: str = REGISTRY, s3: str = S3, **changes: str) -> dict[str, str]:
    """A connector's configuration from its file, with the lab's addresses and some changes: `tasks_max="1"`."""
    text = (HERE / "connectors" / f"{connector}.json").read_text()
    settings: dict[str, str] = json.loads(text.replace(REGISTRY, registry).replace(S3, s3))
    return settings | {key.replace("_", "."): value for key, value in changes.items()}


def make_buckets(s3: str = S3) -> None:
    """Create the buckets that the connectors write to."""
    for bucket in ("archive", "lake"):
        httpx.put(f"{s3}/{bucket}", timeout=30).raise_for_status()


def ask_connect(method: str, path: str, body: object = None, connect: str = CONNECT) -> Any:  # noqa: ANN401  any JSON
    """Call Connect's REST API; retried while the worker rebalances (409)."""
    for _ in range(60):
        answer = httpx.request(method, f"{connect}/connectors{path}", json=body, timeout=60)
        if answer.status_code != httpx.codes.CONFLICT:
            break
        time.sleep(0.5)
    answer.raise_for_status()
    return answer.json() if answer.content else None


def main() -> None:
    """Run all steps in order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="leave everything running")
    keep = parser.parse_args().keep
    with ExitStack() as running:
        say("the lab, the lineage service and the watchers")
        if not keep:
            running.callback(headwater, "lab", "down")
        headwater("lab", "up", "kafka")
        running.enter_context(started("serve", keep=keep))
        running.enter_context(started("watch", "connect", "--bootstrap", BROKER, keep=keep))
        running.enter_context(started("watch", "registry", "--url", SUBJECTS, "--bootstrap", BROKER, keep=keep))
        make_buckets()
        create_connectors()
        say("Spark reads the table that the sink writes, and writes two more from it")
        headwater("run", str(HERE / "orders.yaml"))
        headwater("trace", "lake.sales.suppliers:turnover")
        break_it()
        say("Spark again: what is different from the previous run?")
        headwater("run", str(HERE / "orders.yaml"))
        headwater("drift")
        headwater("root-cause", "lake.sales.suppliers")
        if keep:
            say(f"everything keeps running; see {SERVICE}, and end it with `headwater lab down` and Ctrl-C")


def create_connectors() -> None:
    """Create a source, then the sinks that read its topics."""
    say("a source with three tasks")
    ask_connect("PUT", "/auction/config", configuration("auction"))
    until(lambda: states("auction") == ["RUNNING"] * 4, "all tasks are running")
    time.sleep(5)
    for sink in ("archive", "lake"):
        say(f"a sink with two tasks: {sink}")
        ask_connect("PUT", f"/{sink}/config", configuration(sink))
    until(lambda: runs("lake") == ["RUNNING"], "the service shows the run of the last sink")
    time.sleep(10)  # the first commit creates the table


def break_it() -> None:
    """Change, fail and restart connectors, and wait for the effect on their runs."""
    say("a pause does not end the run")
    ask_connect("PUT", "/auction/pause")
    ask_connect("PUT", "/auction/resume")
    say("one task of three fails: the run continues and shows it")
    ask_connect("PUT", "/auction/config", configuration("auction", fail_task="1"))
    until(lambda: "FAILED" in states("auction"), "a task failed")
    for version in ("2", "3"):
        say(f"version {version} of the orders' schema")
        ask_connect("PUT", "/auction/config", configuration("auction", schema_version=version))
        time.sleep(10)
    say("a version that the registry refuses: the run fails, with the reason")
    ask_connect("PUT", "/auction/config", configuration("auction", schema_version="4"))
    until(lambda: "FAILED" in runs("auction"), "the service shows the failure")
    say("fixed: a new run")
    ask_connect("PUT", "/auction/config", configuration("auction", schema_version="3"))
    until(lambda: runs("auction").count("RUNNING") == 1, "it is running again")
    say("stopped and resumed: a new run, too")
    ask_connect("PUT", "/archive/stop")
    until(lambda: runs("archive") == ["ABORTED"], "the run was aborted")
    ask_connect("PUT", "/archive/resume")
    until(lambda: "RUNNING" in runs("archive"), "it is running again")
    say("the worker is killed: within a minute its connectors' runs fail")
    kill_the_worker()
    until(lambda: runs("archive")[:1] == ["FAILED"], "the service shows that the workers are lost")
    headwater("lab", "up", "kafka")
    until(lambda: runs("archive")[:1] == ["RUNNING"], "they continue as new runs")
    say("deleted, and created again with one topic of two")
    ask_connect("DELETE", "/archive")
    until(lambda: runs("archive")[:1] == ["ABORTED"], "the run was aborted")
    ask_connect("PUT", "/archive/config", configuration("archive", topics="orders"))
    until(lambda: runs("archive")[:1] == ["RUNNING"], "a new run, which shows nothing of the old one")


def kill_the_worker() -> None:
    """Kill it as a failing machine would: without any notice."""
    command = [sys.executable, "-m", "headwater.cli.main", "lab", "status", "--json"]
    status = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)  # noqa: S603
    for pid in (pid for part in status if part["name"] == "connect" for pid in part["pids"]):
        os.kill(pid, signal.SIGKILL)


def states(connector: str) -> list[str]:
    """The states of a connector and its tasks, from Connect."""
    status = ask_connect("GET", f"/{connector}/status")
    return [status["connector"]["state"], *(task["state"] for task in status["tasks"])]


def runs(connector: str) -> list[str]:
    """The states of a connector's runs, newest first, from the lineage service."""
    answer = httpx.get(f"{SERVICE}/api/v1/namespaces/kafka-connect/jobs/{connector}/runs", timeout=30)
    return [run["state"] for run in answer.json()["runs"]] if answer.is_success else []


def headwater(*arguments: str) -> None:
    """Run a `headwater` command, showing its output; ends the lab if it fails."""
    command, environment = [sys.executable, "-m", "headwater.cli.main", *arguments], {**os.environ, **CREDENTIALS}
    if status := subprocess.run(command, env=environment, check=False).returncode:  # noqa: S603
        raise SystemExit(status)


@contextmanager
def started(*arguments: str, keep: bool) -> Iterator[None]:
    """A `headwater` command that keeps running; it is ready once it prints its first line."""
    command = [sys.executable, "-m", "headwater.cli.main", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            if process.stdout is None or not process.stdout.readline():
                raise SystemExit(f"headwater {' '.join(arguments)} did not start")
            yield
        finally:
            if not keep:
                process.terminate()


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait up to two minutes for a condition."""
    for _ in range(240):
        if condition():
            print(f"   {what}")
            return
        time.sleep(0.5)
    raise SystemExit(f"timeout after two minutes; expected: {what}")


def say(text: str) -> None:
    """Print the heading of the next step."""
    print(f"── {text}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
