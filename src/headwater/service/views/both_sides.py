"""What both graphs of a diff know that is needed to find the events behind the changes on a page.

It is looked up before the log is read, as that is done in another thread.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import product
from typing import NamedTuple

from headwater.graph.diff.compare import Change, ChangeKind, Element, GraphDiff, Layout
from headwater.graph.diff.event_content import NameOf
from headwater.graph.diff.holders import covering, holders
from headwater.graph.diff.originating_event import GraphKnowledge
from headwater.graph.lineage import Graph
from headwater.graph.records import Reporter
from headwater.model.names import AnyNode, ColumnId, DatasetId
from headwater.model.spelling import normal

Names = Mapping[DatasetId, Sequence[DatasetId]]


class Sides(NamedTuple):
    """Both graphs; the names under which events mention a dataset of either; all names of one dataset."""

    before: GraphKnowledge
    after: GraphKnowledge
    resolved_before: NameOf
    resolved_after: NameOf
    members: Names


class _Side(NamedTuple):
    graph: Graph
    kind: ChangeKind
    """The change of whatever is in this graph only."""
    names: Names
    """By the name under which it is listed, the names of a dataset, the shown one first."""
    resolved: Mapping[DatasetId, DatasetId]


def both_sides(
    compared: GraphDiff, was: Graph, now: Graph, page: Sequence[Change], layouts: tuple[Layout, Layout]
) -> Sides:
    """Collect it; `layouts` are the layouts compared, before and after."""
    named = {name for change in page for end in change.element.ends for name in _dataset_of(end)}
    names_before = {name: was.members(compared.name_before(name) or name) for name in named}
    names_after = {name: now.members(name) for name in named}
    members = {
        name: [*dict.fromkeys((name, *names_before[name], *was.members(name), *names_after[name]))] for name in named
    }
    all_names = {each for some in members.values() for each in some}
    before = _Side(was, "went", names_before, {name: compared.resolved_before(name) for name in all_names})
    after = _Side(now, "came", names_after, {name: compared.resolved_after(name) for name in all_names})
    return Sides(
        _graph_knowledge(before, after, page, layouts),
        _graph_knowledge(after, before, page, layouts[::-1]),
        _however_spelt(before.resolved),
        _however_spelt(after.resolved),
        members,
    )


def _however_spelt(resolved: Mapping[DatasetId, DatasetId]) -> NameOf:
    """The names under which events may mention a dataset, including spellings used only as a column's origin."""
    by_spelling: dict[DatasetId, DatasetId] = {}
    for name in sorted(resolved):
        by_spelling.setdefault(normal(name), resolved[name])
    return lambda name: resolved.get(name) or by_spelling.get(normal(name), name)


def _graph_knowledge(side: _Side, other: _Side, page: Sequence[Change], layouts: tuple[Layout, ...]) -> GraphKnowledge:
    graph = side.graph
    only_here = [change.element for change in page if change.kind == side.kind]
    in_other = [change.element for change in page if change.kind != side.kind]
    renamed = [change.element for change in page if change.element.kind == "dataset" and change.kind == "changed"]
    one_with = {name: graph.members(name) for name in side.resolved}
    return GraphKnowledge(
        graph.identities.knows,
        {each: holders(graph, each, side.names.__getitem__) for each in only_here}
        | {each: _declaring(side, other, each) for each in renamed},
        side.names.__getitem__,
        lambda name: one_with.get(name, (name,)),
        frozenset(each for each in only_here if _is_moved(each, side, other, layouts)),
        {
            each: covering(graph, each, side.names.__getitem__, other.graph, other.names.__getitem__)
            for each in in_other
        },
    )


def _declaring(side: _Side, other: _Side, renamed: Element) -> AbstractSet[Reporter]:
    """The declarations of a dataset that use names which it has in this graph only."""
    ((name, *_),) = ([*_dataset_of(end)] for end in renamed.ends)
    lost = {*side.names[name]} - {*other.names[name]}
    return holders(side.graph, renamed, lambda _: lost)


def _is_moved(element: Element, side: _Side, other: _Side, layouts: tuple[Layout, ...]) -> bool:
    """Whether the other graph has the same dataset under another name."""
    if element.kind not in ("edge", "columnEdge"):
        return any(other.resolved[name] != name for end in element.ends for name in _dataset_of(end))
    alike = (element._replace(ends=ends) for ends in product(*(_also(end, side.names, other) for end in element.ends)))
    here, there = layouts
    return any(each in there and each not in here for each in alike)


def _also(end: AnyNode, names: Names, other: _Side) -> Iterator[AnyNode]:
    """The end, and its counterpart in the other graph."""
    for counterpart in dict.fromkeys(other.resolved[name] for dataset in _dataset_of(end) for name in names[dataset]):
        yield ColumnId(counterpart, end.column) if isinstance(end, ColumnId) else counterpart
    yield end


def _dataset_of(end: AnyNode) -> Iterable[DatasetId]:
    match end:
        case ColumnId(dataset=name) | (DatasetId() as name):
            return (name,)
    return ()
