"""What all jobs and all datasets come to: numbers, orders, namespaces, sources.

Each job and dataset is looked at once, and again when an event touched it: so that an answer about all of them takes as
long as what is new since the last one. Who was touched is kept until somebody asks.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from operator import itemgetter
from typing import Any, Final, Generic, NamedTuple, Self, TypeVar

from headwater.errors import HeadwaterError
from headwater.model.facts import Seen
from headwater.model.names import DatasetId, JobId
from headwater.service.ahead import groups
from headwater.service.ordered import Membership, Ordered, Spans

NodeT = TypeVar("NodeT", JobId, DatasetId)
TallyT = TypeVar("TallyT", "JobTally", "DatasetTally")

_RUNS: Final = 1_000
"""That are looked at for when namespaces were heard of last: some milliseconds' work, then nodes are looked at."""
_SLICE: Final = 16
"""Nodes that are looked at in one go: a millisecond's work where columns must be counted."""


NEVER_US: Final = 2**62
"""In the place of a time, after all others: nobody can tell."""


class JobTally(NamedTuple):
    """What one job adds."""

    seen: Seen
    is_shown: bool
    """False for one that is deleted."""
    edges: int
    tags: tuple[str, ...] = ()
    """Those that producers told."""
    last_new_us: int = NEVER_US
    """Until when anybody told what this hangs on, but for when the job was heard of last; or some time after that."""


class Source(NamedTuple):
    """Where a dataset is kept, by its `dataSource` facet; the address may be empty."""

    name: str
    uri: str


class DatasetTally(NamedTuple):
    """What one dataset adds, under all its names."""

    seen: Seen
    is_shown: bool
    namespaces: tuple[str, ...]
    columns: int
    column_edges: int
    source: Source | None
    tags: tuple[str, ...] = ()
    """Those that producers told, of the dataset or of its columns."""
    last_new_us: int = NEVER_US
    """As of a job."""


class Then(NamedTuple, Generic[NodeT]):
    """How tallies of a past are told from those of now."""

    until_us: int
    is_same: Callable[[NodeT], bool]
    doubtful: Callable[[], Iterable[NodeT]]
    """Nodes that may not have been the same although no news was told of them since, or that the others may not know.
    """
    told_back: Callable[[], Iterator[tuple[int, Iterable[tuple[NodeT, int]]]]]
    """When runs spoke last by then, the last one first; and of whom, with when each did that."""


