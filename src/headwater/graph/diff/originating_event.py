"""Finds the event that made a change, by the contents of the events and the graphs before and after."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import product
from typing import NamedTuple

from headwater.graph.diff.compare import Change, Element
from headwater.graph.diff.event_content import EventContent
from headwater.graph.diff.holders import facet_with
from headwater.graph.diff.regrouped import Names, OneWith, regrouped_at
from headwater.graph.records import Reporter
from headwater.model.names import AnyNode, ColumnId, DatasetId, JobId


class GraphKnowledge(NamedTuple):
    """The knowledge of a graph that decides which event made a change."""

    uses: Callable[[DatasetId], bool]
    """Whether this exact name was in use."""
    holders: Mapping[Element, AbstractSet[Reporter]] = {}
    """The runs and declarations that keep an element in this graph, for elements that the other graph lacks."""
    names: OneWith = lambda name: (name,)
    """The names, shown one first, of a dataset of the diff, including as a part of another dataset."""
    one_with: OneWith = lambda name: (name,)
    """The names of the dataset with a name in use."""
    moved: AbstractSet[Element] = frozenset()
    """Elements that the other graph has too, but of a dataset with another name in the diff."""
    covering: Mapping[Element, AbstractSet[Reporter]] = {}
    """The declarations in this graph of a facet, or of the schema of a column, newer than what the other graph has."""


def originating_event(
    change: Change, events: Sequence[EventContent], known_before: GraphKnowledge, known_after: GraphKnowledge
) -> int | None:
    """The event that made the change, among those that only the graph after it knows, in order of time.

    - Added: the first event that reported it. An edge that no single event reports came with the later of two: one
      gave the job the run, the other reported what the run does.
    - Changed: the first of the last events that agree on the value.
    - Removed: the event that deleted it, or by which its last holder dropped it: a declaration by no longer naming it,
      a run by moving to another job. Each holder counts at its first drop since it last held the element.
    - Names joined or split: the event that reported it.
    - If a declaration under another name temporarily differed: the last event with the current value.
    - Back to what was reported before: the event by which the last declaration that was newer dropped its own value.
    """
    element = change.element
    is_renamed = element.kind == "dataset" and change.kind == "changed"
    if is_renamed or element in known_before.moved or element in known_after.moved:
        found = _regrouped(change, events, known_before, known_after)
        if found is not None or is_renamed:
            return found
    if change.kind == "went":
        return _went(change, events, known_before, known_after)
    found = _agreed_on(change, events)
    if found is None and change.kind == "came" and element.kind == "edge":
        found = _completed(element, events, known_after.holders.get(element, frozenset()))
    if found is None:
        found = _named(change, events, known_before)
    if found is None:
        found = _regrouped(change, events, known_before, known_after)
    if found is None:
        found = _last_event_with(change, events)
    return _uncovered(element, events, known_before) if found is None else found


def _uncovered(element: Element, events: Sequence[EventContent], known_before: GraphKnowledge) -> int | None:
    """The event by which the last declaration that was newer dropped its own value of the facet."""
    covering = known_before.covering.get(element, frozenset())
    facet = facet_with(element)
    let_go = {} if facet is None else _let_go(facet.element, events, covering)
    return events[max(let_go.values())].log_index if let_go and let_go.keys() == covering else None


def _agreed_on(
    change: Change, events: Sequence[EventContent], holders: AbstractSet[Reporter] = frozenset()
) -> int | None:
    """The first of the last events that agree with the state after the change."""
    found: int | None = None
    for event in events:
        match _verdict(change, event, holders):
            case True if found is None:
                found = event.log_index
            case False:
                found = None
    return found


def _last_event_with(change: Change, events: Sequence[EventContent]) -> int | None:
    """The last event that reported the state after the change."""
    with_it = (event for event in reversed(events) if _verdict(change, event, frozenset()))
    return next((event.log_index for event in with_it), None)


def _went(
    change: Change, events: Sequence[EventContent], known_before: GraphKnowledge, known_after: GraphKnowledge
) -> int | None:
    element, holders = change.element, known_before.holders.get(change.element, frozenset())
    found, let_go = _deleted(element, events), dict[Reporter, int]()
    if found is None and element.kind in ("job", "edge", "dataset", "columnEdge"):
        let_go = _let_go(element, events, holders)
        found = events[max(let_go.values())].log_index if let_go and let_go.keys() == holders else None
    elif found is None:
        found = _agreed_on(change, events, holders)
    if found is None:
        found = _regrouped(change, events, known_before, known_after)
    return events[max(let_go.values())].log_index if found is None and let_go else found


def _regrouped(
    change: Change, events: Sequence[EventContent], known_before: GraphKnowledge, known_after: GraphKnowledge
) -> int | None:
    """The event by which the last of the change's datasets got the names that it has after the change."""
    declaring = known_before.holders.get(change.element, frozenset())
    positions: list[int] = []
    for name in (node for end in change.element.ends for node in _whole(end) if isinstance(node, DatasetId)):
        was, now = known_before.names(name), known_after.names(name)
        names = Names({*was}, {*now}, {*now[:1]} if change.kind == "went" else {*now}, declaring)
        position = regrouped_at(names, events, known_before.one_with, known_after.one_with)
        positions += [] if position is None else [position]
    return events[max(positions)].log_index if positions else None


