"""Selects the events of runs that a past needs again: few of a stream's thousands, of which each is parsed only once.

`RunsAgain` is for the thread that builds pasts.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Final

from headwater.errors import UnavailableError
from headwater.graph.run_events import RunEvents
from headwater.model.facts import FacetReport
from headwater.model.times import AFTER_ALL_US
from headwater.service.background import groups
from headwater.store.entries import LoggedEvent, facts_of
from headwater.store.reader import Reader
from headwater.store.until import EventsAgain

_GROUP: Final = 64
"""Events read from the log at a time."""
_FEW: Final = 64
"""The events of runs with so few are parsed for each past."""
_MAX_BYTES: Final = 64_000_000
"""For all that is kept of runs; a stream of 100,000 events takes 2 MB."""


class RunsAgain:
    """Reads the events of runs, and keeps of long ones what it takes to select among their events for any time."""

    def __init__(self, is_stopping: threading.Event) -> None:
        self._is_stopping = is_stopping
        self._kept: OrderedDict[str, RunEvents] = OrderedDict()
        """The least recently used first."""

    def read(self, reader: Reader, run_ids: Iterable[str], until_us: int, others: Iterable[int] = ()) -> EventsAgain:
        """The events of these runs up to that time which report all that rows do not have as of then.

        `others` are the log indexes of events without a run.

        Raises:
            UnavailableError: the service is stopping.
        """
        needed, incomplete = {*others}, set[str]()
        for run_id in run_ids:
            events = self._up_to_date(reader, run_id)
            of_run = events.needed(until_us) | {*_repeated(reader, run_id, events, until_us)}
            if len(of_run) < events.count_until(until_us):
                incomplete.add(run_id)
            needed |= of_run
        self._make_room()
        return read_again(reader, needed, until_us, incomplete)

    def _up_to_date(self, reader: Reader, run_id: str) -> RunEvents:
        events = self._kept.setdefault(run_id, RunEvents())
        for logged in _in_order(reader, reader.log_indexes_after(run_id, events.newest)):
            events.add(logged.log_index, logged.event_us, facts_of(logged))
            if self._is_stopping.is_set():
                raise UnavailableError("the service is stopping")
        self._kept.move_to_end(run_id)
        if events.count_until(AFTER_ALL_US) <= _FEW:
            del self._kept[run_id]
        return events

    def _make_room(self) -> None:
        size_bytes = sum(each.size_bytes for each in self._kept.values())
        while size_bytes > _MAX_BYTES:
            _, oldest = self._kept.popitem(last=False)
            size_bytes -= oldest.size_bytes


def read_again(
    reader: Reader, log_indexes: Iterable[int], until_us: int, incomplete: AbstractSet[str] = frozenset()
) -> EventsAgain:
    """The events at these log indexes; `incomplete` are the runs of which other events up to that time are left out."""
    events = [*_in_order(reader, log_indexes)]
    facts = {each.log_index: facts_of(each) for each in events}
    reports = {fact.key: fact for of_event in facts.values() for fact in of_event if isinstance(fact, FacetReport)}
    known = (reader.report_by(report, until_us) for report in reports.values() if report.run_id in incomplete)
    return EventsAgain(events, facts, [report for report in known if report is not None])


def _in_order(reader: Reader, log_indexes: Iterable[int]) -> Iterator[LoggedEvent]:
    for group in groups(sorted(log_indexes), _GROUP):
        at = reader.at(group)
        yield from (at[log_index] for log_index in group)


def _repeated(reader: Reader, run_id: str, events: RunEvents, until_us: int) -> Iterator[int]:
    """The log indexes of the last reports by then that were repeated later: rows have only first and last times.

    Mostly the latest event has all of them.
    """
    wanted = {fact.key for dataset in events.datasets for fact in reader.repeated_reports(until_us, run_id, dataset)}
    for together in events.latest_first(until_us):
        if not wanted:
            return
        found = set[tuple[object, ...]]()
        for logged in reader.at(together).values():
            reports = {fact.key for fact in facts_of(logged) if isinstance(fact, FacetReport)} & wanted
            if reports:
                found |= reports
                yield logged.log_index
        wanted -= found
