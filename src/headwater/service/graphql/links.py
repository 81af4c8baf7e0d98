"""The fields that lead from one object to others; all other fields are members of the object's shape."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from graphql import GraphQLResolveInfo

from headwater.model.credentials import without_secrets
from headwater.model.events import Direction
from headwater.model.facts import STATE_RANK
from headwater.model.names import DatasetId, JobId
from headwater.service.graphql import around, objects
from headwater.service.graphql.ask import Ask, Node
from headwater.service.graphql.objects import FieldId, JobVersionId, VersionId
from headwater.service.knowledge.activity import STATE_OF_EVENT, KnownRun
from headwater.service.knowledge.versions import current_version
from headwater.service.shapes import marquez as shapes
from headwater.service.views.runs import last_observed_us
from headwater.service.views.tags import tags_of
from headwater.store.log_reader import ReportedState

Link = Callable[..., Any]
"""A field's resolver: called with the query, the object's key, and the arguments by name."""
_VERSION_ID: Final = itemgetter("datasetVersionId")


def resolve(node: Node | None, info: GraphQLResolveInfo[Ask], **arguments: object) -> Any:  # noqa: ANN401  any field
    """The value of an object's field; the query itself has no object."""
    link = LINKS.get((info.parent_type.name, info.field_name))
    if link is not None:
        return link(info.context, None if node is None else node.id, **arguments)
    return None if node is None else node.shape.get(info.field_name)


def _page(limit: int | None, offset: int | None) -> slice:
    start = max(offset or 0, 0)
    return slice(start, None if limit is None else start + max(limit, 0))


def _datasets(ask: Ask, _: None, limit: int | None = None, offset: int | None = None) -> list[Node]:
    return objects.datasets(ask, sorted(ask.knowledge.graph.shown_datasets())[_page(limit, offset)])


def _jobs(ask: Ask, _: None, limit: int | None = None, offset: int | None = None) -> list[Node]:
    jobs = ask.knowledge.job_tallies.newest_first().page(None)
    return [objects.job(ask, job) for job in jobs[_page(limit, offset)]]


def _dataset(ask: Ask, _: None, namespace: str, name: str) -> Node | None:
    return next(iter(objects.datasets(ask, [DatasetId.sanitized(namespace, name)])), None)


def _job(ask: Ask, _: None, namespace: str, name: str | None = None) -> Node | None:
    job = JobId.sanitized(namespace, name or "")
    return objects.job(ask, job) if ask.knowledge.is_job(job) else None


def _namespace(ask: Ask, _: None, name: str) -> Node | None:
    return objects.namespace(ask, without_secrets(name))


def _current_version(ask: Ask, name: DatasetId) -> Node | None:
    uuid = current_version(ask.knowledge, name)
    return None if uuid is None else objects.version_with(ask, name, uuid)


def _newest_versions(ask: Ask, jobs: Iterable[JobId]) -> list[Node]:
    known = (job for job in sorted(jobs) if ask.knowledge.is_job(job))
    return [node for job in known for node in objects.versions_of_job(ask, job, limit=1)]


def _tags(ask: Ask, words: Sequence[str]) -> list[Node]:
    return [objects.tag(ask, word) for word in words]


def _tagged_datasets(ask: Ask, word: str) -> list[Node]:
    return objects.datasets(
        ask, (name for name in _tagged(ask, "dataset", word) if word in tags_of(ask.knowledge, name))
    )


def _tagged_fields(ask: Ask, word: str) -> list[Node]:
    known = (_fields_of(ask, name, tag=word) for name in _tagged(ask, "field", word))
    return [node for nodes in known for node in nodes]


def _tagged(ask: Ask, kind: str, word: str) -> list[DatasetId]:
    """The datasets that may have the tag, or a column with it, each once by its shown name."""
    graph = ask.knowledge.graph
    by_people = (DatasetId(*target[1:3]) for target in graph.edits.targets(kind) if word in graph.edits.tags(target))
    reported = ask.knowledge.dataset_tallies.tagged().get(word, ())
    return sorted({*map(graph.shown, by_people), *reported})


