"""What producers got wrong and the evidence puts right: each rule a pure function that says what it mended, and why.

    rule                     producers                                    evidence
    completed-after-failing  Spark's agent tells of one run that it       an error facet of the run, and both ends told
                             failed and then that it completed
    named-by-catalog         Flink names an Iceberg table without a       another event that gives the location for the
                             namespace                                    same catalog and table
    one-table-two-names      Spark guesses a Glue table's folder before   the same table of the same catalog
                             it knows it
    started-after-its-end    Flink's listener tells of a failure before   the events' own times
                             it tells of the start

`docs/mending.md` is the same list for users.
"""

from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from headwater.graph.records import Run

Rule = Literal["completed-after-failing", "named-by-catalog", "one-table-two-names", "started-after-its-end"]

_ERRORS: Final = frozenset({"errorMessage", "spark.exception"})
TROUBLE: Final = _ERRORS | {"extractionError"}
"""The run facets that say that something went wrong with the run, or with what was told of it."""


IsDeleted = Callable[[bytes], bool]
"""Whether the facet with this digest stands there only to say that it is gone."""


class Mended(NamedTuple):
    """One thing that was put right: by which rule, what is now taken for true, and by what evidence."""

    rule: Rule
    what: str
    evidence: tuple[str, ...]


class End(NamedTuple):
    """The state that a run is taken to be in, by its event type, and since when."""

    event_type: str
    time_us: int
    is_mended: bool


def end_of(run: Run, is_deleted: IsDeleted) -> End | None:
    """The state of a run that was heard of: its strongest event's, but for a failure that its producer took back.

    Spark's agent sends FAIL when the Spark job fails, and COMPLETE when the query that it was for comes to its end,
    which is no success. Only where the run carries an error is it taken for failed.
    """
    if run.times is None:
        return None
    _, stamp, event_type = run.times.state
    told = run.told
    if event_type != "COMPLETE" or told is None or "FAIL" not in told.endings:
        return End(event_type, stamp.time_us, is_mended=False)
    errors = [name for name in _ERRORS & told.facets.keys() if not is_deleted(told.facets[name].content)]
    if not errors:
        return End(event_type, stamp.time_us, is_mended=False)
    return End("FAIL", told.endings["FAIL"].last_us, is_mended=True)
