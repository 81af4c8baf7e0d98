"""Parts of a bundle that are larger than the checker accepts."""

import zipfile
from collections.abc import Sequence
from typing import IO

from headwater.audit.core import MOST_BYTES


def oversized_parts(file: IO[bytes]) -> Sequence[str]:
    """One sentence for each part of a bundle that is larger than `audit verify` unpacks, and how to make it smaller."""
    with zipfile.ZipFile(file) as bundle:
        parts = [each for each in bundle.infolist() if each.filename != "entries.jsonl"]
    return [
        f"{each.filename} unpacks to {each.file_size:,} bytes, but `headwater audit verify` reads at most "
        f"{MOST_BYTES:,}: export less at once, with --from and --to, or one --dataset"
        for each in parts
        if each.file_size > MOST_BYTES
    ]
