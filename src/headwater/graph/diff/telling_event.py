"""Which event made a change, out of what events told and what the graphs on either side of it know."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import product
from typing import NamedTuple

from headwater.graph.diff.compare import Change, Element
from headwater.graph.diff.regrouped import Names, OneWith, regrouped_at
from headwater.graph.diff.tellings import Told
from headwater.graph.records import Teller
from headwater.model.names import AnyNode, ColumnId, DatasetId, JobId


class Known(NamedTuple):
    """What a graph knows, as far as it hangs on that which event did a change."""

    uses: Callable[[DatasetId], bool]
    """Whether somebody used this very name."""
    holders: Mapping[Element, AbstractSet[Teller]] = {}
    """By element that is not so in the other graph, the runs and declarations by which it is so in this one."""
    names: OneWith = lambda name: (name,)
    """The names, the shown one first, of what is told of under a name, be it as a part of another dataset."""
    one_with: OneWith = lambda name: (name,)
    """The names of what goes by a name that somebody uses."""
    moved: AbstractSet[Element] = frozenset()
    """Elements that the other graph has, too, but of a dataset that is told of under another name."""


def telling_event(change: Change, events: Sequence[Told], known_before: Known, known_after: Known) -> int | None:
    """Which event made the change, out of those that only the graph after it knows, in order of time.

    That is the first that told of what came; the first of the last ones that agree on a value; of what went the one
    that deleted it, or by which the last of those let go of it that held it: a declaration by saying no more of it, a
    run by being another job's. Each let go of it when it did so the first time since it held it. An edge that no event
    told of whole came with the second of two: one gave the job the run, one told what it does. Where names turned out
    to be one dataset, or were taken apart, it is who said so. Where a declaration under another name told otherwise
    meanwhile, and the next no longer did, it is the last that told what is so.
    """
    element = change.element
    is_renamed = element.kind == "dataset" and change.way == "changed"
    if is_renamed or element in known_before.moved or element in known_after.moved:
        found = _regrouped(change, events, known_before, known_after)
        if found is not None or is_renamed:
            return found
    if change.way == "went":
        return _went(change, events, known_before, known_after)
    found = _agreed_on(change, events)
    if found is None and change.way == "came" and element.kind == "edge":
        found = _completed(element, events, known_after.holders.get(element, frozenset()))
    if found is None:
        found = _named(change, events, known_before)
    if found is None:
        found = _regrouped(change, events, known_before, known_after)
    return _told_last(change, events) if found is None else found


def _agreed_on(change: Change, events: Sequence[Told], holders: AbstractSet[Teller] = frozenset()) -> int | None:
    """The first of the last events that say what is so after the change."""
    found: int | None = None
    for event in events:
        match _verdict(change, event, holders):
            case True if found is None:
                found = event.log_index
            case False:
                found = None
    return found


def _told_last(change: Change, events: Sequence[Told]) -> int | None:
    """The last event that told what is so."""
    telling = (event for event in reversed(events) if _verdict(change, event, frozenset()))
    return next((event.log_index for event in telling), None)


def _went(change: Change, events: Sequence[Told], known_before: Known, known_after: Known) -> int | None:
    element, holders = change.element, known_before.holders.get(change.element, frozenset())
    found, let_go = _deleted(element, events), dict[Teller, int]()
    if found is None and element.kind in ("job", "edge", "dataset", "columnEdge"):
        let_go = _let_go(element, events, holders)
        found = events[max(let_go.values())].log_index if let_go and let_go.keys() == holders else None
    elif found is None:
        found = _agreed_on(change, events, holders)
    if found is None:
        found = _regrouped(change, events, known_before, known_after)
    return events[max(let_go.values())].log_index if found is None and let_go else found


def _regrouped(change: Change, events: Sequence[Told], known_before: Known, known_after: Known) -> int | None:
    """The event by which the last of the datasets that it is about got the names that it has after the change."""
    declaring = known_before.holders.get(change.element, frozenset())
    places: list[int] = []
    for name in (node for end in change.element.ends for node in _whole(end) if isinstance(node, DatasetId)):
        was, now = known_before.names(name), known_after.names(name)
        names = Names({*was}, {*now}, {*now[:1]} if change.way == "went" else {*now}, declaring)
        place = regrouped_at(names, events, known_before.one_with, known_after.one_with)
        places += [] if place is None else [place]
    return events[max(places)].log_index if places else None


def _deleted(element: Element, events: Sequence[Told]) -> int | None:
    """The last event that deleted one of its ends, if none that stands later in the log brought that one back."""
    ends = [node for end in element.ends for node in _whole(end)]
    deleted, brought_back = dict[str, int](), dict[str, int]()
    for event in events:
        for end in ends:
            if end.node_id in event.deleted:
                places = deleted
            elif element in event.layout or _brings_back(event, end):
                places = brought_back
            else:
                continue
            places[end.node_id] = max(event.log_index, places.get(end.node_id, -1))
    still = (place for end, place in deleted.items() if place > brought_back.get(end, -1))
    return max(still, default=None)


def _brings_back(event: Told, end: AnyNode) -> bool:
    if isinstance(end, JobId):
        return event.declared == end or end in event.runs.values()
    return Element("dataset", (end,)) in event.layout


def _let_go(element: Element, events: Sequence[Told], holders: AbstractSet[Teller]) -> dict[Teller, int]:
    """Where in the events each of the holders let go of the element, the first time since it held it."""
    let_go: dict[Teller, int] = {}
    holding = {*holders}
    for place, event in enumerate(events):
        for holder in holders & {event.declaration, *event.runs}:
            if _holds(element, event, holder):
                holding.add(holder)
            elif holder in holding:
                holding.discard(holder)
                let_go[holder] = place
    return let_go


def _holds(element: Element, event: Told, holder: Teller) -> bool:
    if isinstance(holder, str):
        return any(isinstance(end, JobId) and end == event.runs[holder] for end in element.ends)
    return element in event.layout


def _named(change: Change, events: Sequence[Told], known_before: Known) -> int | None:
    """The first event that calls a dataset a table of a catalog by a name that nobody had used.

    What was told before, of names that are the same table, is told of that dataset from then on.
    """
    if change.way != "came" or change.element.kind not in ("edge", "columnEdge"):
        return None
    names = {name for end in change.element.ends for name in _whole(end) if isinstance(name, DatasetId)}
    new = {name for name in names if not known_before.uses(name)}
    return next((event.log_index for event in events if new & event.tables), None)


def _completed(edge: Element, events: Sequence[Told], runs: AbstractSet[Teller]) -> int | None:
    """The first event after which one of the runs is the job's and has told of the edge, be it of another job's."""
    halves: dict[tuple[Teller, int, bool], int] = {}
    for place, event in enumerate(events):
        for (run_id, of_job), at in product(event.runs.items(), range(len(edge.ends))):
            if run_id not in runs or not isinstance(edge.ends[at], JobId):  # a dataset may equal it
                continue
            if of_job == edge.ends[at]:
                halves.setdefault((run_id, at, True), place)
            if edge._replace(ends=(*edge.ends[:at], of_job, *edge.ends[at + 1 :])) in event.layout:
                halves.setdefault((run_id, at, False), place)
    whole: dict[tuple[Teller, int], int] = {}  # the other half may have been told before
    for (teller, at, _), place in halves.items():
        whole[teller, at] = max(place, whole.get((teller, at), 0))
    return events[min(whole.values())].log_index if whole else None


def _verdict(change: Change, event: Told, holders: AbstractSet[Teller]) -> bool | None:
    """Whether the event says what is so after the change; None: it does not speak of it."""
    element, layout = change.element, event.layout
    match element.kind:
        case "datasetFacet" | "schema" | "column" if element not in layout and change.way == "went":
            (*_, dataset) = _whole(element.ends[0])
            is_left_out = element.kind == "column" and Element("schema", (dataset,)) in layout
            return is_left_out or event.declaration in holders or None
        case "columnEdge" if change.way == "changed":
            return bool({*layout.get(element, ())} - {*change.before}) or None
        case "job" | "dataset" | "edge" | "columnEdge":
            return element in layout or None
    return None if element not in layout else layout[element] == change.after


def _whole(end: AnyNode) -> Iterator[AnyNode]:
    yield end
    if isinstance(end, ColumnId):
        yield end.dataset
