"""A graph as it was at a time, cut out of the current graph."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from operator import attrgetter
from typing import NamedTuple

import pytest
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


class FactsStore(NamedTuple):
    """Facets from these facts, as a store would return them."""

    facts: Sequence[Fact]

    def job_facets(self, job: JobId, names: set[str]) -> Mapping[str, Stamped]:
        return _newest(
            fact for fact in self.facts if isinstance(fact, JobFacet) and fact.job == job and fact.name in names
        )

    def dataset_facets(self, name: DatasetId, names: set[str]) -> Mapping[str, Stamped]:
        of_dataset = [fact for fact in self.facts if isinstance(fact, ObservedFacet) and fact.dataset == name]
        return _newest(fact for fact in of_dataset if fact.is_of_dataset and fact.name in names)


def _newest(reported: Iterable[JobFacet | ObservedFacet]) -> dict[str, Stamped]:
    return {fact.name: fact.stamped for fact in sorted(reported, key=attrgetter("stamped"))}


def cut_of(now: Graph, log: Iterable[bytes], until_us: int) -> CutGraph:
    """As the service makes it: from facts on names, facts of runs across that time, and facts without a run."""
    events = [event for event in map(parse_event, log) if event.stamp.time_us <= until_us]
    cut = CutGraph(now, until_us, FactsStore([fact for event in events for fact in facts(event)]))
    cut.add_all(fact for event in events for fact in facts(event) if isinstance(fact, ABOUT_NAMES))
    cut.add_all([*cut.quarantined_before()])
    for event in events:
        if not isinstance(event, RunEvent) or side(now.runs[event.run_id], until_us) == "across":
            cut.add_all(facts(event))
    cut.identities.note_joined()
    return cut


@settings(max_examples=60)
@given(log=logs | of_many_runs, second=st.integers(0, 59), is_merged=st.booleans())
def test_a_cut_equals_the_graph_of_the_events_until_then(log: list[bytes], second: int, is_merged: bool) -> None:
    until_us = BEGIN_US + second * 1_000_000
    all_facts = facts_of(log)

    cut = cut_of(graph_of(merged(all_facts) if is_merged else all_facts), log, until_us)

    assert picture(cut) == picture(graph_of(facts_of(_until(until_us, log))))


def merged(all_facts: Iterable[Fact]) -> list[Fact]:
    """The facts as a store returns them after a restart."""
    return sorted(fold(all_facts).values(), key=lambda fact: not isinstance(fact, Content))


@settings(max_examples=40)
@given(log=logs, more=logs, second=st.integers(0, 59))
def test_a_cut_does_not_change_with_later_events(log: list[bytes], more: list[bytes], second: int) -> None:
    until_us = BEGIN_US + second * 1_000_000
    now = _with_contents_of(graph_of(facts_of([*log, *more])), facts_of(log))
    cut = cut_of(now, log, until_us)
    picture(cut)  # so that its answers are cached

    for raw in [raw for raw in more if raw not in _until(until_us, more)]:
        event = parse_event(raw)
        if isinstance(event, RunEvent):
            cut.keep(event.run_id)
        now.add_all(facts(event))
        cut.forget([*now.jobs], [*now.datasets])

    assert picture(cut) == picture(graph_of(facts_of(_until(until_us, log))))


def _until(until_us: int, log: Iterable[bytes]) -> list[bytes]:
    return [raw for raw in log if parse_event(raw).stamp.time_us <= until_us]


def _with_contents_of(other: Graph, added: Iterable[Fact]) -> Graph:
    graph = Graph(other.content)
    graph.add_all(added)
    return graph


def test_what_did_not_change_since_is_the_same_object_and_the_rest_is_as_it_was() -> None:
    log = [_event("first", "load", 1), _event("second", "load", 2), _event("only", "mart", 1)]
    now = graph_of(facts_of(log))

    cut = cut_of(now, log, BEGIN_US + 1_000_000)

    load, mart, orders = JobId("etl", "load"), JobId("etl", "mart"), DatasetId("lake", "load")
    assert cut.jobs[mart] is now.jobs[mart]
    assert cut.datasets[DatasetId("lake", "mart")] is now.datasets[DatasetId("lake", "mart")]
    assert (cut.jobs[load].runs, now.jobs[load].runs) == ({"first"}, {"first", "second"})
    assert (cut.jobs[load].writes[orders].runs, now.jobs[load].writes[orders].runs) == (1, 2)


def test_a_dataset_has_the_facets_of_a_name_that_it_had_then() -> None:
    orders, returns = DatasetId("lake", "orders"), DatasetId("lake", "returns")
    nowhere = DatasetId("", "nowhere")
    log = [
        _event("first", "orders", 0),
        _dataset_event(nowhere, 0, _symlink(orders)),
        _dataset_event(returns, 1, _symlink(nowhere)),  # two datasets have this name now, so it is neither
    ]
    now = graph_of(facts_of(log))

    cut = cut_of(now, log, BEGIN_US)

    assert (now.digests_of(orders), [*cut.digests_of(orders)]) == ({}, ["symlinks"])


def test_an_edges_times_include_a_declaration_that_was_replaced_since() -> None:
    orders, load = DatasetId("lake", "load"), JobId("etl", "load")
    written_by_load = {"lineage": {"inputs": [{"namespace": "etl", "name": "load", "type": "JOB"}]}}
    log = [_dataset_event(orders, 0, written_by_load), _event("first", "load", 1), _dataset_event(orders, 2, {})]

    cut = cut_of(graph_of(facts_of(log)), log, BEGIN_US + 1_000_000)

    assert cut.jobs[load].writes[orders] == graph_of(facts_of(log[:2])).jobs[load].writes[orders]
    assert cut.jobs[load].writes[orders].seen.first_us == BEGIN_US


@pytest.mark.parametrize("texts", [("one", "other", "one"), ("other", "one", "other")])
def test_of_two_reports_at_one_time_a_past_has_the_one_that_counts_although_the_other_came_again(
    texts: tuple[str, str, str],
) -> None:
    orders = DatasetId("lake", "load")
    log = [
        _event(f"run {number}", "load", 2 * (number // 2), documentation={"description": text})
        for number, text in enumerate(texts)
    ]

    for in_order in permutations(log):
        cut = cut_of(graph_of(facts_of(in_order)), in_order, BEGIN_US)

        assert cut.digests_of(orders) == graph_of(facts_of(log[:2])).digests_of(orders)


def _dataset_event(name: DatasetId, second: int, facets: Mapping[str, object]) -> bytes:
    members = {"producer": "https://example.org", "dataset": {**name._asdict(), "facets": facets}}
    return json.dumps({"eventTime": f"2026-05-22T14:23:0{second}Z", **members}).encode()


def _symlink(name: DatasetId) -> Mapping[str, object]:
    producer = {"_producer": "https://example.org", "_schemaURL": "https://example.org/facet.json"}
    return {"symlinks": {**producer, "identifiers": [{"type": "OTHER", **name._asdict()}]}}


def _event(run_id: str, job: str, second: int, **facets: object) -> bytes:
    return (
        f'{{"eventType": "COMPLETE", "eventTime": "2026-05-22T14:23:0{second}Z", "producer": "https://example.org",'
        f'"run": {{"runId": "{run_id}"}}, "job": {{"namespace": "etl", "name": "{job}"}},'
        f'"outputs": [{{"namespace": "lake", "name": "{job}", "facets": {json.dumps(facets)}}}]}}'
    ).encode()
