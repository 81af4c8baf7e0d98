"""Checkpoints: the head of a log at one size, as the text of a signed note.

Source: https://c2sp.org/tlog-checkpoint
"""

from base64 import b64decode, b64encode
from typing import Final, NamedTuple

from headwater.errors import UntrustedNoteError
from headwater.signing.merkle import HASH_BYTES
from headwater.signing.note import NoteSigner, signed_note

_LARGEST: Final = 2**63 - 1
"""Sizes have 64 bits, signed, in other programs. An event that names a larger one could not be signed."""


class Checkpoint(NamedTuple):
    """The size of a log, and the root hash of its tree."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        """The text that is signed."""
        return f"{self.origin}\n{self.size}\n{b64encode(self.root).decode()}\n"

    def signed(self, signer: NoteSigner) -> str:
        """As a note, signed by the log."""
        return signed_note(self.text, [signer.line(self.text)])


def parse_checkpoint(text: str) -> Checkpoint:
    """Parse the text of a verified note; additional lines after the root hash are ignored.

    Raises:
        UntrustedNoteError: it is not a checkpoint.
    """
    origin, size, root, *_ = [*text.split("\n"), "", ""]
    try:
        head = b64decode(root, validate=True)
        is_number = size == str(int(size)) and 0 <= int(size) <= _LARGEST
    except ValueError:
        is_number, head = False, b""
    if not origin or not is_number or len(head) != HASH_BYTES:
        raise UntrustedNoteError("checkpoint: expected the log's name, its size, and its head in base64, one per line")
    return Checkpoint(origin, int(size), head)
