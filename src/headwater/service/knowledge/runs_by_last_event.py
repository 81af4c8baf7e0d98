"""The runs that mention a job, ordered by their last event: a job's past state is found without reading all of them.

An order is built when a job is first asked about, and updated with events until more events came than it has runs.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from heapq import merge
from itertools import chain, islice
from operator import itemgetter

from headwater.graph.lineage import Graph
from headwater.model.facts import RunOfJob
from headwater.model.merging import Seen
from headwater.model.names import JobId
from headwater.service.knowledge.activities import RunSnapshot
from headwater.service.tallies.ordered import Ordered

LastSpoke = tuple[int, str]
"""The time of a run's last event, in microseconds since 1970, and the run's id."""


class RunsByLastEvent:
    """Per job, its own runs and those whose parent or root is one of its runs, latest last event at the end."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._orders: dict[JobId, Ordered[LastSpoke]] = {}
        self.updates = 0
        """Counts updates to runs, so that callers can tell whether a cached result is stale."""

    def of(self, job: JobId) -> Sequence[LastSpoke]:
        """The runs that mention a job, latest last event at the end; empty for an unknown job.

        Valid until the graph learns more.
        """
        order, known = self._orders.get(job), self._graph.jobs.get(job)
        if known is None:
            return ()
        if order is None:
            order, runs = Ordered[LastSpoke](), self._graph.runs
            self._orders[job] = order
            for run_id in chain(known.runs, known.children):
                if (times := runs[run_id].times) is not None:
                    order.add((times.seen.last_us, run_id))
        return order.items()

    def change(self, before: Mapping[str, RunSnapshot]) -> None:
        """Update the orders: the graph has learned more about these runs, which were so before."""
        self.updates += len(before)
        for run_id, (was_of, was_seen) in before.items() if self._orders else ():
            run = self._graph.runs[run_id]
            were, are = _jobs(was_of), _jobs(run.of_job)
            for job in (were ^ are) & self._orders.keys():
                del self._orders[job]  # rebuilt when asked for
            for job in were & are & self._orders.keys():
                self._move(job, run_id, was_seen, None if run.times is None else run.times.seen)

    def _move(self, job: JobId, run_id: str, before: Seen | None, after: Seen | None) -> None:
        order = self._orders[job]
        if before is not None:
            order.remove((before.last_us, run_id))
        if after is not None:
            order.add((after.last_us, run_id))
        if order.is_mostly_pending:  # no longer asked for
            del self._orders[job]


def _jobs(of_job: RunOfJob | None) -> AbstractSet[JobId]:
    return frozenset(() if of_job is None else (of_job.job, *(parent.job for parent in of_job.parts_of)))


class RunsByLastEventAsOf:
    """The same as of a time: runs without an event since, except `refolded` ones, which are read from their events."""

    def __init__(self, now: RunsByLastEvent, until_us: int, refolded: Collection[str]) -> None:
        self._now = now
        self._until_us = until_us
        self._refolded = refolded
        self._last: dict[JobId, str | None] = {}
        self._last_as_of = (0, 0)

    def are_silent_since(self, job: JobId) -> bool:
        """Whether no run that mentions the job now had an event after then."""
        order = self._now.of(job)
        return not order or order[-1][0] <= self._until_us

    def count_since(self, job: JobId) -> int:
        """How many runs that mention a job have had an event since, including those in `refolded`."""
        return len(self._now.of(job)) - self._count(job)

    def since(self, jobs: Iterable[JobId]) -> Iterator[str]:
        """These runs of several jobs, without those in `refolded`."""
        run_ids = (run_id for job in jobs for _, run_id in self._now.of(job)[self._count(job) :])
        return (run_id for run_id in run_ids if run_id not in self._refolded)

    def _count(self, job: JobId) -> int:
        return bisect_right(self._now.of(job), self._until_us, key=itemgetter(0))

    def last(self, job: JobId) -> str | None:
        """The run with the latest event; None if there is none."""
        as_of = (self._now.updates, len(self._refolded))
        if self._last_as_of != as_of:
            self._last_as_of = as_of
            self._last.clear()
        if job not in self._last:
            self._last[job] = next((run_id for _, run_id in self.back(job)), None)
        return self._last[job]

    def last_alone_us(self, job: JobId) -> int | None:
        """The time of that event, in microseconds since 1970; None if there is none, or if two runs share that time."""
        times = [last_us for last_us, _ in islice(self.back(job), 2)]
        return times[0] if len({*times}) == len(times) > 0 else None

    def back(self, job: JobId) -> Iterator[LastSpoke]:
        """The runs with the times of their last events, latest first."""
        order = self._now.of(job)
        last_first = (order[position] for position in range(self._count(job) - 1, -1, -1))
        return (each for each in last_first if each[1] not in self._refolded)

    def back_over(self, jobs: Iterable[JobId]) -> Iterator[str]:
        """The runs of several jobs, the latest last event first."""
        return (run_id for _, run_id in merge(*map(self.back, jobs), reverse=True))
