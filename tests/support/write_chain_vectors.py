"""Write test vectors of a node's chain, without the package: chained events, and what is missing if some are.

The canonical form comes from `slow_canonical`, keys and signatures from the `openssl` command; the problems expected
in the records are written by hand.

    .venv/bin/python -m tests.support.write_chain_vectors > conformance/chain.json
"""

import base64
import hashlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.support.openssl_key import OpensslKey
from tests.support.signature_vectors import NODE_ID
from tests.support.slow_canonical import slow_canonical

_SEED = hashlib.sha256(b"a key for chain vectors only").digest()
_FACETS = "https://headwater.dev/spec/facets/1-0-0"
_PRODUCER = "https://example.org/producer"
_E1, _E2 = "018f0000-0000-7000-8000-000000000001", "018f0000-0000-7000-8000-000000000002"
_CHECKPOINT = {"origin": "example.org/log", "size": 7, "rootHash": base64.b64encode(bytes(32)).decode()}
_UNSIGNED = '{"dataset":{"namespace":"n","name":"d"},"producer":"https://example.org/producer"}'

_RECORDS: list[dict[str, Any]] = [
    {"id": "whole", "events": ["0", "1", "2", "next"], "expect": []},
    {"id": "any order", "events": ["next", "2", "0", "1"], "expect": []},
    {"id": "one is missing", "events": ["0", "2", "next"], "expect": [["hole", _E1, 1, 1, 1]]},
    {"id": "the end is missing", "events": ["0", "next"], "expect": [["hole", _E1, 2, 1, 2]]},
    {"id": "an epoch is missing", "events": ["next"], "expect": [["hole", _E1, 3, 0, 2]]},
    {"id": "two for one place", "events": ["0", "1", "1 forked", "2"], "expect": [["fork", _E1, 2, 1, 1]]},
    {"id": "one is replaced", "events": ["0", "1 forked", "2"], "expect": [["broken", _E1, 1, 2, 2]]},
]


def chain_vectors(folder: Path) -> dict[str, Any]:
    """Create the vectors; `folder` is for the files that `openssl` reads."""
    key = OpensslKey.from_seed(_SEED, folder)
    first = _vector("0", _E1, 0, None, key)
    second = _vector("1", _E1, 1, first["payloadHash"], key, lastCheckpoint=_CHECKPOINT)
    forked = _vector("1 forked", _E1, 1, first["payloadHash"], key, event_type="OTHER")
    vouched: dict[str, Any] = {"unsigned": [_hash(_UNSIGNED.encode())]}
    third = _vector("2", _E1, 2, second["payloadHash"], key, **vouched)
    follows: dict[str, Any] = {"follows": [{"epoch": _E1, "sequence": 2, "payloadHash": third["payloadHash"]}]}
    after = _vector("next", _E2, 0, None, key, **follows)
    return {
        "description": "A node's chain. Written by tests/support/write_chain_vectors.py. Test keys only.",
        "nodeId": NODE_ID,
        "privateSeedHex": _SEED.hex(),
        "vectors": [first, second, forked, third, after],
        "records": _RECORDS,
    }


def _vector(
    name: str,
    epoch: str,
    sequence: int,
    previous: str | None,
    key: OpensslKey,
    event_type: str = "RUNNING",
    **rest: object,
) -> dict[str, Any]:
    event = {
        "eventType": event_type,
        "eventTime": "2026-05-22T14:23:11Z",
        "producer": _PRODUCER,
        "run": {"runId": "0198f7d0-1111-7222-8333-444455556666", "facets": {"a": {"z": 1.5}}},
        "job": {"namespace": "production", "name": "orders <b>"},
    }
    facet = {
        "_producer": _PRODUCER,
        "_schemaURL": f"{_FACETS}/headwater_chain.json",
        "nodeId": NODE_ID,
        "epoch": epoch,
        "sequence": sequence,
        "previousHash": previous,
        "lastCheckpoint": None,
        **rest,
    }
    unsigned = json.loads(json.dumps(event))
    unsigned["run"]["facets"]["headwater_chain"] = facet
    payload = slow_canonical(json.dumps(unsigned).encode())
    unsigned["run"]["facets"]["signature"] = {
        "_producer": _PRODUCER,
        "_schemaURL": f"{_FACETS}/SignatureRunFacet.json",
        "algorithm": "Ed25519",
        "keyId": f"node:{NODE_ID}#sha256:{_fingerprint(key)}",
        "payloadHash": _hash(payload),
        "signature": base64.b64encode(key.sign(payload)).decode(),
    }
    signed = slow_canonical(json.dumps(unsigned).encode()).decode()
    return {
        "id": name,
        "event": json.dumps(event),
        "facet": facet,
        "signedEvent": signed,
        "payloadHash": _hash(payload),
    }


def _hash(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _fingerprint(key: OpensslKey) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(key.public).digest()).rstrip(b"=").decode()


def main() -> None:
    """Write the vectors to standard output."""
    with tempfile.TemporaryDirectory() as folder:
        json.dump(chain_vectors(Path(folder)), sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
