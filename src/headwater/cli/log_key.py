"""The key that `headwater serve` signs the log's heads with: kept here, made for a new log, or begun anew."""

import secrets
import time
import uuid
from base64 import b64encode
from pathlib import Path

from headwater.cli.who import who
from headwater.errors import SetupError
from headwater.model.edits import Saying, edit_entry
from headwater.signing.leaf import SALT_BYTES
from headwater.signing.note import NoteSigner
from headwater.signing.notefile import keep_log_key, log_key, log_key_path, new_log_key
from headwater.store.entries import Entry, entry_of
from headwater.store.store import Store


def key_of_log(store: Store, home: Path, name: str | None, default_name: str, *, begins_anew: bool) -> NoteSigner:
    """Return the key, which no other service of the store may differ in.

    Raises:
        SetupError: the log was signed by a key that is not here, unless it `begins_anew`; or it shall, and a key is.
    """
    path, entries = log_key_path(home), store.size()
    if path.exists() and begins_anew:
        raise SetupError(f"--new-log-key: there is a key, {path}; start without the option, or move the key away first")
    if path.exists() or not entries:
        key = log_key(home, name, default_name)
        store.signs_with(str(key.verifier))
        return key
    if not begins_anew:
        raise SetupError(
            f"there is no key {path}, and the log has {entries:,} entries already: put the key back from the backup "
            "(or copy it from another service of this log); if it is lost, start once with --new-log-key, and tell "
            "the log's readers (docs/operations.md)"
        )
    key, text = new_log_key(name or default_name)
    store.signs_with(str(key.verifier))
    store.add([_beginning(store, key)])  # before the key is kept: no key signs that the log does not tell of
    keep_log_key(home, text)
    return key


def _beginning(store: Store, key: NoteSigner) -> Entry:
    """What the log says of the key: from which head on it signs."""
    head, now_us = store.tree.frontier(), time.time_ns() // 1_000
    goes_on_from = {"size": head.size, "root": b64encode(head.root).decode()}
    saying = Saying(("log-key", str(key.verifier)), "begun", goes_on_from)
    entry = edit_entry(str(uuid.uuid4()), now_us, f"operator:{who()}", [saying])
    return entry_of(entry, "unsigned", None, now_us, secrets.token_bytes(SALT_BYTES))
