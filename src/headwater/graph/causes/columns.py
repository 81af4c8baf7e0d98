"""The relevant columns among those that a run wrote and read."""

from headwater.graph.causes.history import ColumnsOf, History


def columns_above(history: History, wanted: ColumnsOf) -> ColumnsOf | None:
    """These columns and those that feed them, also through views; None where their sources are not reported."""
    return _fed_by(history, wanted, only_made=False)


def columns_behind(history: History, wanted: ColumnsOf) -> ColumnsOf | None:
    """These columns and, for datasets that no run wrote, those that feed them; None where sources are not reported."""
    return _fed_by(history, wanted, only_made=True)


def _fed_by(history: History, wanted: ColumnsOf, *, only_made: bool) -> ColumnsOf | None:
    columns = dict(wanted)
    waiting = [(name, its) for name, its in wanted.items() if not only_made or history.made_from(name)]
    while waiting:
        sources = history.sources(*waiting.pop())
        if sources is None:
            return None
        for source, fed in sources.items():
            new = fed - columns.get(source, frozenset())
            columns[source] = columns.get(source, frozenset()) | fed
            if new and history.made_from(source):
                waiting.append((source, new))
    return columns
