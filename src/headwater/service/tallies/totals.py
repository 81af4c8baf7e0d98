"""The totals over all jobs and all datasets: counts, orders, namespaces, sources."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator
from itertools import islice
from operator import itemgetter
from typing import Any, Final, Generic, Self

from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from headwater.service.tallies.ordered import Membership, Ordered, Spans
from headwater.service.tallies.tallied import FromNow, NodeT, Tallied
from headwater.service.tallies.tally import DatasetTally, JobTally, Source

_RUNS: Final = 300
"""Runs examined, from the last one back, for the newest jobs: a few milliseconds' work; then all jobs are examined."""


class JobTallies(Tallied[JobId, JobTally]):
    """All jobs."""

    def __init__(self, look: Callable[[JobId], JobTally | None]) -> None:
        super().__init__(look)
        self._edges = 0
        self._newest: Ordered[tuple[int, JobId]] = Ordered()
        self._newest_in: dict[str, Ordered[tuple[int, JobId]]] = defaultdict(Ordered)

    def _take_over(self, others: Self) -> None:
        super()._take_over(others)
        self._edges, self._newest = others._edges, others._newest.copy()
        self._newest_in.update((namespace, newest.copy()) for namespace, newest in others._newest_in.items())

    def _in_namespaces(self, node: JobId, tally: JobTally) -> Membership:
        return (node.namespace,), tally.seen

    def _take_in(self, node: JobId, tally: JobTally) -> None:
        super()._take_in(node, tally)
        self._edges += tally.edges
        for order in (self._newest, self._newest_in[node.namespace]):
            order.add((-tally.seen.last_us, node))

    def _take_out(self, node: JobId, tally: JobTally) -> None:
        super()._take_out(node, tally)
        self._edges -= tally.edges
        for order in (self._newest, self._newest_in[node.namespace]):
            order.remove((-tally.seen.last_us, node))

    @property
    def edges(self) -> int:
        """The number of edges between jobs and datasets."""
        self._catch_up_now()
        return self._edges

    def newest(self, most: int | None, namespace: str | None = None) -> "Generator[None, None, Nodes[JobId]]":
        """As `newest_first`, with some of the work in each step; only the first `most` jobs may be read."""
        yield from self.catch_up()
        if most is not None and self._then is not None and self._found_newest(most, self._then, namespace):
            return Nodes(self._order(namespace), self._count_newer(self._then.until_us, namespace))
        yield from self.catch_up_times(namespace)
        return self.newest_first(namespace)

    def _found_newest(self, most: int, then: FromNow[JobId], namespace: str | None) -> bool:
        """Find the last events of the `most` newest jobs; returns whether the latest runs sufficed."""
        runs = then.runs_backwards()
        for last_us, mentions in islice(runs, _RUNS):
            if self._count_newer(last_us, namespace) - self._count_newer(then.until_us, namespace) >= most:
                return True
            for job, _ in mentions:
                if namespace in (None, job.namespace) and self._has_later_events(job):
                    self._look_at(job)
        return next(runs, None) is None

    def _count_newer(self, time_us: int, namespace: str | None) -> int:
        """The number of jobs with a known event after `time_us`, even one after the time of this past."""
        return bisect_left(self._order(namespace).items(), -time_us, key=itemgetter(0))

    def _order(self, namespace: str | None) -> Ordered[tuple[int, JobId]]:
        return self._newest if namespace is None else self._newest_in.get(namespace, Ordered())

    def newest_first(self, namespace: str | None = None) -> "Nodes[JobId]":
        """The jobs of a namespace, or all, latest event first, without deleted ones."""
        self._catch_up_times_now(namespace)
        return Nodes(self._order(namespace))


class DatasetTallies(Tallied[DatasetId, DatasetTally]):
    """All datasets, each by its shown name."""

    def __init__(self, look: Callable[[DatasetId], DatasetTally | None]) -> None:
        super().__init__(look)
        self._columns = self._column_edges = 0
        self._in: dict[str, Ordered[tuple[str, DatasetId]]] = defaultdict(Ordered)
        self._sources: Spans[DatasetId] = Spans()
        self._addresses: dict[str, Counter[str]] = defaultdict(Counter)

    def _take_over(self, others: Self) -> None:
        super()._take_over(others)
        self._columns, self._column_edges = others._columns, others._column_edges
        self._in.update((namespace, datasets.copy()) for namespace, datasets in others._in.items())
        self._sources.take_over(others._sources)
        self._addresses.update((name, Counter(uris)) for name, uris in others._addresses.items())

    def _in_namespaces(self, node: DatasetId, tally: DatasetTally) -> Membership:
        return tally.namespaces, tally.seen

    def _take_in(self, node: DatasetId, tally: DatasetTally) -> None:
        super()._take_in(node, tally)
        self._columns += tally.columns
        self._column_edges += tally.column_edges
        self._in[node.namespace].add((node.name, node))
        self._sources.change(node, None, _in_source(tally))
        if tally.source is not None:
            self._addresses[tally.source.name][tally.source.uri] += 1

    def _take_out(self, node: DatasetId, tally: DatasetTally) -> None:
        super()._take_out(node, tally)
        self._columns -= tally.columns
        self._column_edges -= tally.column_edges
        self._in[node.namespace].remove((node.name, node))
        self._sources.change(node, _in_source(tally), None)
        if tally.source is not None:
            self._addresses[tally.source.name][tally.source.uri] -= 1

    @property
    def columns(self) -> int:
        """The number of columns of all datasets."""
        self._catch_up_now()
        return self._columns

    @property
    def column_edges(self) -> int:
        """The number of edges between columns."""
        self._catch_up_now()
        return self._column_edges

    def by_name(self, namespace: str) -> "Nodes[DatasetId]":
        """The datasets whose shown name is in this namespace, without deleted ones."""
        self._catch_up_now()
        return Nodes(self._in.get(namespace, Ordered()))

    def by_namespace(self) -> "Iterator[tuple[str, Nodes[DatasetId]]]":
        """Each namespace with the datasets whose shown name is in it, both by name, without deleted ones."""
        self._catch_up_now()
        return ((namespace, Nodes(self._in[namespace])) for namespace in sorted(self._in))

    def sources(self) -> Iterator[tuple[Source, Seen]]:
        """The sources of datasets with their times; of several URIs, the first in order."""
        self._catch_up_times_now()
        for name, seen in self._sources.times().items():
            addresses = [uri for uri, count in self._addresses[name].items() if uri and count]
            yield Source(name, min(addresses, default="")), seen


class Nodes(Generic[NodeT]):
    """An order of nodes, for paging; the first `unplaced` ones are not yet in their place, and are skipped."""

    def __init__(self, order: Ordered[Any], unplaced: int = 0) -> None:
        self._order = order.items()
        self._unplaced = unplaced

    def __len__(self) -> int:
        """The number of nodes, including unplaced ones."""
        return len(self._order)

    def page(self, limit: int | None, offset: int = 0) -> list[NodeT]:
        """A page of nodes; without a limit, all the rest."""
        begin = self._unplaced + offset
        end = None if limit is None else begin + limit
        return [node for _, node in self._order[begin:end]]


def _in_source(tally: DatasetTally) -> Membership:
    return () if tally.source is None else (tally.source.name,), tally.seen
