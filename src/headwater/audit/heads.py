"""Checks the checkpoints that nodes name in what they sign: did this log ever have them?

An emitter keeps the receipt of what it sent, and names its checkpoint (`lastCheckpoint`) in what it signs from then on.
So whoever drops an entry and rewrites the log, checkpoints included, is contradicted by later events, whose signatures
they cannot forge.

An emitter does not know the log's key, so whoever stands between it and the service can hand it a forged receipt. That
looks the same here: the checkpoint is named without its signature. It stays a finding, or a service could hand out
badly signed receipts and rewrite its log later; the node's saved receipt, which has the signature, decides.
"""

from base64 import b64encode
from collections import Counter
from typing import Any, Final, NamedTuple

import msgspec

from headwater.audit.core import Report
from headwater.model.strict_json import may_contain
from headwater.model.words import so_many


class _Checkpoint(msgspec.Struct, frozen=True, rename="camel"):
    origin: str
    size: int
    root_hash: str


class _Chain(msgspec.Struct, rename="camel"):
    last_checkpoint: _Checkpoint | None = None


class _Facets(msgspec.Struct):
    headwater_chain: _Chain | None = None


class _Run(msgspec.Struct):
    facets: _Facets


class _Event(msgspec.Struct):
    run: _Run


_WHY: Final = "the log was rewritten since, unless somebody forged the node's receipt on its way"
_read: Final = msgspec.json.Decoder(_Event).decode


class _Naming(NamedTuple):
    entry: int
    key_id: str | None


class NamedHeads:
    """Collects the named checkpoints from the entries of a bundle."""

    def __init__(self) -> None:
        self._first: dict[_Checkpoint, _Naming] = {}

    def take(self, entry: dict[str, Any], raw: bytes) -> None:
        """Take in an entry; unsigned events name nothing."""
        if entry["verdict"] != "ok" or not may_contain(raw, "lastCheckpoint"):
            return
        try:
            chain = _read(raw).run.facets.headwater_chain
        except (msgspec.MsgspecError, RecursionError):
            return  # another form, or erased
        if chain is not None and chain.last_checkpoint is not None:
            self._first.setdefault(chain.last_checkpoint, _Naming(entry["index"], entry["keyId"]))

    def check(self, report: Report) -> None:
        """Compare them with the entries' root hashes; a checkpoint that this log never had is a finding."""
        ours = {named: by for named, by in self._first.items() if named.origin == report.head.origin}
        heads = report.tree.heads({named.size for named in ours})
        counts = Counter[str]()
        for named, by in ours.items():
            if named.size > by.entry:
                came = f"when that arrived, the log had {by.entry:,}"
                report.find("head", by.entry, f"{_claim(named, by)}, and {came}: {_WHY}")
            elif named.size not in heads:
                counts["unknown"] += 1
            elif named.root_hash != b64encode(heads[named.size]).decode():
                report.find("head", by.entry, f"{_claim(named, by)} that is not this log's: {_WHY}")
            else:
                counts["good"] += 1
        if counts["good"] and not report.found["head"]:
            report.checked.append(
                f"head: {so_many(counts['good'], 'head')} that nodes named when they signed belonged to this log"
            )
        if counts["unknown"]:
            report.not_known.append(
                f"whether {so_many(counts['unknown'], 'head')} that nodes named when they signed belonged to this log: "
                "they cover fewer entries than precede these"
            )
        if others := len(self._first) - len(ours):
            report.not_known.append(
                f"whether {so_many(others, 'head')} that nodes named belonged to logs of other names"
            )


def _claim(named: _Checkpoint, by: _Naming) -> str:
    return f"{by.key_id!r} signed that it was shown a head over {so_many(named.size, 'entry')}"
