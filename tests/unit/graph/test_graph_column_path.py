"""The path of the data into one column reaches what a walk over columns reaches, edge by edge."""

import sys
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headwater.graph.column_path import column_path
from headwater.graph.column_walk import ColumnWalk
from headwater.model.names import ColumnId, DatasetId
from tests.unit.graph.test_graph_column_walk import COLUMNS, NAMES, distances, graph_with

T0, T1, T2 = (DatasetId("lake", name) for name in NAMES)


def _source(name: str, column: str | None, **members: object) -> dict[str, Any]:
    field = {} if column is None else {"field": column}
    return {"namespace": "lake", "name": name, "type": "DATASET", **field, **members}


_sources = st.lists(st.builds(_source, st.sampled_from(NAMES), st.sampled_from(COLUMNS)), max_size=2)
_lineage = st.builds(
    lambda fields, inputs: {"fields": {name: {"inputs": into} for name, into in fields.items()}, "inputs": inputs},
    st.dictionaries(st.sampled_from(COLUMNS), _sources, max_size=2),
    _sources,
)
_facets = st.lists(st.tuples(st.sampled_from(NAMES), _lineage), min_size=1, max_size=4)


@given(facets=_facets, name=st.sampled_from(NAMES), column=st.sampled_from(COLUMNS))
def test_a_column_path_has_the_columns_that_a_walk_reaches(facets: list[Any], name: str, column: str) -> None:
    graph, start = graph_with(facets), ColumnId(DatasetId("lake", name), column)
    walk = ColumnWalk(graph, lambda _: COLUMNS)

    flows = column_path(graph, start)

    reached = distances(walk, [start], "upstream", sys.maxsize)
    assert {start, *(flow.source for flow in flows)} == {*reached}
    assert all(flow.target in {start, *(each.source for each in flows)} for flow in flows)


def test_a_whole_dataset_as_a_source_is_one_edge_and_ends_the_path() -> None:
    graph = graph_with(
        [
            ("t1", {"fields": {"a": {"inputs": [_source("t0", None)]}}, "inputs": []}),
            ("t0", {"fields": {"b": {"inputs": [_source("t2", "b")]}}, "inputs": []}),
        ]
    )

    flows = column_path(graph, ColumnId(T1, "a"))

    assert [(flow.source, flow.target) for flow in flows] == [(T0, ColumnId(T1, "a"))]


def test_what_flows_into_a_struct_flows_into_its_fields() -> None:
    graph = graph_with([("t1", {"fields": {"s": {"inputs": [_source("t0", "a")]}}, "inputs": [_source("t2", "b")]})])

    flows = column_path(graph, ColumnId(T1, "s.x"))

    assert [flow.source for flow in flows] == [ColumnId(T0, "a"), ColumnId(T2, "b")]
    assert {flow.target for flow in flows} == {ColumnId(T1, "s.x")}
