"""What a request concerns: the namespaces that its caller must be allowed to see, and the nodes that it names."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

from fastapi import Request

from headwater.errors import InvalidNameError, NotFoundError
from headwater.model.credentials import without_secrets
from headwater.model.names import AnyNode, DatasetId, JobId, without_column
from headwater.service.gate.rules import Matched, Rule
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.knowledge.versions import job_uuid
from headwater.service.request.node_ids import meanings, run_of

NODE_IDS: Final = ("nodeId", "other")
_RUNS: Final = ("runId", "run", "fromRun", "toRun")
OF_RUN: Final = "the namespace of the run"
OF_DATASET: Final = "the namespace of the dataset"
"""Stands for a namespace that the caller did not name, as its very name would disclose something."""


class About:
    """Determines what requests concern, by the current graph."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge

    def namespaces(self, request: Request, route_match: Matched, rule: Rule) -> Mapping[str, str]:
        """The namespaces that a request concerns, each with how to call it to a caller who may not know its name."""
        if rule.about != "named":
            return {}
        path = route_match.parameters
        named = {path[rule.namespace]: called_namespace(path[rule.namespace])} if rule.namespace in path else {}
        if "/datasets/" in route_match.route:
            named = self._of_node(DatasetId(path["namespace"], path["name"]))
        runs = self.owner_of_run(path.get("run_id"))
        for key, value in request.query_params.multi_items():
            if key in NODE_IDS:
                runs += self.owner_of_run(run_of(value))
                for node in self.requested_nodes(value):
                    named = self._of_node(node) | named
            elif key in _RUNS:
                runs += self.owner_of_run(value)
            elif key == "namespace":
                namespace = without_secrets(value)
                named[namespace] = called_namespace(namespace)
        return dict.fromkeys(runs, OF_RUN) | named

    def owner_of_run(self, run_id: str | None, *, has_own_events: bool = False) -> list[str]:
        """The namespace of a run's job, if known.

        With `has_own_events`, only of a run that has some: other runs may have named it as their parent or root.
        """
        try:
            run = None if run_id is None else self._knowledge.run(run_id)
        except NotFoundError:
            return []
        return [] if run is None or (has_own_events and not run.has_events) else [run.job.namespace]

    def job_with(self, name: str, uuid: str) -> JobId | None:
        """The known job with this name and UUID."""
        alike = self._knowledge.name_index.holding([name.casefold()])
        jobs = (node for node in alike if isinstance(node, JobId) and node.name == name)
        return next((job for job in jobs if str(job_uuid(job)) == uuid), None)

    def nodes_of_run(self, run_id: str) -> Iterator[JobId | DatasetId]:
        """The job of a run, and what it read and wrote, also under the names shown; none if the run is not known."""
        graph = self._knowledge.graph
        run = graph.runs.get(run_id)
        if run is None:
            return
        if run.of_job is not None:
            yield run.of_job.job
        for _, name in run.observed:
            yield from (each for each in {name, graph.shown(name)} if each.is_complete)

    def other_names(self, namespace: str, name: str) -> Sequence[DatasetId]:
        """The other complete names of a dataset; none if it has one name, or is not known."""
        dataset, identities = DatasetId(namespace, name), self._knowledge.graph.identities
        if identities.is_alone(dataset):
            return ()
        return [member for member in identities.members(dataset) if member.is_complete and member != dataset]

    def _of_node(self, node: AnyNode) -> dict[str, str]:
        if isinstance(node, JobId):
            return {node.namespace: called_namespace(node.namespace)}
        name = without_column(node)
        named = {name.namespace: called_namespace(name.namespace)}  # first, so that no refusal confirms an alias
        named.setdefault(self._knowledge.graph.shown(name).namespace, OF_DATASET)
        return named

    def requested_nodes(self, node_id: str) -> Iterator[AnyNode]:
        """What a node id in a request may mean; empty if it is none."""
        with suppress(InvalidNameError):
            for candidates in meanings(node_id):
                yield from self._likeliest(candidates)

    def nodes(self, node_id: str) -> Sequence[AnyNode]:
        """What a node id in an answer may mean, read literally."""
        return self._likeliest(next(meanings(node_id), ()))

    def _likeliest(self, candidates: Sequence[AnyNode]) -> Sequence[AnyNode]:
        """The known ones; else the first."""
        return [node for node in candidates if self._is_known(node)] or candidates[:1]

    def _is_known(self, node: AnyNode) -> bool:
        graph = self._knowledge.graph
        if isinstance(node, JobId):
            return node in graph.jobs
        name = without_column(node)
        return name in graph.datasets or graph.identities.knows(name)


def called_namespace(namespace: str) -> str:
    """How a namespace is called to a caller who may know its name."""
    return f"namespace {namespace!r}"
