"""Data quality checks of columns that jobs read: if the column is dropped, the check is certain to fail.

A check is in force until a later run of its job omits it: one that read the dataset, produced the same outputs, began
after the check was last reported, and completed (or, for a stream, is running). So only a few of a job's runs matter.
"""

from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from headwater.graph.columns import ColumnEdge
from headwater.graph.impact.run_groups import profile_of
from headwater.graph.impact.uses import ReportedUse, Since
from headwater.graph.lineage import Graph
from headwater.graph.records import Run
from headwater.model.names import DatasetId, JobId
from headwater.model.times import BEFORE_ALL_US

_SUBTYPE: Final = "CHECK"
_NEWEST: Final = 32
"""The number of newest runs that are examined: a check that none of these reports counts as removed."""


class Check(NamedTuple):
    """A job's checks of one column of a dataset."""

    column: str
    assertions: tuple[str, ...]
    """Their kinds, for example `not_null`; sorted, without duplicates."""
    last_us: int
    """When any of them was last reported."""

    def edge_from(self, name: DatasetId) -> ColumnEdge:
        """As an indirect edge: it decides without giving a value."""
        return ColumnEdge(None, name, self.column, "INDIRECT", _SUBTYPE, False, ", ".join(self.assertions))


Checks = Mapping[JobId, Sequence[Check]]
"""The checks in force on a dataset's columns, by the job that reads it and reports them."""
ChecksOf = Callable[[DatasetId], Generator[None, None, Checks]]
"""Gives these checks; yields between steps."""


def no_checks(_: DatasetId) -> Generator[None, None, Checks]:
    """None, for any dataset."""
    yield from ()
    return {}


class CheckUse(NamedTuple):
    """The reporter of a check: a job that reads the dataset."""

    reading: ReportedUse
    last_us: int

    def since(self, job: JobId | None, *, is_whole: bool) -> Generator[None, None, Since | None]:
        """The evidence of later runs that do not read the dataset; those that read it are known to have the check."""
        return self.reading.since(job, is_whole=is_whole)


def reporting_runs(
    graph: Graph, names: Sequence[DatasetId], newest_first: Iterable[str], *, is_stream: bool
) -> dict[str, int]:
    """The runs of a job that may report checks in force on the dataset, each with the time since when they may."""
    done: dict[DatasetId | None, int] = {}
    """By output, or None for no output: when the last run began that may omit a check, in microseconds since 1970."""
    found: dict[str, int] = {}
    for run_id in islice(newest_first, _NEWEST):
        run = graph.runs.get(run_id)
        if run is None or run.times is None or not any(("input", name) in run.observed for name in names):
            continue
        first_us, last_us = run.times.seen
        outputs = _outputs_of(graph, run)
        if last_us < _since_us(done, outputs) and not is_stream:
            continue  # the common case: how it ended does not matter
        profile = profile_of(graph, run)
        is_running = is_stream and profile is not None and profile.state == "open"
        if is_running or (profile is not None and profile.state == "completed"):
            done = {**dict.fromkeys(outputs, first_us), **done}
        since_us = BEFORE_ALL_US if is_running else _since_us(done, outputs)
        if last_us >= since_us:
            found[run_id] = since_us
    return found


def _outputs_of(graph: Graph, run: Run) -> Collection[DatasetId | None]:
    return {graph.shown(name) for direction, name in run.observed if direction == "output"} or {None}


def _since_us(done: Mapping[DatasetId | None, int], outputs: Iterable[DatasetId | None]) -> int:
    return min(done.get(each, BEFORE_ALL_US) for each in outputs)
