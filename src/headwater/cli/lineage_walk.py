"""Walks lineage from a dataset or column, upstream or downstream, over a service's answers."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from headwater.cli.printed import harmless
from headwater.cli.search import called, hint, label
from headwater.cli.service_client import ServiceClient, in_path
from headwater.errors import InvalidNameError, NotFoundError
from headwater.graph.structs import structs_of
from headwater.graph.walk import reachable
from headwater.model.facts import FlowDirection
from headwater.model.names import ColumnId, DatasetId

WHOLE_GRAPH = 1000
"""Depth in jobs: more than any path has."""

INDIRECT = frozenset({"FILTER", "JOIN", "GROUP_BY", "SORT", "WINDOW", "CONDITIONAL", "INDIRECT"})
"""Kinds of edges by which a column decides about rows or choices, without passing on its value."""


MASKED = "MASKED"
"""Added to a kind: the data cannot be recovered from the result."""

AROUND = "STRUCT_AROUND"
INSIDE = "FIELD_INSIDE"
"""The relation of a struct and a field inside it; no data flows between them."""
WHOLE = "WHOLE_DATASET"
"""The relation of a column and its whole dataset, for edges that are reported once for all columns."""
_INTO_ALL, _OUT_OF_ALL = "all-into:", "all-out-of:"
"""Prefixes of a dataset's node id for edges into and out of all its columns; a single node would connect the two."""


class Target(NamedTuple):
    """A dataset, or one column of it."""

    dataset: DatasetId
    column: str | None

    @property
    def node_id(self) -> str:
        """The node id, as in the API."""
        return self.dataset.node_id if self.column is None else ColumnId(self.dataset, self.column).node_id


class Step(NamedTuple):
    """An edge in the direction of the data, by node ids; `how` is empty between datasets and jobs."""

    source: str
    target: str
    how: tuple[str, ...] = ()

    def only(self, ways: frozenset[str]) -> bool:
        """Whether it has only these kinds."""
        return {*self.how} - {MASKED} <= ways


class LineageEdge(NamedTuple):
    """An edge of `/column-lineage`; a dataset as an end stands for all of its columns."""

    source: Target
    target: Target
    transformations: Sequence[Mapping[str, Any]]


Through = Mapping[tuple[str, str], frozenset[str]]
"""For a dataset and a job reached from it: the nodes beyond the job that relate to the dataset; absent means all."""


@dataclass(frozen=True)
class Walk:
    """The reached nodes: distance in edges by node id, nearest first, and the edges between them."""

    start: str
    way: FlowDirection
    hops: Mapping[str, int]
    steps: tuple[Step, ...]
    labels: Mapping[str, str] = field(default_factory=dict)
    """A name for people, by node id."""
    through: Through = field(default_factory=dict)
    dataset_of: Mapping[str, str] = field(default_factory=dict)
    """The node id of its dataset, by a column's."""

    def next_steps(self, node: str, came_from: str = "") -> list[Step]:
        """The edges that lead on from a node, away from the start; `came_from` is the node before it."""
        steps, behind = self._onward.get(node, []), self.through.get((came_from, node))
        return steps if behind is None else [step for step in steps if self.far_end(step) in behind]

    def far_end(self, step: Step) -> str:
        """The end of a step that is further from the start."""
        return step.source if self.way == "upstream" else step.target

    @cached_property
    def _onward(self) -> Mapping[str, list[Step]]:
        onward: dict[str, list[Step]] = {}
        for step in self.steps:
            onward.setdefault(step.target if self.way == "upstream" else step.source, []).append(step)
        return onward


def find(client: ServiceClient, text: str) -> Target:
    """Resolve `DATASET` or `DATASET:COLUMN`.

    A dataset is found by its name, an alias, the end of either, `NAMESPACE:NAME` of either, or its node id.

    Raises:
        NotFoundError: no dataset has that name, or it has no such column.
        InvalidNameError: several datasets have that name, or it is empty.
    """
    if not text:
        raise InvalidNameError("the name is empty; expected DATASET or DATASET:COLUMN")
    text = re.sub("^datasetField:", "dataset:", text)
    dataset = called(client, text)
    if dataset is not None:
        return Target(dataset, None)
    is_called = f"was known {client.then} with the name" if str(client.then) else "has the name"
    fault = None
    for colon in reversed([*re.finditer("(?<=.):", text)]):  # column names may contain colons, too
        head, column = text[: colon.start()], text[colon.end() :]
        dataset = called(client, head)
        if dataset is None:
            continue
        columns = _columns(client, dataset, column)
        if column in columns:
            return Target(dataset, column)
        fault = f"{head} has no column {column!r}; it has {', '.join(map(harmless, columns)) or 'no known columns'}"
    raise NotFoundError(fault or f"no dataset {is_called} {text!r}; {hint(client, text)}")


def _columns(client: ServiceClient, dataset: DatasetId, wanted: str) -> list[str]:
    """The columns of a dataset; if `wanted` is not in its schema, those known from column lineage."""
    columns = _described_columns(client, dataset)
    if wanted in columns:
        return columns
    return list(dict.fromkeys(columns + _traced_columns(client, dataset)))


