"""The runs that tell of a job, by when they spoke last: what a job was like at some time is found without all of them.

Only for jobs that somebody asked about, and then kept in step with events until these are more than the runs.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, islice
from operator import itemgetter

from headwater.graph.lineage import Graph
from headwater.model.facts import RunOfJob
from headwater.model.merging import Seen
from headwater.model.names import JobId
from headwater.service.knowledge.activities import Spoke
from headwater.service.tallies.ordered import Ordered

LastSpoke = tuple[int, str]
"""When a run spoke last, in microseconds since 1970, and its id."""


class Tellers:
    """Of each job the runs of its own and those that are parts of its runs, those that spoke last at the end."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._orders: dict[JobId, Ordered[LastSpoke]] = {}
        self.heard = 0
        """How often more was heard of any run."""

    def of(self, job: JobId) -> Sequence[LastSpoke]:
        """The runs that tell of a job, who spoke last at the end; none of a job that nobody knows.

        To be read before more is heard.
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

    def change(self, before: Mapping[str, Spoke]) -> None:
        """The graph has heard more of these runs, which had told that before."""
        self.heard += len(before)
        for run_id, (was_of, was_seen) in before.items() if self._orders else ():
            run = self._graph.runs[run_id]
            were, are = _jobs(was_of), _jobs(run.of_job)
            for job in (were ^ are) & self._orders.keys():
                del self._orders[job]  # made anew when somebody asks
            for job in were & are & self._orders.keys():
                self._move(job, run_id, was_seen, None if run.times is None else run.times.seen)

    def _move(self, job: JobId, run_id: str, before: Seen | None, after: Seen | None) -> None:
        order = self._orders[job]
        if before is not None:
            order.remove((before.last_us, run_id))
        if after is not None:
            order.add((after.last_us, run_id))
        if order.is_mostly_waiting:  # nobody asks for it any more
            del self._orders[job]


def _jobs(of_job: RunOfJob | None) -> AbstractSet[JobId]:
    return frozenset(() if of_job is None else (of_job.job, *(whole.job for whole in of_job.parts_of)))


class TellersThen:
    """The runs that tell of a job as of a time: those that have told nothing since, and are not among `again`."""

    def __init__(self, now: Tellers, until_us: int, again: Collection[str]) -> None:
        self._now = now
        self._until_us = until_us
        self._again = again
        self._last: dict[JobId, str | None] = {}
        self._last_as_of = (0, 0)

    def are_silent_since(self, job: JobId) -> bool:
        """Whether none of the runs that tell of a job now spoke after then."""
        order = self._now.of(job)
        return not order or order[-1][0] <= self._until_us

    def count(self, job: JobId) -> int:
        """How many of those that tell of a job have not spoken since, those in `again` too."""
        return bisect_right(self._now.of(job), self._until_us, key=itemgetter(0))

    def last(self, job: JobId) -> str | None:
        """The one that spoke last; None where there is none."""
        as_of = (self._now.heard, len(self._again))
        if self._last_as_of != as_of:
            self._last_as_of = as_of
            self._last.clear()
        if job not in self._last:
            self._last[job] = next((run_id for _, run_id in self.back(job)), None)
        return self._last[job]

    def last_alone_us(self, job: JobId) -> int | None:
        """When the last one spoke, in microseconds since 1970; None where there is none, or another spoke then too."""
        times = [last_us for last_us, _ in islice(self.back(job), 2)]
        return times[0] if len({*times}) == len(times) > 0 else None

    def back(self, job: JobId) -> Iterator[LastSpoke]:
        """When each run spoke last, in microseconds since 1970, and its id; who spoke last first."""
        order = self._now.of(job)
        last_first = (order[place] for place in range(self.count(job) - 1, -1, -1))
        return (each for each in last_first if each[1] not in self._again)
