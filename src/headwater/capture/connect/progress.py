"""How far each partition has been read, and which of the records read have not been applied yet.

A record waits for earlier ones from other partitions, while later ones of its own partition may be applied already. So
one offset a partition does not tell what another process has still to do. Partitions are named `TOPIC/PARTITION`.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass


@dataclass(slots=True)
class _Again:
    """Offsets that an earlier process has read.

    It applied all but some; `left` are those of them that have not been read again yet.
    """

    first: int
    end: int
    left: set[int]


class Progress:
    """The offsets read and the offsets waiting, also of the process before.

    Attributes:
        offsets: the next offset to read.
        waiting: the offsets before it whose records are not applied yet.
    """

    def __init__(self, offsets: Mapping[str, int], waiting: Mapping[str, Set[int]]) -> None:
        self.offsets = dict(offsets)
        self.waiting = {partition: set(left) for partition, left in waiting.items() if left}
        self._again = {
            partition: _Again(min(left), self.offsets.get(partition, 0), set(left))
            for partition, left in self.waiting.items()
        }

    def start(self, partition: str) -> int | None:
        """The offset to begin at; None for a partition not read before."""
        again = self._again.get(partition)
        return self.offsets.get(partition) if again is None else again.first

    def read(self, partition: str, offset: int) -> bool:
        """Note that a record was read; False if it was applied by the process before."""
        again = self._again.get(partition)
        if again is not None and again.first <= offset < again.end:
            is_left = offset in again.left
            again.left.discard(offset)
            return is_left
        if again is not None:  # past them, or the topic was created anew: what was not read again is gone
            del self._again[partition]
            for gone in again.left:
                self.applied(partition, gone)
        self.offsets[partition] = offset + 1
        self.waiting.setdefault(partition, set()).add(offset)
        return True

    def applied(self, partition: str, offset: int) -> None:
        """Note that a record needs nothing more."""
        left = self.waiting.get(partition, set())
        left.discard(offset)
        if not left:
            self.waiting.pop(partition, None)