def _described_columns(client: ServiceClient, dataset: DatasetId) -> list[str]:
    """The columns of a dataset's schema; none if it is only known from its consumers."""
    with suppress(NotFoundError):
        found = client.get(f"/namespaces/{in_path(dataset.namespace)}/datasets/{in_path(dataset.name)}")
        return [*_paths(found["fields"])]
    return []


def _paths(fields: Iterable[Mapping[str, Any]], struct: str = "") -> Iterator[str]:
    """Each column, followed by its nested fields, by path."""
    for each in fields:
        yield f"{struct}{each['name']}"
        yield from _paths(each.get("fields", ()), f"{struct}{each['name']}.")


def _traced_columns(client: ServiceClient, dataset: DatasetId) -> list[str]:
    """The columns known from column lineage, since not every producer reports a schema."""
    parameters = {"nodeId": dataset.node_id, "depth": "1", "withDownstream": "true"}
    nodes = [node["data"] for node in client.get("/column-lineage", parameters)["graph"]]
    return [node["field"] for node in nodes if (node["namespace"], node["dataset"]) == dataset]


def walk(client: ServiceClient, target: Target, way: FlowDirection) -> Walk:
    """Everything upstream or downstream of the target."""
    labels, flow = _graph(client, target.dataset)
    through: Through = {}
    dataset_of: dict[str, str] = {}
    if target.column is None:
        through = _through(flow, _sources(client, target.dataset), way)
        if way == "upstream":
            flow = _on_path(client, target.dataset, flow)
    else:
        ends, flow = _column_graph(client, target)
        flow += [*_nested(_columns_among(ends), flow, way)]
        for end in ends:
            shown = labels.setdefault(end.dataset.node_id, end.dataset.name)
            labels |= {_end_id(Target(end.dataset, None), of_all): shown for of_all in (_INTO_ALL, _OUT_OF_ALL)}
            if end.column is not None:
                labels[end.node_id] = f"{shown}:{end.column}"
                dataset_of[end.node_id] = end.dataset.node_id
    every = Walk(target.node_id, way, {}, tuple(flow), labels, through, dataset_of)
    hops, steps = _reached(every)
    return replace(every, hops=hops, steps=tuple(step for step in flow if step in steps))


def labels_around(client: ServiceClient, target: Target) -> Mapping[str, str]:
    """A name for people, by node id, of the target and of each job and dataset around it."""
    labels, _ = _graph(client, target.dataset)
    shown = labels.setdefault(target.dataset.node_id, target.dataset.name)
    return labels if target.column is None else {**labels, target.node_id: f"{shown}:{target.column}"}


def _graph(client: ServiceClient, dataset: DatasetId) -> tuple[dict[str, str], list[Step]]:
    answer = client.get("/lineage", {"nodeId": dataset.node_id, "depth": WHOLE_GRAPH})
    labels = _disambiguated({node["id"]: label(node["data"]) for node in answer["graph"]})
    edges = {(edge["origin"], edge["destination"]) for node in answer["graph"] for edge in node["inEdges"]}
    return labels, [Step(*edge) for edge in sorted(edges)]


def _on_path(client: ServiceClient, dataset: DatasetId, flow: list[Step]) -> list[Step]:
    """The steps on the dataset's data path, without jobs that read it but did not use it, as far as events report that.

    All steps if they are too many for one answer. For jobs with several outputs these edges do not show which output
    is made from which input; `through` does.
    """
    answer = client.get("/path", {"nodeId": dataset.node_id, "depth": WHOLE_GRAPH})
    if answer["isCut"]:
        return flow
    edges = {(edge["origin"], edge["destination"]) for edge in answer["edges"]}
    return [step for step in flow if (step.source, step.target) in edges]


def _column_graph(client: ServiceClient, target: Target) -> tuple[list[Target], list[Step]]:
    parameters = {"nodeId": target.node_id, "depth": str(WHOLE_GRAPH), "withDownstream": "true"}
    answer = client.get("/column-lineage", parameters)
    edges = [*lineage_edges(answer)]
    ends = [target, *(end_of(node["data"]) for node in answer["graph"])]
    ends += [end for edge in edges for end in (edge.source, edge.target)]
    ends = [*dict.fromkeys(ends)]
    return ends, [*_steps(edges), *_steps_within(edges, _columns_among(ends))]


def _columns_among(ends: Iterable[Target]) -> list[ColumnId]:
    return [ColumnId(dataset, column) for dataset, column in ends if column is not None]


def lineage_edges(answer: Mapping[str, Any]) -> Iterator[LineageEdge]:
    """The edges of a `/column-lineage` answer: those of columns, then those reported once for all columns of a dataset.

    For a column that the reader may not see, edges have no kind.
    """
    ends = {node["id"]: end_of(node["data"]) for node in answer["graph"]}
    for node in answer["graph"]:
        target, inputs = ends[node["id"]], node["data"]["inputFields"]
        yield from (LineageEdge(end_of(source), target, source["transformations"]) for source in inputs)
        for source in {ends[edge["destination"]] for edge in node["inEdges"]} - {*map(end_of, inputs)}:
            yield LineageEdge(source, target, ())
    for spread in answer.get("datasetInputFields", ()):
        for source in spread["inputFields"]:
            target = end_of({**spread, "field": source["targetField"]})
            yield LineageEdge(end_of(source), target, source["transformations"])


