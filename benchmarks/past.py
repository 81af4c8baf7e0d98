"""What a read of the past costs: the first one, that makes it, and then each read beside the same read of now.

    .venv/bin/python benchmarks/past.py [--events 8000]

Starts a service on an empty home, sends it events of about 10 kB from the load generator of the shared folder
($HEADWATER_SHARED, or ../shared beside the checkout). Each first read is of another time in the last tenth of the log;
the reads after it are `asOf` a time that only the last event is after: so the answers are of equal size.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import httpx
from served import generated, served

READS = ("summary", "namespaces", "jobs?limit=25", "lineage?nodeId={node}&depth=20", "column-lineage?nodeId={node}")
TIMES_EACH = 60


def main() -> None:
    """Run the reads and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=8000, help="in the log (default 8000)")
    count = parser.parse_args().events
    with tempfile.TemporaryDirectory() as home, served(Path(home)) as service:
        measure(httpx.Client(base_url=f"{service.url}/api/v1/", timeout=600), count)


def measure(client: httpx.Client, count: int) -> None:
    """Fill the log, make the past, and compare reads of it with reads of now."""
    events = list(generated(["--events", str(count)]))
    for event in events:
        client.post("lineage", content=event).raise_for_status()
    times = sorted({json.loads(event)["eventTime"] for event in events})
    output = next(name for event in events[::-1] for name in json.loads(event).get("outputs", ()))
    node = f"dataset:{output['namespace']}:{output['name']}"
    firsts = [_took_ms(client, READS[3].format(node=node), times[-each]) for each in range(2, len(times) // 10, 7)]
    print(
        f"lineage, first read of {len(firsts)} pasts: {statistics.median(firsts):.1f} ms p50, {max(firsts):.1f} at most"
    )
    begin = time.perf_counter()
    client.get("summary", params={"logSize": count - 1}).raise_for_status()
    took = time.perf_counter() - begin
    print(f"replay of {count} events: {took:.1f} s, {count / took:.0f} events/s")
    past = {"asOf": times[-2]}
    print(f"{'p50 ms':40}{'now':>8}{'asOf':>8}{'ratio':>8}")
    for read in READS:
        path = read.format(node=node)
        now, then = _p50_ms(client, path, {}), _p50_ms(client, path, past)
        print(f"{read:40}{now:8.2f}{then:8.2f}{then / now:8.2f}")


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
