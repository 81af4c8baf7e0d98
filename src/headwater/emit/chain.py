"""The hash chain of one emitter: its epoch, its head, and the files that let the next emitter follow on.

An epoch belongs to one emitter, so several processes of a node never wait for each other. The epoch's head is written
to disk before its events go out. A crash may then lose a signed event, which shows as a gap, but no sequence number is
used twice. A new epoch names the heads of those that have ended, so that even the last events of an epoch cannot be
removed unnoticed.
"""

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from headwater.emit.claim import Claim, orphans
from headwater.signing.chain import Checkpoint, Head, Link
from headwater.signing.facet import payload_hash
from headwater.signing.keys import NodeKey
from headwater.signing.sign import sign_in_chain

MAX_FOLLOWED: Final = 64
"""The most epochs that one epoch names as followed; the next epoch takes the rest."""
MAX_UNSIGNED: Final = 64
"""After this many unsigned events, a signed one should vouch for them."""

_HEAD: Final = "head"
_HEAD_BYTES: Final = 256
"""The head is padded to this size and overwritten in place, so that a full disk already has room for it."""


class _Followed(NamedTuple):
    claim: Claim
    head: Head | None


class Chain:
    """Signs events in the order of the calls, each with the next sequence number. One thread, except for `note`.

    `directory` is shared by the emitters of one node; with None nothing is persisted. `failed` is called with the
    reason when the disk fails: the chain then goes on without it, since lineage is an observer.
    """

    def __init__(self, key: NodeKey, epoch: str, directory: Path | None, failed: Callable[[str], None]) -> None:
        self.key = key
        self.epoch = epoch
        self._directory = directory
        self._failed = failed
        self._sequence = -1
        self._head_hash: str | None = None
        self._recorded = -1
        self._checkpoint: Checkpoint | None = None
        self._unsigned: list[str] = []
        self._has_begun = False
        self._followed: list[_Followed] = []
        self._claim: Claim | None = None
        self._file: int | None = None

    @property
    def unsigned(self) -> int:
        """The number of unsigned events since the last signed one."""
        return len(self._unsigned)

    def note(self, checkpoint: Checkpoint) -> None:
        """Name this checkpoint (`lastCheckpoint`) in events from now on. Any thread may call it."""
        self._checkpoint = checkpoint

    def sign(self, raw: bytes) -> bytes:
        """Sign a run event with the next sequence number; return any other event as it is, to be vouched for later.

        Raises:
            InvalidEventError: as `sign_in_chain`; then no number is used.
        """
        self._begin()
        signed = sign_in_chain(raw, self.key, self._next_link())
        if signed is None:
            self._unsigned.append(payload_hash(raw))
            return raw
        self._sequence += 1
        self._head_hash = signed.payload_hash
        self._unsigned.clear()
        return signed.raw

    def record(self) -> None:
        """Write the epoch's head to disk. To be called before the signed events go out."""
        if self._file is None or self._recorded == self._sequence:
            return
        head = {"epoch": self.epoch, "sequence": self._sequence, "payloadHash": self._head_hash}
        try:
            os.pwrite(self._file, json.dumps(head).encode().ljust(_HEAD_BYTES), 0)
            self._recorded = self._sequence
        except OSError as failure:
            self._failed(f"chain: {failure.strerror}")

    def sync(self) -> bool:
        """Sync the epoch's head to disk; False if that fails. Any thread may call it, before `close`."""
        if self._claim is None or self._file is None:
            return True
        try:
            os.fsync(self._file)
            self._claim.sync()
        except OSError as failure:
            self._failed(f"chain: {failure.strerror}")
            return False
        return True

    def settle(self) -> None:
        """Delete the heads of the followed epochs, once the event that names them is safe."""
        if self._sequence < 0:
            return
        followed, self._followed = self._followed, []
        for each in followed:
            self._guarded(each.claim.remove)

    def close(self) -> None:
        """Leave our head to the next epoch, and the heads that this one could not name."""
        for each in self._followed:
            self._guarded(each.claim.release)
        self._followed.clear()
        if self._file is not None:
            os.close(self._file)
            self._file = None
        if self._claim is not None:
            self._guarded(self._claim.release if self._recorded >= 0 else self._claim.remove)
            self._claim = None

    def _next_link(self) -> Link:
        return Link(
            node_id=self.key.node_id,
            epoch=self.epoch,
            sequence=self._sequence + 1,
            previous_hash=self._head_hash,
            last_checkpoint=self._checkpoint,
            follows=tuple(each.head for each in self._followed if each.head is not None),
            unsigned=tuple(self._unsigned),
        )

    def _begin(self) -> None:
        """Collect the heads of ended epochs, and create the file for our own."""
        if self._has_begun or self._directory is None:
            return
        self._has_begun = True
        self._guarded(partial(self._follow, self._directory))
        self._guarded(partial(self._create_head, self._directory))

    def _follow(self, directory: Path) -> None:
        for claim in orphans(directory):
            if len(self._followed) == MAX_FOLLOWED:
                claim.release()
                break
            self._followed.append(_Followed(claim, _head_in(claim.path / _HEAD)))

    def _create_head(self, directory: Path) -> None:
        self._claim = Claim.create(directory)
        self._file = os.open(self._claim.path / _HEAD, os.O_WRONLY | os.O_CREAT, 0o600)
        os.pwrite(self._file, b" " * _HEAD_BYTES, 0)

    def _guarded(self, act: Callable[[], None]) -> None:
        try:
            act()
        except OSError as failure:
            self._failed(f"chain: {failure.strerror}")


def _head_in(path: Path) -> Head | None:
    """The head in the file; None if there is none, for instance after a power cut."""
    try:
        head = json.loads(path.read_bytes())
        return Head(str(head["epoch"]), int(head["sequence"]), str(head["payloadHash"]))
    except (OSError, ValueError, LookupError, TypeError):
        return None
