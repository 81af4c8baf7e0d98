"""The key that signs the log's heads; warns if known heads were signed by another key, or contradict the log."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

from headwater.cli.printed import say
from headwater.errors import UntrustedNoteError
from headwater.model.words import so_many
from headwater.service.log.own_head import own_head_path, save_head, saved_head
from headwater.signing.checkpoint import Checkpoint
from headwater.signing.note import Note, NoteSigner, NoteVerifier, is_signed_by
from headwater.signing.notefile import log_key, log_key_path
from headwater.signing.witness import opened
from headwater.store.store import Store

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

    Warns if it differs from the last head's key, or if the log contradicts a head in the home.

    Raises:
        SetupError: the key cannot be created or read, or another service signs this log with another key.
    """
    entries, path = store.size(), log_key_path(home)
    is_missing = not path.exists()
    key = log_key(home, name, f"{socket.gethostname()}/headwater")
    store.signs_with(str(key.verifier))
    saved = saved_head(own_head_path(home), key.verifier)
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
    elif (other := _other_log(home, key.verifier, store)) is not None:
        _warn(
            f"{other}: it was restored or rewritten, which anyone with an earlier head or receipt can prove",
            _RESTORE_LOG,
        )
    save_head(own_head_path(home), _head(store, key), key)
    return key


def _head(store: Store, key: NoteSigner) -> Checkpoint:
    frontier = store.tree.frontier()
    return Checkpoint(key.verifier.name, frontier.size, frontier.root)


def _warn(message: str, advice: str) -> None:
    say(f"warning: {message}, {advice} (docs/operations.md)", err=True)


def _other_log(home: Path, key: NoteVerifier, store: Store) -> str | None:
    """How the log contradicts the newest head that this key signed and that is in the home; None if it has them all."""
    size = store.tree.size()
    for saved, path in sorted(_kept_heads(home, key), reverse=True):
        if saved.size > size:
            return f"the log had {so_many(saved.size, 'entry')}, as {path} shows, and now has {size:,}"
        if store.tree.frontier(saved.size).root != saved.root:
            return f"the log's first {saved.size:,} entries differ from those it had, as {path} shows"
    return None


def _kept_heads(home: Path, key: NoteVerifier) -> Iterator[tuple[Checkpoint, Path]]:
    """The heads in the home that this key signed: the service's, those of witnesses, and those of receipts."""
    for path in (own_head_path(home), *home.glob("witness/*/head.txt"), *home.glob("spool/chain-*/receipt-*.json")):
        try:
            text = path.read_text()
            yield opened(str(json.loads(text)["checkpoint"]) if path.suffix == ".json" else text, key), path
        except (OSError, ValueError, LookupError, TypeError, RecursionError, UntrustedNoteError):
            continue  # it is damaged, or of another log


def _other_signer(note: Note | None, key: NoteVerifier) -> str | None:
    """The name of the key that signed the saved head, as in the note; None if it is this key."""
    if note is None or is_signed_by(note, key):
        return None
    return f"{note.signatures[0].name}+{note.signatures[0].key_hash.hex()}"
