"""Runs with events both before and after a time are found as by checking each, whatever changes meanwhile."""

from hypothesis import given
from hypothesis import strategies as st

from headwater.graph.records import Run
from headwater.model.events import Stamp
from headwater.model.facts import RunTimes
from headwater.model.merging import Seen
from headwater.service.knowledge.run_intervals import RunIntervals

times = st.integers(0, 40) | st.sampled_from([3_600_000_000, 7_200_000_000])
spans = st.tuples(times, times).map(lambda both: Seen(min(both), max(both)))


def run_seen(run_id: str, seen: Seen) -> Run:
    run = Run()
    run.times = RunTimes(run_id, seen, (0, Stamp(seen.last_us, b""), "START"))
    return run


def test_frequent_events_of_runs_do_not_grow_the_intervals() -> None:
    runs = {str(number): run_seen(str(number), Seen(0, 0)) for number in range(10)}
    intervals = RunIntervals(runs)
    for _ in intervals.catch_up():
        pass

    for second in range(1, 30_000):
        run_id = str(second % 10)
        before = intervals.seen(run_id)
        runs[run_id] = run_seen(run_id, Seen(0, second))
        intervals.change(run_id, before, intervals.seen(run_id))

    orders = (30_000).bit_length() + 1
    assert intervals.size <= orders * 64 + 3 * len(runs)


@given(st.lists(spans), st.lists(st.tuples(st.integers(0, 5), spans)), times)
def test_runs_across_a_time_are_found_also_after_further_events(
    first: list[Seen], later: list[tuple[int, Seen]], time_us: int
) -> None:
    runs = {str(number): run_seen(str(number), seen) for number, seen in enumerate(first)}
    intervals = RunIntervals(runs)
    steps = intervals.catch_up()
    next(steps, None)
    for number, added in later:
        run_id = str(number)
        before = intervals.seen(run_id)
        runs[run_id] = run_seen(run_id, added if before is None else before.union(added))
        intervals.change(run_id, before, intervals.seen(run_id))
    for _ in steps:
        pass

    across = sorted(intervals.across(time_us))

    assert across == sorted(
        run_id
        for run_id, run in runs.items()
        if run.times and run.times.seen.first_us <= time_us < run.times.seen.last_us
    )
