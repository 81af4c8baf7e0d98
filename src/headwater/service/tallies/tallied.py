"""Incremental totals: each node's contribution is computed once, and again after an event touched the node.

An answer over all nodes takes as long as the nodes touched since the last one. The totals of a past start from a copy
of the current ones.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from operator import itemgetter
from typing import Final, Generic, NamedTuple, Self, TypeVar

from headwater.errors import HeadwaterError
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from headwater.model.times import AFTER_ALL_US
from headwater.service.background import groups
from headwater.service.tallies.ordered import Membership, Ordered, Spans
from headwater.service.tallies.tally import DatasetTally, JobTally

NodeT = TypeVar("NodeT", JobId, DatasetId)
TallyT = TypeVar("TallyT", JobTally, DatasetTally)

_RUNS: Final = 1_000
"""Runs examined, from the last one back, for the last events of namespaces: a few milliseconds' work; then all nodes
are examined instead."""
_MANY: Final = 256
"""Nodes removed per step: a millisecond's work."""
_SLICE: Final = 16
"""Nodes counted per step: a millisecond's work if columns must be counted."""


class FromNow(NamedTuple, Generic[NodeT]):
    """How the tallies of a past derive from the current ones."""

    until_us: int
    is_unchanged: Callable[[NodeT], bool]
    indirectly_changed: Callable[[], Iterable[NodeT]]
    """Nodes that may differ although no event since reported a change of them, or that may not exist now."""
    runs_backwards: Callable[[], Iterator[tuple[int, Iterable[tuple[NodeT, int]]]]]
    """Runs by their last event by then, latest first: its time, and the nodes the run mentions with their times."""


