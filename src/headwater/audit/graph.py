"""A graph as a bundle has it: what may be compared, whoever folded the events, and in whichever order they came."""

import json
import zipfile
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields
from functools import cache
from hashlib import sha256
from marshal import dumps
from operator import attrgetter
from types import UnionType
from typing import IO, Any, Final, get_args

from headwater.audit.core import Report
from headwater.errors import InvalidEventError
from headwater.model.edits import InOrder
from headwater.model.events import Stamp
from headwater.model.facts import (
    Catalog,
    Content,
    Fact,
    Observation,
    RunOfJob,
    RunTimes,
    Seen,
)
from headwater.model.names import DatasetId, JobId
from headwater.model.nodes import Arrival
from headwater.model.producer import VERSION
from headwater.store.entries import parsed

_FACTS_MODULUS: Final = 2**256
_NAMED_TUPLES: Final = (Catalog, DatasetId, JobId, Seen, Stamp)
_BY_VALUE: Final = 2
"""The newest format of `marshal` in which equal values have equal bytes: later ones also say which objects are one."""
_LISTS: Final = {"jobs": "jobs", "datasets": "datasets", "edges": "edges"}
_PARTS: Final = {**_LISTS, "facts": "facts", "hashOfFacts": "facts"}
"""The parts of a graph, and how they are called."""


class Folding:
    """Folds entries into merged facts, one after the other in the log's order."""

    def __init__(self) -> None:
        self._in_order = InOrder(())
        self._merged: dict[tuple[object, ...], Fact] = {}

    def take(self, event_type: str, raw: bytes, index: int, arrival: Arrival) -> None:
        """Take in an entry; one that would be refused today says nothing, as in the service."""
        try:
            facts = self._in_order.facts(parsed(event_type, raw), index, arrival)
        except InvalidEventError:
            return
        for fact in facts:
            key = fact.key
            known = self._merged.setdefault(key, fact)
            if known is not fact:
                self._merged[key] = known.merge(fact)  # type: ignore[arg-type]

    @property
    def facts(self) -> Collection[Fact]:
        """What the entries say, merged."""
        return self._merged.values()

    def graph(self) -> Mapping[str, Any]:
        """The graph that the entries make."""
        return graph_of(self._merged.values())


def graph_of(facts: Iterable[Fact]) -> Mapping[str, Any]:
    """The graph that merged facts make: jobs, datasets, who reads and writes what, and a sum over everything else."""
    jobs_of_runs, touched, digest, count = dict[str, tuple[str, str]](), set[tuple[str, str, str, str]](), 0, 0
    for fact in facts:
        count += 1
        digest += int.from_bytes(_digest(fact))
        if isinstance(fact, RunOfJob):
            jobs_of_runs[fact.run_id] = fact.job
        elif isinstance(fact, Observation):
            touched.add((fact.run_id, fact.direction, *fact.dataset))
    edges = sorted({(*jobs_of_runs[run], *rest) for run, *rest in touched if run in jobs_of_runs})
    return {
        "jobs": sorted(list(job) for job in set(jobs_of_runs.values())),
        "datasets": sorted(list(name) for name in {each[2:] for each in touched}),
        "edges": [list(edge) for edge in edges],
        "facts": count,
        "hashOfFacts": f"{digest % _FACTS_MODULUS:064x}",
    }


def _digest(fact: Fact) -> bytes:
    """Of all that the fact says; of a content, which is most of the bytes, that of its body."""
    kind: Any = type(fact)
    return sha256(_as_bytes(kind)(fact)).digest()


@cache
def _as_bytes(kind: Any) -> Callable[[Any], bytes]:  # noqa: ANN401  the class of a fact
    """How facts of a kind are written to be summed: their members, and those of the named tuples among them.

    `marshal` writes in C, in a tenth of the time that their text takes. Its second format depends on values alone. Who
    names either a job or a dataset tells by its class which, and only as text.
    """
    if kind is Content:
        return attrgetter("body")
    members, name = _members(kind), kind.__name__
    if any(isinstance(each.type, UnionType) and {*get_args(each.type)} & {*_NAMED_TUPLES} for each in fields(kind)):
        return lambda fact: f"{name}{members(fact)!r}".encode()
    prefix = name.encode()
    return lambda fact: prefix + dumps(members(fact), _BY_VALUE)


def _members(kind: Any) -> Callable[[Any], Any]:  # noqa: ANN401  the same
    if kind is RunTimes:
        return lambda fact: (fact.run_id, *fact.seen, fact.state[0], *fact.state[1], fact.state[2])
    if kind is RunOfJob:
        return lambda fact: (
            fact.run_id,
            *fact.job,
            fact.parent and (fact.parent.run_id, *fact.parent.job),
            *fact.stamp,
        )
    names = (f"{each.name}.{inner}" if inner else each.name for each in fields(kind) for inner in _inner(each.type))
    return attrgetter(*names)


def _inner(member: Any) -> Iterable[str]:  # noqa: ANN401  what stands behind a member's colon
    return member._fields if member in _NAMED_TUPLES else ("",)


def check_graph(file: IO[bytes], folding: Folding, report: Report) -> None:
    """Compare the graph in a bundle with the one that its entries make."""
    with zipfile.ZipFile(file) as bundle:
        manifest, shown = json.loads(bundle.read("manifest.json")), json.loads(bundle.read("graph.json"))
    folded = json.loads(json.dumps(folding.graph()))
    is_same_version = manifest["madeBy"] == f"headwater {VERSION}" and "hashOfFacts" in shown
    different = [part for part in (_PARTS if is_same_version else _LISTS) if shown.get(part) != folded[part]]
    for part in different:
        report.find("graph", None, f"the {_PARTS[part]} that were shown are not those that the entries make")
    if not different:
        whose = "that the service shows" if manifest["graphOf"] == "log" else "of these entries"
        told = f"{len(folded['jobs']):,} jobs, {len(folded['datasets']):,} datasets, {len(folded['edges']):,} edges"
        report.checked.append(f"graph: folding the entries gives the graph {whose}: {told}, {folded['facts']:,} facts")
    if not is_same_version:
        report.not_known.append(f"the finer facts: {manifest['madeBy']} wrote the bundle, and may count otherwise")
    if manifest["graphOf"] != "log":
        report.not_known.append("whether the service shows this very graph: the bundle is about a part of the log")