class Tallies(Generic[NodeT, TallyT]):
    """Every node by what it adds; `look` gives that, None for what is no node (now).

    Those of a past begin with what is known now. Until somebody asks when nodes were heard of, one that was heard of
    since and of which nothing else is new adds what it adds now.
    """

    def __init__(self, look: Callable[[NodeT], TallyT | None]) -> None:
        self._look: Callable[[NodeT], TallyT | None] = look
        self._then: Then[NodeT] | None = None
        self._times_then: Mapping[str, Seen] | None = None
        self._known: dict[NodeT, TallyT] = {}
        self._touched: dict[NodeT, None] = {}
        self._begin: Callable[[], Iterator[None]] | None = None
        self._beginning: Iterator[None] | None = None
        self._namespaces: Spans[NodeT] = Spans()
        self._first_heard: Ordered[tuple[int, NodeT]] = Ordered()
        self._last_new: Ordered[tuple[int, NodeT]] = Ordered()
        self._tagged: dict[str, dict[NodeT, None]] = {}
        self._shown = 0

    def touch(self, nodes: Iterable[NodeT]) -> None:
        """These may add something else by now."""
        self._touched.update(dict.fromkeys(nodes))

    def begin_with(self, others: Self, then: Then[NodeT]) -> None:
        """Once somebody asks, begin with what others know; look only at nodes of which there was news since then."""
        self._then = then
        self._begin = lambda: self._begun(others, then)

    def _begun(self, others: Self, then: Then[NodeT]) -> Iterator[None]:
        yield from others.count_up()
        self._take_over(others)
        order = others._last_new.items()
        later, nobody_knows = (bisect_right(order, us, key=itemgetter(0)) for us in (then.until_us, NEVER_US - 1))
        self.touch(node for _, node in order[later:nobody_knows])
        perhaps = chain((node for _, node in order[nobody_knows:]), then.doubtful())
        for group in groups(list(dict.fromkeys(perhaps)), _SLICE):
            self.touch(node for node in group if self._may_differ(node, then))
            yield

    def _may_differ(self, node: NodeT, then: Then[NodeT]) -> bool:
        """Whether to look at a doubtful node: to look takes less than to find out, where its runs alone tell of it."""
        known = self._known.get(node)
        return known is None or known.last_new_us != NEVER_US or not then.is_same(node)

    def get(self, node: NodeT) -> TallyT | None:
        """What a node adds, as it was last counted; None for one that was touched since, or is none."""
        return None if node in self._touched else self._known.get(node)

    def _take_over(self, others: Self) -> None:
        """Know what others know."""
        self._known = {**others._known}
        self._namespaces.take_over(others._namespaces)
        self._first_heard = others._first_heard.copy()
        self._tagged = {tag: {**nodes} for tag, nodes in others._tagged.items()}
        self._shown = others._shown

    def touch_all(self) -> None:
        """Whoever was looked at may add something else by now."""
        self.touch(self._known)

    def count_up(self) -> Iterator[None]:
        """Look at who was touched, some with each step."""
        while self._begin is not None:
            self._go_on_beginning(self._begin)
            yield
        while self._touched:
            for _ in range(min(_SLICE, len(self._touched))):
                self._look_at(self._touched.popitem()[0])
            yield

    def look_back(self) -> Iterator[None]:
        """Count up, and of a past find until when nodes were heard of by then, some with each step."""
        yield from self.count_up()
        if self._then is not None:
            for group in groups(dict.fromkeys(self._namespaces.heard_of_after(self._then.until_us)), _SLICE):
                for node in filter(self._was_heard_of_since, group):
                    self._look_at(node)
                yield

    def _was_heard_of_since(self, node: NodeT) -> bool:
        known = self._known.get(node)
        return known is not None and self._then is not None and known.seen.last_us > self._then.until_us

    def look_back_at_namespaces(self) -> Iterator[None]:
        """The same, where only the namespaces must be known."""
        yield from self.count_up()
        if self._then is not None and self._times_then is None:
            times, is_whole = self._told_in_namespaces(self._then)
            if not is_whole:
                yield from self.look_back()
                times, _ = self._namespaces.times_by(self._then.until_us)
            self._times_then = times

    def _told_in_namespaces(self, then: Then[NodeT]) -> tuple[dict[str, Seen], bool]:
        """When namespaces were heard of; and whether that was found by the runs that spoke last."""
        times, went_on = self._namespaces.times_by(then.until_us)
        runs = then.told_back()
        for last_us, told in islice(runs, _RUNS):
            went_on = {each for each in went_on if times[each].last_us < last_us}
            if not went_on:
                return times, True
            for node, told_us in told:
                if node.namespace in went_on and self._was_heard_of_since(node):
                    seen = times[node.namespace]
                    times[node.namespace] = Seen(seen.first_us, max(seen.last_us, told_us))
        return times, next(runs, None) is None

    def _go_on_beginning(self, begin: Callable[[], Iterator[None]]) -> None:
        """Another step of the one beginning that all who ask meanwhile go on with."""
        self._beginning = self._beginning or begin()
        try:
            next(self._beginning)
        except StopIteration:
            self._begin = self._beginning = None
        except HeadwaterError:  # the disk does not answer: whoever asks next begins anew
            self._beginning = None
            raise

    def _look_at(self, node: NodeT) -> None:
        try:
            tally = self._look(node)
        except HeadwaterError:  # the disk does not answer: whoever asks next tries again
            self._touched[node] = None
            raise
        self._change(node, self._known.get(node), tally)

    def _caught_up(self) -> None:
        for _ in self.count_up():
            pass

    def _looked_back(self) -> None:
        for _ in self.look_back():
            pass

    def _change(self, node: NodeT, before: TallyT | None, after: TallyT | None) -> None:
        if before == after:
            return
        self._times_then = None
        mine = (None if tally is None else self._in_namespaces(node, tally) for tally in (before, after))
        self._namespaces.change(node, *mine)
        if before is not None:
            self._last_new.remove((before.last_new_us, node))
        if after is None:
            del self._known[node]
        else:
            self._known[node] = after
            self._last_new.add((after.last_new_us, node))
        if before is not None and before.is_shown:
            self._take_out(node, before)
        if after is not None and after.is_shown:
            self._take_in(node, after)

    def _in_namespaces(self, node: NodeT, tally: TallyT) -> Membership:
        raise NotImplementedError

    def _take_in(self, node: NodeT, tally: TallyT) -> None:
        """Count a node that is shown."""
        self._shown += 1
        self._first_heard.add((tally.seen.first_us, node))
        for tag in tally.tags:
            self._tagged.setdefault(tag, {})[node] = None

    def _take_out(self, node: NodeT, tally: TallyT) -> None:
        """Undo what `_take_in` did."""
        self._shown -= 1
        self._first_heard.remove((tally.seen.first_us, node))
        for tag in tally.tags:
            self._tagged[tag].pop(node, None)
            if not self._tagged[tag]:
                del self._tagged[tag]

    @property
    def shown(self) -> int:
        """How many there are, but for deleted ones."""
        self._caught_up()
        return self._shown

    def namespaces(self) -> Mapping[str, Seen]:
        """The namespaces that nodes are in, under any of their names, deleted ones too."""
        for _ in self.look_back_at_namespaces():
            pass
        return self._namespaces.times() if self._times_then is None else self._times_then

    def tagged(self) -> Mapping[str, Iterable[NodeT]]:
        """The tags that producers told, each with whom it is on, no order; deleted ones are left out."""
        self._caught_up()
        return self._tagged

    def first_heard(self) -> Sequence[tuple[int, NodeT]]:
        """When each was first heard of, the earliest first; deleted ones are left out."""
        self._caught_up()
        return self._first_heard.items()