def _deleted(element: Element, events: Sequence[EventContent]) -> int | None:
    """The last event that deleted one of its ends, unless a later log entry restored that end."""
    ends = [node for end in element.ends for node in _whole(end)]
    deleted, brought_back = dict[str, int](), dict[str, int]()
    for event in events:
        for end in ends:
            if end.node_id in event.deleted:
                positions = deleted
            elif element in event.layout or _brings_back(event, end):
                positions = brought_back
            else:
                continue
            positions[end.node_id] = max(event.log_index, positions.get(end.node_id, -1))
    still = (position for end, position in deleted.items() if position > brought_back.get(end, -1))
    return max(still, default=None)


def _brings_back(event: EventContent, end: AnyNode) -> bool:
    if isinstance(end, JobId):
        return event.declared == end or end in event.runs.values()
    return Element("dataset", (end,)) in event.layout


def _let_go(element: Element, events: Sequence[EventContent], holders: AbstractSet[Reporter]) -> dict[Reporter, int]:
    """For each holder that dropped the element, the index of the event at its first drop since it last held it."""
    let_go: dict[Reporter, int] = {}
    holding = {*holders}
    for position, event in enumerate(events):
        for holder in holders & {event.declaration, *event.runs}:
            if _holds(element, event, holder):
                holding.add(holder)
            elif holder in holding:
                holding.discard(holder)
                let_go[holder] = position
    return let_go


def _holds(element: Element, event: EventContent, holder: Reporter) -> bool:
    if isinstance(holder, str):
        return any(isinstance(end, JobId) and end == event.runs[holder] for end in element.ends)
    return element in event.layout


def _named(change: Change, events: Sequence[EventContent], known_before: GraphKnowledge) -> int | None:
    """The first event that makes a dataset a table of a catalog under a name not in use before.

    Earlier reports about other names of the same table count for that dataset from then on.
    """
    if change.kind != "came" or change.element.kind not in ("edge", "columnEdge"):
        return None
    names = {name for end in change.element.ends for name in _whole(end) if isinstance(name, DatasetId)}
    new = {name for name in names if not known_before.uses(name)}
    return next((event.log_index for event in events if new & event.tables), None)


def _completed(edge: Element, events: Sequence[EventContent], runs: AbstractSet[Reporter]) -> int | None:
    """The first event after which one of the runs is the job's and has reported the edge, even for another job."""
    halves: dict[tuple[Reporter, int, bool], int] = {}
    for position, event in enumerate(events):
        for (run_id, of_job), at in product(event.runs.items(), range(len(edge.ends))):
            if run_id not in runs or not isinstance(edge.ends[at], JobId):  # a dataset may be equal to it
                continue
            if of_job == edge.ends[at]:
                halves.setdefault((run_id, at, True), position)
            if edge._replace(ends=(*edge.ends[:at], of_job, *edge.ends[at + 1 :])) in event.layout:
                halves.setdefault((run_id, at, False), position)
    complete: dict[tuple[Reporter, int], int] = {}  # the other half may have been reported before
    for (reporter, at, _), position in halves.items():
        complete[reporter, at] = max(position, complete.get((reporter, at), 0))
    return events[min(complete.values())].log_index if complete else None


def _verdict(change: Change, event: EventContent, holders: AbstractSet[Reporter]) -> bool | None:
    """Whether the event agrees with the state after the change; None: it does not mention it."""
    element, layout = change.element, event.layout
    match element.kind:
        case "datasetFacet" | "schema" | "column" if element not in layout and change.kind == "went":
            (*_, dataset) = _whole(element.ends[0])
            is_left_out = element.kind == "column" and Element("schema", (dataset,)) in layout
            return is_left_out or event.declaration in holders or None
        case "columnEdge" if change.kind == "changed":
            return bool({*layout.get(element, ())} - {*change.before}) or None
        case "job" | "dataset" | "edge" | "columnEdge":
            return element in layout or None
    return None if element not in layout else layout[element] == change.after


def _whole(end: AnyNode) -> Iterator[AnyNode]:
    yield end
    if isinstance(end, ColumnId):
        yield end.dataset
