"""Walk lineage from a dataset or column, upstream or downstream, over a service's answers."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
"""How a column hangs on its dataset, where what affects all of the dataset's columns is told of that."""


class Target(NamedTuple):
    """What is asked about: a dataset, or one column of it."""

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
    fields = client.get(f"/namespaces/{in_path(dataset.namespace)}/datasets/{in_path(dataset.name)}")["fields"]
    return [*_paths(fields)]


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
    if target.column is None:
        through = _through(flow, _sources(client, target.dataset), way)
        if way == "upstream":
            flow = _on_path(client, target.dataset, flow)
    else:
        columns, flow = _column_graph(client, target)
        columns.append(ColumnId(target.dataset, target.column))
        flow += [*_nested(columns, flow, way)]
        for column in columns:
            label_of_dataset = labels.setdefault(column.dataset.node_id, column.dataset.name)
            labels[column.node_id] = f"{label_of_dataset}:{column.column}"
    every = Walk(target.node_id, way, {}, tuple(flow), labels, through)
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


def _column_graph(client: ServiceClient, target: Target) -> tuple[list[ColumnId], list[Step]]:
    parameters = {"nodeId": target.node_id, "depth": str(WHOLE_GRAPH), "withDownstream": "true"}
    answer = client.get("/column-lineage", parameters)
    columns, steps = [], []
    for node in answer["graph"]:
        columns.append(_column(node["data"]))
        for source in node["data"]["inputFields"]:
            columns.append(_column(source))
            steps.append(Step(columns[-1].node_id, node["id"], _how(source)))
    for of_dataset in answer.get("datasetInputFields", ()):
        steps += _through_whole(of_dataset, columns)
    return columns, steps


def _how(source: Mapping[str, Any]) -> tuple[str, ...]:
    how = {described.get("subtype") or described["type"] for described in source["transformations"]}
    return tuple(sorted(how | {MASKED for described in source["transformations"] if described["masking"]}))


def _through_whole(told: Mapping[str, Any], columns: Sequence[ColumnId]) -> Iterator[Step]:
    """Steps to a dataset, and on to each of its columns, where it would be too much to tell of each what it is of all.

    Where all of a source is meant, the step comes from the source itself.
    """
    whole = DatasetId(told["namespace"], told["dataset"])
    for source in told["inputFields"]:
        origin = _dataset(source) if source["field"] is None else _column(source)
        end = whole if source["targetField"] is None else ColumnId(whole, source["targetField"])
        yield Step(origin.node_id, end.node_id, _how(source))
    if any(source["targetField"] is None for source in told["inputFields"]):
        for column in dict.fromkeys(columns):
            if column.dataset == whole:
                yield Step(whole.node_id, column.node_id, (WHOLE,))


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


def _column(data: Mapping[str, Any]) -> ColumnId:
    return ColumnId(_dataset(data), data["field"])


def _dataset(data: Mapping[str, Any]) -> DatasetId:
    return DatasetId(data["namespace"], data["dataset"])


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