class JobTallies(Tallies[JobId, JobTally]):
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
        """How many edges there are between jobs and datasets."""
        self._caught_up()
        return self._edges

    def newest_first(self, namespace: str | None = None) -> "Nodes[JobId]":
        """The jobs of a namespace, or all, those with the latest event first; deleted ones are left out."""
        self._looked_back()
        return Nodes(self._newest if namespace is None else self._newest_in.get(namespace, Ordered()))


class DatasetTallies(Tallies[DatasetId, DatasetTally]):
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
        """How many columns the datasets have."""
        self._caught_up()
        return self._columns

    @property
    def column_edges(self) -> int:
        """How many edges there are between columns."""
        self._caught_up()
        return self._column_edges

    def by_name(self, namespace: str) -> "Nodes[DatasetId]":
        """The datasets that are shown under a name in this namespace; deleted ones are left out."""
        self._caught_up()
        return Nodes(self._in.get(namespace, Ordered()))

    def sources(self) -> Iterator[tuple[Source, Seen]]:
        """The sources that datasets are said to be in, and when these were heard of; of several addresses the first."""
        self._looked_back()
        for name, seen in self._sources.times().items():
            addresses = [uri for uri, count in self._addresses[name].items() if uri and count]
            yield Source(name, min(addresses, default="")), seen


class Nodes(Generic[NodeT]):
    """Nodes in an order, of which somebody wants a page."""

    def __init__(self, order: Ordered[Any]) -> None:
        self._order = order.items()

    def __len__(self) -> int:
        """How many there are."""
        return len(self._order)

    def page(self, limit: int | None, offset: int = 0) -> list[NodeT]:
        """So many of them from there on; None: all the rest."""
        end = None if limit is None else offset + limit
        return [node for _, node in self._order[offset:end]]


def _in_source(tally: DatasetTally) -> Membership:
    return () if tally.source is None else (tally.source.name,), tally.seen
