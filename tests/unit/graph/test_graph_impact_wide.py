"""A dataset-wide edge reaches and breaks the same as edges of each column."""

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headwater.graph.impact.change import Change
from headwater.graph.impact.effects import Proposal, verdicts, ways
from headwater.graph.impact.places import Place
from headwater.graph.impact.reach import Flow, Reach, Step, reach
from headwater.graph.lineage import Graph
from headwater.model.names import ColumnId, DatasetId
from tests.support.lineage_events import event_with_lineage
from tests.support.steps import outcome
from tests.unit.graph.test_graph_order import facts_of, graph_of

NAMES = ["t0", "t1", "t2", "t3"]
COLUMNS = ["a", "b", "s", "s.x"]
Sources = list[dict[str, Any]]

_column = st.builds(
    lambda name, column, how: _input(name, column, *how),
    st.sampled_from(NAMES),
    st.sampled_from(COLUMNS),
    st.sampled_from([("DIRECT", "IDENTITY"), ("INDIRECT", "FILTER"), ("INDIRECT", "JOIN")]),
)
_whole = st.sampled_from(NAMES).map(lambda name: {"namespace": "lake", "name": name, "type": "DATASET"})
_reported = st.lists(
    st.tuples(
        st.sampled_from(NAMES),
        st.dictionaries(st.sampled_from(COLUMNS), st.lists(_column | _whole, max_size=2), max_size=2),
        st.lists(_column, max_size=3),
    ),
    min_size=1,
    max_size=5,
)
_schemas = st.fixed_dictionaries({name: st.lists(st.sampled_from(COLUMNS), min_size=1, unique=True) for name in NAMES})


def _input(name: str, column: str, kind: str, subtype: str) -> dict[str, Any]:
    transformations = [{"type": kind, "subtype": subtype}]
    return {"namespace": "lake", "name": name, "type": "DATASET", "field": column, "transformations": transformations}


def _graph(reported: Sequence[tuple[str, Mapping[str, Sources], Sources]]) -> Graph:
    return graph_of(facts_of(_event(number, *each) for number, each in enumerate(reported)))


def _event(number: int, name: str, fields: Mapping[str, Sources], wide: Sources) -> bytes:
    lineage = {"fields": {column: {"inputs": into} for column, into in fields.items()}, "inputs": wide}
    read = {source["name"] for into in (*fields.values(), wide) for source in into}
    return event_with_lineage(number, name, lineage, sorted(read), f"job{number % 2}")


@given(
    reported=_reported,
    schemas=_schemas,
    start=st.tuples(st.sampled_from(NAMES), st.sampled_from([*COLUMNS, None])),
    change=st.sampled_from(["drop", "rename:B", "retype:string"]),
)
def test_a_dataset_wide_edge_reaches_the_same_as_edges_of_each_column(
    reported: list[Any], schemas: dict[str, list[str]], start: tuple[str, str | None], change: str
) -> None:
    fed = {name: {column for target, fields, _ in reported if target == name for column in fields} for name in NAMES}
    columns = {name: [*dict.fromkeys((*schemas[name], *sorted(fed[name])))] for name in NAMES}
    spelled_out: list[Any] = [
        (name, {c: [*fields.get(c, ()), *wide] for c in columns[name]}, []) for name, fields, wide in reported
    ]
    name, column = start
    node = DatasetId("lake", name) if column is None else ColumnId(DatasetId("lake", name), column)
    proposal = _proposal(node, "drop" if column is None and change.startswith("retype") else change)

    answers = []
    for each in (reported, spelled_out):
        reached = _reached(_graph(each), columns, node)
        answers.append((_shape(reached), _verdicts(reached, proposal)))

    assert answers[0] == answers[1]


def test_steps_grow_linearly_with_the_reported_edges() -> None:
    size = 300
    names = [f"c{number}" for number in range(size)]

    def grouped(source: str) -> tuple[str, dict[str, Sources], Sources]:
        fields = {name: [_input(source, name, "DIRECT", "IDENTITY")] for name in names}
        wide = [_input(source, name, "INDIRECT", "GROUP_BY") for name in names]
        return NAMES[NAMES.index(source) + 1], fields, wide

    graph = _graph([grouped("t0"), grouped("t1"), grouped("t2")])
    node = DatasetId("lake", "t0")
    reached = _reached(graph, dict.fromkeys(NAMES, names), node)

    by_place = outcome(verdicts(reached, _proposal(node, "drop")))

    assert len(reached.places) == 3 * (size + 1) + 2
    assert by_place.keys() == ways(reached).keys() == {*reached.places}
    steps = [*reached.steps.values(), *reached.wide.values()]
    assert sum(map(len, steps)) < 30 * size


def _proposal(node: DatasetId | ColumnId, change: str) -> Proposal:
    place = Place("column", *node) if isinstance(node, ColumnId) else Place("dataset", node)
    return Proposal(Change.parse(change), place, "int")


def _reached(graph: Graph, columns: Mapping[str, Sequence[str]], node: DatasetId | ColumnId) -> Reach:
    flow = Flow(
        graph, lambda name: columns[name.name], lambda name, column: column in columns[name.name], lambda _: False
    )
    return outcome(reach(flow, [node]))


def _shape(reached: Reach) -> dict[str, object]:
    """For each place, nearest first: its distance, the steps to it, and the step of the shortest path."""
    last = ways(reached)
    return {
        place.node_id: (
            place.distance,
            {_step(step) for step in (*reached.steps[place], *reached.wide_to(place))},
            _step(last[place]),
            last[place].destination.node_id,
        )
        for place in reached.places
    }


def _step(step: Step) -> tuple[object, ...]:
    edge = step.edge
    return step.origin.node_id, step.jobs, edge and (edge.source_column, edge.kind, edge.subtype)


def _verdicts(reached: Reach, proposal: Proposal) -> dict[str, object]:
    return {
        place.node_id: (verdict.effect, verdict.words(str), _step(verdict.step), verdict.step.destination.node_id)
        for place, verdict in outcome(verdicts(reached, proposal)).items()
    }
