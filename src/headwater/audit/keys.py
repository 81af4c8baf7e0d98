"""The nodes' keys for a bundle: those of the exporter's configuration, and the directory that stands in the log."""

from collections.abc import Mapping

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from headwater.model.edits import ENROLLED, KEY, REVOKED
from headwater.signing.directory import read_statement
from headwater.signing.jwks import public_key, write_jwks
from headwater.store.reader import Reader


def key_set(reader: Reader, configured: Mapping[str, Ed25519PublicKey]) -> str:
    """Every key that ever counted, as a JSON Web Key Set; of one that was revoked, from when on."""
    keys, revoked = {**configured}, dict[str, str]()
    for edit in reader.edit_facts(KEY):
        key_id, said = edit.target[1], orjson.loads(edit.value)
        if edit.what == ENROLLED:
            keys[key_id] = public_key(read_statement(said["statement"]).x, "statement.x")
        elif edit.what == REVOKED and (from_time := read_statement(said["statement"]).from_time) is not None:
            revoked[key_id] = from_time.isoformat()
    return write_jwks(keys, revoked)