def _fields_of(ask: Ask, name: DatasetId, tag: str | None = None) -> list[Node]:
    if not ask.knowledge.is_dataset(name):
        return []
    columns = objects.dataset(ask, name).shape["fields"]
    return objects.fields(ask, name, (column for column in columns if tag is None or tag in column["tags"]))


def _versions_of_field(ask: Ask, field: FieldId) -> list[Node]:
    versions = (VersionId(field.dataset, each) for each in ask.versions(field.dataset))
    return [
        objects.version(ask, each)
        for each in versions
        if any(column["name"] == field.field["name"] for column in objects.columns(ask, each))
    ]


def _run_of_version(ask: Ask, version: VersionId) -> Node | None:
    reported_by = version.version.reported_by
    return None if reported_by is None or reported_by[1] != "output" else objects.run(ask, reported_by[0])


def _datasets_of_source(ask: Ask, name: str) -> list[Node]:
    return objects.datasets(ask, ask.knowledge.dataset_tallies.in_source(name))


def _current_job_version(ask: Ask, job: JobId) -> Node | None:
    return next(iter(objects.versions_of_job(ask, job, limit=1)), None)


def _latest_run(ask: Ask, version: JobVersionId) -> Node | None:
    latest = version.version["latestRun"]
    return None if latest is None else objects.run(ask, latest["id"])


def _ends(ask: Ask, names: Iterable[shapes.Name]) -> list[Node]:
    return objects.datasets(ask, (DatasetId(each["namespace"], each["name"]) for each in names))


def _version_of_run(ask: Ask, run: KnownRun) -> Node | None:
    if not ask.knowledge.is_job(run.job):
        return None
    node = objects.run(ask, run.run_id)
    version = None if node is None else node.shape["jobVersion"]
    return None if version is None else objects.job_version_with(ask, run.job, version["version"])


def _ends_of_run(ask: Ask, run: KnownRun, direction: Direction) -> list[Node]:
    """The dataset versions that the run met; of a version that came back later, the one at that time."""
    node = objects.run(ask, run.run_id)
    versions_met = () if node is None else node.shape[f"{direction}DatasetVersions"]
    observed_us = last_observed_us(ask.knowledge, run, direction)
    ids = ((DatasetId(each["namespace"], each["name"]), each["version"]) for each in map(_VERSION_ID, versions_met))
    known = ((name, uuid) for name, uuid in ids if ask.knowledge.is_dataset(name))
    nodes = (objects.version_with(ask, name, uuid, observed_us[name]) for name, uuid in known)
    return [version for version in nodes if version is not None]


def _states(ask: Ask, run: KnownRun) -> list[Node]:
    """The changes of state that events reported, newest first; of one time, an end is newer than a start.

    A run is new until something else is told of it: an event of type OTHER that comes later says more, and no state.
    """
    told = sorted(ask.knowledge.store.changes_of_state(run.run_id), key=_order_of_states, reverse=True)
    changes = [each for number, each in enumerate(told, 1) if each.event_type != "OTHER" or number == len(told)]
    known = [(STATE_OF_EVENT[each.event_type], each.event_us) for each in changes]
    return [objects.state(ask, run, state, at_us) for state, at_us in known]


def _order_of_states(told: ReportedState) -> tuple[int, int, bytes]:
    return told.event_us, STATE_RANK[told.event_type], told.digest


def _start_state(ask: Ask, run: KnownRun) -> Node | None:
    return None if run.started_us is None else objects.state(ask, run, "RUNNING", run.started_us)


def _end_state(ask: Ask, run: KnownRun) -> Node | None:
    return None if run.ended_us is None else objects.state(ask, run, run.state, run.ended_us)


def _owner(ask: Ask, name: str) -> Node | None:
    node = objects.namespace(ask, name)
    return None if node is None else objects.owner(ask, node)


