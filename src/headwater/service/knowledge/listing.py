"""A trigram index over the names of jobs and datasets, brought up to date when it is read."""

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from headwater.model.names import DatasetId, JobId

_SLICE: Final = 500
"""Names indexed per step: five milliseconds' work."""
_NEAR: Final = 4
"""A trigram is intersected only if it is at most this many times as common as the rarest one."""


class NameIndex:
    """Finds names that contain a text by their trigrams, case-folded.

    `jobs` and `datasets` return all names, in insertion order. Names are never removed, since a graph forgets none; the
    caller checks whether a name is still in use.
    """

    def __init__(self, jobs: Callable[[], Collection[JobId]], datasets: Callable[[], Collection[DatasetId]]) -> None:
        self._all_jobs = jobs
        self._all_datasets = datasets
        self._nodes: list[JobId | DatasetId] = []
        self._by_piece: dict[str, array[int]] = {}
        self._jobs = 0
        self._datasets = 0

    def holding(self, texts: Iterable[str]) -> Sequence[JobId | DatasetId]:
        """Candidates whose names may contain all the case-folded texts; no other node does."""
        for _ in self.catch_up():
            pass
        numbers = sorted((self._by_piece.get(piece, ()) for text in texts for piece in _pieces(text)), key=len)
        if not numbers:
            return self._nodes
        rarest, *others = numbers
        near = [each for each in others if len(each) <= _NEAR * len(rarest)]
        return [self._nodes[number] for number in sorted(set(rarest).intersection(*near))]

    def catch_up(self) -> Iterator[None]:
        """Index new names, some with each step."""
        jobs, names = self._all_jobs(), self._all_datasets()
        while self._jobs < len(jobs):  # to slice from their end on is to walk past all of them: 5 ms for 100,000
            new = [*islice(jobs, self._jobs, self._jobs + _SLICE)]
            self._add(new)
            self._jobs += len(new)
            yield
        while self._datasets < len(names):
            found = [*islice(names, self._datasets, self._datasets + _SLICE)]
            self._add(found)
            self._datasets += len(found)
            yield

    def _add(self, nodes: Iterable[JobId | DatasetId]) -> None:
        for node in nodes:
            for piece in _pieces(node.name.casefold()):
                self._by_piece.setdefault(piece, array("I")).append(len(self._nodes))
            self._nodes.append(node)


class NameIndexAsOf(NameIndex):
    """For a past: the current index, and an index of the names that were folded again for it."""

    def __init__(
        self, now: NameIndex, jobs: Callable[[], Collection[JobId]], datasets: Callable[[], Collection[DatasetId]]
    ) -> None:
        super().__init__(jobs, datasets)
        self._now = now

    def holding(self, texts: Iterable[str]) -> Sequence[JobId | DatasetId]:
        """As in `NameIndex`; may include names that were not known by then."""
        asked = [*texts]
        found = (*self._now.holding(asked), *super().holding(asked))
        return [*{node.node_id: node for node in found}.values()]  # a job and a dataset of one name would be equal


def _pieces(text: str) -> set[str]:
    return {text[at : at + 3] for at in range(len(text) - 2)}