class Tallied(Generic[NodeT, TallyT]):
    """The contributions of all nodes; `look` computes one, None if there is no such node (now).

    For a past: until the times of nodes are asked for, a node that changed only in its times contributes what it does
    now.
    """

    def __init__(self, look: Callable[[NodeT], TallyT | None]) -> None:
        self._look: Callable[[NodeT], TallyT | None] = look
        self._then: FromNow[NodeT] | None = None
        self._times_then: Mapping[str, Seen] | None = None
        self._known: dict[NodeT, TallyT] = {}
        self._touched: dict[NodeT, None] = {}
        self._others: Self | None = None
        """Of a past: the current tallies, until they are copied."""
        self._beginning: Iterator[None] | None = None
        self._namespaces: Spans[NodeT] = Spans()
        self._by_first_event: Ordered[tuple[int, NodeT]] = Ordered()
        self._last_new: Ordered[tuple[int, NodeT]] = Ordered()
        self._tagged: dict[str, dict[NodeT, None]] = {}
        self._shown = 0

    def touch(self, nodes: Iterable[NodeT]) -> None:
        """Mark nodes whose contribution may have changed."""
        self._touched.update(dict.fromkeys(nodes))

    def begin_with(self, others: Self, then: FromNow[NodeT]) -> None:
        """When first asked, start from a copy of `others`, and count only nodes that changed since then."""
        self._then, self._others = then, others

    def _begun(self, others: Self, then: FromNow[NodeT]) -> Iterator[None]:
        yield from others.catch_up()
        self._take_over(others)
        news, perhaps = others._changed_since(then)
        for group in groups(news, _MANY):
            self.touch(node for node in group if not self._is_left_out(node, then))
            yield
        for group in groups(perhaps, _SLICE):
            self.touch(node for node in group if self._may_differ(node, then))
            yield

    def _changed_since(self, then: FromNow[NodeT]) -> tuple[list[NodeT], list[NodeT]]:
        """The nodes that changed or appeared since, and those of which that is not known, or that may not exist now."""
        order = self._last_new.items()
        later, unknown_from = (bisect_right(order, us, key=itemgetter(0)) for us in (then.until_us, AFTER_ALL_US - 1))
        news = [node for _, node in order[later:unknown_from]]
        return news, list(dict.fromkeys(chain((node for _, node in order[unknown_from:]), then.indirectly_changed())))

    def _is_left_out(self, node: NodeT, then: FromNow[NodeT]) -> bool:
        """Remove a node that has no event by then; one that is also indirectly changed is counted again later."""
        known = self._known.get(node)
        if known is None or known.seen.first_us <= then.until_us:
            return False
        self._leave_out(node, known)
        return True

    def _may_differ(self, node: NodeT, then: FromNow[NodeT]) -> bool:
        """Whether to count a node again; counting is cheaper than checking if only its own runs mention it."""
        known = self._known.get(node)
        return known is None or known.last_new_us != AFTER_ALL_US or not then.is_unchanged(node)

    def get(self, node: NodeT) -> TallyT | None:
        """A node's contribution as last counted; None if it was touched since, or does not exist."""
        return None if node in self._touched else self._known.get(node)

    def _take_over(self, others: Self) -> None:
        """Copy the state of another one."""
        self._known = {**others._known}
        self._namespaces.take_over(others._namespaces)
        self._by_first_event = others._by_first_event.copy()
        self._tagged = {tag: {**nodes} for tag, nodes in others._tagged.items()}
        self._shown = others._shown

    def touch_all(self) -> None:
        """Mark all nodes."""
        self.touch(self._known)

    def catch_up(self) -> Iterator[None]:
        """Count the marked nodes, some with each step."""
        while self._others is not None and self._then is not None:
            self._go_on_beginning(self._others, self._then)
            yield
        while self._touched:
            for _ in range(min(_SLICE, len(self._touched))):
                self._look_at(self._touched.popitem()[0])
            yield

    def catch_up_times(self, namespace: str | None = None) -> Iterator[None]:
        """Catch up, and for a past also find the last event of each node by then, some with each step.

        With a `namespace`, only for the nodes in it.
        """
        yield from self.catch_up()
        if self._then is not None:
            nodes = dict.fromkeys(self._namespaces.with_events_after(self._then.until_us, namespace))
            for group in groups(nodes, _SLICE):
                for node in filter(self._has_later_events, group):
                    self._look_at(node)
                yield

    def _has_later_events(self, node: NodeT) -> bool:
        known = self._known.get(node)
        return known is not None and self._then is not None and known.seen.last_us > self._then.until_us

    def catch_up_namespace_times(self) -> Iterator[None]:
        """Catch up, and for a past also find the times of namespaces by then, some with each step."""
        yield from self.catch_up()
        if self._then is not None and self._times_then is None:
            times, is_complete = self._namespace_times_by_then(self._then)
            if not is_complete:
                yield from self.catch_up_times()
                times, _ = self._namespaces.times_by(self._then.until_us)
            self._times_then = times

    def _namespace_times_by_then(self, then: FromNow[NodeT]) -> tuple[dict[str, Seen], bool]:
        """The times of namespaces; and whether the latest runs sufficed to find them all."""
        times, pending = self._namespaces.times_by(then.until_us)
        runs = then.runs_backwards()
        for last_us, mentions in islice(runs, _RUNS):
            pending = {each for each in pending if times[each].last_us < last_us}
            if not pending:
                return times, True
            for node, mentioned_us in mentions:
                if node.namespace in pending and self._has_later_events(node):
                    seen = times[node.namespace]
                    times[node.namespace] = Seen(seen.first_us, max(seen.last_us, mentioned_us))
        return times, next(runs, None) is None

    def _go_on_beginning(self, others: Self, then: FromNow[NodeT]) -> None:
        """Advance the initial copy by a step; concurrent readers share it."""
        self._beginning = self._beginning or self._begun(others, then)
        try:
            next(self._beginning)
        except StopIteration:
            self._others = self._beginning = None
        except HeadwaterError:  # the store does not answer: the next reader starts over
            self._beginning = None
            raise

    def _look_at(self, node: NodeT) -> None:
        try:
            tally = self._look(node)
        except HeadwaterError:  # the store does not answer: the next reader tries again
            self._touched[node] = None
            raise
        self._change(node, self._known.get(node), tally)

    def _catch_up_now(self) -> None:
        for _ in self.catch_up():
            pass

    def _catch_up_times_now(self, namespace: str | None = None) -> None:
        for _ in self.catch_up_times(namespace):
            pass

    def _change(self, node: NodeT, before: TallyT | None, after: TallyT | None) -> None:
        if before == after:
            return
        self._times_then = None
        if before is not None:
            self._last_new.remove((before.last_new_us, node))
            self._leave_out(node, before)
        if after is not None:
            self._known[node] = after
            self._last_new.add((after.last_new_us, node))
            self._namespaces.change(node, None, self._in_namespaces(node, after))
            if after.is_shown:
                self._take_in(node, after)

    def _leave_out(self, node: NodeT, tally: TallyT) -> None:
        """Remove a node and its contribution."""
        del self._known[node]
        self._namespaces.change(node, self._in_namespaces(node, tally), None)
        if tally.is_shown:
            self._take_out(node, tally)

    def _in_namespaces(self, node: NodeT, tally: TallyT) -> Membership:
        raise NotImplementedError

    def _take_in(self, node: NodeT, tally: TallyT) -> None:
        """Add the contribution of a node that is not deleted."""
        self._shown += 1
        self._by_first_event.add((tally.seen.first_us, node))
        for tag in tally.tags:
            self._tagged.setdefault(tag, {})[node] = None

    def _take_out(self, node: NodeT, tally: TallyT) -> None:
        """Undo what `_take_in` did."""
        self._shown -= 1
        self._by_first_event.remove((tally.seen.first_us, node))
        for tag in tally.tags:
            self._tagged[tag].pop(node, None)
            if not self._tagged[tag]:
                del self._tagged[tag]

    @property
    def shown(self) -> int:
        """The number of nodes, without deleted ones."""
        self._catch_up_now()
        return self._shown

    def namespaces(self) -> Mapping[str, Seen]:
        """The namespaces of nodes under any of their names, including deleted nodes, with their times."""
        for _ in self.catch_up_namespace_times():
            pass
        return self._namespaces.times() if self._times_then is None else self._times_then

    def tagged(self) -> Mapping[str, Iterable[NodeT]]:
        """The nodes by tags that producers reported, in no order, without deleted nodes."""
        self._catch_up_now()
        return self._tagged

    def by_first_event(self) -> Sequence[tuple[int, NodeT]]:
        """Each node's first event, earliest first, without deleted nodes."""
        self._catch_up_now()
        return self._by_first_event.items()
