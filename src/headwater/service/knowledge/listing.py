"""Who has a text in its name, brought up to date with the graph when somebody asks."""

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from headwater.model.names import DatasetId, JobId

_SLICE: Final = 500
"""Names that are indexed in one go: five milliseconds' work."""
_NEAR: Final = 4
"""How much commoner than the rarest piece of a text another may be and still be worth looking at."""


class NameIndex:
    """Who has a text in its name, without looking at everybody: by the three-letter pieces of names in lower case.

    `jobs` and `datasets` give all names, in the order in which they came. Names are never taken out, for a graph
    forgets none; whether one still stands for something, the caller knows.
    """

    def __init__(self, jobs: Callable[[], Collection[JobId]], datasets: Callable[[], Collection[DatasetId]]) -> None:
        self._all_jobs = jobs
        self._all_datasets = datasets
        self._nodes: list[JobId | DatasetId] = []
        self._by_piece: dict[str, array[int]] = {}
        self._jobs = 0
        self._datasets = 0

    def holding(self, texts: Iterable[str]) -> Sequence[JobId | DatasetId]:
        """The nodes that may hold all the texts in their names, which are in lower case; all others do not."""
        for _ in self.catch_up():
            pass
        numbers = sorted((self._by_piece.get(piece, ()) for text in texts for piece in _pieces(text)), key=len)
        if not numbers:
            return self._nodes
        rarest, *others = numbers
        near = [each for each in others if len(each) <= _NEAR * len(rarest)]
        return [self._nodes[number] for number in sorted(set(rarest).intersection(*near))]

    def catch_up(self) -> Iterator[None]:
        """Index the names that have come since, some with each step."""
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


class NameIndexThen(NameIndex):
    """Of a past: who is in the index of now, and those names that it was told of anew."""

    def __init__(
        self, now: NameIndex, jobs: Callable[[], Collection[JobId]], datasets: Callable[[], Collection[DatasetId]]
    ) -> None:
        super().__init__(jobs, datasets)
        self._now = now

    def holding(self, texts: Iterable[str]) -> Sequence[JobId | DatasetId]:
        """As in `NameIndex`; among them some of whom nobody had told by then."""
        asked = [*texts]
        found = (*self._now.holding(asked), *super().holding(asked))
        return [*{node.node_id: node for node in found}.values()]  # a job and a dataset of one name would be equal


def _pieces(text: str) -> set[str]:
    return {text[at : at + 3] for at in range(len(text) - 2)}
