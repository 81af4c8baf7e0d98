"""Lifecycle changes of a whole dataset (created, dropped, renamed ...), and whether it still exists."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from operator import itemgetter
from typing import NamedTuple

from headwater.graph.identity import Link
from headwater.graph.records import Dataset, RunEnd
from headwater.graph.walk import reachable
from headwater.model.facets.dataset import LifecycleStateChangeFacet
from headwater.model.facets.own import DeclaredFacet
from headwater.model.facts import Stamped
from headwater.model.names import DatasetId, JobId
from headwater.model.times import AFTER_ALL_US, BEFORE_ALL_US
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.knowledge.versions import current_shape

_DROP = "DROP"
_KEY = LifecycleStateChangeFacet.key


class _Change(NamedTuple):
    at_us: int
    name: DatasetId
    """The name under which it was reported."""
    state: str


def lifecycle_state(knowledge: Knowledge, name: DatasetId, digests: Mapping[str, bytes]) -> str | None:
    """The last lifecycle change; empty if there is none, or if the dataset was dropped and exists again.

    As in Marquez, None for a dataset without a version, and for one that was put over the API and never written by a
    run. `digests` are those of its facets.
    """
    last = _last_change(knowledge, name) if _KEY in digests else None
    if last is not None:
        return "" if last.state == _DROP and _is_there_again(knowledge, name, last) else last.state
    is_declared = knowledge.facets.view(DeclaredFacet, digests) is not None
    has_none = current_shape(knowledge.graph, name) is None or (is_declared and not _was_written(knowledge, name))
    return None if has_none else ""


def is_dropped(knowledge: Knowledge, name: DatasetId, digests: Mapping[str, bytes]) -> bool:
    """Whether it was dropped, and since then neither written by a new run nor declared."""
    last = _last_change(knowledge, name) if _KEY in digests else None
    return last is not None and last.state == _DROP and not _is_there_again(knowledge, name, last)


def has_only_changed_places(knowledge: Knowledge, name: DatasetId, dropped_us: int) -> bool:
    """Whether the drop at that time concerned only one of the dataset's names, and it lived on under another.

    Later reports do not count. Of declarations, the current ones count.
    """
    reports = sorted((each for each in _all_reports(knowledge, name) if each[0].at_us <= dropped_us), key=itemgetter(0))
    newest = {change.name: change for change, _ in reports}
    renamed_us = {
        end: change.at_us for change, former in reports if former is not None for end in (change.name, former)
    }
    last = _last_of(knowledge, name, [*newest.values()], lambda: renamed_us, dropped_us)
    return last is not None and last.state != _DROP


def _is_there_again(knowledge: Knowledge, name: DatasetId, drop: _Change) -> bool:
    """Whether since the drop a new run wrote it, or it was declared.

    A run is not new that wrote what was dropped before, under any name but those that renames gave it.
    """
    joined = _joined_with(drop.name, _lasting_links(knowledge, name))
    places = [[*joined], *([each] for each in knowledge.graph.members(name) if each not in joined)]
    return any(at_us > drop.at_us for place in places for at_us in _creation_times(knowledge, place))


def _last_change(knowledge: Knowledge, name: DatasetId) -> _Change | None:
    """The last change of a dataset under any of its names; None if none was reported."""
    renamed_us = partial(_renamed_us, knowledge, name)
    return _last_of(knowledge, name, [*_changes(knowledge, name)], renamed_us, AFTER_ALL_US)


def _last_of(
    knowledge: Knowledge,
    name: DatasetId,
    changes: Sequence[_Change],
    renames: Callable[[], Mapping[DatasetId, int]],
    until_us: int,
) -> _Change | None:
    """The last change by a time, out of the last of each name; `left` returns when each name was last renamed.

    Tables are swapped by renaming: t becomes t_old, t_new becomes t, t_old is dropped. The three names belong to one
    dataset, which still exists, as t was not renamed after it came back or was created again.
    """
    if not changes:
        return None
    first, *others = sorted(changes, reverse=True)
    if first.state != _DROP:
        return first
    renamed_us = renames()
    joined = _joined_with(first.name, _lasting_links(knowledge, name))
    for change in others:
        if (
            change.state != _DROP
            and change.name not in joined
            and change.at_us >= renamed_us.get(change.name, BEFORE_ALL_US)
        ):
            return change
    changed_us = {
        **renamed_us,
        **{each.name: max(each.at_us, renamed_us.get(each.name, each.at_us)) for each in others},
    }
    created = (
        (at_us, each)
        for each in renamed_us.keys() - joined
        for at_us in _creation_times(knowledge, (each,))
        if changed_us[each] < at_us <= until_us
    )
    return max((_Change(at_us, each, "") for at_us, each in created), default=first)


def _renamed_us(knowledge: Knowledge, name: DatasetId) -> dict[DatasetId, int]:
    """Per name of a dataset, the last time that it was renamed or became the new name."""
    renamed_us: dict[DatasetId, int] = {}
    for link in knowledge.graph.identities.links(name):
        if link.reason == "rename" and link.seen is not None:
            for end in (link.name, link.other):
                renamed_us[end] = max(renamed_us.get(end, link.seen.last_us), link.seen.last_us)
    return renamed_us


def _lasting_links(knowledge: Knowledge, name: DatasetId) -> list[Link]:
    """Why the names of a dataset are one at any time, so without renames."""
    return [link for link in knowledge.graph.identities.links(name) if link.reason != "rename"]


def _joined_with(name: DatasetId, links: Sequence[Link]) -> AbstractSet[DatasetId]:
    """The name, and all others joined with it by these links."""

    def linked(known: DatasetId) -> Iterator[DatasetId]:
        return (end for link in links if known in (link.name, link.other) for end in (link.name, link.other))

    return reachable([name], linked, len(links)).keys()


def _changes(knowledge: Knowledge, name: DatasetId) -> Iterator[_Change]:
    """The last reported change under each name, without changes by runs that failed."""
    for member in knowledge.graph.members(name):
        dataset = knowledge.graph.datasets.get(member)
        report = None if dataset is None else dataset.current_facets().get(_KEY)
        if dataset is not None and report is not None and _is_of_failed(knowledge, member, report):
            report = _last_counting_report(knowledge, member, dataset)
        change = None if report is None else knowledge.facets.view(LifecycleStateChangeFacet, {_KEY: report.content})
        if report is not None and change is not None:
            yield _Change(report.stamp.time_us, member, change.lifecycle_state_change)


def _is_of_failed(knowledge: Knowledge, name: DatasetId, report: Stamped) -> bool:
    """Whether failed runs reported this about their outputs; the store is queried only if any may have."""
    at_us = report.stamp.time_us
    jobs = knowledge.graph.jobs_naming(name) if report.is_written else ()
    failed = [
        run_id for job in jobs for run_id in _at_work(knowledge, job, at_us) if knowledge.graph.has_failed(run_id)
    ]
    reports = knowledge.store.reported_facets(failed, name, [_KEY]) if failed else ()
    return any(each.stamp == report.stamp and each.content == report.content for each in reports)


def _at_work(knowledge: Knowledge, job: JobId, at_us: int) -> Iterator[str]:
    """The runs of a job that may have an event at that time; only those that began not long before are examined."""
    activity, runs = knowledge.activity(job), knowledge.graph.runs
    for run_id in activity.begun_by(at_us, lambda each: knowledge.run(each).seen.first_us):
        seen = knowledge.run(run_id).seen
        if seen.first_us + activity.longest_us < at_us:
            return
        if seen.last_us >= at_us and run_id in runs:
            yield run_id


def _last_counting_report(knowledge: Knowledge, name: DatasetId, dataset: Dataset) -> Stamped | None:
    """The last report under that name, without those of failed runs about their outputs."""
    return max(_reports(knowledge, name, dataset), default=None)


def _reports(knowledge: Knowledge, name: DatasetId, dataset: Dataset) -> Iterator[Stamped]:
    """The last report of each run under that name, except of failed runs about outputs; and declarations."""
    runs = [run_id for job in knowledge.graph.jobs_naming(name) for run_id in knowledge.graph.jobs[job].runs]
    failed = {run_id for run_id in runs if knowledge.graph.has_failed(run_id)}
    for each in knowledge.store.reported_facets(runs, name, [_KEY]):
        if each.direction == "input" or each.run_id not in failed:
            yield Stamped(each.stamp, each.direction == "output", each.content)
    yield from (declared.facets[_KEY] for declared in dataset.declared.values() if _KEY in declared.facets)


def _all_reports(knowledge: Knowledge, name: DatasetId) -> Iterator[tuple[_Change, DatasetId | None]]:
    """All reports under each name, in no order; for a rename, with the former name."""
    for member in knowledge.graph.members(name):
        dataset = knowledge.graph.datasets.get(member)
        for report in () if dataset is None else _reports(knowledge, member, dataset):
            change = knowledge.facets.read(LifecycleStateChangeFacet, report.content)
            if change is not None:
                state = change.lifecycle_state_change
                former = change.previous_identifier if state == "RENAME" else None
                name_then = None if former is None else DatasetId(former.namespace, former.name)
                yield _Change(report.stamp.time_us, member, state), name_then


def _was_written(knowledge: Knowledge, name: DatasetId) -> bool:
    return any(True for _ in _writes_began(knowledge, knowledge.graph.members(name)))


def _creation_times(knowledge: Knowledge, names: Sequence[DatasetId]) -> Iterator[int]:
    """When a dataset was declared under any of these names, and when each run first reported writing it."""
    datasets = (knowledge.graph.datasets.get(name) for name in names)
    yield from (each.stamp.time_us for dataset in datasets if dataset for each in dataset.declared.values())
    yield from _writes_began(knowledge, names)


def _writes_began(knowledge: Knowledge, names: Sequence[DatasetId]) -> Iterator[int]:
    """When each run first reported writing a dataset under any of these names: it may use several."""
    graph = knowledge.graph
    datasets = (graph.datasets.get(name) for name in names)
    writers = {job for dataset in datasets if dataset for job in dataset.writers}
    ends: list[RunEnd] = [("output", name) for name in names]
    for run in (graph.runs[run_id] for job in writers for run_id in graph.jobs[job].runs):
        if times := [run.observed[end].first_us for end in ends if end in run.observed]:
            yield min(times)
