"""The nodes' keys for a bundle: those in the exporter's configuration, and the key directory in the log."""

from collections.abc import Mapping

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from headwater.model.edits import KEY
from headwater.model.times import time_at, timestamp
from headwater.signing.jwks import write_jwks
from headwater.signing.standing import standing
from headwater.store.reader import Reader


def key_set(reader: Reader, configured: Mapping[str, Ed25519PublicKey]) -> str:
    """Every key that ever counted, as a JSON Web Key Set; revoked keys with the time of revocation."""
    now = standing(reader.edit_facts(KEY), configured)
    return write_jwks(now.keys, {key_id: timestamp(time_at(each.from_us)) for key_id, each in now.revoked.items()})
