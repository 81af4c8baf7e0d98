"""The newest quality result of a dataset or column, from whichever facet tells it."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from headwater.model.facets.quality import Assertion, DataQualityAssertionsFacet, DataQualityMetricsFacet
from headwater.model.facets.view import View
from headwater.model.names import DatasetId
from headwater.service.answers import iso
from headwater.service.knowledge import Knowledge
from headwater.service.shapes_impact import FailedAssertion, Quality

ViewT = TypeVar("ViewT", bound=View)

_KEYS: Final = (DataQualityAssertionsFacet.key, DataQualityMetricsFacet.key)
_MOST_JOBS: Final = 50
"""Of a dataset's jobs, those heard of last: whose newest runs may have measured it."""
_LARGEST: Final = 2**63


class _Told(NamedTuple):
    at_us: int
    name: str
    facet: Any


class Newest(NamedTuple):
    """What was last asserted of a dataset and what was last measured, each with its time; None where nobody did."""

    asserted: tuple[int, DataQualityAssertionsFacet] | None
    measured: tuple[int, DataQualityMetricsFacet] | None


def newest_told(knowledge: Knowledge, name: DatasetId) -> Newest:
    """What was last told of the dataset and of its columns."""
    told = sorted(_told(knowledge, name), key=lambda each: (-each.at_us, json.dumps(each.facet, sort_keys=True)))
    return Newest(_newest(told, DataQualityAssertionsFacet), _newest(told, DataQualityMetricsFacet))


def quality_of(newest: Newest, column: str | None = None) -> Quality | None:
    """The same in numbers; None where nothing was told. Of a column: also what is of no column."""
    times = [result[0] for result in newest if result is not None]
    if not times:
        return None
    assertions = [] if newest.asserted is None else _about(newest.asserted[1].assertions, column)
    metrics = None if newest.measured is None else newest.measured[1]
    of_column = None if metrics is None or column is None else metrics.column_metrics.get(column)
    return Quality(
        at=iso(max(times)),
        passed=all(each.success for each in assertions) if assertions else None,
        assertions=len(assertions),
        failed=[
            FailedAssertion(assertion=each.assertion, column=each.column, severity=each.severity)
            for each in assertions
            if not each.success
        ],
        rowCount=None if metrics is None else _writable(metrics.row_count),
        nullCount=None if of_column is None else _writable(of_column.null_count),
    )


def _newest(told: Sequence[_Told], kind: type[ViewT]) -> tuple[int, ViewT] | None:
    for each in told:
        if each.name == kind.key and isinstance(read := kind.read({kind.key: each.facet}), kind):
            return each.at_us, read
    return None


def _about(assertions: Sequence[Assertion], column: str | None) -> list[Assertion]:
    return [each for each in assertions if column is None or each.column in (None, column)]


def _told(knowledge: Knowledge, name: DatasetId) -> Iterator[_Told]:
    for facet, (stamp, digest) in knowledge.graph.facets_of(name).items():
        if facet in _KEYS:
            yield _Told(stamp.time_us, facet, knowledge.store.content(digest))
    yield from _told_by_runs(knowledge, name)


def _told_by_runs(knowledge: Knowledge, name: DatasetId) -> Iterator[_Told]:
    """What the newest run of each job that touches the dataset hung on that one read or write."""
    jobs = knowledge.graph.readers(name) | knowledge.graph.writers(name)
    done = [knowledge.activity(job) for job in jobs]
    newest = sorted((-each.seen.last_us, each.runs[0]) for each in done if each.runs)[:_MOST_JOBS]
    shown = knowledge.graph.shown(name)
    for run_id, rows in knowledge.store.observed_facets([run_id for _, run_id in newest]).items():
        for row in rows:
            if row.name in _KEYS and row.body is not None and knowledge.graph.shown(row.dataset) == shown:
                yield _Told(knowledge.run(run_id).seen.last_us, row.name, json.loads(row.body))


def _writable(number: int | None) -> int | None:
    """The number, unless it is beyond 64 bits, which JSON here does not carry."""
    return number if number is not None and abs(number) < _LARGEST else None
