"""What an event changes: a snapshot before its facts are added to the graph, compared with the graph afterwards."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from headwater.graph.lineage import Graph
from headwater.model.facts import Edit, EngineCatalog, Fact
from headwater.model.merging import Seen
from headwater.model.names import DatasetId
from headwater.service.knowledge.activities import Activities, RunSnapshot
from headwater.service.knowledge.mentions import Mentions
from headwater.service.knowledge.run_intervals import RunIntervals
from headwater.service.knowledge.touched import Touched, hidden_of, misnamed_parts, reshaped_by, touched_by, unused_of


class StateBefore(NamedTuple):
    """A snapshot of the nodes that an event is about, taken before its facts are added."""

    touched: Touched
    identity_changes: int
    """`graph.identities.changes` at that time."""
    parts: set[str]
    """Runs that name one of the event's runs as their parent or root, and give it another job than it has."""
    is_edit: bool
    """Whether the event is an edit made over the API."""
    only_joins: bool
    """Whether names had only been joined so far, and the event sets up no engine catalog, which may split names."""
    reshaped: set[DatasetId]
    """Datasets for which a run may now have met another version."""
    hidden: list[DatasetId]
    """The touched datasets that were hidden."""
    unused: list[DatasetId]
    """Names in the event that were not in use."""
    intervals: Mapping[str, Seen | None]
    """Per run, from its first event to its last; None if it has none, or if run intervals are not indexed."""
    runs: Mapping[str, RunSnapshot]
    """Per run, its job and times by its own events."""


class Changes(NamedTuple):
    """What is different once the facts are added."""

    touched: Touched
    """The nodes touched, before or after."""
    parts: set[str]
    """As in `StateBefore`, before or after."""
    is_edit: bool
    """Whether the event is an edit made over the API, which may concern any node."""
    joins: bool
    """Whether names were joined into one dataset, or split into several."""
    only_joined: bool
    """Whether names have only ever been joined, never split."""
    is_moved: bool
    """Whether a run turned out to belong to another job."""
    is_renamed: bool
    """Whether a dataset may have another shown name, or was hidden or shown again."""
    reshown: frozenset[DatasetId]
    """Names that became or ceased to be the shown name of a dataset."""
    respelled: tuple[DatasetId, ...]
    """Names that may now stand for other spellings of them, which only facets mention."""
    reshaped: frozenset[DatasetId] | set[DatasetId]
    """Datasets whose runs may have met another version, or another name, than was known."""


def state_before(
    graph: Graph, activities: Activities, run_intervals: RunIntervals, facts: Sequence[Fact], mentioned: Mentions
) -> StateBefore:
    """Take the snapshot; called before the facts are added to the graph."""
    touched, identity_changes = touched_by(graph, mentioned), graph.identities.changes
    parts = misnamed_parts(graph, mentioned.runs)
    kinds = {*map(type, facts)}
    only_joins = graph.identities.only_joins and EngineCatalog not in kinds
    reshaped, hidden, unused = reshaped_by(graph, facts), hidden_of(graph, touched), unused_of(graph, mentioned)
    intervals = {run_id: run_intervals.seen(run_id) for run_id in mentioned.runs}
    runs = activities.snapshot(mentioned.runs)
    # Positional arguments, here and below: keywords would take another half a microsecond of each event's seventy.
    return StateBefore(
        touched, identity_changes, parts, Edit in kinds, only_joins, reshaped, hidden, unused, intervals, runs
    )


def changes_since(before: StateBefore, graph: Graph, mentioned: Mentions) -> Changes:
    """Compare the snapshot with the graph, now that the facts are added."""
    was, now = before.touched, touched_by(graph, mentioned)
    datasets, reshown = was.datasets | now.datasets, was.datasets ^ now.datasets
    touched = Touched(was.jobs | now.jobs, datasets, now.run)
    parts = misnamed_parts(graph, mentioned.runs)
    parts |= before.parts
    joins = before.identity_changes != graph.identities.changes
    is_moved = bool(was.jobs - now.jobs) or _has_moved(graph, before.runs)
    only_joined = before.only_joins and graph.identities.only_joins
    is_renamed = joins or bool(reshown or mentioned.declared_jobs) or before.hidden != hidden_of(graph, was)
    respelled = (*before.unused, *(now.datasets if mentioned.declared_jobs else ()))
    reshaped = datasets if is_renamed else before.reshaped
    return Changes(
        touched, parts, before.is_edit, joins, only_joined, is_moved, is_renamed, reshown, respelled, reshaped
    )


def _has_moved(graph: Graph, runs: Mapping[str, RunSnapshot]) -> bool:
    """Whether a run belongs to another job than before; a related run may still name its former job."""
    return any(of_job is not None and graph.job_of(run_id) != of_job.job for run_id, (of_job, _) in runs.items())
