"""Witnesses' co-signatures of the log's checkpoints: stored, and added to checkpoints on request.

A co-signature is accepted only on a checkpoint of this log and from an enrolled witness, so nobody can fill the file.
The newest are kept in a file beside the keys, not in the log: an entry for each would grow the log, and give it a new
head that no witness has signed.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from headwater.errors import (
    HeadwaterError,
    InvalidInputError,
    NotFoundError,
    SetupError,
    UntrustedEventError,
    UntrustedNoteError,
)
from headwater.model.words import so_many
from headwater.service.log.own_head import OWN_HEAD, save_newer_head
from headwater.signing.checkpoint import Checkpoint, parse_checkpoint
from headwater.signing.note import (
    COSIGNATURE,
    Note,
    NoteSigner,
    NoteVerifier,
    is_signed_by,
    parse_note,
    parse_verifier,
    signed_note,
)
from headwater.signing.secretfile import write_whole
from headwater.store.tree import ReadTree

log = logging.getLogger(__name__)

KEPT_HEADS: Final = 64
NOTE_LIMIT: Final = 64 * 1024
"""Limit on a note in bytes; a hundred signatures are 20 kB."""


class Enrolled(NamedTuple):
    """The witnesses whose co-signatures are stored, and the file for them; without one they are kept in memory only."""

    witnesses: Sequence[NoteVerifier] = ()
    file: Path | None = None


def enrolled_witnesses(home: Path) -> Enrolled:
    """The witnesses in `keys/witnesses`: a key a line, as `headwater witness` prints its own; `#` begins a comment.

    Raises:
        SetupError: the file cannot be read, or a line is no witness's key.
    """
    path = home / "keys" / "witnesses"
    try:
        lines = path.read_text().splitlines() if path.exists() else []
    except (OSError, UnicodeDecodeError) as fault:
        raise SetupError(f"cannot read {path}: {fault}") from fault
    lines_by_number = {number: line.strip() for number, line in enumerate(lines, 1)}
    keys = [
        _witness(f"{path}:{number}", line)
        for number, line in lines_by_number.items()
        if line and not line.startswith("#")
    ]
    return Enrolled(keys, home / "witness" / "cosignatures.json")


def _witness(where: str, line: str) -> NoteVerifier:
    try:
        witness = parse_verifier(line)
    except InvalidInputError as fault:
        raise SetupError(f"{where}: {fault}") from fault
    if witness.kind != COSIGNATURE:
        raise SetupError(f"{where}: {witness.name} is a log's key; expected a witness's, as `headwater witness` prints")
    return witness


class Cosignatures:
    """Co-signatures by size of the checkpoint and witness. For the event loop's thread."""

    def __init__(self, tree: ReadTree, signer: NoteSigner, enrolled: Enrolled) -> None:
        """Read the file; `load` takes what counts.

        Raises:
            SetupError: the file is damaged.
        """
        self._tree = tree
        self._signer = signer
        self._witnesses = {str(witness): witness for witness in enrolled.witnesses}
        self._file = enrolled.file
        self._in_file = _read(enrolled.file)
        self._stored: dict[int, dict[str, str]] = {}

    def load(self) -> None:
        """Take the stored co-signatures of this log's heads by witnesses that are still enrolled."""
        for size, lines in self._in_file.items():
            good = self._good(size, lines)
            if good:
                self._stored[size] = good
            elif self._witnesses:
                log.warning(
                    "a stored co-signature does not match this log: was the database replaced?", extra={"size": size}
                )

    def take(self, note: bytes) -> str:
        """Store enrolled witnesses' signatures of a checkpoint; returns it with all known signatures.

        Returns when it is on disk.

        Raises:
            InvalidInputError: it is not a note, or not a head of this log.
            UntrustedNoteError: a signature of an enrolled witness is bad.
            UntrustedEventError: no enrolled witness signed it.
        """
        read, head = _read_note(note)
        if not self._is_ours(head, read.text):
            raise InvalidInputError(f"checkpoint: this log never had this head over {so_many(head.size, 'entry')}")
        lines = self._signed_by(read)
        if not lines:
            raise UntrustedEventError("checkpoint: not signed by any enrolled witness (keys/witnesses)")
        stored = {**self._stored, head.size: {**self._stored.get(head.size, {}), **lines}}
        newest = {size: stored[size] for size in sorted(stored)[-KEPT_HEADS:]}
        self._write(newest)
        self._stored = newest
        self._save_newer(head)
        return self.note(head)

    def save_head(self) -> None:
        """Save the log's current head beside the file; a database that is away is only logged."""
        try:
            self._save_newer(self._head(self._tree.size()))
        except HeadwaterError as fault:
            log.warning("cannot save the head of the log", extra={"why": str(fault)})

    def note(self, head: Checkpoint) -> str:
        """The checkpoint, signed by the log and by its witnesses."""
        return signed_note(head.text, [self._signer.line(head.text), *self._stored.get(head.size, {}).values()])

    @property
    def witnessed_size(self) -> int:
        """The size of the newest checkpoint that a witness signed; 0 if there is none."""
        return max(self._stored, default=0)

    def newest(self, witnesses: int) -> str:
        """The newest checkpoint with so many witnesses' signatures.

        Raises:
            NotFoundError: there is none.
        """
        sizes = [size for size, lines in self._stored.items() if len(lines) >= witnesses]
        if not sizes:
            raise NotFoundError(f"no stored head is signed by {witnesses} of {len(self._witnesses)} enrolled witnesses")
        return self.note(self._head(max(sizes)))

    def _head(self, size: int) -> Checkpoint:
        return Checkpoint(self._signer.verifier.name, size, self._tree.frontier(size).root)

    def _is_ours(self, head: Checkpoint, text: str) -> bool:
        return 0 < head.size <= self._tree.size() and text == self._head(head.size).text

    def _signed_by(self, note: Note) -> dict[str, str]:
        """The signature lines of enrolled witnesses; of each the last, which is the newest."""
        found = {}
        for key, witness in self._witnesses.items():
            if is_signed_by(note, witness):
                name = (witness.name, witness.key_hash)
                found[key] = [each.line for each in note.signatures if (each.name, each.key_hash) == name][-1]
        return found

    def _save_newer(self, head: Checkpoint) -> None:
        if self._file is not None:
            save_newer_head(self._file.with_name(OWN_HEAD), head, self._signer)

    def _good(self, size: int, lines: Mapping[str, str]) -> dict[str, str]:
        if not 0 < size <= self._tree.size():
            return {}
        text, good = self._head(size).text, {}
        for key, witness in self._witnesses.items():
            try:
                if key in lines and is_signed_by(parse_note(signed_note(text, [lines[key]])), witness):
                    good[key] = lines[key]
            except HeadwaterError:
                continue
        return good

    def _write(self, signatures: Mapping[int, Mapping[str, str]]) -> None:
        if self._file is None:
            return
        try:
            write_whole(self._file, [json.dumps(signatures).encode()])
        except OSError as fault:
            raise SetupError(f"cannot write {self._file}: {fault.strerror}") from fault


def _read_note(note: bytes) -> tuple[Note, Checkpoint]:
    try:
        read = parse_note(note.decode())
        return read, parse_checkpoint(read.text)
    except UnicodeDecodeError:
        raise InvalidInputError("checkpoint: expected text in UTF-8") from None
    except UntrustedNoteError as fault:
        raise InvalidInputError(str(fault)) from fault


def _read(path: Path | None) -> dict[int, dict[str, str]]:
    if path is None or not path.exists():
        return {}
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[int, dict[str, str]])
    except (OSError, UnicodeDecodeError, RecursionError, msgspec.MsgspecError) as fault:
        raise SetupError(f"{path} is damaged: remove it, and witnesses will sign again") from fault
