"""Checks of columns, as jobs tell them of what they read: once the column is gone, the check fails for certain.

A check stands until a later run of its job does without it: one that read the dataset, made the same of it, began after
the check was told last, and completed (of a stream also one that goes on). So few of a job's runs are looked at.
"""

from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from headwater.graph.columns import ColumnEdge
from headwater.graph.impact.alike import did
from headwater.graph.impact.uses import Since, Using
from headwater.graph.lineage import Graph
from headwater.graph.records import Run
from headwater.model.names import DatasetId, JobId
from headwater.model.times import BEFORE_ALL_US

_SUBTYPE: Final = "CHECK"
_NEWEST: Final = 32
"""Runs of a job that are looked at: what none of these tells is taken to be told no more."""


class Check(NamedTuple):
    """What a job checks of one column of a dataset."""

    column: str
    assertions: tuple[str, ...]
    """As they are classified, for example `not_null`; sorted, each once."""
    last_us: int
    """When any of them was told last."""

    def edge_from(self, name: DatasetId) -> ColumnEdge:
        """As an edge that decides without giving a value."""
        return ColumnEdge(None, name, self.column, "INDIRECT", _SUBTYPE, False, ", ".join(self.assertions))


ChecksOf = Callable[[DatasetId], Mapping[JobId, Sequence[Check]]]
"""Gives the checks that stand of a dataset's columns, by the jobs that tell them of what they read."""


class Checking(NamedTuple):
    """Who told of a check: a job that reads the dataset."""

    reading: Using
    last_us: int

    def since(self, job: JobId | None, *, is_whole: bool) -> Generator[None, None, Since | None]:
        """What later runs say that do not read the dataset; those that read it are known to have the check."""
        return self.reading.since(job, is_whole=is_whole)


def telling_runs(
    graph: Graph, names: Sequence[DatasetId], newest_first: Iterable[str], *, is_stream: bool
) -> dict[str, int]:
    """The runs of a job that may tell checks that stand of the dataset of these names, each with since when it may."""
    done: dict[DatasetId | None, int] = {}
    """By what is made, or None for nothing, when the last run began that may do without, in microseconds since 1970."""
    found: dict[str, int] = {}
    for run_id in islice(newest_first, _NEWEST):
        run = graph.runs.get(run_id)
        if run is None or run.times is None or not any(("input", name) in run.observed for name in names):
            continue
        first_us, last_us = run.times.seen
        made = _made_by(graph, run)
        if last_us < _since_us(done, made) and not is_stream:
            continue  # as nearly all: how it ended does not matter
        what = did(graph, run)
        goes_on = is_stream and what is not None and what.state == "open"
        if goes_on or (what is not None and what.state == "completed"):
            done = {**dict.fromkeys(made, first_us), **done}
        since_us = BEFORE_ALL_US if goes_on else _since_us(done, made)
        if last_us >= since_us:
            found[run_id] = since_us
    return found


def _made_by(graph: Graph, run: Run) -> Collection[DatasetId | None]:
    return {graph.shown(name) for direction, name in run.observed if direction == "output"} or {None}


def _since_us(done: Mapping[DatasetId | None, int], made: Iterable[DatasetId | None]) -> int:
    return min(done.get(each, BEFORE_ALL_US) for each in made)
