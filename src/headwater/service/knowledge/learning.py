"""What an event changes: what was known before its facts were added, and what is new once they are."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from headwater.graph.lineage import Graph
from headwater.model.facts import Edit, EngineCatalog, Fact
from headwater.model.merging import Seen
from headwater.model.names import DatasetId
from headwater.service.knowledge.activities import Activities, Spoke
from headwater.service.knowledge.mentions import Mentions
from headwater.service.knowledge.spoken import Spoken
from headwater.service.knowledge.touched import Touched, hidden_of, misnamed_parts, reshaped_by, touched_by, unused_of


class Before(NamedTuple):
    """What was known of whom an event is about, before its facts were added."""

    touched: Touched
    changes: int
    """How often classes of names had changed."""
    parts: set[str]
    """The parts of its runs that give these other jobs than they have."""
    is_edit: bool
    """Whether somebody says something over the API."""
    only_joins: bool
    """Whether names had only been joined till then, and the event sets up no engine, which may part some."""
    reshaped: set[DatasetId]
    """The datasets of which it may be another version now that some run has met."""
    hidden: list[DatasetId]
    """The datasets among those touched that were hidden."""
    unused: list[DatasetId]
    """The names that nobody had used."""
    spoken: Mapping[str, Seen | None]
    """By run when it had spoken; None: never, or nobody asks."""
    told: Mapping[str, Spoke]
    """By run what it had told of itself."""


class News(NamedTuple):
    """What is new once its facts are added."""

    touched: Touched
    """Whom it touched, before or after."""
    parts: set[str]
    """The parts of its runs that gave these other jobs than they have, before or after."""
    is_edit: bool
    """Whether somebody said something over the API, which may be about anything."""
    joins: bool
    """Whether names became one dataset, or several."""
    only_joined: bool
    """Whether, if so, they became one; no names were ever parted."""
    is_moved: bool
    """Whether a run turned out to be another job's."""
    is_renamed: bool
    """Whether a dataset may go by another name, or be hidden, or shown again."""
    reshown: frozenset[DatasetId]
    """Shown names of datasets that were not shown by them before, or are not shown by them now."""
    respelled: tuple[DatasetId, ...]
    """Names by which others of their spelling may be called now, of which only facets tell."""
    reshaped: frozenset[DatasetId] | set[DatasetId]
    """The datasets that runs may have met in another version, or by another name, than was known."""


def seen_before(graph: Graph, activities: Activities, spoken: Spoken, facts: Sequence[Fact], told: Mentions) -> Before:
    """Ask what is known of whom facts are about that the graph is about to be told."""
    touched, changes = touched_by(graph, told), graph.identities.changes
    parts = misnamed_parts(graph, told.runs)
    kinds = {*map(type, facts)}
    only_joins = graph.identities.only_joins and EngineCatalog not in kinds
    reshaped, hidden, unused = reshaped_by(graph, facts), hidden_of(graph, touched), unused_of(graph, told)
    spoke, of_runs = {run_id: spoken.seen(run_id) for run_id in told.runs}, activities.spoke(told.runs)
    # By position, here and below: by name takes another half a microsecond of each event's seventy.
    return Before(touched, changes, parts, Edit in kinds, only_joins, reshaped, hidden, unused, spoke, of_runs)


def news_since(before: Before, graph: Graph, told: Mentions) -> News:
    """Compare what was known with what the graph knows, now that it was told the facts."""
    was, now = before.touched, touched_by(graph, told)
    datasets, reshown = was.datasets | now.datasets, was.datasets ^ now.datasets
    touched = Touched(was.jobs | now.jobs, datasets, now.run)
    parts = misnamed_parts(graph, told.runs)
    parts |= before.parts
    joins = before.changes != graph.identities.changes
    is_moved = bool(was.jobs - now.jobs) or _has_moved(graph, before.told)
    only_joined = before.only_joins and graph.identities.only_joins
    is_renamed = joins or bool(reshown or told.declared_jobs) or before.hidden != hidden_of(graph, was)
    respelled = (*before.unused, *(now.datasets if told.declared_jobs else ()))
    reshaped = datasets if is_renamed else before.reshaped
    return News(touched, parts, before.is_edit, joins, only_joined, is_moved, is_renamed, reshown, respelled, reshaped)


def _has_moved(graph: Graph, told: Mapping[str, Spoke]) -> bool:
    """Whether a run is another job's than it had told; its former job may still be what others call one of its kin."""
    return any(of_job is not None and graph.job_of(run_id) != of_job.job for run_id, (of_job, _) in told.items())
