"""Signed notes: a text followed by signatures, as logs and their witnesses exchange it.

A public key is one line, `name+key hash+base64 of its type and bytes`, which Go calls a verifier key.

Source: https://c2sp.org/signed-note, https://c2sp.org/tlog-cosignature (Ed25519).
"""

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from headwater.errors import InvalidInputError, UntrustedNoteError

ED25519: Final = 1
"""The type of a log's key, which signs the text itself."""
COSIGNATURE: Final = 4
"""The type of a witness's key, which signs the text with the time."""

_DASH: Final = "\u2014"
_HASH_BYTES: Final = 4
_TIME_BYTES: Final = 8
_MOST_SIGNATURES: Final = 100


@dataclass(frozen=True, slots=True)
class NoteVerifier:
    """A trusted signer of notes."""

    name: str
    public_key: Ed25519PublicKey = field(repr=False)
    kind: int = ED25519

    @property
    def key_hash(self) -> bytes:
        """Four bytes that identify the key in its signatures."""
        typed = bytes([self.kind]) + self.public_key.public_bytes_raw()
        return hashlib.sha256(self.name.encode() + b"\n" + typed).digest()[:_HASH_BYTES]

    def __str__(self) -> str:
        """The key in its public text form."""
        typed = bytes([self.kind]) + self.public_key.public_bytes_raw()
        return f"{self.name}+{self.key_hash.hex()}+{b64encode(typed).decode()}"


@dataclass(frozen=True, slots=True)
class NoteSigner:
    """A key that signs notes. Its text form never contains the private part."""

    verifier: NoteVerifier
    _private_key: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def from_seed(cls, name: str, seed: bytes, kind: int = ED25519) -> "NoteSigner":
        """Create the key from its 32-byte seed.

        Raises:
            InvalidInputError: the name is not valid for a key.
        """
        checked_name(name)
        private_key = Ed25519PrivateKey.from_private_bytes(seed)
        return cls(NoteVerifier(name, private_key.public_key(), kind), private_key)

    def line(self, text: str, time_s: int = 0) -> str:
        """The signature of a text, as a line below it; `time_s`, seconds since 1970, is what a witness adds."""
        stamp = b""
        if self.verifier.kind == COSIGNATURE:
            stamp = time_s.to_bytes(_TIME_BYTES)
        signature = self._private_key.sign(_signed(self.verifier.kind, text, time_s))
        encoded = b64encode(self.verifier.key_hash + stamp + signature).decode()
        return f"{_DASH} {self.verifier.name} {encoded}\n"


class NoteSignature(NamedTuple):
    """A signature line of a note, not verified yet."""

    name: str
    key_hash: bytes
    value: bytes
    line: str


class Note(NamedTuple):
    """A parsed note; its text must not be used before a signature was verified."""

    text: str
    signatures: tuple[NoteSignature, ...]


def signed_note(text: str, lines: Iterable[str]) -> str:
    """Combine a text, which ends with a newline, and its signatures."""
    return f"{text}\n{''.join(lines)}"


def parse_note(note: str) -> Note:
    """Parse a note.

    Raises:
        UntrustedNoteError: it is none.
    """
    if any(character < " " and character != "\n" for character in note):
        raise UntrustedNoteError("note: contains a control character")
    text, blank, signatures = note.rpartition("\n\n")
    *lines, rest = signatures.split("\n") if blank else [""]
    if not lines or len(lines) > _MOST_SIGNATURES or rest:
        raise UntrustedNoteError(f"note: expected a text, an empty line and 1 to {_MOST_SIGNATURES} signatures")
    return Note(f"{text}\n", tuple(map(_signature, lines)))


def verified_text(note: str, trusted: Sequence[NoteVerifier]) -> str:
    """Return the text of a note that one of the trusted keys signed.

    Raises:
        UntrustedNoteError: it is no note, none of these keys signed it, or a signature of one of them is bad.
    """
    found = parse_note(note)
    if not [verifier for verifier in trusted if is_signed_by(found, verifier)]:
        raise UntrustedNoteError(f"note: not signed by {' or '.join(each.name for each in trusted)}")
    return found.text


def is_signed_by(note: Note, verifier: NoteVerifier) -> bool:
    """Whether the key signed the note.

    Raises:
        UntrustedNoteError: a signature in the key's name is bad.
    """
    own = [each for each in note.signatures if (each.name, each.key_hash) == (verifier.name, verifier.key_hash)]
    for signature in own:
        _check(note.text, signature.value, verifier)
    return bool(own)


def parse_verifier(text: str) -> NoteVerifier:
    """Parse a key in its public text form.

    Raises:
        InvalidInputError: it is none, or its hash does not match.
    """
    name, _, rest = text.strip().partition("+")
    key_hash, _, encoded = rest.partition("+")
    checked_name(name)
    try:
        typed = b64decode(encoded, validate=True)
        verifier = NoteVerifier(name, Ed25519PublicKey.from_public_bytes(typed[1:]), typed[0])
    except (ValueError, IndexError) as fault:
        raise InvalidInputError("verifier key: expected NAME+HASH+BASE64 of an Ed25519 key") from fault
    if verifier.kind not in (ED25519, COSIGNATURE) or verifier.key_hash.hex() != key_hash:
        raise InvalidInputError("verifier key: its hash does not match its name and key")
    return verifier


def parse_log_key(text: str) -> NoteVerifier:
    """Parse a log's key in its public text form.

    Raises:
        InvalidInputError: it is none, its hash does not match, or it is a witness's.
    """
    verifier = parse_verifier(text)
    if verifier.kind != ED25519:
        raise InvalidInputError("verifier key: it is a witness's; expected a log's, as its /api/v1/log/key shows it")
    return verifier


def checked_name(name: str) -> str:
    """Return the name after checking that it is valid for a key.

    Raises:
        InvalidInputError: it is empty, or contains white space, a plus sign or unprintable characters.
    """
    if not name or not name.isprintable() or any(each.isspace() or each == "+" for each in name):
        raise InvalidInputError("expected a name without white space or plus signs, like lineage.example.org")
    return name


def _signed(kind: int, text: str, time_s: int) -> bytes:
    return (f"cosignature/v1\ntime {time_s}\n{text}" if kind == COSIGNATURE else text).encode()


def _signature(line: str) -> NoteSignature:
    dash, _, rest = line.partition(" ")
    name, _, encoded = rest.partition(" ")
    try:
        value = b64decode(encoded, validate=True)
    except ValueError:
        value = b""
    if dash != _DASH or not name or len(value) <= _HASH_BYTES:
        raise UntrustedNoteError("note: a line below the text is not a signature")
    return NoteSignature(name, value[:_HASH_BYTES], value[_HASH_BYTES:], f"{line}\n")


def _check(text: str, value: bytes, verifier: NoteVerifier) -> None:
    time_s = 0
    if verifier.kind == COSIGNATURE:
        time_s, value = int.from_bytes(value[:_TIME_BYTES]), value[_TIME_BYTES:]
    try:
        verifier.public_key.verify(value, _signed(verifier.kind, text, time_s))
    except InvalidSignature:
        raise UntrustedNoteError(f"note: the signature of {verifier.name} does not match this text") from None
