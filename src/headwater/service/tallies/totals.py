"""The totals over all jobs and all datasets: counts, orders, namespaces, sources."""

from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import chain, islice
from operator import itemgetter
from typing import Any, Final, Generic, Self

from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from headwater.model.times import BEFORE_ALL_US
from headwater.service.tallies.ordered import Membership, Ordered, Spans
from headwater.service.tallies.tallied import FromNow, NodeT, Tallied
from headwater.service.tallies.tally import DatasetTally, JobTally, Source

_FEW: Final = 256
"""If more jobs may differ from the current ones, all of a past are counted, once for all answers."""
_RUNS: Final = 300
"""Runs examined, from the last one back, for the newest jobs: a few milliseconds' work; then all jobs are examined."""


class JobTallies(Tallied[JobId, JobTally]):
    """All jobs."""

    def __init__(self, look: Callable[[JobId], JobTally | None]) -> None:
        super().__init__(look)
        self._first_page: tuple[int, Nodes[JobId]] | None = None
        """Of a past: as many of its newest jobs as were asked for, until an event touched any."""
        self._edges = 0
        self._newest: Ordered[tuple[int, JobId]] = Ordered()
        self._newest_in: dict[str, Ordered[tuple[int, JobId]]] = defaultdict(Ordered)

    def touch(self, nodes: Iterable[JobId]) -> None:
        """As in `Tallied`."""
        super().touch(nodes)
        self._first_page = None

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
        if most is not None and namespace is None:
            page = yield from self._page_without_copy(most)
            if page is not None:
                return page
        yield from self.catch_up()
        if most is not None and self._then is not None and self._found_newest(most, self._then, namespace):
            return Nodes(self._order(namespace).items(), self._count_newer(self._then.until_us, namespace))
        yield from self.catch_up_times(namespace)
        return self.newest_first(namespace)

    def _page_without_copy(self, most: int) -> "Generator[None, None, Nodes[JobId] | None]":
        """The newest jobs of a past, if few jobs changed since: without a copy of the current tallies of all jobs."""
        if self._first_page is None or self._first_page[0] < most:
            others, then = self._others, self._then
            if others is None or then is None or self._beginning is not None or self._touched:
                return None
            page = yield from self._counted_anew(others, then, most)
            if page is None or self._touched:  # meanwhile
                return None
            self._first_page = most, page
        return self._first_page[1]

    def _counted_anew(
        self, others: Self, then: FromNow[JobId], most: int
    ) -> "Generator[None, None, Nodes[JobId] | None]":
        """The newest jobs as of `then`; only those that may differ from `others` are counted. None: they are many."""
        yield from others.catch_up()
        begin, order = others._count_newer(then.until_us, None), others._newest.copy().items()
        count = bisect_right(others._by_first_event.items(), then.until_us, key=itemgetter(0))
        news, perhaps = others._changed_since(then)
        known = {job: others._known.get(job) for job in chain(news, perhaps)}
        news = [job for job in news if (tally := known[job]) is None or tally.seen.first_us <= then.until_us]
        if len(news) + len(perhaps) > _FEW:
            return None
        tallies: dict[JobId, JobTally | None] = {}
        for job in chain(news, (job for job in perhaps if others._may_differ(job, then))):
            if job not in tallies:
                tallies[job] = self._look(job)
                yield
        counted = [tally for job in tallies if (tally := known[job]) is not None and tally.is_shown]
        count -= sum(tally.seen.first_us <= then.until_us for tally in counted)
        count += sum(tally is not None and tally.is_shown for tally in tallies.values())
        page = _Page([each for each in order[begin : begin + most + len(tallies)] if each[1] not in tallies], tallies)

        def place(job: JobId) -> None:
            if job not in page and (tally := others._known.get(job)) and tally.seen.last_us > then.until_us:
                page.place(job, self._look(job))

        return Nodes(page.newest(most), total=count) if _placed(most, then, page.count_newer, place) else None

    def _found_newest(self, most: int, then: FromNow[JobId], namespace: str | None) -> bool:
        """Find the last events of the `most` newest jobs; returns whether the latest runs sufficed."""

        def count_newer(time_us: int) -> int:
            return self._count_newer(time_us, namespace) - self._count_newer(then.until_us, namespace)

        def place(job: JobId) -> None:
            if namespace in (None, job.namespace) and self._has_later_events(job):
                self._look_at(job)

        return _placed(most, then, count_newer, place)

    def _count_newer(self, time_us: int, namespace: str | None) -> int:
        """The number of jobs with a known event after `time_us`, even one after the time of this past."""
        return bisect_left(self._order(namespace).items(), -time_us, key=itemgetter(0))

    def _order(self, namespace: str | None) -> Ordered[tuple[int, JobId]]:
        return self._newest if namespace is None else self._newest_in.get(namespace, Ordered())

    def newest_first(self, namespace: str | None = None) -> "Nodes[JobId]":
        """The jobs of a namespace, or all, latest event first, without deleted ones."""
        self._catch_up_times_now(namespace)
        return Nodes(self._order(namespace).items())


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
        return Nodes(self._in.get(namespace, Ordered()).items())

    def by_namespace(self) -> "Iterator[tuple[str, Nodes[DatasetId]]]":
        """Each namespace with the datasets whose shown name is in it, both by name, without deleted ones."""
        self._catch_up_now()
        return ((namespace, Nodes(self._in[namespace].items())) for namespace in sorted(self._in))

    def in_source(self, name: str) -> list[DatasetId]:
        """The datasets of a source, by namespace and name, without deleted ones."""
        self._catch_up_now()
        return sorted(self._sources.with_events_after(BEFORE_ALL_US, name))

    def sources(self) -> Iterator[tuple[Source, Seen]]:
        """The sources of datasets with their times; of several URIs, the first in order."""
        self._catch_up_times_now()
        for name, seen in self._sources.times().items():
            addresses = [uri for uri, count in self._addresses[name].items() if uri and count]
            yield Source(name, min(addresses, default="")), seen


