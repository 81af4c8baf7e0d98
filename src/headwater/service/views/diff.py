"""Changes of the graph between two times or two runs, and the events that made them."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Final, NamedTuple

from headwater.errors import NotFoundError
from headwater.graph.diff.compare import Among, Change, ChangeKind, GraphDiff, Layout, Side, compare, touches
from headwater.graph.diff.event_content import Merged, NameOf, RelevantElements, event_content
from headwater.graph.diff.originating_event import originating_event
from headwater.model.edits import EditEntry
from headwater.model.extract import facts
from headwater.model.facts import Fact
from headwater.model.names import AnyNode, ColumnId, DatasetId, JobId, without_column
from headwater.service.background import collect_in_slices, groups, result_in_slices
from headwater.service.http.as_of import AsOf
from headwater.service.knowledge.activity import KnownRun
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.past.pasts import Past
from headwater.service.request.node_ids import node_of
from headwater.service.shapes import diff as shapes_diff
from headwater.service.views.both_sides import Sides, both_sides
from headwater.service.views.diff_answer import FACETS, ContentOfEvent, answer, end
from headwater.service.views.diff_runs import runs_that_may_report
from headwater.store.entries import LoggedEvent, as_today
from headwater.store.reader import AnotherReader, Reader

_TOGETHER: Final = 32
"""Events of a run examined per time slice: a few milliseconds' work."""


class DiffQuery(NamedTuple):
    """Which changes are wanted; None: of all nodes, or in all namespaces."""

    node_id: str | None
    namespace: str | None
    limit: int
    offset: int


async def diff(before: Past, after: Past, query: DiffQuery, another_reader: AnotherReader) -> shapes_diff.Diff:
    """The changes of the graph from one past to the other.

    The log is read in another thread, for the events that reported the changes on the page.

    Raises:
        NotFoundError: the node was in neither.
    """
    was, now = (Side(past.knowledge.graph, past.knowledge.store.content) for past in (before, after))
    compared = GraphDiff(was, now)
    node = None if query.node_id is None else _node(compared, before.knowledge, after.knowledge, query.node_id)
    among = await _among(compared, (before.knowledge, after.knowledge), node)
    layouts: tuple[Layout, Layout] = ({}, {})
    changes = await _compared(compared, layouts, among, node, query.namespace)
    page = changes[query.offset : query.offset + query.limit]
    sides = both_sides(compared, was.graph, now.graph, page, layouts)
    run_ids = (runs_that_may_report(side.graph, sides.members, page) for side in (was, now))
    search = _Search(before.as_of, after.as_of, sorted(set[str]().union(*run_ids)), sides)
    events = await asyncio.to_thread(search.events, another_reader, page) if page else []
    return answer((end(before.as_of), end(after.as_of)), changes, page, events)


async def _among(compared: GraphDiff, ends: Sequence[Knowledge], node: AnyNode | None) -> Among | None:
    """The nodes that may have changed; None: all."""
    if node is not None:
        for knowledge in ends:
            await collect_in_slices(
                knowledge.read_ahead()
            )  # else it would be done at a stretch, for what its columns feed
        return compared.about(node)
    jobs, datasets = frozenset[JobId](), frozenset[DatasetId]()
    for knowledge in ends:
        other = await result_in_slices(knowledge.may_have_changed())
        if other is None:
            return None
        jobs, datasets = jobs | other.jobs, datasets | other.datasets
    return Among(jobs, datasets)


async def _compared(
    compared: GraphDiff,
    layouts: tuple[Layout, Layout],
    among: Among | None,
    node: AnyNode | None,
    namespace: str | None,
) -> list[Change]:
    """The changes that touch the node and the namespace; works in time slices, since a large graph takes seconds.

    The layouts compared are stored in `layouts`.
    """
    await collect_in_slices(compared.lay_out(*layouts, among))
    return await asyncio.to_thread(_touching, *layouts, node, namespace)


def _touching(before: Layout, after: Layout, node: AnyNode | None, namespace: str | None) -> list[Change]:
    return [each for each in compare(before, after) if touches(each, node, namespace)]


def _node(compared: GraphDiff, before: Knowledge, after: Knowledge, node_id: str) -> AnyNode:
    try:
        return node_of(after, node_id)
    except NotFoundError:
        match node_of(before, node_id):
            case DatasetId() as name:
                return compared.name(name)
            case ColumnId(dataset, column):
                return ColumnId(compared.name(dataset), column)
            case job:
                return job


