"""A witness: signs a log's checkpoint only if it extends every checkpoint of that log that it signed before.

Source: https://c2sp.org/tlog-cosignature, https://c2sp.org/tlog-witness
"""

from collections.abc import Sequence
from typing import NamedTuple

from headwater.errors import UntrustedNoteError
from headwater.model.words import so_many
from headwater.signing.checkpoint import Checkpoint, parse_checkpoint
from headwater.signing.merkle import EMPTY_ROOT, is_consistent
from headwater.signing.note import NoteSigner, NoteVerifier, parse_note, signed_note, verified_text


class Witnessed(NamedTuple):
    """The last checkpoint of a log that a witness signed, and the note with both signatures."""

    head: Checkpoint
    note: str


def nothing_yet(log: NoteVerifier) -> Witnessed:
    """The state of a witness for a log that it has never seen."""
    return Witnessed(Checkpoint(log.name, 0, EMPTY_ROOT), "")


def opened(note: str, log: NoteVerifier) -> Checkpoint:
    """Parse a log's checkpoint.

    Raises:
        UntrustedNoteError: the log did not sign it, or it is another log's.
    """
    head = parse_checkpoint(verified_text(note, [log]))
    if head.origin != log.name:
        raise UntrustedNoteError(f"checkpoint: it is of the log {head.origin}, not of {log.name}")
    return head


def witnessed(
    note: str, log: NoteVerifier, before: Witnessed, proof: Sequence[bytes], witness: NoteSigner, time_s: int
) -> Witnessed:
    """Sign a checkpoint that extends the previous one, as `proof` shows.

    The result must be on disk before it is handed out; otherwise a restarted witness may sign two histories.

    Raises:
        UntrustedNoteError: it is not a checkpoint of the log, or does not extend the previous one.
    """
    head = opened(note, log)
    old = before.head
    if head.size < old.size:
        raise UntrustedNoteError(
            f"checkpoint: the log had {so_many(old.size, 'entry')}, and now {head.size}: it was cut off"
        )
    if not is_consistent(old.size, old.root, head.size, head.root, proof):
        problem = f"checkpoint: the log's {head.size} entries do not extend the {old.size} seen before"
        raise UntrustedNoteError(f"{problem}: it was rewritten, or shows others a different history")
    read = parse_note(note)
    own = [each.line for each in read.signatures if each.name == log.name]
    return Witnessed(head, signed_note(read.text, [*own, witness.line(read.text, time_s)]))
