"""Column edges between two datasets, stored as integers until needed: a change of one column needs few of them."""

from array import array
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, partial
from typing import NamedTuple

from headwater.graph.column_edges import PER_EDGE, WHOLE
from headwater.graph.columns import ColumnEdge
from headwater.graph.impact.run_groups import EvidenceRef
from headwater.graph.impact.uses import TargetEvidence
from headwater.graph.lineage import Graph
from headwater.model.names import DatasetId, JobId

_Edge = tuple[int, int]
"""A target column, and the transformation."""


class _Part(NamedTuple):
    """The edges between two datasets in one facet."""

    key: EvidenceRef
    numbers: "array[int]"
    offsets: Sequence[int]
    """Offsets into `numbers` at which edges begin."""


class ReportedEdge(NamedTuple):
    """A column edge, and the facets that report it."""

    edge: ColumnEdge
    keys: tuple[EvidenceRef, ...]


class EdgesBetween:
    """The column edges between one source and one target."""

    def __init__(self, graph: Graph, source: DatasetId, parts: Sequence[_Part]) -> None:
        self._graph = graph
        self._source = source
        self._parts = parts
        self._keys: dict[int, tuple[EvidenceRef, ...]] = {}
        """By bit set: the facets at these positions in `parts`; cached, since most edges share the same facets."""

    def edges_from(self, touched: AbstractSet[int] | None) -> list[tuple[str | None, list[ReportedEdge]]]:
        """The edges by source column, in an order that does not depend on the order of arrival.

        Source column None: all of the source; dataset-to-dataset edges are dropped if there is column detail. `touched`
        limits the result to these source columns and nested ones.
        """
        nested = self._graph.column_edges.nested
        by_column: dict[int, dict[_Edge, int]] = {}
        for part, (_, numbers, offsets) in enumerate(self._parts):
            for offset in offsets:
                out_of = numbers[offset + 2]
                if touched is None or out_of in touched or out_of in nested:
                    edges, edge = by_column.setdefault(out_of, {}), (numbers[offset], numbers[offset + 3])
                    edges[edge] = edges.get(edge, 0) | 1 << part
        if WHOLE in by_column and self._has_column_detail():
            by_column[WHOLE] = {edge: parts for edge, parts in by_column[WHOLE].items() if edge[0] != WHOLE}
        found = [(self._name(out_of), edges) for out_of, edges in by_column.items()]
        if len(found) > 1:
            found.sort(key=lambda each: each[0] or "")
        return [(column, self._read(column, edges)) for column, edges in found]

    def _has_column_detail(self) -> bool:
        return any(
            numbers[offset] != WHOLE or numbers[offset + 2] != WHOLE
            for _, numbers, offsets in self._parts
            for offset in offsets
        )

    def _read(self, source_column: str | None, numbered: Mapping[_Edge, int]) -> list[ReportedEdge]:
        transformations = self._graph.column_edges.transformations.by_number
        edges = [
            ReportedEdge(
                ColumnEdge(self._name(into), self._source, source_column, *transformations[how]), self._keys_at(parts)
            )
            for (into, how), parts in numbered.items()
        ]
        if len(edges) > 1:
            edges.sort(key=_order)
        return edges

    def _keys_at(self, parts: int) -> tuple[EvidenceRef, ...]:
        if parts not in self._keys:
            self._keys[parts] = tuple([part.key for at, part in enumerate(self._parts) if parts >> at & 1])
        return self._keys[parts]

    def _name(self, column: int) -> str | None:
        return None if column == WHOLE else self._graph.column_edges.columns.by_number[column]


class TargetEdges(NamedTuple):
    """The writers of a dataset, and the column edges into it."""

    writers: AbstractSet[JobId]
    reported_names: Sequence[DatasetId]
    """Its names under which column evidence exists."""
    parts: Mapping[DatasetId, Sequence[_Part]]
    """Its column edges, by source."""

    def between(self, graph: Graph, source: DatasetId) -> EdgesBetween | None:
        """The column edges between this source and the target; None: there are none."""
        parts = self.parts.get(source)
        return None if parts is None else EdgesBetween(graph, source, parts)


def target_edges_of(
    graph: Graph, evidence_of: Callable[[DatasetId], TargetEvidence]
) -> Callable[[DatasetId], TargetEdges]:
    """Returns a cached lookup of the edges into a dataset, by shown name; `evidence_of` gives its evidence."""
    datasets = graph.column_edges.datasets.by_number
    # The cached functions do not refer to this closure: their caches need no garbage collection.
    return cache(partial(_target_edges, graph, evidence_of, cache(lambda number: graph.shown(datasets[number]))))


def _target_edges(
    graph: Graph,
    evidence_of: Callable[[DatasetId], TargetEvidence],
    shown: Callable[[int], DatasetId],
    target: DatasetId,
) -> TargetEdges:
    parts: dict[DatasetId, list[_Part]] = {}
    names: dict[DatasetId, None] = {}
    for member, key in evidence_of(target).evidence:
        names[member] = None
        numbers = graph.column_edges.numbers(member, key[1])
        for source, offsets in _by_source(numbers).items():
            if shown(source).is_complete:
                parts.setdefault(shown(source), []).append(_Part((member, key), numbers, offsets))
    return TargetEdges(graph.writers(target), [*names], parts)


def _by_source(numbers: "array[int]") -> dict[int, list[int]]:
    offsets: dict[int, list[int]] = {}
    for edge, source in enumerate(numbers[1::PER_EDGE]):
        if source in offsets:
            offsets[source].append(edge * PER_EDGE)
        else:
            offsets[source] = [edge * PER_EDGE]
    return offsets


def _order(reported: ReportedEdge) -> tuple[str, str, str, bool, str]:
    edge = reported.edge
    return (edge.target_column or "", edge.kind, edge.subtype, edge.masking, edge.description)
