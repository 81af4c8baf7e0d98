"""What a read of the past costs: the first one of a time, and each one after it, beside the same read of now.

    .venv/bin/python benchmarks/past.py [--events 8000] [--started-anew]

Starts a service on an empty home, sends it events of about 10 kB from the load generator of the shared folder
($HEADWATER_SHARED, or ../shared beside the checkout), and waits until it has rendered what it knows. Each first read is
of another time in the last tenth of the log; the reads after it are `asOf` a time that only the last event is after: so
the answers are of equal size.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
from served import Served, generated, served

READS = (
    "lineage?nodeId={node}&depth=20",
    "column-lineage?nodeId={node}",
    "impact?nodeId={node}",
    "identity?nodeId={node}",
    "search?q=tbl_0001&limit=25",
    "{dataset}",
    "{job}",
    "jobs?limit=25",
    "namespaces",
    "summary",
)
TIMES_EACH = 60
SETTLED_S = 60.0


def main() -> None:
    """Run the reads and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=8000, help="in the log (default 8000)")
    parser.add_argument("--started-anew", action="store_true", help="read from a service that was started after them")
    options = parser.parse_args()
    events = list(generated(["--events", str(options.events)]))
    with tempfile.TemporaryDirectory() as home, ExitStack() as serving:
        service = serving.enter_context(served(Path(home)))
        with _client(service) as client:
            for event in events:
                client.post("lineage", content=event).raise_for_status()
        if options.started_anew:
            serving.close()
            service = serving.enter_context(served(Path(home)))
        service.settle(SETTLED_S)
        with _client(service) as client:
            measure(client, [json.loads(event) for event in events])


def _client(service: Served) -> httpx.Client:
    return httpx.Client(base_url=f"{service.url}/api/v1/", timeout=600)


def measure(client: httpx.Client, events: Sequence[Mapping[str, Any]]) -> None:
    """Compare reads of pasts with reads of now; then replay one."""
    times = sorted({event["eventTime"] for event in events})
    known = [event for event in events if event["eventTime"] <= times[-len(times) // 10]]  # in every past that is read
    job, output = next((event["job"], name) for event in known[::-1] for name in event.get("outputs", ()))
    paths = {
        "node": f"dataset:{output['namespace']}:{output['name']}",
        "dataset": _path("datasets", output),
        "job": _path("jobs", job),
    }
    print(f"{'ms':32}{'now p50':>9}{'first p50':>11}{'ratio':>7}{'at most':>9}{'again p50':>11}{'ratio':>7}")
    for number, read in enumerate(READS):
        path = read.format_map(paths)
        now = _p50_ms(client, path, {})
        mine = range(2 + number, len(times) // 10, 2 * len(READS))
        firsts = [_took_ms(client, path, times[-each]) for each in mine]
        first, again = statistics.median(firsts), _p50_ms(client, path, {"asOf": times[-2]})
        ratios = f"{first:11.1f}{first / now:7.1f}{max(firsts):9.1f}{again:11.1f}{again / now:7.1f}"
        print(f"{read:32}{now:9.1f}{ratios}")
    begin = time.perf_counter()
    client.get("summary", params={"logSize": len(events) - 1}).raise_for_status()
    took = time.perf_counter() - begin
    print(f"replay of {len(events)} events: {took:.1f} s, {len(events) / took:.0f} events/s")


def _path(kind: str, name: Mapping[str, str]) -> str:
    return f"namespaces/{quote(name['namespace'], safe='')}/{kind}/{quote(name['name'], safe='')}"


def _took_ms(client: httpx.Client, path: str, as_of: str) -> float:
    begin = time.perf_counter()
    client.get(client.base_url.join(path).copy_merge_params({"asOf": as_of})).raise_for_status()
    return (time.perf_counter() - begin) * 1000


def _p50_ms(client: httpx.Client, path: str, params: Mapping[str, str]) -> float:
    took = []
    url = client.base_url.join(path).copy_merge_params(params)
    for _ in range(TIMES_EACH):
        begin = time.perf_counter()
        client.get(url).raise_for_status()
        took.append((time.perf_counter() - begin) * 1000)
    return statistics.median(took)


if __name__ == "__main__":
    main()
