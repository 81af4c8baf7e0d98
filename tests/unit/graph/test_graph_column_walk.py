"""A walk over columns that keeps dataset-wide edges whole reaches the same as one that expands them."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headwater.graph.column_walk import ColumnWalk
from headwater.graph.lineage import Graph
from headwater.model.facts import FlowDirection
from headwater.model.names import ColumnId, DatasetId
from tests.support.lineage_events import event_with_lineage
from tests.support.slow_columns import SlowColumns
from tests.unit.graph.test_graph_order import facts_of, graph_of

NAMES = ["t0", "t1", "t2"]
COLUMNS = ["a", "b", "s", "s.x"]

_source = st.builds(
    lambda name, column: {"namespace": "lake", "name": name, "type": "DATASET"} | ({"field": column} if column else {}),
    st.sampled_from(NAMES),
    st.sampled_from([*COLUMNS, None]),
)
_lineage = st.builds(
    lambda fields, inputs: {"fields": {name: {"inputs": into} for name, into in fields.items()}, "inputs": inputs},
    st.dictionaries(st.sampled_from(COLUMNS), st.lists(_source, max_size=2), max_size=2),
    st.lists(_source, max_size=2),
)
_schemas = st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(COLUMNS[:3]), unique=True), max_size=3)
_facets = st.lists(st.tuples(st.sampled_from(NAMES), _lineage), min_size=1, max_size=4)


def graph_with(facets: list[tuple[str, dict[str, Any]]]) -> Graph:
    """A graph of these facets, each of a dataset, and reported by its own run."""
    return graph_of(facts_of(event_with_lineage(number, *each) for number, each in enumerate(facets)))


@given(facets=_facets, schemas=_schemas, starts=st.data(), max_hops=st.integers(0, 4))
def test_distances_are_the_same_as_with_expanded_edges(
    facets: list[Any], schemas: dict[str, list[str]], starts: st.DataObject, max_hops: int
) -> None:
    graph = graph_with(facets)

    def columns_of(name: DatasetId) -> list[str]:
        fed = {edge.target_column for edge in graph.column_edges_into(name)} - {None}
        return [*dict.fromkeys((*schemas.get(name.name, ()), *sorted(map(str, fed))))]

    every = [ColumnId(DatasetId("lake", name), column) for name in NAMES for column in COLUMNS]
    start = starts.draw(st.lists(st.sampled_from(every), min_size=1, max_size=3))
    slow, quick = SlowColumns(graph, columns_of), ColumnWalk(graph, columns_of)

    for column in every:
        assert sorted(map(repr, quick.steps_into(column))) == sorted(map(repr, slow.into(column)))
    assert sum(len(slow.into(column)) for column in every) == sum(
        quick.count_spread_into(DatasetId("lake", name)) for name in NAMES
    ) + sum(len(quick.column_steps_into(column)) for column in every)
    ways: tuple[FlowDirection, ...] = ("upstream", "downstream")
    for way in ways:
        assert all({*quick.related(column, way)} == slow.related(column, way) for column in every)
        assert distances(quick, start, way, max_hops) == slow.walked(start, way, max_hops)


def test_a_walk_reads_each_dataset_wide_edge_once() -> None:
    size = 400
    columns = [f"c{number}" for number in range(size)]
    wide = [{"namespace": "lake", "name": "t0", "type": "DATASET", "field": name} for name in columns]
    graph = graph_with([("t1", {"fields": {name: {"inputs": []} for name in columns}, "inputs": wide})])
    source, target = DatasetId("lake", "t0"), DatasetId("lake", "t1")
    counted = _Counted(columns)
    walk = ColumnWalk(graph, lambda name: counted)
    ways: list[tuple[FlowDirection, DatasetId, DatasetId]] = [
        ("upstream", target, source),
        ("downstream", source, target),
    ]

    for way, near, far in ways:
        found = distances(walk, [ColumnId(near, name) for name in columns], way, 3)

        assert found == {ColumnId(near, name): 0 for name in columns} | {ColumnId(far, name): 1 for name in columns}
    assert counted.read < 20 * size


class _Counted(list[str]):
    """Columns that count how many of them are read."""

    read = 0

    def __iter__(self) -> Any:  # noqa: ANN401  an iterator
        for each in super().__iter__():
            self.read += 1
            yield each


def distances(walk: ColumnWalk, start: list[ColumnId], way: FlowDirection, max_hops: int) -> dict[ColumnId, int]:
    steps = walk.walked(start, way, max_hops)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            distances: dict[ColumnId, int] = end.value
            return distances
