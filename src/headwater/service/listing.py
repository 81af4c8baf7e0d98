"""Names and jobs in the orders in which they are asked for, brought up to date with the graph when they are."""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Final

from headwater.graph.lineage import Graph
from headwater.model.names import DatasetId, JobId

_FEW: Final = 64
"""Jobs that move to their places one by one; with more, all are sorted again, which costs some 10 ms for 100,000."""


class NameIndex:
    """Who has a text in its name, without looking at everybody: by the three-letter pieces of names in lower case.

    Names are never taken out, for the graph forgets none; whether one still stands for something, the caller knows.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._nodes: list[JobId | DatasetId] = []
        self._by_piece: dict[str, array[int]] = {}
        self._jobs = 0
        self._datasets = 0

    def holding(self, texts: Iterable[str]) -> Sequence[JobId | DatasetId]:
        """The nodes that may hold all the texts in their names, which are in lower case; all others do not."""
        self.catch_up()
        numbers = [self._by_piece.get(piece, ()) for text in texts for piece in _pieces(text)]
        if not numbers:
            return self._nodes
        return [self._nodes[number] for number in min(numbers, key=len)]

    def catch_up(self) -> None:
        """Index the names that have come since; of 20,000 names, a fifth of a second's work."""
        names = self._graph.identities.names
        self._add(islice(self._graph.jobs, self._jobs, None))
        self._add(islice(names, self._datasets, None))
        self._jobs, self._datasets = len(self._graph.jobs), len(names)

    def _add(self, nodes: Iterable[JobId | DatasetId]) -> None:
        for node in nodes:
            for piece in _pieces(node.name.casefold()):
                self._by_piece.setdefault(piece, array("I")).append(len(self._nodes))
            self._nodes.append(node)


def _pieces(text: str) -> set[str]:
    return {text[at : at + 3] for at in range(len(text) - 2)}


class HeardOfLast:
    """Jobs, those with the latest event first; `last_us` gives the time of a job's, None for what is no job (now)."""

    def __init__(self, last_us: Callable[[JobId], int | None]) -> None:
        self._last_us = last_us
        self._order: list[tuple[int, JobId]] = []
        self._placed: dict[JobId, int] = {}
        self._moved: set[JobId] = set()

    def move(self, jobs: Iterable[JobId]) -> None:
        """These may stand elsewhere by now."""
        self._moved.update(jobs)

    def jobs(self) -> list[JobId]:
        """All of them, in order."""
        if len(self._moved) > _FEW:
            self._order = [place for place in self._order if place[1] not in self._moved]
            self._order += self._new_places()
            self._order.sort()
        else:
            for place in [(self._placed[job], job) for job in self._moved if job in self._placed]:
                del self._order[bisect_left(self._order, place)]
            for place in self._new_places():
                self._order.insert(bisect_left(self._order, place), place)
        self._moved.clear()
        return [job for _, job in self._order]

    def _new_places(self) -> list[tuple[int, JobId]]:
        places: list[tuple[int, JobId]] = []
        for job in self._moved:
            last_us = self._last_us(job)
            if last_us is None:
                self._placed.pop(job, None)
            else:
                self._placed[job] = -last_us
                places.append((-last_us, job))
        return places
