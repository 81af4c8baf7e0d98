"""Ed25519 by the `openssl` command: an independent implementation to compare with."""

import base64
import subprocess
from pathlib import Path
from typing import NamedTuple

_PRIVATE_PREFIX = bytes.fromhex("302e020100300506032b657004220420")  # RFC 8410, section 7: everything before the seed
_PUBLIC_PREFIX = bytes.fromhex("302a300506032b6570032100")  # RFC 8410, section 4: everything before the key


class OpensslKey(NamedTuple):
    """A private key in a PEM file; files that it signs or verifies are written to the same folder."""

    pem: Path
    public: bytes

    @classmethod
    def from_seed(cls, seed: bytes, folder: Path) -> "OpensslKey":
        folder.mkdir(exist_ok=True)
        pem = folder / "private.pem"
        pem.write_text(_pem("PRIVATE KEY", _PRIVATE_PREFIX + seed))
        public = _openssl("pkey", "-in", str(pem), "-pubout", "-outform", "DER")
        return cls(pem, public.removeprefix(_PUBLIC_PREFIX))

    def sign(self, payload: bytes) -> bytes:
        text = self.pem.with_name("payload")
        text.write_bytes(payload)
        return _openssl("pkeyutl", "-sign", "-rawin", "-inkey", str(self.pem), "-in", str(text))


def openssl_accepts(public: bytes, signature: bytes, payload: bytes, folder: Path) -> bool:
    """Whether `openssl` accepts a signature over a payload for a raw public key."""
    pem, text, proof = folder / "public.pem", folder / "payload", folder / "signature"
    pem.write_text(_pem("PUBLIC KEY", _PUBLIC_PREFIX + public))
    text.write_bytes(payload)
    proof.write_bytes(signature)
    files = ["-inkey", str(pem), "-in", str(text), "-sigfile", str(proof)]
    command = ["openssl", "pkeyutl", "-verify", "-pubin", "-rawin", *files]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _pem(label: str, der: bytes) -> str:
    return f"-----BEGIN {label}-----\n{base64.b64encode(der).decode()}\n-----END {label}-----\n"


def _openssl(*arguments: str) -> bytes:
    return subprocess.run(["openssl", *arguments], capture_output=True, check=True).stdout
