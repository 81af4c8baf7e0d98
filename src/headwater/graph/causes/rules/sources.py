"""Columns whose values are taken from other columns than in the job's earlier runs, as after a swap."""

from collections.abc import Iterator
from operator import eq

from headwater.graph.causes.finding import WAS_BEFORE, Finding, shown_by
from headwater.graph.causes.history import History
from headwater.graph.causes.record import Record
from headwater.graph.causes.rules.code import COMPARED, steadiness_of
from headwater.graph.causes.since import Turn, last_turn
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
    reported = [(each, history.values_made_by(each.summary.run_id, name)) for each in visit.earlier]
    earlier = [(record, values) for record, values in reported if values is not None]
    if all(values is now for _, values in earlier):
        return
    for column in sorted(column for column in now if visit.matters(name, column)):
        former: list[tuple[Record, frozenset[Value]]] = [
            (record, values[column]) for record, values in earlier if column in values
        ]
        turn = last_turn((visit.record, now[column]), former, eq, eq)
        if turn is not None:
            yield column, turn


def _finding(visit: Visit, name: DatasetId, changed: list[tuple[str, _Turn]]) -> Iterator[Finding]:
    turn, columns = changed[0][1], listed([column for column, _ in changed])
    steadiness = max(steadiness_of(each.former[:COMPARED]) for _, each in changed)
    was_before = not visit.is_news(turn.run)
    if steadiness:
        yield Finding(
            "code-change",
            _CHANGED * steadiness * (WAS_BEFORE if was_before else 1),
            f"{name.name}: {visit.run.job.name} takes {columns} from other columns than before",
            name,
            visit,
            turn.run.summary.started_us,
            tuple(dict.fromkeys((turn.run.summary.run_id, turn.before.summary.run_id, visit.run.run_id))),
            (*shown_by(turn.run.last), *shown_by(turn.before.last)),
            was_before=was_before,
        )
