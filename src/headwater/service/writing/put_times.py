"""Event times of writes over the API: now, or just after what is replaced, if a producer's clock is ahead.

Putting a dataset or job replaces what was reported so far, whatever event times the reports have.
"""

from collections.abc import Iterable, Mapping

from headwater.graph.lineage import Graph
from headwater.model.declared import DatasetPut, JobPut, dataset_facets, job_facets
from headwater.model.events import Stamp
from headwater.model.facts import Stamped


def dataset_put_us(graph: Graph, put: DatasetPut, now_us: int) -> int:
    """The event time for putting a dataset; microseconds since 1970."""
    known = graph.datasets.get(put.name)
    declared = None if known is None else known.declared.get(put.name)
    stamps = _stamps(graph.facets_of(put.name), dataset_facets(put))
    return _after(stamps if declared is None else [*stamps, declared.stamp], now_us)


def job_put_us(graph: Graph, put: JobPut, now_us: int) -> int:
    """The event time for putting a job; microseconds since 1970."""
    known = graph.jobs.get(put.name)
    if known is None:
        return now_us
    stamps = _stamps(known.facets, job_facets(put))
    return _after(stamps if known.declaration is None else [*stamps, known.declaration.stamp], now_us)


def _stamps(stamped: Mapping[str, Stamped], facets: Iterable[str]) -> list[Stamp]:
    return [stamped[facet].stamp for facet in facets if facet in stamped]


def _after(stamps: Iterable[Stamp], now_us: int) -> int:
    return max((now_us, *(stamp.time_us + 1 for stamp in stamps)))
