"""Everything that a change of a dataset or column reaches, with owners, last runs and quality."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Final

from headwater.errors import InvalidInputError, NotFoundError
from headwater.graph.impact.change import Change
from headwater.graph.impact.effects import Proposal, Verdict, verdicts, ways
from headwater.graph.impact.places import Place
from headwater.graph.impact.reach import USES, Flow, Reach, Step, reach
from headwater.graph.structs import lies_in
from headwater.model.facets.about import OwnershipFacet
from headwater.model.names import AnyNode, ColumnId, DatasetId, JobId
from headwater.model.words import so_many
from headwater.service.background import collect_in_slices, result_in_slices
from headwater.service.http.answers import iso
from headwater.service.knowledge.activity import KnownRun
from headwater.service.knowledge.job_type import is_stream
from headwater.service.knowledge.knowledge import SCHEMA, Knowledge
from headwater.service.request.node_ids import fields_to, has_column
from headwater.service.shapes import impact as shapes
from headwater.service.views.checks import checks_of
from headwater.service.views.names import name_of
from headwater.service.views.quality import Newest, newest_quality, quality_of

_TYPES: Final[Mapping[str, shapes.PlaceType]] = {
    "column": "DATASET_FIELD",
    "dataset": "DATASET",
    "job": "JOB",
}


@dataclass(frozen=True, slots=True)
class Page:
    """Which of the places to list, nearest first."""

    limit: int
    offset: int = 0


def column_of(knowledge: Knowledge, node: AnyNode, column: str | None) -> AnyNode:
    """The node, or its column if one is named.

    Raises:
        InvalidInputError: the node is no dataset.
        NotFoundError: the dataset has no such column.
    """
    if column is None:
        return node
    if not isinstance(node, DatasetId):
        raise InvalidInputError("column: only a dataset has columns; leave it out, or give the dataset's nodeId")
    if not has_column(knowledge, node, column):
        raise NotFoundError(f"Field '{column}' of dataset '{node.name}' not found.")
    return ColumnId(node, column)


async def impact(knowledge: Knowledge, node: AnyNode, change: Change | None, page: Page) -> shapes.Impact:
    """What is downstream of the node, and what the change would do there; works in time slices.

    Raises:
        InvalidInputError: such a change of such a node makes no sense.
    """
    proposal = None if change is None else _proposal(knowledge, node, change)
    graph = knowledge.graph
    start = [node, *(sorted(filter(graph.shows, graph.writes(node))) if isinstance(node, JobId) else ())]
    found = await result_in_slices(reach(flow_through(knowledge), start))
    judged = {} if proposal is None else await result_in_slices(verdicts(found, proposal))
    places = found.places
    counts = _counts(places, judged)
    shown = places[page.offset : page.offset + page.limit]
    newest = {
        name: await result_in_slices(newest_quality(knowledge, name))
        for name in dict.fromkeys(DatasetId(*place.owner) for place in shown if place.kind != "job")
    }
    about = _About(knowledge, found, judged, ways(found) if proposal is None else {}, newest)
    return shapes.Impact(
        nodeId=node.node_id,
        change=None if proposal is None else _change(proposal),
        breaking=None if proposal is None else _is_breaking(counts),
        summary=_summary(len(places), counts, is_judged=bool(judged)),
        counts=counts,
        reached=await collect_in_slices(map(about.reached, shown)),
        totalCount=len(places),
    )


def flow_through(knowledge: Knowledge) -> Flow:
    """The data flow through the known graph, step by step."""
    is_in_schema, streams = partial(_is_in_schema, knowledge), partial(is_stream, knowledge)
    checks = partial(checks_of, knowledge)
    return Flow(knowledge.graph, knowledge.all_columns, is_in_schema, streams, knowledge.run_groups(), checks)


def _is_in_schema(knowledge: Knowledge, dataset: DatasetId, column: str) -> bool:
    return bool(fields_to(knowledge, dataset, column))


def _proposal(knowledge: Knowledge, node: AnyNode, change: Change) -> Proposal:
    match node:
        case JobId():
            raise InvalidInputError("change: a job has no columns; propose the change of a dataset or column")
        case DatasetId() if change.kind == "retype":
            raise InvalidInputError("change: only a column has a type; name a column")
        case DatasetId():
            return Proposal(change, Place("dataset", node), None)
        case ColumnId(dataset, column):
            renamed = _renamed(knowledge, node, change) if change.kind == "rename" else change
            return Proposal(renamed, Place("column", dataset, column), _type_now(knowledge, node))


def _renamed(knowledge: Knowledge, node: ColumnId, change: Change) -> Change:
    """The change with the full path of the new name: a nested field stays in its struct.

    Raises:
        InvalidInputError: that name is taken.
    """
    *outer, _ = fields_to(knowledge, *node) or (None,)
    struct = ".".join(field["name"] for field in outer)
    new = change.to if not struct or lies_in(change.to, struct) else f"{struct}.{change.to}"
    if new != node.column and _is_existing(knowledge, node, new):
        raise InvalidInputError(f"change: {node.dataset.name} has a column {new!r} already; choose another")
    return Change("rename", new)


def _is_existing(knowledge: Knowledge, node: ColumnId, new: str) -> bool:
    """Whether another column has the name: by the schema, or else by any mention of columns."""
    is_only_case = new.lower() == node.column.lower()  # then other mentions of the name may mean this column
    has_schema = bool(knowledge.facets.fields(knowledge.graph.digest_of(node.dataset, SCHEMA)))
    is_known = _is_in_schema if is_only_case or has_schema else has_column
    return is_known(knowledge, node.dataset, new)


def _type_now(knowledge: Knowledge, node: ColumnId) -> str | None:
    path = fields_to(knowledge, *node)
    return path[-1]["type"] if path else None


def any_breaking(breaking: Iterable[bool | None]) -> bool | None:
    """Whether any is breaking; None if none is for sure and one may be."""
    values = set(breaking)
    return True if True in values else None if None in values else False


def _change(proposal: Proposal) -> shapes.ProposedChange:
    change = proposal.change
    return shapes.ProposedChange(kind=change.kind, to=change.to or None, typeNow=proposal.type_now)


def _is_breaking(counts: shapes.ImpactCounts) -> bool | None:
    return True if counts["breaking"] else None if counts["unknown"] else False


def _counts(places: Sequence[Place], judged: Mapping[Place, Verdict]) -> shapes.ImpactCounts:
    kinds = Counter(place.kind for place in places)
    breaking = Counter(verdict.is_breaking for verdict in judged.values())
    return shapes.ImpactCounts(
        columns=kinds["column"],
        datasets=kinds["dataset"],
        jobs=kinds["job"],
        breaking=breaking[True],
        unknown=breaking[None],
    )


def _summary(total: int, counts: shapes.ImpactCounts, *, is_judged: bool) -> str:
    if not total:
        return "no event reports that anything downstream uses it"
    parts = [
        so_many(counts["columns"], "column"),
        so_many(counts["datasets"], "dataset"),
        so_many(counts["jobs"], "job"),
    ]
    reached = f"reaches {', '.join(parts[:2])} and {parts[2]}"
    if not is_judged:
        return reached
    if counts["breaking"] == total:
        return f"breaking: {reached}; all of these break or get no more data"
    if counts["breaking"]:
        return f"breaking: {reached}; {counts['breaking']:,} of these {total:,} break or get no more data"
    if counts["unknown"]:
        those = "all of these" if counts["unknown"] == total else f"{counts['unknown']:,} of these {total:,}"
        return f"may break: {reached}; for {those} no event reports enough"
    return f"not breaking: {reached}, and all of these can go on"


class _About:
    """What is reported about each place reached; each dataset and step is examined once."""

    def __init__(
        self,
        knowledge: Knowledge,
        found: Reach,
        judged: Mapping[Place, Verdict],
        ways: Mapping[Place, Step],
        newest: Mapping[DatasetId, Newest],
    ) -> None:
        """`ways` has the last step to each place, unless the places are judged."""
        self._start = frozenset(found.start)
        self._judged = judged
        self._ways = ways
        self._newest = newest
        # Of functions that do not refer to this: what was reached goes with it, and needs no collection of garbage.
        self._last_run = cache(partial(_read_last_run, knowledge))
        self._owners = cache(partial(_read_owners, knowledge))
        self._step = cache(_step)

    def reached(self, place: Place) -> shapes.Reached:
        verdict = self._judged.get(place)
        path = self._path(place) if verdict is None else verdict.path
        owner, is_job = place.owner, place.kind == "job"
        return shapes.Reached(
            id=place.node_id,
            type=_TYPES[place.kind],
            namespace=owner.namespace,
            name=owner.name,
            field=place.column if place.kind == "column" else None,
            distance=place.distance,
            use=max((step.use for step in path), key=USES.index),
            effect=None if verdict is None else verdict.effect,
            breaking=None if verdict is None else verdict.is_breaking,
            reason=None if verdict is None else verdict.words(iso),
            owners=self._owners(is_job, owner),
            lastRun=self._last_run(is_job, owner),
            quality=self._quality_of(place),
            path=[*map(self._step, path)],
        )

    def _path(self, place: Place) -> list[Step]:
        """The steps after the start; a repeated place ends it, which no shortest path has."""
        path: dict[Place, Step] = {}
        while place not in self._start and place not in path:
            path[place] = self._ways[place]
            place = path[place].origin
        return [*path.values()][::-1]

    def _quality_of(self, place: Place) -> shapes.Quality | None:
        if place.kind == "job":
            return None
        newest = self._newest[DatasetId(*place.owner)]
        return quality_of(newest, place.column if place.kind == "column" else None)


def _read_owners(knowledge: Knowledge, is_job: bool, name: DatasetId | JobId) -> list[shapes.Owner]:
    graph = knowledge.graph
    if is_job:
        digest = graph.job_digest(JobId(*name), OwnershipFacet.key)
    else:
        digest = graph.digest_of(DatasetId(*name), OwnershipFacet.key)
    facet = knowledge.facets.read(OwnershipFacet, digest)
    return [shapes.Owner(name=owner.name, type=owner.type) for owner in (facet and facet.owners) or ()]


def _read_last_run(knowledge: Knowledge, is_job: bool, name: DatasetId | JobId) -> shapes.LastRun | None:
    jobs = {JobId(*name)} if is_job else knowledge.graph.writers(DatasetId(*name))
    known = filter(knowledge.is_job, jobs)
    ids = [activity.runs[0] for activity in map(knowledge.activity, known) if activity.runs]
    runs = sorted(map(knowledge.run, ids), key=lambda run: (-run.seen.first_us, run.run_id))
    return _last_run(runs[0]) if runs else None


def _last_run(run: KnownRun) -> shapes.LastRun:
    return shapes.LastRun(
        id=run.run_id,
        job=name_of(run.job),
        state=run.state,
        startedAt=None if run.started_us is None else iso(run.started_us),
        endedAt=None if run.ended_us is None else iso(run.ended_us),
    )


def _step(step: Step) -> shapes.ImpactStep:
    edge = step.edge
    return shapes.ImpactStep(
        origin=step.origin.node_id,
        destination=step.destination.node_id,
        type=edge.kind if edge else None,
        subtype=(edge.subtype or None) if edge else None,
        description=(edge.description or None) if edge else None,
        masking=edge.masking if edge else False,
        jobs=[job.node_id for job in step.jobs],
        lastSeen=None if step.reported.last_us is None else iso(step.reported.last_us),
    )
