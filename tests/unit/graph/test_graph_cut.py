"""A graph as it was at a time, cut out of the graph of now."""

import json
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.graph.fold import fold
from headwater.graph.lineage import Graph
from headwater.graph.past.cut import CutGraph, side
from headwater.model.events import RunEvent, parse_event
from headwater.model.extract import facts
from headwater.model.facts import (
    Alias,
    CatalogEntry,
    Content,
    EngineCatalog,
    Fact,
    JobFacet,
    ObservedFacet,
    Renaming,
    Stamped,
)
from headwater.model.names import DatasetId, JobId
from tests.support.logs import logs, of_many_runs
from tests.unit.graph.test_graph_order import facts_of, graph_of, picture

BEGIN_US = 1_779_459_780_000_000
"""2026-05-22T14:23:00Z: the first second of generated events."""
ABOUT_NAMES = (Alias, Renaming, CatalogEntry, EngineCatalog)


class ToldBy(NamedTuple):
    """What events told of facets, as a store would find it."""

    told: Sequence[Fact]

    def job_facets(self, job: JobId, names: set[str]) -> Mapping[str, Stamped]:
        return _newest(
            fact for fact in self.told if isinstance(fact, JobFacet) and fact.job == job and fact.name in names
        )

    def dataset_facets(self, name: DatasetId, names: set[str]) -> Mapping[str, Stamped]:
        mine = [fact for fact in self.told if isinstance(fact, ObservedFacet) and fact.dataset == name]
        return _newest(fact for fact in mine if fact.is_of_dataset and fact.name in names)


def _newest(told: Iterable[JobFacet | ObservedFacet]) -> dict[str, Stamped]:
    return {fact.name: fact.stamped for fact in sorted(told, key=attrgetter("stamped"))}


def cut_of(now: Graph, log: Iterable[bytes], until_us: int) -> CutGraph:
    """As the service makes it: given what tells of names, what runs told across that time, and what needs no run."""
    events = [event for event in map(parse_event, log) if event.stamp.time_us <= until_us]
    cut = CutGraph(now, until_us, ToldBy([fact for event in events for fact in facts(event)]))
    cut.add_all(fact for event in events for fact in facts(event) if isinstance(fact, ABOUT_NAMES))
    cut.add_all([*cut.quarantined_before()])
    for event in events:
        if not isinstance(event, RunEvent) or side(now.runs[event.run_id], until_us) == "across":
            cut.add_all(facts(event))
    cut.identities.note_joined()
    return cut


@settings(max_examples=60)
@given(log=logs | of_many_runs, second=st.integers(0, 59), is_merged=st.booleans())
def test_a_cut_is_the_graph_that_the_events_until_then_make(log: list[bytes], second: int, is_merged: bool) -> None:
    until_us = BEGIN_US + second * 1_000_000
    told = facts_of(log)

    cut = cut_of(graph_of(merged(told) if is_merged else told), log, until_us)

    assert picture(cut) == picture(graph_of(facts_of(_until(until_us, log))))


def merged(told: Iterable[Fact]) -> list[Fact]:
    """As a store tells them after a restart."""
    return sorted(fold(told).values(), key=lambda fact: not isinstance(fact, Content))


@settings(max_examples=40)
@given(log=logs, more=logs, second=st.integers(0, 59))
def test_a_cut_stays_as_it_is_whatever_happens_after_its_time(log: list[bytes], more: list[bytes], second: int) -> None:
    until_us = BEGIN_US + second * 1_000_000
    now = _with_contents_of(graph_of(facts_of([*log, *more])), facts_of(log))
    cut = cut_of(now, log, until_us)
    picture(cut)  # looked at, and held

    for raw in [raw for raw in more if raw not in _until(until_us, more)]:
        event = parse_event(raw)
        if isinstance(event, RunEvent):
            cut.keep(event.run_id)
        now.add_all(facts(event))
        cut.forget([*now.jobs], [*now.datasets])

    assert picture(cut) == picture(graph_of(facts_of(_until(until_us, log))))


def _until(until_us: int, log: Iterable[bytes]) -> list[bytes]:
    return [raw for raw in log if parse_event(raw).stamp.time_us <= until_us]


def _with_contents_of(other: Graph, found: Iterable[Fact]) -> Graph:
    graph = Graph(other.content)
    graph.add_all(found)
    return graph


def test_whoever_nobody_spoke_of_since_is_the_very_same_and_others_have_what_they_had() -> None:
    log = [_event("first", "load", 1), _event("second", "load", 2), _event("only", "mart", 1)]
    now = graph_of(facts_of(log))

    cut = cut_of(now, log, BEGIN_US + 1_000_000)

    load, mart, orders = JobId("etl", "load"), JobId("etl", "mart"), DatasetId("lake", "load")
    assert cut.jobs[mart] is now.jobs[mart]
    assert cut.datasets[DatasetId("lake", "mart")] is now.datasets[DatasetId("lake", "mart")]
    assert (cut.jobs[load].runs, now.jobs[load].runs) == ({"first"}, {"first", "second"})
    assert (cut.jobs[load].writes[orders].runs, now.jobs[load].writes[orders].runs) == (1, 2)


def test_a_dataset_that_went_by_another_name_too_has_what_was_told_under_it() -> None:
    orders, returns = DatasetId("lake", "orders"), DatasetId("lake", "returns")
    nowhere = DatasetId("", "nowhere")
    log = [
        _event("first", "orders", 0),
        _told_of(nowhere, 0, _also_called(orders)),
        _told_of(returns, 1, _also_called(nowhere)),  # two are called so now: it is neither
    ]
    now = graph_of(facts_of(log))

    cut = cut_of(now, log, BEGIN_US)

    assert (now.digests_of(orders), [*cut.digests_of(orders)]) == ({}, ["symlinks"])


def test_an_edge_was_seen_when_a_declaration_told_of_it_too_that_was_replaced_since() -> None:
    orders, load = DatasetId("lake", "load"), JobId("etl", "load")
    made = {"lineage": {"inputs": [{"namespace": "etl", "name": "load", "type": "JOB"}]}}
    log = [_told_of(orders, 0, made), _event("first", "load", 1), _told_of(orders, 2, {})]

    cut = cut_of(graph_of(facts_of(log)), log, BEGIN_US + 1_000_000)

    assert cut.jobs[load].writes[orders] == graph_of(facts_of(log[:2])).jobs[load].writes[orders]
    assert cut.jobs[load].writes[orders].seen.first_us == BEGIN_US


def _told_of(name: DatasetId, second: int, facets: Mapping[str, object]) -> bytes:
    told = {"producer": "https://example.org", "dataset": {**name._asdict(), "facets": facets}}
    return json.dumps({"eventTime": f"2026-05-22T14:23:0{second}Z", **told}).encode()


def _also_called(name: DatasetId) -> Mapping[str, object]:
    made = {"_producer": "https://example.org", "_schemaURL": "https://example.org/facet.json"}
    return {"symlinks": {**made, "identifiers": [{"type": "OTHER", **name._asdict()}]}}


def _event(run_id: str, job: str, second: int) -> bytes:
    return (
        f'{{"eventType": "COMPLETE", "eventTime": "2026-05-22T14:23:0{second}Z", "producer": "https://example.org",'
        f'"run": {{"runId": "{run_id}"}}, "job": {{"namespace": "etl", "name": "{job}"}},'
        f'"outputs": [{{"namespace": "lake", "name": "{job}"}}]}}'
    ).encode()
