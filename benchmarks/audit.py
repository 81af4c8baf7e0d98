"""The time to export and verify a bundle on one core, and the cost of receipts and leaves per event.

    .venv/bin/python benchmarks/audit.py [--events 20000]

Stores signed and chained events of 2 kB in a SQLite file, exports and verifies them as `headwater audit` does, and
prints how long a million would take. For comparison, measured in the same run: Ed25519 alone, by OpenSSL and by
libsodium (which `headwater audit` uses), and the cost of parsing an event with its leaf and without.
"""

import argparse
import gc
import json
import os
import tempfile
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

from nacl.signing import VerifyKey

from headwater.audit.chains import check_chains
from headwater.audit.core import Trust, check_bundle
from headwater.audit.export import ExportRequest, export
from headwater.audit.graph import Folding, check_graph
from headwater.cli.audit_trust import read_event, read_json
from headwater.emit.chain import Chain
from headwater.model.events import parse_event
from headwater.model.nodes import Arrival
from headwater.signing.keys import NodeKey
from headwater.signing.note import NoteSigner
from headwater.store.entries import entry_of
from headwater.store.sqlite import SqliteStore

KEY = NodeKey.from_seed("11111111-1111-1111-1111-111111111111", bytes(32))
LOG = NoteSigner.from_seed("lineage.example.org", bytes(range(32)))
EPOCH = "01a2011d-e5dc-7d03-8f97-97226895efc4"
RECEIVED_US = 1_779_459_800_000_000
PER_TRANSACTION = 128


def main() -> None:
    """Run it and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=20_000)
    count = parser.parse_args().events
    gc.disable()  # as `headwater audit` does
    chain = Chain(KEY, EPOCH, None, print)
    raws = [chain.sign(json.dumps(_event(number)).encode()) for number in range(count)]
    print(f"{count:,} events of {sum(map(len, raws)) // count:,} bytes; CPU microseconds for each")
    _reading(raws[:2_000])
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "headwater.db")
        for begin in range(0, count, PER_TRANSACTION):
            some = raws[begin : begin + PER_TRANSACTION]
            store.add([entry_of(parse_event(raw), "ok", KEY.key_id, RECEIVED_US, os.urandom(16)) for raw in some])
        store.catch_up()
        bundle, request, keys = BytesIO(), ExportRequest(range(count), None, None), {KEY.key_id: KEY.public_key}
        exported = _timed("export", count, lambda: export(store, LOG, keys, request, bundle, lambda done, total: None))
        verified = _timed("verify", count, lambda: _verify(bundle))
        store.close()
    size = len(bundle.getvalue()) // count
    print(f"a million exported and verified: {exported + verified:.0f} s; {size} bytes each in the bundle")


def _verify(bundle: BytesIO) -> None:
    folding = Folding()

    def check(entry: dict[str, Any], raw: bytes) -> None:
        arrival = Arrival(entry["receivedUs"], entry["verdict"], entry["keyId"])
        folding.take(entry["type"], raw, entry["index"], arrival)

    report = check_bundle(bundle, Trust(read_json=read_json, read_event=read_event), check)
    check_graph(bundle, folding, report)
    check_chains(folding.links, report)
    if not report.is_proven:
        raise SystemExit(f"not proven: {report.findings[:3]}")


def _reading(raws: list[bytes]) -> None:
    payload = raws[0]
    signature = KEY.sign(payload)
    _timed("OpenSSL Ed25519", len(raws), lambda: [KEY.public_key.verify(signature, payload) for _ in raws])
    sodium = VerifyKey(KEY.public_key.public_bytes_raw())
    _timed("libsodium Ed25519", len(raws), lambda: [sodium.verify(payload, signature) for _ in raws])
    events = [parse_event(raw) for raw in raws]
    _timed("parse, no leaf", len(raws), lambda: [entry_of(each, "ok", KEY.key_id, 1) for each in events])
    _timed("parse, leaf", len(raws), lambda: [entry_of(each, "ok", KEY.key_id, 1, bytes(16)) for each in events])


def _timed(name: str, count: int, work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    each_us = (time.process_time() - begin) / count * 1e6
    print(f"{name:18}{each_us:8.0f}")
    return each_us


def _event(number: int) -> dict[str, object]:
    def facet(**members: object) -> dict[str, object]:
        return {"_producer": "https://example.org/p", "_schemaURL": "https://example.org/facet.json", **members}

    columns = [{"name": f"column_{each}", "type": "decimal(10,2)"} for each in range(14)]
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-05-22T14:23:11Z",
        "producer": "https://example.org/p",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json",
        "run": {
            "runId": f"0198f7d0-0000-7000-8000-{number:012d}",
            "facets": {"headwater_run": facet(recordsIn=number)},
        },
        "job": {"namespace": "etl", "name": f"job {number % 50}"},
        "inputs": [{"namespace": "lake", "name": f"raw {number % 70}", "facets": {"schema": facet(fields=columns)}}],
        "outputs": [{"namespace": "lake", "name": f"out {number % 50}", "facets": {}}],
    }


if __name__ == "__main__":
    main()
