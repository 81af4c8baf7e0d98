"""Walk lineage from a dataset or column, upstream or downstream, over a service's answers."""

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
from headwater.model.facts import Way
from headwater.model.names import ColumnId, DatasetId

WHOLE_GRAPH = 1000
"""Depth in jobs: more than any path has."""

INDIRECT = frozenset({"FILTER", "JOIN", "GROUP_BY", "SORT", "WINDOW", "CONDITIONAL", "INDIRECT"})
"""Ways in which a column decides about rows or choices without giving its value."""


MASKED = "MASKED"
"""Beside a way: the data cannot be told any more from what comes of it."""

AROUND = "STRUCT_AROUND"
INSIDE = "FIELD_INSIDE"
"""How a struct and a field inside it hang together; no data flows between them."""
WHOLE = "WHOLE_DATASET"
"""How a column hangs on all columns of its dataset, where what goes into all or comes of all is told once."""
_INTO_ALL, _OUT_OF_ALL = "all-into:", "all-out-of:"
"""Before a dataset's node id: two ends, else what goes into all its columns from one would seem to come of another."""


class Target(NamedTuple):
    """A dataset, or one column of it."""

    dataset: DatasetId
    column: str | None

    @property
    def node_id(self) -> str:
        """As the API writes it."""
        return self.dataset.node_id if self.column is None else ColumnId(self.dataset, self.column).node_id


class Step(NamedTuple):
    """An edge in the direction of the data, by node ids; `how` is empty between datasets and jobs."""

    source: str
    target: str
    how: tuple[str, ...] = ()

    def only(self, ways: frozenset[str]) -> bool:
        """Whether it has no way but these."""
        return {*self.how} - {MASKED} <= ways


class ToldEdge(NamedTuple):
    """What goes into what, as `/column-lineage` tells it; a dataset stands for all of its columns."""

    source: Target
    target: Target
    transformations: Sequence[Mapping[str, Any]]


Through = Mapping[tuple[str, str], frozenset[str]]
"""By a dataset, and a job that is come to from there: what lies behind that for the dataset; not there: all does."""


@dataclass(frozen=True)
class Walk:
    """What was reached: distance in edges by node id, nearest first, and the edges between what was reached."""

    start: str
    way: Way
    hops: Mapping[str, int]
    steps: tuple[Step, ...]
    labels: Mapping[str, str] = field(default_factory=dict)
    """A name for people, by node id."""
    through: Through = field(default_factory=dict)
    dataset_of: Mapping[str, str] = field(default_factory=dict)
    """The node id of its dataset, by a column's."""

    def next_steps(self, node: str, came_from: str = "") -> list[Step]:
        """The edges that lead on from a node that was come to from another, away from the start."""
        steps, behind = self._onward.get(node, []), self.through.get((came_from, node))
        return steps if behind is None else [step for step in steps if self.far_end(step) in behind]

    def far_end(self, step: Step) -> str:
        """Where a step leads."""
        return step.source if self.way == "upstream" else step.target

    @cached_property
    def _onward(self) -> Mapping[str, list[Step]]:
        onward: dict[str, list[Step]] = {}
        for step in self.steps:
            onward.setdefault(step.target if self.way == "upstream" else step.source, []).append(step)
        return onward


def find(client: ServiceClient, text: str) -> Target:
    """What `DATASET` or `DATASET:COLUMN` means.

    A dataset goes by its name, an alias, the end of either, `NAMESPACE:NAME` of either, or node id.

    Raises:
        NotFoundError: no dataset is called so, or it has no such column.
        InvalidNameError: several datasets are called so, or nothing is named.
    """
    if not text:
        raise InvalidNameError("the name is empty; name a dataset as DATASET or DATASET:COLUMN")
    text = re.sub("^datasetField:", "dataset:", text)
    dataset = called(client, text)
    if dataset is not None:
        return Target(dataset, None)
    is_called = f"was known {client.then} that is called" if str(client.then) else "is called"
    fault = None
    for colon in reversed([*re.finditer("(?<=.):", text)]):  # in names of columns too there may be some
        head, column = text[: colon.start()], text[colon.end() :]
        dataset = called(client, head)
        if dataset is None:
            continue
        columns = _columns(client, dataset, column)
        if column in columns:
            return Target(dataset, column)
        fault = f"{head} has no column {column!r}; it has {', '.join(map(harmless, columns)) or 'none that is known'}"
    raise NotFoundError(fault or f"no dataset {is_called} {text!r}; {hint(client, text)}")


def _columns(client: ServiceClient, dataset: DatasetId, wanted: str) -> list[str]:
    """What columns a dataset has; those that only column lineage tells of where `wanted` is not among the others."""
    columns = _described_columns(client, dataset)
    if wanted in columns:
        return columns
    return list(dict.fromkeys(columns + _traced_columns(client, dataset)))


def _described_columns(client: ServiceClient, dataset: DatasetId) -> list[str]:
    """None of a dataset of which only what is made from it tells."""
    with suppress(NotFoundError):
        told = client.get(f"/namespaces/{in_path(dataset.namespace)}/datasets/{in_path(dataset.name)}")
        return [*_paths(told["fields"])]
    return []


def _paths(fields: Iterable[Mapping[str, Any]], struct: str = "") -> Iterator[str]:
    """Each column, and behind it those inside it by their paths."""
    for each in fields:
        yield f"{struct}{each['name']}"
        yield from _paths(each.get("fields", ()), f"{struct}{each['name']}.")