class _Page:
    """The newest jobs as of a time: those whose last events are known, and others once they are placed among them."""

    def __init__(self, settled: Sequence[tuple[int, JobId]], others: Mapping[JobId, JobTally | None]) -> None:
        """Begin with jobs in order, each behind the negative time of its last event, and with the `others` to place."""
        self._settled = settled
        self._placed: list[tuple[int, JobId]] = []
        self._jobs = {job for _, job in settled}
        for job, tally in others.items():
            self.place(job, tally)

    def __contains__(self, job: JobId) -> bool:
        """Whether the job's place is known."""
        return job in self._jobs

    def place(self, job: JobId, tally: JobTally | None) -> None:
        """Put a job in its place, unless it is deleted or did not exist."""
        self._jobs.add(job)
        if tally is not None and tally.is_shown:
            insort(self._placed, (-tally.seen.last_us, job))

    def count_newer(self, time_us: int) -> int:
        """The number of jobs in their places with an event after that time."""
        return sum(bisect_left(order, -time_us, key=itemgetter(0)) for order in (self._settled, self._placed))

    def newest(self, most: int) -> list[tuple[int, JobId]]:
        """So many jobs, in order."""
        return [*islice(merge(self._settled, self._placed), most)]


class Nodes(Generic[NodeT]):
    """An order of nodes, for paging; the first `unplaced` ones are not yet in their place, and are skipped."""

    def __init__(self, order: Sequence[tuple[Any, NodeT]], unplaced: int = 0, total: int | None = None) -> None:
        """Page through `order`, which are the first of `total` nodes."""
        self._order: Sequence[tuple[Any, NodeT]] = order
        self._unplaced = unplaced
        self._total = len(order) if total is None else total

    def __len__(self) -> int:
        """The number of nodes, including unplaced ones."""
        return self._total

    def page(self, limit: int | None, offset: int = 0) -> list[NodeT]:
        """A page of nodes; without a limit, all the rest."""
        begin = self._unplaced + offset
        end = None if limit is None else begin + limit
        return [node for _, node in self._order[begin:end]]


def _placed(most: int, then: FromNow[JobId], count_newer: Callable[[int], int], place: Callable[[JobId], None]) -> bool:
    """Place the jobs that the latest runs by then mention, until `most` are newer; returns whether they sufficed."""
    runs = then.runs_backwards()
    for last_us, mentions in islice(runs, _RUNS):
        if count_newer(last_us) >= most:
            return True
        for job, _ in mentions:
            place(job)
    return next(runs, None) is None


def _in_source(tally: DatasetTally) -> Membership:
    return () if tally.source is None else (tally.source.name,), tally.seen
