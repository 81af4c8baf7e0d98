"""Columns that were added, removed or retyped: since the job's last runs, while a stream ran, or by declaration.

`headwater.graph.impact.change` decides which types are equal, and which a reader can read as which.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from headwater.graph.causes.finding import Finding
from headwater.graph.causes.further_back import OlderRuns
from headwater.graph.causes.history import History
from headwater.graph.causes.record import NOTHING_REPORTED, DeclaredSchemaChange, EventRef, Record
from headwater.graph.causes.since import Reading, last_turn
from headwater.graph.causes.visit import Visit
from headwater.graph.causes.words import listed
from headwater.graph.drift import ColumnChange, Columns, column_changes
from headwater.model.events import Direction
from headwater.model.names import DatasetId

_LOST: Final = 0.85
"""Also for columns whose new type readers of the old one cannot read."""
_REBOUND: Final = 0.6
"""The same type with other bounds: engines differ on whether they can read it."""
_ADDED: Final = 0.4
"""Also for columns that were promoted: readers can go on without loss."""
_ELSEWHERE: Final = 0.3
"""Factor on the weight if no relevant column changed."""

_RETYPED: Final[Mapping[bool | None, float]] = {True: _LOST, None: _REBOUND, False: _ADDED}
"""By whether the new type breaks readers of the column."""

_Reported = tuple[Columns, EventRef]
"""The type of each column, and the event that reported it."""


def schema_changes(visit: Visit, history: History) -> Iterator[Finding]:
    """An input or output has other columns than in the job's earlier run.

    Only reports by the same job are compared, since engines spell types differently.
    """
    older = OlderRuns(visit, history)
    sides: tuple[Direction, ...] = ("output", "input")
    for direction in sides:
        for name, end in visit.sides(direction):
            now: _Reported | None = end.columns_at_first if history.is_stream(visit.run.job) else end.columns
            if now is None:
                continue
            reading = Reading(partial(_reported, direction, name), _are_same, _are_alike)
            turn = last_turn(visit, older, reading, now)
            if turn is not None:
                runs = dict.fromkeys((turn.run.summary.run_id, turn.before.summary.run_id, visit.run.run_id))
                yield from _changed(
                    visit,
                    name,
                    turn.value_before,
                    turn.value,
                    turn.run.summary.started_us,
                    *runs,
                    share=visit.share_of(turn.run, is_far=turn.is_far),
                    was_before=not visit.is_news(turn.run),
                )


def _reported(direction: Direction, name: DatasetId, record: Record) -> _Reported | None:
    return record.ends.get((direction, name), NOTHING_REPORTED).columns


def _are_alike(one: _Reported, other: _Reported) -> bool:
    """Equality that allows for different spellings of types."""
    return _are_same(one, other) or not column_changes(other[0], one[0])


def _are_same(one: _Reported, other: _Reported) -> bool:
    return one[0] is other[0] or one[0] == other[0]


def changes_meanwhile(visit: Visit, history: History) -> Iterator[Finding]:
    """A stream's input or output changed its columns while it ran, before its output was read."""
    if not history.is_stream(visit.run.job):
        return
    for reported in history.reported_schema_changes(visit.run.run_id):
        if visit.news.has(reported.at_us) and visit.concerns(reported.direction, reported.dataset):
            yield from _changed(
                visit,
                reported.dataset,
                reported.before,
                reported.after,
                reported.at_us,
                visit.run.run_id,
                is_of_feed=reported.direction == "input",
            )


def _changed(
    visit: Visit,
    name: DatasetId,
    before: _Reported,
    after: _Reported,
    at_us: int,
    *runs: str,
    is_of_feed: bool = False,
    share: float = 1,
    was_before: bool = False,
) -> Iterator[Finding]:
    (then, event_then), (now, event) = before, after
    changes = [] if then == now else sorted(column_changes(then, now))
    if not changes:
        return
    yield Finding(
        "schema-change",
        _weight(visit, name, changes) * share,
        f"{visit.called(name)}: {_words(changes)}{_aside(visit, name, changes)}",
        name,
        visit,
        at_us,
        runs,
        (event, event_then),
        is_of_feed=is_of_feed,
        was_before=was_before,
        columns=frozenset((change.column, change.change) for change in changes),
    )


def declared_changes(visit: Visit, history: History) -> Iterator[Finding]:
    """A new schema was declared for an input or the output, for example a registry's version."""
    feeds = {feed.dataset for feed in visit.feeds}
    outputs = visit.run.writes - feeds if visit.hops == 0 else frozenset()
    for name in sorted(feeds | outputs):
        for news in history.declared_schema_changes(name):
            if visit.news.has(news.at_us):
                yield _declared(visit, name, news, is_of_feed=name in feeds)


def _declared(visit: Visit, name: DatasetId, news: DeclaredSchemaChange, *, is_of_feed: bool) -> Finding:
    version = "" if news.version is None else f", by {news.version}"
    return Finding(
        "schema-change",
        _weight(visit, name, news.changes),
        f"{visit.called(name)}: {_words(news.changes)}{version}{_aside(visit, name, news.changes)}",
        name,
        visit,
        news.at_us,
        (visit.run.run_id,),
        (news.event,),
        is_of_feed=is_of_feed,
    )


def _weight(visit: Visit, name: DatasetId, changes: Sequence[ColumnChange]) -> float:
    return max(map(_weight_of, changes)) * (1 if _matter(visit, name, changes) else _ELSEWHERE)


def _matter(visit: Visit, name: DatasetId, changes: Sequence[ColumnChange]) -> bool:
    return any(visit.matters(name, change.column) for change in changes)


def _aside(visit: Visit, name: DatasetId, changes: Sequence[ColumnChange]) -> str:
    """What to add if only columns changed that do not feed what is asked about."""
    those = "this column does" if len({change.column for change in changes}) == 1 else "these columns do"
    return "" if _matter(visit, name, changes) else f"; {those} not feed the one in question"


def _weight_of(change: ColumnChange) -> float:
    match change.change:
        case "removed":
            return _LOST
        case "added":
            return _ADDED
        case "retyped":
            return _RETYPED[change.is_breaking]


def _words(changes: Sequence[ColumnChange]) -> str:
    by_kind = {kind: [each for each in changes if each.change == kind] for kind in ("removed", "retyped", "added")}
    retyped = [f"{each.column} from {each.before} to {each.after}" for each in by_kind["retyped"]]
    return _sentence([each.column for each in by_kind["removed"]], retyped, [each.column for each in by_kind["added"]])


def _sentence(gone: Sequence[str], retyped: Sequence[str], added: Sequence[str]) -> str:
    parts = (("lost", gone), ("changed", retyped), ("gained", added))
    return ", ".join(f"{verb} {listed(names)}" for verb, names in parts if names)
