"""Edges as of a time, derived from current ones by leaving out runs."""

from collections.abc import Sequence
from functools import partial
from operator import attrgetter
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from headwater.graph.past.cut import side
from headwater.graph.past.recounted import RunsBySide, last_event_us
from headwater.graph.records import Edge, Run, RunEnd
from headwater.model.events import Stamp
from headwater.model.facts import RunTimes
from headwater.model.merging import Seen
from headwater.model.names import DatasetId

END: RunEnd = ("output", DatasetId("lake", "orders"))
OTHER: RunEnd = ("input", DatasetId("lake", "customers"))


class Reported(NamedTuple):
    """The times of a run's events, and those of them that report the end."""

    times: list[int]
    of_end: list[int]

    def run(self, number: int) -> Run:
        """The run's record."""
        ran = Seen(min(self.times), max(self.times))
        run = Run(RunTimes(f"run {number}", ran, (1, Stamp(ran.last_us, b""), "RUNNING"), ran.first_us))
        run.observed[OTHER] = ran
        if self.of_end:
            run.observed[END] = Seen(min(self.of_end), max(self.of_end))
        return run


@st.composite
def reports(draw: st.DrawFn) -> Reported:
    """A run of up to four events, of which any may report the end."""
    times = draw(st.lists(st.integers(-3, 30), min_size=1, max_size=4))
    return Reported(times, draw(st.lists(st.sampled_from(times), max_size=3)))


@given(st.lists(reports(), min_size=1, max_size=12), st.integers(-3, 30), st.sets(st.integers(0, 11)))
def test_an_edge_as_of_a_time_is_that_of_the_runs_without_later_events(
    reported: Sequence[Reported], until_us: int, also_again: set[int]
) -> None:
    runs = [each.run(number) for number, each in enumerate(reported)]
    again = [run for number, run in enumerate(runs) if side(run, until_us) == "across" or number in also_again]
    before = [run for run in runs if side(run, until_us) == "before" and run not in again]
    since = [run for run in runs if side(run, until_us) == "after" and run not in again]
    by_side = RunsBySide(
        until_us,
        again,
        lambda: before,
        lambda: sorted(before, key=last_event_us, reverse=True),
        len(before),
        lambda: since,
        len(since),
    )
    for end in (END, OTHER):
        if (now := _edge(end, runs)) is not None:
            assert by_side.recount(now, partial(_seen, end)) == _edge(end, before)


def _seen(end: RunEnd, run: Run) -> Seen | None:
    return run.observed.get(end)


def _edge(end: RunEnd, runs: Sequence[Run]) -> Edge | None:
    times = [run.observed[end] for run in runs if end in run.observed]
    if not times:
        return None
    return Edge(Seen(min(map(attrgetter("first_us"), times)), max(map(attrgetter("last_us"), times))), len(times))