def _traced_columns(client: ServiceClient, dataset: DatasetId) -> list[str]:
    """Those that column lineage tells of: not every producer tells a schema."""
    parameters = {"nodeId": dataset.node_id, "depth": "1", "withDownstream": "true"}
    nodes = [node["data"] for node in client.get("/column-lineage", parameters)["graph"]]
    return [node["field"] for node in nodes if (node["namespace"], node["dataset"]) == dataset]


def walk(client: ServiceClient, target: Target, way: Way) -> Walk:
    """Everything that lies that way from the target."""
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
    labels = _told_apart({node["id"]: label(node["data"]) for node in answer["graph"]})
    edges = {(edge["origin"], edge["destination"]) for node in answer["graph"] for edge in node["inEdges"]}
    return labels, [Step(*edge) for edge in sorted(edges)]


def _on_path(client: ServiceClient, dataset: DatasetId, flow: list[Step]) -> list[Step]:
    """The steps that the data of the dataset takes, as far as events say: not by a job that read more than it used.

    All, where they are too many for one answer. Where a job makes several datasets these edges do not say which is made
    from what, as `through` does.
    """
    answer = client.get("/path", {"nodeId": dataset.node_id, "depth": WHOLE_GRAPH})
    if answer["isCut"]:
        return flow
    edges = {(edge["origin"], edge["destination"]) for edge in answer["edges"]}
    return [step for step in flow if (step.source, step.target) in edges]


def _column_graph(client: ServiceClient, target: Target) -> tuple[list[Target], list[Step]]:
    parameters = {"nodeId": target.node_id, "depth": str(WHOLE_GRAPH), "withDownstream": "true"}
    answer = client.get("/column-lineage", parameters)
    edges = [*told_edges(answer)]
    ends = [target, *(end_of(node["data"]) for node in answer["graph"])]
    ends += [end for edge in edges for end in (edge.source, edge.target)]
    ends = [*dict.fromkeys(ends)]
    return ends, [*_steps(edges), *_steps_within(edges, _columns_among(ends))]


def _columns_among(ends: Iterable[Target]) -> list[ColumnId]:
    return [ColumnId(dataset, column) for dataset, column in ends if column is not None]


def told_edges(answer: Mapping[str, Any]) -> Iterator[ToldEdge]:
    """What an answer of `/column-lineage` tells of columns, then what it tells once of all columns of a dataset.

    What goes into a column that the reader may not know is told by its edges alone: not how.
    """
    ends = {node["id"]: end_of(node["data"]) for node in answer["graph"]}
    for node in answer["graph"]:
        target, told = ends[node["id"]], node["data"]["inputFields"]
        yield from (ToldEdge(end_of(source), target, source["transformations"]) for source in told)
        for source in {ends[edge["destination"]] for edge in node["inEdges"]} - {*map(end_of, told)}:
            yield ToldEdge(source, target, ())
    for spread in answer.get("datasetInputFields", ()):
        for source in spread["inputFields"]:
            target = end_of({**spread, "field": source["targetField"]})
            yield ToldEdge(end_of(source), target, source["transformations"])


def end_of(data: Mapping[str, Any]) -> Target:
    """Where an edge starts or ends, as `/column-lineage` names it."""
    return Target(DatasetId(data["namespace"], data["dataset"]), data["field"])


def _steps(edges: Iterable[ToldEdge]) -> Iterator[Step]:
    for source, target, transformations in edges:
        how = {described.get("subtype") or described["type"] for described in transformations}
        masked = {MASKED for described in transformations if described["masking"]}
        ends = _end_id(source, _OUT_OF_ALL), _end_id(target, _INTO_ALL)
        yield Step(*ends, tuple(sorted(how | masked)))


def _steps_within(edges: Iterable[ToldEdge], columns: Iterable[ColumnId]) -> Iterator[Step]:
    """Steps on to each column from what goes into all of its dataset, and from each to what comes of all."""
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
    """Whether it is one of the two ends at which edges meet that are told of all columns of a dataset."""
    return node.startswith((_INTO_ALL, _OUT_OF_ALL))


def _nested(columns: Iterable[ColumnId], flow: Sequence[Step], way: Way) -> Iterator[Step]:
    """Steps between a struct and a field inside it, towards whichever leads further: what is told of one is of both."""
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
    """What each dataset around is made from, by node ids: by the strongest of what events tell of it."""
    answer = client.get("/flow", {"nodeId": dataset.node_id, "depth": WHOLE_GRAPH})
    return {
        _node_id(into["dataset"]): {_node_id(source["dataset"]) for source in into["sources"]}
        for into in answer["graph"]
    }


def _node_id(name: Mapping[str, str]) -> str:
    return DatasetId(name["namespace"], name["name"]).node_id


def _through(flow: Iterable[Step], sources: Mapping[str, set[str]], way: Way) -> Through:
    """For each dataset what of that which a job reads or writes hangs together with it."""
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
    """How far away each node is that lies that way, nearest first, and the steps that lead there."""
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


def _told_apart(labels: Mapping[str, str]) -> dict[str, str]:
    """The labels by node id; where several jobs or datasets would have one, each has namespace and name."""
    named = {node: (*node.partition(":")[::2], label) for node, label in labels.items()}
    count = Counter((kind, label) for kind, _, label in named.values())
    return {node: label if count[kind, label] == 1 else own for node, (kind, own, label) in named.items()}
