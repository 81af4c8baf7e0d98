"""The newest head of the log that this machine knows others to have seen, signed by the log, in a file beside its keys.

It is compared with the log at each start: a database that was restored from a backup lacks what the head covers.
"""

import logging
from pathlib import Path
from typing import Final

from headwater.errors import UntrustedNoteError
from headwater.signing.checkpoint import Checkpoint, parse_checkpoint
from headwater.signing.note import Note, NoteSigner, NoteVerifier, is_signed_by, parse_note
from headwater.signing.secretfile import write_whole

OWN_HEAD: Final = "own-head.txt"
log = logging.getLogger(__name__)


def own_head_path(home: Path) -> Path:
    """The path of the head."""
    return home / "witness" / OWN_HEAD


def saved_head(path: Path, key: NoteVerifier) -> Note | None:
    """The saved head; None if there is none, or its signature cannot be read."""
    try:
        note = parse_note(path.read_text())
        is_signed_by(note, key)
        parse_checkpoint(note.text)
    except (OSError, UnicodeDecodeError, UntrustedNoteError):
        return None
    return note


def save_head(path: Path, head: Checkpoint, signer: NoteSigner) -> None:
    """Save a head in place of any other; a failing disk is only logged."""
    try:
        write_whole(path, [head.signed(signer).encode()])
    except OSError as fault:
        log.warning("cannot save the head of the log", extra={"path": str(path), "why": fault.strerror})


def save_newer_head(path: Path, head: Checkpoint, signer: NoteSigner) -> None:
    """Save a head unless the saved one is of more entries."""
    saved = saved_head(path, signer.verifier)
    if saved is None or parse_checkpoint(saved.text).size < head.size:
        save_head(path, head, signer)
