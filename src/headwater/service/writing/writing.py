"""Writes over the API: what an event can say becomes an event, and is processed as any event; the rest is an edit.

Each function returns once the write is on disk, and every later answer includes it. It raises NotFoundError for an
unknown namespace, source, dataset, job or run, and what `Intake.take` and `Intake.edit` raise. What is of a namespace
that the writer may not know (by `sees`; None: all may be known) need not be known either, as in an event: an error
would confirm a guess.
"""

from asyncio import Lock
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from headwater.errors import InvalidInputError, NotFoundError
from headwater.model import declared
from headwater.model.credentials import without_credentials
from headwater.model.edits import APART, DELETED, DESCRIBED, EditItem, edit_entry, tag, target_of, target_of_names
from headwater.model.facets.job import JobTypeFacet
from headwater.model.facts import Target
from headwater.model.names import DatasetId, JobId, run_id_of
from headwater.model.times import microseconds
from headwater.model.wire import EventType
from headwater.service.knowledge.activity import KnownRun
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.request import bodies
from headwater.service.request.access import Service
from headwater.service.request.node_ids import has_column
from headwater.service.tallies.tally import DEFAULT_SOURCE
from headwater.service.views.datasets import description_of
from headwater.service.views.namespaces import namespace, namespace_description
from headwater.service.views.sources import source
from headwater.service.views.tags import tag_shape
from headwater.service.writing.actions import note_put
from headwater.service.writing.put_times import dataset_put_us, job_put_us


async def put_dataset(
    service: Service, name: DatasetId, body: bodies.DatasetBody, by: str | None, sees: Callable[[str], bool] | None
) -> None:
    """Declare a dataset, or report that a run wrote it; its tags are added."""
    namespace(service.knowledge, name.namespace)
    run = None if body.runId is None else service.knowledge.run(body.runId)
    put = _dataset_put(service.knowledge, name, body, sees)
    time_us = dataset_put_us(service.knowledge.graph, put, service.now_us())
    if run is None:
        await service.intake.take(declared.dataset_event(time_us, put))
    else:
        wrote = declared.written(put)
        await service.intake.take(declared.run_event(time_us, "OTHER", run.run_id, run.job, touched=wrote))
    await note_put(service, target_of(name), by)
    await _edit(service, by, _tags_of_body(name, body))


def _dataset_put(
    knowledge: Knowledge, name: DatasetId, body: bodies.DatasetBody, sees: Callable[[str], bool] | None
) -> declared.DatasetPut:
    is_shown = body.sourceName != DEFAULT_SOURCE and sees is None  # sources are of no namespace
    return declared.DatasetPut(
        name=name,
        is_stream=body.type == "STREAM",
        physical_name=body.physicalName,
        source_name=body.sourceName,
        source_uri=source(knowledge, body.sourceName)["connectionUrl"] if is_shown else None,
        columns=[declared.Column(each.name, each.type, each.description) for each in body.fields or ()],
        description=description_of(knowledge, name) if body.description is None else body.description,
        schema_location=body.schemaLocation or None,
    )


def _tags_of_body(name: DatasetId, body: bodies.DatasetBody) -> Iterator[EditItem]:
    yield from (EditItem(target_of(name), tag(word), True) for word in body.tags or ())
    for field in body.fields or ():
        target = ("field", *name, field.name)
        yield from (EditItem(target, tag(word.upper()), True) for word in field.tags or ())


