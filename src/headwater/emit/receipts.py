"""Receipts of one service: requested now and then, checked, and the newest kept on disk.

A receipt proves that an event is in the service's log under a head that the service signed. The emitter's next events
name that head (`lastCheckpoint`), so a service that later shows another log is caught by the node's own chain. That the
inclusion proof leads to the head is checked here. The head's signature is checked by the log's key if the node has
pinned that, and else left to an auditor.
"""

import json
import logging
import secrets
import time
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Final

from headwater.emit.log_keys import PinnedKey
from headwater.errors import UntrustedNoteError
from headwater.model.digest import hash_of
from headwater.model.words import so_many
from headwater.signing.chain import Checkpoint
from headwater.signing.checkpoint import parse_checkpoint
from headwater.signing.merkle import is_included
from headwater.signing.note import parse_note
from headwater.signing.witness import opened

log = logging.getLogger(__name__)

ASK_EVERY_S: Final = 10.0
"""Receipts are requested this rarely since they make answers larger, and one head covers all earlier events."""


class Receipts:
    """The newest receipt of a service, kept at `path`; `note` is called with each newer checkpoint.

    `failed` is called with the reason why a receipt was rejected or not written; `mended` with that reason once one
    was accepted. With a `log_key`, a head that it did not sign is rejected.

    Used by one thread at a time, once constructed.
    """

    def __init__(
        self,
        path: Path | None,
        note: Callable[[Checkpoint], None],
        failed: Callable[[str], None],
        mended: Callable[[str], None] = lambda _: None,
        monotonic: Callable[[], float] = time.monotonic,
        log_key: PinnedKey | None = None,
    ) -> None:
        self._path = path
        self._log_key = log_key
        self._unfinished = secrets.token_hex(8)
        """A temporary name of our own: several emitters of one process may write the same service's receipt."""
        self._note = note
        self._tell_failed = failed
        self._tell_mended = mended
        self._why: str | None = None
        self._monotonic = monotonic
        self._asked_at: float | None = None
        self._newest: Checkpoint | None = None
        self._load()

    @property
    def is_due(self) -> bool:
        """Whether the next post should ask for a receipt."""
        return self._asked_at is None or self._monotonic() - self._asked_at >= ASK_EVERY_S

    def take(self, receipt: object) -> None:
        """Keep the receipt of an answer if its proof holds; never raises.

        `receipt` is None if the service gave none: it is asked again later.
        """
        self._asked_at = self._monotonic()
        if receipt is None:
            return
        try:
            checkpoint = _checked(receipt, self._log_key)
        except (UntrustedNoteError, ValueError) as fault:
            self._refuse(str(fault))
            return
        if (contradiction := _contradiction(self._newest, checkpoint)) is not None:
            self._refuse(contradiction)
            return
        self._newest = checkpoint
        self._note(checkpoint)
        self._mend()
        self._keep(receipt)

    def _refuse(self, why: str) -> None:
        self._failed(f"receipt: {why}")
        details = {"why": why}
        log.warning("rejected a lineage receipt: %(why)s", details, extra=details)

    def _failed(self, why: str) -> None:
        self._why = why
        self._tell_failed(why)

    def _mend(self) -> None:
        if self._why is not None:
            self._tell_mended(self._why)
            self._why = None

    def _load(self) -> None:
        if self._path is None or not self._path.exists():
            return
        try:
            receipt = json.loads(self._path.read_bytes())
            _checked(receipt, None)
        except (OSError, ValueError, UntrustedNoteError):
            self._failed("receipt: cannot read the saved receipt file")
            return
        try:
            self._newest = _checked(receipt, self._log_key)
            self._note(self._newest)
        except UntrustedNoteError as fault:
            self._refuse(f"the saved one: {fault}")

    def _keep(self, receipt: object) -> None:
        if self._path is None:
            return
        unfinished = self._path.with_name(f"{self._path.name}.{self._unfinished}")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            unfinished.write_text(json.dumps(receipt))
            unfinished.replace(self._path)
        except OSError as failure:
            self._failed(f"receipt: {failure.strerror}")


def _contradiction(known: Checkpoint | None, newer: Checkpoint) -> str | None:
    """How two heads, the newest so far and one that came later, show that they are not of one log that only grows."""
    if known is None or known.origin != newer.origin or newer.size > known.size:
        return None
    if newer.size < known.size:
        return f"the log {known.origin} had {so_many(known.size, 'entry')} and now has {newer.size}"
    if newer.root_hash != known.root_hash:
        return f"the log {known.origin} shows another head over {so_many(known.size, 'entry')} than before"
    return None


def _checked(receipt: object, log_key: PinnedKey | None) -> Checkpoint:
    """The head that the receipt's proof leads to.

    Raises:
        UntrustedNoteError: it is not a receipt, its proof does not lead to its head, or the log did not sign that.
        ValueError: a hash cannot be decoded.
    """
    match receipt:
        case {"index": int(index), "leafHash": str(leaf_hash), "checkpoint": str(note), "inclusionProof": [*hashes]}:
            head = parse_checkpoint(parse_note(note).text)
        case _:
            raise UntrustedNoteError("a member of the receipt is missing")
    leaf = hash_of(leaf_hash)
    proof = [b64decode(str(each), validate=True) for each in hashes]
    if leaf is None or not is_included(leaf, index, head.size, proof, head.root):
        raise UntrustedNoteError("the proof does not lead to the checkpoint")
    if log_key is not None:
        _check_signature(note, log_key)
    _, _, root_hash, *_ = note.split("\n")
    return Checkpoint(head.origin, head.size, root_hash)


def _check_signature(note: str, log_key: PinnedKey) -> None:
    """Check that the pinned key signed the head.

    Raises:
        UntrustedNoteError: it did not, or it cannot be read.
    """
    key, where = log_key
    if key is None:
        raise UntrustedNoteError(f"the log's key in {where} cannot be read: expected NAME+HASH+KEY")
    try:
        opened(note, key)
    except UntrustedNoteError as fault:
        name = f"{key.name}+{key.key_hash.hex()}"
        raise UntrustedNoteError(f"its head is not signed by {name}, the log's key in {where}") from fault