def _jobs_in(ask: Ask, name: str) -> list[Node]:
    return [objects.job(ask, job) for job in sorted(ask.knowledge.job_tallies.newest_first(name).page(None))]


def _datasets_in(ask: Ask, name: str) -> list[Node]:
    return objects.datasets(ask, ask.knowledge.dataset_tallies.by_name(name).page(None))


LINKS: Final[Mapping[tuple[str, str], Link]] = {
    ("Query", "datasets"): _datasets,
    ("Query", "dataset"): _dataset,
    ("Query", "namespace"): _namespace,
    ("Query", "jobs"): _jobs,
    ("Query", "job"): _job,
    ("Query", "lineageFromJob"): around.from_job,
    ("DatasetLineageEntry", "data"): around.data,
    ("DatasetLineageEntry", "inEdges"): around.in_edges,
    ("DatasetLineageEntry", "outEdges"): around.out_edges,
    ("JobLineageEntry", "data"): around.data,
    ("JobLineageEntry", "inEdges"): around.in_edges,
    ("JobLineageEntry", "outEdges"): around.out_edges,
    ("Namespace", "owners"): lambda ask, name: [_owner(ask, name)],
    ("Namespace", "currentOwner"): _owner,
    ("Namespace", "jobs"): _jobs_in,
    ("Namespace", "datasets"): _datasets_in,
    ("Owner", "namespaces"): objects.namespaces_of,
    ("Tag", "fields"): _tagged_fields,
    ("Tag", "datasets"): _tagged_datasets,
    ("Source", "datasets"): _datasets_of_source,
    ("Dataset", "source"): lambda ask, name: objects.source(ask, objects.dataset(ask, name).shape["sourceName"]),
    ("Dataset", "fields"): _fields_of,
    ("Dataset", "jobVersionAsInput"): lambda ask, name: _newest_versions(ask, ask.knowledge.graph.readers(name)),
    ("Dataset", "jobVersionAsOutput"): lambda ask, name: _newest_versions(ask, ask.knowledge.graph.writers(name)),
    ("Dataset", "namespace"): lambda ask, name: objects.namespace(ask, name.namespace),
    ("Dataset", "tags"): lambda ask, name: _tags(ask, objects.dataset(ask, name).shape["tags"]),
    ("Dataset", "currentVersion"): _current_version,
    ("Dataset", "versions"): objects.versions,
    ("DatasetField", "dataset"): lambda ask, field: objects.dataset(ask, field.dataset),
    ("DatasetField", "versions"): _versions_of_field,
    ("DatasetField", "tags"): lambda ask, field: _tags(ask, field.field["tags"]),
    ("DatasetVersion", "dataset"): lambda ask, version: objects.dataset(ask, version.dataset),
    ("DatasetVersion", "fields"): lambda ask, each: objects.fields(ask, each.dataset, objects.columns(ask, each)),
    ("DatasetVersion", "run"): _run_of_version,
    ("Job", "versions"): objects.versions_of_job,
    ("Job", "namespace"): lambda ask, job: objects.namespace(ask, job.namespace),
    ("Job", "currentVersion"): _current_job_version,
    ("JobVersion", "latestRun"): _latest_run,
    ("JobVersion", "job"): lambda ask, version: objects.job(ask, version.job),
    ("JobVersion", "inputs"): lambda ask, version: _ends(ask, version.version["inputs"]),
    ("JobVersion", "outputs"): lambda ask, version: _ends(ask, version.version["outputs"]),
    ("Run", "jobVersion"): _version_of_run,
    ("Run", "startState"): _start_state,
    ("Run", "endState"): _end_state,
    ("Run", "states"): _states,
    ("Run", "inputs"): lambda ask, run: _ends_of_run(ask, run, "input"),
    ("Run", "outputs"): lambda ask, run: _ends_of_run(ask, run, "output"),
    ("RunStateRecord", "run"): lambda ask, run: objects.run(ask, run.run_id),
}
"""By type and field."""
