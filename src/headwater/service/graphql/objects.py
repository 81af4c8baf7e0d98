"""The objects of each type, with the members of their shapes under the schema's names."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from headwater.errors import NotFoundError
from headwater.model.edits import DESCRIBED
from headwater.model.names import DatasetId, JobId
from headwater.model.times import AFTER_ALL_US
from headwater.service.graphql.ask import ALL, Ask, Node
from headwater.service.http.answers import iso
from headwater.service.knowledge.activity import KnownRun
from headwater.service.knowledge.versions import DatasetVersion, shape_uuid
from headwater.service.shapes import marquez as shapes
from headwater.service.views.datasets import dataset_core
from headwater.service.views.jobs import job_core, job_version_shape, job_versions
from headwater.service.views.namespaces import namespace as namespace_shape
from headwater.service.views.runs import run_shapes
from headwater.service.views.tags import tag_shape, tagged


class FieldId(NamedTuple):
    """A column of a dataset, or of one of its versions."""

    dataset: DatasetId
    field: shapes.Field


class VersionId(NamedTuple):
    """A version of a dataset."""

    dataset: DatasetId
    version: DatasetVersion


class JobVersionId(NamedTuple):
    """A version of a job."""

    job: JobId
    version: shapes.JobVersion


def dataset(ask: Ask, name: DatasetId) -> Node:
    """A known dataset."""
    return ask.node(name, lambda: dataset_core(ask.knowledge, name))


def datasets(ask: Ask, names: Iterable[DatasetId]) -> list[Node]:
    """The known ones among these datasets."""
    return [dataset(ask, name) for name in names if ask.knowledge.is_dataset(name)]


def versions(ask: Ask, name: DatasetId) -> list[Node]:
    """The versions of a dataset, newest first."""
    return [version(ask, VersionId(name, each)) for each in ask.versions(name)]


def version(ask: Ask, version_id: VersionId) -> Node:
    """A version of a dataset."""
    return ask.node(version_id, partial(_version, ask, version_id))


def _version(ask: Ask, version_id: VersionId) -> Mapping[str, Any]:
    name, known = version_id
    return {"createdAt": iso(known.since_us), "version": str(shape_uuid(ask.knowledge.graph, name, known.shape))}


def version_with(ask: Ask, name: DatasetId, uuid: str, at_us: int = AFTER_ALL_US) -> Node | None:
    """The newest version of a dataset with that UUID by then, or None."""
    by_then = (each for each in ask.versions(name) if each.since_us <= at_us)
    known = (each for each in by_then if str(shape_uuid(ask.knowledge.graph, name, each.shape)) == uuid)
    return next((version(ask, VersionId(name, each)) for each in known), None)


def columns(ask: Ask, version_id: VersionId) -> Sequence[shapes.Field]:
    """The columns of a dataset in a version, with their tags."""
    name, known = version_id
    return tagged(ask.knowledge, name, ask.knowledge.facets.fields(known.shape.schema))


def fields(ask: Ask, name: DatasetId, columns: Iterable[shapes.Field]) -> list[Node]:
    """Columns of a dataset, each created with the first version that has it, updated with the last that changed it."""

    def members(column: shapes.Field) -> Mapping[str, Any]:
        times = ask.columns(name)[column["name"]]
        return {**column, "createdAt": iso(times.first_us), "updatedAt": iso(times.last_us)}

    return [ask.node(FieldId(name, column), partial(members, column)) for column in columns]


def job(ask: Ask, name: JobId) -> Node:
    """A known job."""
    return ask.node(name, lambda: job_core(ask.knowledge, name, None))


def versions_of_job(ask: Ask, name: JobId, *, limit: int = ALL) -> list[Node]:
    """The versions of a job, newest first."""
    return [_version_of_job(ask, name, each) for each in job_versions(ask.knowledge, name, limit, 0)["versions"]]


def job_version_with(ask: Ask, name: JobId, uuid: str) -> Node | None:
    """The version of a job with that UUID, or None."""
    try:
        return _version_of_job(ask, name, job_version_shape(ask.knowledge, name, uuid))
    except NotFoundError:
        return None


def _version_of_job(ask: Ask, name: JobId, known: shapes.JobVersion) -> Node:
    return ask.node(JobVersionId(name, known), partial(_job_version, known))


def _job_version(known: shapes.JobVersion) -> Mapping[str, Any]:
    latest = known["latestRun"]
    return {**known, "updatedAt": known["createdAt"] if latest is None else latest["updatedAt"], "jobContext": {}}


def run(ask: Ask, run_id: str) -> Node | None:
    """A run, or None if no event names it."""
    try:
        known = ask.knowledge.run(run_id)
    except NotFoundError:
        return None

    def members() -> Mapping[str, Any]:
        (shape,) = run_shapes(ask.knowledge, [known])
        return {**shape, "runArgs": shape["args"], "currentState": shape["state"]}

    return ask.node(known, members)


def namespace(ask: Ask, name: str) -> Node | None:
    """A namespace, or None."""
    try:
        known = namespace_shape(ask.knowledge, name)
    except NotFoundError:
        return None
    return ask.node(name, lambda: known)


def namespaces_of(ask: Ask, owner: str) -> list[Node]:
    """The namespaces of an owner, by name."""
    return [ask.node(each["name"], partial(dict, each)) for each in ask.namespaces_by_owner.get(owner, ())]


def owner(ask: Ask, of: Node) -> Node:
    """The owner of a namespace; since when is not known."""
    name = of.shape["ownerName"]
    return ask.node(name, lambda: {"name": name})


def state(ask: Ask, of: KnownRun, name: str, at_us: int) -> Node:
    """A change of a run's state."""
    return ask.node(of, lambda: {"state": name, "transitionedAt": iso(at_us)})


def tag(ask: Ask, word: str) -> Node:
    """A tag; it has times only if it was described."""
    edit = ask.knowledge.graph.edits.get(("tag", word), DESCRIBED)
    times = None if edit is None else edit.seen
    return ask.node(
        word,
        lambda: {
            **tag_shape(ask.knowledge, word),
            "createdAt": times and iso(times.first_us),
            "updatedAt": times and iso(times.last_us),
        },
    )


def source(ask: Ask, name: str) -> Node | None:
    """A source, or None."""
    known = ask.sources.get(name)
    return None if known is None else ask.node(name, lambda: known)
