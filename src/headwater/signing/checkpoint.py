"""Checkpoints: the head of a log at one size, as the text of a signed note.

Source: https://c2sp.org/tlog-checkpoint
"""

from base64 import b64decode, b64encode
from typing import NamedTuple

from headwater.errors import UntrustedNoteError
from headwater.signing.merkle import HASH_BYTES
from headwater.signing.note import NoteSigner, signed_note


class Checkpoint(NamedTuple):
    """How many entries a log has, and the head of the tree over them."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        """What is signed."""
        return f"{self.origin}\n{self.size}\n{b64encode(self.root).decode()}\n"

    def signed(self, signer: NoteSigner) -> str:
        """As a note, signed by the log."""
        return signed_note(self.text, [signer.line(self.text)])


def parse_checkpoint(text: str) -> Checkpoint:
    """Read the text of a note that was verified; what a log adds behind the head is passed over.

    Raises:
        UntrustedNoteError: it is no checkpoint.
    """
    origin, size, root, *_ = [*text.split("\n"), "", ""]
    try:
        head = b64decode(root, validate=True)
        is_number = size == str(int(size)) and int(size) >= 0
    except ValueError:
        is_number, head = False, b""
    if not origin or not is_number or len(head) != HASH_BYTES:
        raise UntrustedNoteError("checkpoint: expected the log's name, its size, and its head in base64, one a line")
    return Checkpoint(origin, int(size), head)