class _Search(NamedTuple):
    """Finds the events that reported changes; pure apart from reading the log, so it may run in another thread."""

    before: AsOf
    after: AsOf
    run_ids: Sequence[str]
    sides: Sides

    def events(self, another_reader: AnotherReader, page: Sequence[Change]) -> list[ContentOfEvent | None]:
        """For each change, the event that made it; or the event, no longer counted, that had made the opposite."""
        matters = RelevantElements(page)
        with closing(another_reader()) as reader:
            differing = filter(self._differs, reader.events_of_runs(self.run_ids))
            known = [self._event(logged, matters) for logged in differing]
        by_log_index = {event.logged.log_index: event for event in sorted(known, key=_stamp)}
        new = [event.content for event in by_log_index.values() if self._is_after(event.logged)]
        removed = [event.content for event in by_log_index.values() if not self._is_after(event.logged)]
        found: list[ContentOfEvent | None] = []
        for change in page:
            log_index = originating_event(change, new, self.sides.before, self.sides.after)
            if log_index is None:
                log_index = originating_event(_opposite(change), removed, self.sides.after, self.sides.before)
            found.append(None if log_index is None else by_log_index[log_index])
        return found

    def _differs(self, logged: LoggedEvent) -> bool:
        return self.before.counts(logged.event_us, logged.log_index) != self._is_after(logged)

    def _is_after(self, logged: LoggedEvent) -> bool:
        return self.after.counts(logged.event_us, logged.log_index)

    def _event(self, logged: LoggedEvent, matters: RelevantElements) -> ContentOfEvent:
        resolved = self.sides.resolved_after if self._is_after(logged) else self.sides.resolved_before
        content = matters.of(event_content(logged.log_index, _facts(logged), resolved))
        return ContentOfEvent(logged._replace(raw=b""), content)  # of which there may be thousands


def _stamp(event: ContentOfEvent) -> tuple[int, bytes]:
    return event.logged.event_us, event.logged.digest


def _facts(logged: LoggedEvent) -> tuple[Fact, ...]:
    match as_today(logged.event_type, logged.raw):
        case None:
            return ()
        case EditEntry() as edits:
            return tuple(edits.facts(logged.log_index))
        case event:
            return facts(event)


_OPPOSITE: Final[Mapping[ChangeKind, ChangeKind]] = {"came": "went", "went": "came", "changed": "changed"}


def _opposite(change: Change) -> Change:
    return Change(change.element, _OPPOSITE[change.kind], change.after, change.before)


async def diff_of_runs(
    knowledge: Knowledge,
    as_of: AsOf,
    runs: tuple[KnownRun, KnownRun],
    query: DiffQuery,
    another_reader: AnotherReader,
) -> shapes_diff.Diff:
    """The changes from what one run reported to what another did; reads the log in another thread."""
    node = None if query.node_id is None else node_of(knowledge, query.node_id)
    with closing(await asyncio.to_thread(another_reader)) as reader:
        contents_of = partial(_contents_of, reader, knowledge.graph.shown)
        before, after = [
            await _merged(contents_of(await _log_indexes(reader, run.run_id, as_of)), as_of) for run in runs
        ]
        changes = [each for each in compare(before.layout, after.layout) if touches(each, node, query.namespace)]
        page = changes[query.offset : query.offset + query.limit]
        log_indexes = [(before if each.kind == "went" else after).since[each.element] for each in page]
        events = {event.logged.log_index: event async for event in contents_of(sorted({*log_indexes}))}
    ends = (end(as_of, runs[0].run_id), end(as_of, runs[1].run_id))
    return answer(ends, changes, page, [events[log_index] for log_index in log_indexes])


async def _log_indexes(reader: Reader, run_id: str, as_of: AsOf) -> list[int]:
    """The log indexes of the run's events within the bounds, in order of time."""
    log_indexes = await asyncio.to_thread(reader.log_indexes_of, run_id)
    return [log_index for log_index in log_indexes if as_of.log_size is None or log_index < as_of.log_size]


async def _contents_of(reader: Reader, name_of: NameOf, log_indexes: Iterable[int]) -> AsyncIterator[ContentOfEvent]:
    """The events at these log indexes, in order and in chunks, since a stream has thousands."""
    for group in groups(log_indexes, _TOGETHER):
        for logged, event_facts in await asyncio.to_thread(_read, reader, group):
            yield ContentOfEvent(logged, event_content(logged.log_index, event_facts, name_of))


def _read(reader: Reader, log_indexes: Sequence[int]) -> list[tuple[LoggedEvent, tuple[Fact, ...]]]:
    events = reader.at(log_indexes)
    return [(events[log_index], _facts(events[log_index])) for log_index in log_indexes]


async def _merged(events: AsyncIterator[ContentOfEvent], as_of: AsOf) -> Merged:
    merged = Merged()
    async for event in events:
        if as_of.time_us is None or event.logged.event_us <= as_of.time_us:
            merged.add(event.content)
    for element, value in [*merged.layout.items()]:
        is_taken_back = value is None and element.kind in FACETS
        if is_taken_back or not all(map(_is_complete, element.ends)):
            del merged.layout[element]
    return merged


def _is_complete(end: AnyNode) -> bool:
    """False for a dataset in quarantine, which is no node, and its columns."""
    node = without_column(end)
    return isinstance(node, JobId) or node.is_complete
