"""Columns whose values are taken from other columns than in the job's earlier runs, as after a swap."""

from collections.abc import Iterator
from functools import partial
from operator import eq

from headwater.graph.causes.finding import Finding, shown_by
from headwater.graph.causes.further_back import OlderRuns
from headwater.graph.causes.history import History
from headwater.graph.causes.record import Record
from headwater.graph.causes.rules.code import steadiness_of
from headwater.graph.causes.since import COMPARED, Reading, Turn, last_turn
from headwater.graph.causes.visit import Visit
from headwater.graph.causes.words import listed
from headwater.graph.flow import Value
from headwater.model.names import DatasetId

_CHANGED = 0.6
_Turn = Turn[frozenset[Value]]


def changed_sources(visit: Visit, history: History) -> Iterator[Finding]:
    """Columns of the output that the run takes from other columns; what only decides about rows does not count."""
    if visit.run.state != "COMPLETED" or history.is_stream(visit.run.job):
        return
    for name in sorted(name for name in visit.run.writes if visit.concerns("output", name)):
        by_run: dict[str, list[tuple[str, _Turn]]] = {}
        for column, turn in _turns(visit, history, name):
            by_run.setdefault(turn.run.summary.run_id, []).append((column, turn))
        for changed in by_run.values():
            yield from _finding(visit, name, changed)


def _turns(visit: Visit, history: History, name: DatasetId) -> Iterator[tuple[str, _Turn]]:
    """Each relevant column that has other sources than before, and the run that changed them."""
    now = history.values_made_by(visit.run.run_id, name)
    if now is None:
        return
    older = OlderRuns(visit, history)
    oldest = older.oldest()
    compared = visit.earlier if oldest is None else (*visit.earlier, oldest)
    reported = (history.values_made_by(each.summary.run_id, name) for each in compared)
    if all(values is now for values in reported if values is not None):
        return
    for column in sorted(column for column in now if visit.matters(name, column)):
        reading = Reading(partial(_value, history, name, column), eq, eq)
        turn = last_turn(visit, older, reading, now[column])
        if turn is not None:
            yield column, turn


def _value(history: History, name: DatasetId, column: str, record: Record) -> frozenset[Value] | None:
    values = history.values_made_by(record.summary.run_id, name)
    return None if values is None else values.get(column)


def _finding(visit: Visit, name: DatasetId, changed: list[tuple[str, _Turn]]) -> Iterator[Finding]:
    turn, columns = changed[0][1], listed([column for column, _ in changed])
    steadiness = max(steadiness_of(each.former[:COMPARED]) for _, each in changed)
    if steadiness:
        yield Finding(
            "code-change",
            _CHANGED * steadiness * visit.share_of(turn.run, is_far=turn.is_far),
            f"{visit.called(name)}: {visit.called(visit.run.job)} takes {columns} from other columns than before",
            name,
            visit,
            turn.run.summary.started_us,
            tuple(dict.fromkeys((turn.run.summary.run_id, turn.before.summary.run_id, visit.run.run_id))),
            (*shown_by(turn.run.last), *shown_by(turn.before.last)),
            was_before=not visit.is_news(turn.run),
        )
