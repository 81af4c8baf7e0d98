"""The key that signs the log's heads; warns if known heads were signed by another key, or contradict the log."""

import logging
import socket
from pathlib import Path

from headwater.cli.printed import say
from headwater.errors import UntrustedNoteError
from headwater.model.words import so_many
from headwater.signing.checkpoint import Checkpoint, parse_checkpoint
from headwater.signing.note import Note, NoteSigner, NoteVerifier, is_signed_by, parse_note
from headwater.signing.notefile import log_key, log_key_path
from headwater.signing.secretfile import write_whole
from headwater.store.store import Store

log = logging.getLogger(__name__)

_RESTORE_KEY = (
    "which readers and witnesses do not know; if you have a backup of the old key, stop the service and restore it"
)
_RESTORE_LOG = "stop the service and restore the database, or continue under another key and name"


def check_log_name(home: Path, name: str | None) -> None:
    """Check, before a store is opened, that an existing key has this name.

    Raises:
        SetupError: it has another name, or cannot be read.
    """
    if name is not None and log_key_path(home).exists():
        log_key(home, name, name)


def log_key_of(store: Store, home: Path, name: str | None) -> NoteSigner:
    """The key that signs the log's heads from now on; created if there is none.

    Warns if it differs from the last head's key, or if the log contradicts the head saved when it was last opened.

    Raises:
        SetupError: the key cannot be created or read, or another service signs this log with another key.
    """
    entries, path = store.size(), log_key_path(home)
    is_missing = not path.exists()
    key = log_key(home, name, f"{socket.gethostname()}/headwater")
    store.signs_with(str(key.verifier))
    head = home / "witness" / "own-head.txt"
    saved = _saved_head(head, key.verifier)
    has = f"the log has {so_many(entries, 'entry')}"
    if entries and is_missing:
        _warn(
            f"{has} but its key is missing: a new key, {path}, signs its heads from now on",
            _RESTORE_KEY,
        )
    elif entries and (signer := _other_signer(saved, key.verifier)) is not None:
        _warn(
            f"{has}, whose heads {signer} signed: another key, {path}, signs them from now on",
            _RESTORE_KEY,
        )
    elif (other := _other_log(saved, key.verifier, store)) is not None:
        _warn(
            f"{other}: it was restored or rewritten, which anyone with an earlier head or receipt can prove",
            _RESTORE_LOG,
        )
    _save(head, store, key)
    return key


def _warn(message: str, advice: str) -> None:
    say(f"warning: {message}, {advice} (docs/operations.md)", err=True)


def _other_log(note: Note | None, key: NoteVerifier, store: Store) -> str | None:
    """How the log contradicts the saved head, if this key signed that; otherwise None."""
    if note is None or not is_signed_by(note, key):
        return None
    saved, size = parse_checkpoint(note.text), store.tree.size()
    if saved.size > size:
        return f"the log had {so_many(saved.size, 'entry')} when it was last opened, and now has {size:,}"
    if store.tree.frontier(saved.size).root != saved.root:
        return f"the log's first {saved.size:,} entries differ from those it had when it was last opened"
    return None


def _saved_head(head: Path, key: NoteVerifier) -> Note | None:
    """The saved head; None if there is none, or its signature cannot be read."""
    try:
        note = parse_note(head.read_text())
        is_signed_by(note, key)
        parse_checkpoint(note.text)
    except (OSError, UnicodeDecodeError, UntrustedNoteError):
        return None
    return note


def _other_signer(note: Note | None, key: NoteVerifier) -> str | None:
    """The name of the key that signed the saved head, as in the note; None if it is this key."""
    if note is None or is_signed_by(note, key):
        return None
    return f"{note.signatures[0].name}+{note.signatures[0].key_hash.hex()}"


def _save(head: Path, store: Store, key: NoteSigner) -> None:
    """Save the current head, signed by this key; a failing disk does not prevent the service's start."""
    frontier = store.tree.frontier()
    note = Checkpoint(key.verifier.name, frontier.size, frontier.root).signed(key)
    try:
        write_whole(head, [note.encode()])
    except OSError as fault:
        log.warning("cannot save the head of the log", extra={"path": str(head), "why": fault.strerror})