async def put_job(
    service: Service, name: JobId, body: bodies.JobBody, by: str | None, sees: Callable[[str], bool] | None
) -> None:
    """Declare a job with inputs and outputs; with a run, also those of the run. Its tags are added."""
    knowledge = service.knowledge
    namespace(knowledge, name.namespace)
    run = None if body.runId is None else knowledge.run(body.runId)
    if run is not None and run.job != name:
        raise NotFoundError(f"Run '{run.run_id}' not found.")
    inputs, outputs = (_known(knowledge, side, sees) for side in (body.inputs, body.outputs))
    put = declared.JobPut(
        name, body.type, inputs, outputs, body.location, body.description, _reported_type(knowledge, name)
    )
    await service.intake.take(declared.job_event(job_put_us(knowledge.graph, put, service.now_us()), put))
    if run is not None:
        touched = declared.ends(inputs, outputs)
        await service.intake.take(declared.run_event(service.now_us(), "OTHER", run.run_id, name, touched=touched))
    await note_put(service, target_of(name), by)
    await _edit(service, by, (EditItem(target_of(name), tag(word), True) for word in body.tags or ()))


def _reported_type(knowledge: Knowledge, name: JobId) -> Mapping[str, Any] | None:
    digest = knowledge.graph.job_digest(name, JobTypeFacet.key)
    return None if digest is None or knowledge.graph.is_deleted(digest) else knowledge.store.content(digest)


def _known(
    knowledge: Knowledge, names: Sequence[bodies.NameBody] | None, sees: Callable[[str], bool] | None
) -> list[DatasetId]:
    datasets = [DatasetId(each.namespace, each.name) for each in names or ()]
    return [each if _is_hidden(each, sees) else knowledge.dataset(each) for each in datasets]


def _is_hidden(dataset: DatasetId, sees: Callable[[str], bool] | None) -> bool:
    return sees is not None and dataset.is_complete and not sees(dataset.namespace)


async def create_run(service: Service, job: JobId, body: bodies.RunBody, by: str | None) -> str:
    """Report a run that has not started, with its job's declared inputs; returns its id.

    Raises:
        InvalidInputError: there is a run with that id, or it has an end but no start.
    """
    namespace(service.knowledge, job.namespace)
    service.knowledge.job(job)
    run_id = run_id_of(body.id or service.new_id())
    # Of concurrent requests, the first one wins. Two services on one database do not see each other's until these
    # are stored: both may take one id, and then the run is of the job whose event is the later one.
    async with service.creating.setdefault(run_id, Lock()):
        await _create(service, run_id, job, body)
    await note_put(service, ("run", run_id), by)
    return run_id


async def _create(service: Service, run_id: str, job: JobId, body: bodies.RunBody) -> None:
    if run_id in service.knowledge.graph.runs:
        owner = service.knowledge.graph.runs[run_id].of_job
        is_its_own = owner is not None and owner.job == job
        of_whom = f"'{job.name}' under namespace '{job.namespace}'" if is_its_own else "another job"
        raise InvalidInputError(f"Run '{run_id}' already exists for {of_whom}.")  # in Marquez's words
    if body.nominalEndTime is not None and body.nominalStartTime is None:
        raise InvalidInputError("nominalStartTime must not be null if there is a nominalEndTime")
    put = declared.RunPut(
        run_id,
        job,
        _declared_inputs(service.knowledge, job),
        _text(body.nominalStartTime),
        _text(body.nominalEndTime),
        body.args,
    )
    await service.intake.take(declared.created_run_event(service.now_us(), put))


def _declared_inputs(knowledge: Knowledge, job: JobId) -> list[DatasetId]:
    """Without deleted ones, which must not be restored by the creation of a run."""
    declaration = knowledge.graph.jobs[job].declaration
    inputs = () if declaration is None else knowledge.store.content(declaration.content)["inputs"]
    names = (DatasetId(each["namespace"], each["name"]) for each in inputs)
    return [name for name in names if not knowledge.graph.hides(name)]