def end_of(data: Mapping[str, Any]) -> Target:
    """The end of an edge, from the JSON of `/column-lineage`."""
    return Target(DatasetId(data["namespace"], data["dataset"]), data["field"])


def _steps(edges: Iterable[LineageEdge]) -> Iterator[Step]:
    for source, target, transformations in edges:
        how = {described.get("subtype") or described["type"] for described in transformations}
        masked = {MASKED for described in transformations if described["masking"]}
        ends = _end_id(source, _OUT_OF_ALL), _end_id(target, _INTO_ALL)
        yield Step(*ends, tuple(sorted(how | masked)))


def _steps_within(edges: Iterable[LineageEdge], columns: Iterable[ColumnId]) -> Iterator[Step]:
    """Steps between each column and the edges into or out of its whole dataset."""
    filled = {edge.target.dataset for edge in edges if edge.target.column is None}
    used = {edge.source.dataset for edge in edges if edge.source.column is None}
    for column in columns:
        whole = Target(column.dataset, None)
        if column.dataset in filled:
            yield Step(_end_id(whole, _INTO_ALL), column.node_id, (WHOLE,))
        if column.dataset in used:
            yield Step(column.node_id, _end_id(whole, _OUT_OF_ALL), (WHOLE,))


def _end_id(end: Target, of_all: str) -> str:
    return end.node_id if end.column is not None else f"{of_all}{end.node_id}"


def is_whole(node: str) -> bool:
    """Whether the node stands for all columns of a dataset."""
    return node.startswith((_INTO_ALL, _OUT_OF_ALL))


def _nested(columns: Iterable[ColumnId], flow: Sequence[Step], way: FlowDirection) -> Iterator[Step]:
    """Steps between a struct and its fields, towards whichever leads further: edges of one apply to both."""
    leads_on = {step.target if way == "upstream" else step.source for step in flow}
    known = {*columns}
    for field_inside in sorted(known):
        for path in structs_of(field_inside.column):
            struct = field_inside._replace(column=path)
            if struct in known:
                for near, far, how in ((field_inside, struct, AROUND), (struct, field_inside, INSIDE)):
                    if far.node_id in leads_on:
                        ends = (far, near) if way == "upstream" else (near, far)
                        yield Step(ends[0].node_id, ends[1].node_id, (how,))


def _sources(client: ServiceClient, dataset: DatasetId) -> dict[str, set[str]]:
    """The sources of each dataset in the neighbourhood, by node ids, from the strongest evidence."""
    answer = client.get("/flow", {"nodeId": dataset.node_id, "depth": WHOLE_GRAPH})
    return {
        _node_id(into["dataset"]): {_node_id(source["dataset"]) for source in into["sources"]}
        for into in answer["graph"]
    }


def _node_id(name: Mapping[str, str]) -> str:
    return DatasetId(name["namespace"], name["name"]).node_id


def _through(flow: Iterable[Step], sources: Mapping[str, set[str]], way: FlowDirection) -> Through:
    """For each dataset and adjacent job, which of the job's other datasets relate to it."""
    before: dict[str, set[str]] = {}
    after: dict[str, set[str]] = {}
    for step in flow:
        before.setdefault(step.target, set()).add(step.source)
        after.setdefault(step.source, set()).add(step.target)
    through: dict[tuple[str, str], frozenset[str]] = {}
    for job in filter(_is_job, before.keys() & after.keys()):
        for source in before[job] if way == "downstream" else ():
            fed = (end for end in after[job] if _is_job(end) or source in sources.get(end, (source,)))
            through[source, job] = frozenset(fed)
        for target in after[job] if way == "upstream" else ():
            feeding = sources.get(target, before[job])
            through[target, job] = frozenset(end for end in before[job] if _is_job(end) or end in feeding)
    return through


def _is_job(node: str) -> bool:
    return node.startswith("job:")


def _reached(every: Walk) -> tuple[dict[str, int], set[Step]]:
    """The distance of each reached node, nearest first, and the steps that lead there."""
    steps: set[Step] = set()

    def onward(here: tuple[str, str]) -> Iterator[tuple[str, str]]:
        came_from, node = here
        for step in every.next_steps(node, came_from):
            steps.add(step)
            yield node, every.far_end(step)

    hops: dict[str, int] = {}
    for (_, node), distance in reachable([("", every.start)], onward, len(every.steps)).items():
        hops.setdefault(node, distance)
    return hops, steps


def _disambiguated(labels: Mapping[str, str]) -> dict[str, str]:
    """The labels by node id; duplicates are replaced by namespace and name."""
    named = {node: (*node.partition(":")[::2], label) for node, label in labels.items()}
    count = Counter((kind, label) for kind, _, label in named.values())
    return {node: label if count[kind, label] == 1 else own for node, (kind, own, label) in named.items()}
