"""The graph around a job: its jobs and datasets as entries, with their edges."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Literal, NamedTuple

import orjson

from headwater.model.names import DatasetId, JobId
from headwater.service.graphql import objects
from headwater.service.graphql.ask import Ask, Node
from headwater.service.shapes import lineage as shapes_lineage
from headwater.service.views.lineage import lineage_now

_GraphNode = shapes_lineage.DatasetNode | shapes_lineage.JobNode


class _Entry(NamedTuple):
    """A node of the lineage graph."""

    kind: Literal["DATASET", "JOB"]
    node: _GraphNode
    graph: Mapping[str, _GraphNode]
    """All its nodes by their ids: an id alone may be read as that of another node, since names may contain colons."""


def from_job(ask: Ask, _: None, namespace: str, name: str, depth: int | None = None) -> Node:
    """The graph around a job; empty for an unknown job, as in Marquez."""
    job = JobId.sanitized(namespace, name)
    if not ask.knowledge.is_job(job):
        return ask.node(job, lambda: {"graph": []})
    nodes = orjson.loads(lineage_now(ask.knowledge, job, max(10 if depth is None else depth, 0)))["graph"]
    graph = {node["id"]: node for node in nodes}
    return ask.node(
        job,
        lambda: {"graph": [ask.node(_Entry(node["type"], node, graph), partial(_named, node)) for node in nodes]},
    )


def _named(node: _GraphNode) -> Mapping[str, str]:
    return {"name": node["data"]["name"], "namespace": node["data"]["namespace"], "type": node["type"]}


def data(ask: Ask, entry: _Entry) -> Node:
    """The entry's job or dataset."""
    of = entry.node["data"]["id"]
    if entry.kind == "JOB":
        return objects.job(ask, JobId(of["namespace"], of["name"]))
    return objects.dataset(ask, DatasetId(of["namespace"], of["name"]))


def in_edges(ask: Ask, entry: _Entry) -> list[Node]:
    """The edges that data comes in by."""
    return _edges(ask, entry, (edge["origin"] for edge in entry.node["inEdges"]))


def out_edges(ask: Ask, entry: _Entry) -> list[Node]:
    """The edges that data goes out by."""
    return _edges(ask, entry, (edge["destination"] for edge in entry.node["outEdges"]))


def _edges(ask: Ask, entry: _Entry, node_ids: Iterable[str]) -> list[Node]:
    """The other ends of a node's edges, which are nodes of the graph, too."""
    return [ask.node(None, partial(_named, entry.graph[node_id])) for node_id in node_ids]