def _text(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat().replace("+00:00", "Z")


async def mark_run(service: Service, run: KnownRun, event_type: EventType, at: datetime | None, by: str | None) -> None:
    """Report a run's change of state, now or at a given time."""
    time_us = service.now_us() if at is None else microseconds(at)
    await service.intake.take(declared.run_event(time_us, event_type, run.run_id, run.job))
    await note_put(service, ("run", run.run_id), by)


async def put_namespace(service: Service, name: str, body: bodies.NamespaceBody, by: str | None) -> None:
    """Set the owner and description of a namespace; restores a deleted one, but not what was in it.

    A description holds until it is replaced, here as for datasets and tags.
    """
    target = ("namespace", name)
    description = body.description
    if description is None:
        description = namespace_description(service.knowledge, name)
    edits = [EditItem(target, DESCRIBED, {"ownerName": body.ownerName, "description": description})]
    if target in service.knowledge.graph.edits.deleted:
        edits.append(EditItem(target, DELETED, False))
    await _edit(service, by, edits)


async def delete_namespace(service: Service, name: str, by: str | None) -> None:
    """Hide a namespace with its jobs, and the datasets listed in it, until events name them again.

    A dataset that has a name in it, and is listed in another, stays as it is.
    """
    namespace(service.knowledge, name)
    graph = service.knowledge.graph
    targets: list[Target] = [("namespace", name)]
    targets += sorted(target_of(job) for job in graph.jobs if job.namespace == name and service.knowledge.is_job(job))
    listed = (each for each in graph.shown_datasets() if each.namespace == name)
    targets += sorted(target_of(each) for dataset in listed for each in _names(service, dataset))
    await _edit(service, by, [EditItem(target, DELETED, True) for target in targets])


async def put_source(service: Service, name: str, body: bodies.SourceBody, by: str | None) -> None:
    """Create or change a source."""
    value = {**body.model_dump(), "connectionUrl": without_credentials(body.connectionUrl)}
    await _edit(service, by, [EditItem(("source", name), DESCRIBED, value)])


async def put_tag(service: Service, name: str, body: bodies.TagBody, by: str | None) -> None:
    """Create or describe a tag."""
    description = tag_shape(service.knowledge, name)["description"] if body.description is None else body.description
    await _edit(service, by, [EditItem(("tag", name), DESCRIBED, {"description": description})])


async def tag_node(service: Service, node: DatasetId | JobId, word: str, by: str | None, *, is_on: bool) -> None:
    """Add a tag to a job or dataset, or remove it; from a dataset, under each of its names."""
    names = service.knowledge.graph.members(node) if isinstance(node, DatasetId) and not is_on else (node,)
    await _edit(service, by, [EditItem(target_of(name), tag(word), is_on) for name in names])


async def tag_field(service: Service, name: DatasetId, field: str, word: str, by: str | None, *, is_on: bool) -> None:
    """Add a tag to a column, or remove it; under each of its dataset's names.

    Raises:
        NotFoundError: the dataset has no such column.
    """
    if not has_column(service.knowledge, name, field):
        raise NotFoundError(f"Field '{field}' not found for dataset '{name.name}'.")
    names = (name,) if is_on else service.knowledge.graph.members(name)
    await _edit(service, by, [EditItem(("field", *each, field), tag(word.upper()), is_on) for each in names])


async def part(service: Service, name: DatasetId, other: DatasetId, by: str | None, *, is_apart: bool) -> None:
    """Split two names that are not one dataset, or undo that.

    Raises:
        InvalidInputError: they are the same name.
    """
    if name == other:
        raise InvalidInputError("other: must differ from name")
    await _edit(service, by, [EditItem(target_of_names(name, other), APART, is_apart)])


async def delete(service: Service, node: DatasetId | JobId, by: str | None) -> None:
    """Hide a job, or a dataset under all its names, until an event names it again."""
    names = [node] if isinstance(node, JobId) else _names(service, node)
    await _edit(service, by, [EditItem(target_of(name), DELETED, True) for name in names])


def _names(service: Service, dataset: DatasetId) -> Sequence[DatasetId]:
    """All names of a dataset under which anything is known."""
    graph = service.knowledge.graph
    return [name for name in graph.members(dataset) if name in graph.datasets]


async def _edit(service: Service, by: str | None, edits: Iterable[EditItem]) -> None:
    items = tuple(edits)
    if items:
        await service.intake.edit(edit_entry(service.new_id(), service.now_us(), by, items))
