"""The time of `headwater verify` for a file of signed events, on one core.

    .venv/bin/python benchmarks/verify.py [--events 100000]

Prints the time, compared with the budget (60 s for 100,000 events of 2 kB) and with Ed25519 alone; and the cost of an
event that is unchanged since it was sent (the fast path), and of one reformatted by another program (the slow path).
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from headwater.signing.canonical import canonical
from headwater.signing.jwks import write_jwks
from headwater.signing.keys import NodeKey
from headwater.signing.sign import sign_event
from headwater.signing.verify import Claim, verify_event

EVENT_BYTES: Final = 2_000
BUDGET_S: Final = 60.0
BUDGET_EVENTS: Final = 100_000
SAMPLE: Final = 2_000
ROUNDS: Final = 5
VERIFY: Final = (sys.executable, "-c", "import typer; from headwater.cli.verify import verify; typer.run(verify)")

KEY: Final = NodeKey.from_seed("00000000-0000-4000-8000-000000000000", bytes(range(32)))
TRUSTED: Final = {KEY.key_id: KEY.public_key}


def event_of_run(number: int) -> bytes:
    """A unique event like a pipeline's, of about `EVENT_BYTES` once signed."""
    producer = "https://headwater.dev/producer/benchmark"
    facet = {"_producer": producer, "_schemaURL": "https://openlineage.io/spec/facets/1-1-1/SchemaDatasetFacet.json"}
    fields = [{"name": f"column_{column}", "type": "decimal(10,2)"} for column in range(16)]
    statistics_facet = {**facet, "rowCount": number, "size": number * 97}
    event = {
        "eventType": "RUNNING",
        "eventTime": "2026-05-22T14:23:11.123456Z",
        "producer": producer,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": f"0198f7d0-1111-7222-8333-{number:012d}", "facets": {"headwater_run": statistics_facet}},
        "job": {"namespace": "production", "name": "enrich-flights"},
        "inputs": [{"namespace": "file:///lake", "name": "raw.flights", "facets": {}}],
        "outputs": [
            {"namespace": "file:///lake", "name": "flights", "facets": {"schema": {**facet, "fields": fields}}}
        ],
    }
    return json.dumps(event).encode()


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--events", type=int, default=BUDGET_EVENTS)
    count = options.parse_args().events
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # children inherit it
    sample = [event_of_run(number) for number in range(min(count, SAMPLE))]
    with tempfile.TemporaryDirectory() as folder:
        took_s, cpu_s, megabytes = _command(count, Path(folder))
    budget_s, cpu_us = BUDGET_S * count / BUDGET_EVENTS, cpu_s / count * 1e6
    signature_us, fast_us, slow_us = _alone(sample)
    print(f"headwater verify  {count:,} events, {megabytes:.0f} MB: {took_s:.1f} s on one core ({cpu_s:.1f} s of CPU)")
    print(f"budget            {budget_s:.1f} s, of which {took_s / budget_s:.0%} is used")
    print(f"an event          {cpu_us:.0f} µs of CPU, {cpu_us / signature_us:.2f} x Ed25519 alone")
    print(f"Ed25519 alone     {signature_us:.0f} µs")
    print(f"the fast path     {fast_us:.0f} µs, {fast_us / signature_us:.2f} x Ed25519 alone")
    print(f"the slow path     {slow_us:.0f} µs, {slow_us / signature_us:.2f} x Ed25519 alone")
    if took_s > budget_s:
        sys.exit("over budget")


def _command(count: int, folder: Path) -> tuple[float, float, float]:
    """Run the command over `count` events; returns seconds, seconds of CPU, and the file's megabytes."""
    keys, file = folder / "keys.jwks", folder / "events.jsonl"
    keys.write_text(write_jwks(TRUSTED))
    with file.open("wb") as lines:
        lines.writelines(sign_event(event_of_run(number), KEY) + b"\n" for number in range(count))
    begin = time.perf_counter()
    subprocess.run([*VERIFY, str(file), "--keys", str(keys), "--json"], check=True, stdout=subprocess.DEVNULL)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - begin, used.ru_utime + used.ru_stime, file.stat().st_size / 1e6


def _alone(sample: list[bytes]) -> tuple[float, float, float]:
    """CPU microseconds per event of the signature alone, of the fast path, and of the slow path."""
    payloads = [canonical(event) for event in sample]
    signed = [(KEY.sign(payload), payload) for payload in payloads]
    as_sent = [_read(sign_event(event, KEY)) for event in sample]
    rewritten = [_read(json.dumps(json.loads(event), indent=1).encode()) for event, _ in as_sent]
    return (
        _median_us(lambda: [KEY.public_key.verify(*pair) for pair in signed], len(sample)),
        _median_us(lambda: _verify_all(as_sent), len(sample)),
        _median_us(lambda: _verify_all(rewritten), len(sample)),
    )


def _read(event: bytes) -> tuple[bytes, Claim]:
    """An event, and the claim that a service extracts from it before it verifies it."""
    body, name = json.loads(event), b'"signature":'
    return event, Claim(body["run"]["facets"]["signature"], body["producer"], event.index(name) + len(name))


def _verify_all(events: list[tuple[bytes, Claim]]) -> None:
    for event, claim in events:
        if verify_event(event, TRUSTED, claim).verdict != "ok":
            sys.exit("a signed event does not verify")


def _median_us(work: Callable[[], object], events: int) -> float:
    took_s = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        work()
        took_s.append(time.process_time() - begin)
    return statistics.median(took_s) / events * 1e6


if __name__ == "__main__":
    main()
