"""Play the whole lab: start it, let orders flow, break it, and show what the lineage service knows.

python labs/01-kafka-connect/play.py           # ends with everything stopped
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
# The lab's S3 and Glue take any; Spark wants to be given some.
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "lab", "AWS_SECRET_ACCESS_KEY": "lab"}


def configuration(connector: str, registry: str = REGISTRY, s3: str = S3, **changes: str) -> dict[str, str]:
    """A connector's configuration from its file, with the lab's addresses and some changes: `tasks_max="1"`."""
    text = (HERE / "connectors" / f"{connector}.json").read_text()
    read: dict[str, str] = json.loads(text.replace(REGISTRY, registry).replace(S3, s3))
    return read | {key.replace("_", "."): value for key, value in changes.items()}


def make_buckets(s3: str = S3) -> None:
    """The buckets that the connectors write to."""
    for bucket in ("archive", "lake"):
        httpx.put(f"{s3}/{bucket}", timeout=30).raise_for_status()


def ask_connect(method: str, path: str, body: object = None, connect: str = CONNECT) -> Any:  # noqa: ANN401  any JSON
    """Call Connect's REST API; while the worker is changing its mind on who does what, it is asked again."""
    for _ in range(60):
        answer = httpx.request(method, f"{connect}/connectors{path}", json=body, timeout=60)
        if answer.status_code != httpx.codes.CONFLICT:
            break
        time.sleep(0.5)
    answer.raise_for_status()
    return answer.json() if answer.content else None


def main() -> None:
    """Play all steps, in their order."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--keep", action="store_true", help="leave everything running")
    keep = asked.parse_args().keep
    with ExitStack() as running:
        say("the lab, the lineage service and the watchers")
        headwater("lab", "up", "kafka")
        if not keep:
            running.callback(headwater, "lab", "down")
        running.enter_context(started("serve", keep=keep))
        running.enter_context(started("watch", "connect", "--bootstrap", BROKER, keep=keep))
        running.enter_context(started("watch", "registry", "--url", SUBJECTS, "--bootstrap", BROKER, keep=keep))
        make_buckets()
        let_flow()
        say("Spark reads the table that the sink writes, and makes two more of it")
        headwater("run", str(HERE / "orders.yaml"))
        headwater("trace", "lake.sales.suppliers:turnover")
        break_it()
        say("Spark once more: what is different from the run before?")
        headwater("run", str(HERE / "orders.yaml"))
        headwater("drift")
        headwater("root-cause", "lake.sales.suppliers")
        if keep:
            say(f"all goes on; look at {SERVICE}, and end it with `headwater lab down` and Ctrl-C in this group")


def let_flow() -> None:
    """A source, then what reads from its topics."""
    say("a source of three tasks")
    ask_connect("PUT", "/auction/config", configuration("auction"))
    until(lambda: states("auction") == ["RUNNING"] * 4, "all tasks run")
    time.sleep(5)
    for sink in ("archive", "lake"):
        say(f"a sink of two tasks: {sink}")
        ask_connect("PUT", f"/{sink}/config", configuration(sink))
    until(lambda: runs("lake") == ["RUNNING"], "the service knows of the last of them")
    time.sleep(10)  # the table is there with the first commit


def break_it() -> None:
    """What a connector can go through, and what becomes of its runs."""
    say("a pause ends nothing")
    ask_connect("PUT", "/auction/pause")
    ask_connect("PUT", "/auction/resume")
    say("one task of three fails: the run goes on, and says so")
    ask_connect("PUT", "/auction/config", configuration("auction", fail_task="1"))
    until(lambda: "FAILED" in states("auction"), "a task failed")
    for version in ("2", "3"):
        say(f"version {version} of the schema of orders")
        ask_connect("PUT", "/auction/config", configuration("auction", schema_version=version))
        time.sleep(10)
    say("a version that the registry refuses: the run fails, with the reason")
    ask_connect("PUT", "/auction/config", configuration("auction", schema_version="4"))
    until(lambda: "FAILED" in runs("auction"), "the service knows of the failure")
    say("mended: another run")
    ask_connect("PUT", "/auction/config", configuration("auction", schema_version="3"))
    until(lambda: runs("auction").count("RUNNING") == 1, "it runs again")
    say("stopped, and started again: another run, too")
    ask_connect("PUT", "/archive/stop")
    until(lambda: runs("archive") == ["ABORTED"], "the run was aborted")
    ask_connect("PUT", "/archive/resume")
    until(lambda: "RUNNING" in runs("archive"), "it runs again")
    say("the worker is killed: half a minute later its connectors' runs have failed")
    kill_the_worker()
    until(lambda: runs("archive")[:1] == ["FAILED"], "the service knows that the workers are lost")
    headwater("lab", "up", "kafka")
    until(lambda: runs("archive")[:1] == ["RUNNING"], "they go on, as new runs")
    say("deleted, and created again with one topic of two")
    ask_connect("DELETE", "/archive")
    until(lambda: runs("archive")[:1] == ["ABORTED"], "the run was aborted")
    ask_connect("PUT", "/archive/config", configuration("archive", topics="orders"))
    until(lambda: runs("archive")[:1] == ["RUNNING"], "another run, which has nothing of the old one")


def kill_the_worker() -> None:
    """As a machine that fails would: it says nothing."""
    command = [sys.executable, "-m", "headwater.cli.main", "lab", "status", "--json"]
    told = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)  # noqa: S603
    for pid in (pid for part in told if part["name"] == "connect" for pid in part["pids"]):
        os.kill(pid, signal.SIGKILL)


def states(connector: str) -> list[str]:
    """The states of a connector and its tasks, as Connect tells them."""
    told = ask_connect("GET", f"/{connector}/status")
    return [told["connector"]["state"], *(task["state"] for task in told["tasks"])]


def runs(connector: str) -> list[str]:
    """The states of a connector's runs, newest first, as the lineage service tells them."""
    answer = httpx.get(f"{SERVICE}/api/v1/namespaces/kafka-connect/jobs/{connector}/runs", timeout=30)
    return [run["state"] for run in answer.json()["runs"]] if answer.is_success else []


def headwater(*arguments: str) -> None:
    """Run a command of ours, and show what it prints."""
    environment = {**os.environ, **CREDENTIALS}
    subprocess.run([sys.executable, "-m", "headwater.cli.main", *arguments], env=environment, check=True)  # noqa: S603


@contextmanager
def started(*arguments: str, keep: bool) -> Iterator[None]:
    """A command of ours that goes on; it is ready when it has printed its first line."""
    command = [sys.executable, "-m", "headwater.cli.main", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            if process.stdout is None or not process.stdout.readline():
                raise SystemExit(f"headwater {' '.join(arguments)} did not start")
            yield
        finally:
            if not keep:
                process.terminate()


def until(is_so: Callable[[], bool], what: str) -> None:
    """Wait for something, two minutes at most."""
    for _ in range(240):
        if is_so():
            print(f"   {what}")
            return
        time.sleep(0.5)
    raise SystemExit(f"two minutes, and still not: {what}")


def say(text: str) -> None:
    """Say what comes next."""
    print(f"── {text}", flush=True)


if __name__ == "__main__":
    main()
