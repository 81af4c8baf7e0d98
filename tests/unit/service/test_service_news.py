"""What is new with an event: the state of its run, edges, and schemas."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hypothesis import given

from headwater.graph.lineage import Graph
from headwater.model.edits import APART, EditItem, edit_entry, target_of_names
from headwater.model.events import parse_event
from headwater.model.extract import facts
from headwater.model.facts import Content, Fact
from headwater.model.names import DatasetId
from headwater.service.feed.news import Edge, News, noticing
from tests.support.app import PRODUCER, dataset, event, facet, schema, without_run
from tests.support.logs import logs


def news_of(*events: dict[str, Any]) -> list[tuple[str | None, list[str], list[str]]]:
    """For each event: its run's state, the new edges as `from > to`, and the datasets with a new schema; by name."""
    all_news = (news for _, _, news in _learning(map(_facts, events)))
    return [(news.state, [*map(_edge, news.edges)], [name.name for name in news.schemas]) for news in all_news]


def _facts(body: dict[str, Any]) -> Sequence[Fact]:
    return facts(parse_event(json.dumps(body).encode()))


def _learning(entries: Iterable[Sequence[Fact]]) -> Iterator[tuple[Graph, set[Edge], News]]:
    """For each entry of the log: the graph with it, the edges before it, and its news."""
    bodies: dict[bytes, bytes] = {}

    def content(digest: bytes) -> Mapping[str, Any]:
        read: Mapping[str, Any] = json.loads(bodies[digest])
        return read

    graph = Graph(content)
    for all_facts in entries:
        before = _all_edges(graph)
        bodies.update((fact.digest, fact.body) for fact in all_facts if isinstance(fact, Content))
        news = noticing(graph, all_facts)
        graph.add_all(all_facts)
        yield graph, before, news()


def _all_edges(graph: Graph) -> set[Edge]:
    edges: set[Edge] = {(job, "input", name) for job in graph.jobs for name in graph.reads(job)}
    edges |= {(job, "output", name) for job in graph.jobs for name in graph.writes(job)}
    return edges | {(job, "feeds", taker) for job, record in graph.jobs.items() for taker in record.feeds}


def _edge(edge: tuple[Any, str, Any]) -> str:
    job, way, name = edge
    return f"{name.name} > {job.name}" if way == "input" else f"{job.name} > {name.name}"


def _lineage(name: str, *, of_job: dict[str, Any], fed_by: dict[str, Any]) -> dict[str, Any]:
    """A job whose explicit lineage has this flow."""
    return {"namespace": "etl", "name": name, "facets": {"lineage": facet(entries=[{**of_job, "inputs": [fed_by]}])}}


def _job(name: str) -> dict[str, Any]:
    return {"namespace": "etl", "name": name, "type": "JOB"}


def test_a_runs_state_and_its_new_edges_are_news() -> None:
    ends = {"inputs": [dataset("a")], "outputs": [dataset("b")]}
    later = "2026-05-22T14:24:11Z"

    started, ended, again = news_of(
        event(**ends),
        event(eventType="FAIL", eventTime=later, outputs=[dataset("b"), dataset("c")]),
        event(eventTime=later, run={"runId": "other"}, **ends),
    )

    assert started == ("RUNNING", ["a > load", "load > b"], [])
    assert ended == ("FAILED", ["load > c"], [])
    assert again == ("RUNNING", [], [])


@given(logs)
def test_the_new_edges_are_those_that_the_graph_did_not_have(log: list[bytes]) -> None:
    for graph, before, news in _learning(facts(parse_event(raw)) for raw in log):
        had = {(job, way, graph.shown(end) if isinstance(end, DatasetId) else end) for job, way, end in before}
        assert {*news.edges} == _all_edges(graph) - had


def test_a_schema_is_news_when_it_differs_from_the_newest() -> None:
    def writing(minute: int, *columns: str) -> dict[str, Any]:
        return event(eventTime=f"2026-05-22T14:{minute:02d}:00Z", outputs=[dataset("t", schema=schema(*columns))])

    first, same, other, late = news_of(writing(1, "x"), writing(3, "x"), writing(5, "x", "y"), writing(4, "z"))

    assert [schemas for _, _, schemas in (first, same, other, late)] == [["t"], [], ["t"], []]


def test_the_same_schema_from_another_producer_is_not_news() -> None:
    def writing(minute: int, **members: object) -> dict[str, Any]:
        facet_body = schema("x") | members
        return event(eventTime=f"2026-05-22T14:{minute:02d}:00Z", outputs=[dataset("t", schema=facet_body)])

    all_news = news_of(writing(1), writing(2, _producer="https://example.org/2"), writing(3), writing(4, fields=[]))

    assert [schemas for _, _, schemas in all_news] == [["t"], [], [], ["t"]]


def test_an_edge_under_another_name_of_the_dataset_is_not_news() -> None:
    names = facet(identifiers=[{"namespace": "lake", "name": "t", "type": "TABLE"}])

    _, other_name = news_of(event(outputs=[dataset("t")]), event(outputs=[dataset("files/t", symlinks=names)]))

    assert other_name == ("RUNNING", [], [])


def test_edges_to_a_dataset_are_news_when_another_jobs_event_tells_its_complete_name() -> None:
    incomplete = {"namespace": "", "name": "ice.s.t"}
    names = facet(identifiers=[{**incomplete, "type": "TABLE"}])
    placing = event(run={"runId": "w"}, job={"namespace": "etl", "name": "w"}, outputs=[dataset("t", symlinks=names)])

    all_news = news_of(event(inputs=[incomplete]), placing, placing, event(inputs=[incomplete]))

    assert [edges for _, edges, _ in all_news] == [[], ["t > load", "w > t"], [], []]


def test_an_edge_to_a_dataset_is_news_when_the_job_that_named_it_in_part_tells_its_complete_name() -> None:
    incomplete = {"namespace": "", "name": "ice.s.t"}
    names = facet(identifiers=[{**incomplete, "type": "TABLE"}])

    _, placed = news_of(event(inputs=[incomplete]), event(inputs=[dataset("t", symlinks=names)]))

    assert placed == ("RUNNING", ["t > load"], [])


def test_edges_to_a_dataset_are_news_when_it_turns_out_to_be_another_than_the_one_that_was_shown() -> None:
    failed = {"eventTime": "2026-05-22T14:24:11Z", "eventType": "FAIL"}
    former = facet(lifecycleStateChange="RENAME", previousIdentifier={"namespace": "lake", "name": "a"})
    reading = event(run={"runId": "r"}, job={"namespace": "etl", "name": "r"}, inputs=[dataset("b")])
    renaming = event(inputs=[dataset("a")], outputs=[dataset("b", lifecycleStateChange=former)])

    all_news = news_of(reading, renaming, event(**failed), event(**failed))

    assert [edges for _, edges, _ in all_news] == [["b > r"], ["a > load", "load > a"], ["load > b", "b > r"], []]


def test_an_edge_to_a_dataset_is_news_when_people_split_it_from_the_one_that_was_shown() -> None:
    one, other = DatasetId("lake", "files/t"), DatasetId("lake", "t")
    names = facet(identifiers=[{"namespace": "lake", "name": "t", "type": "TABLE"}])
    split = EditItem(target_of_names(one, other), APART, True)
    linked = [event(inputs=[dataset("files/t", symlinks=names)]), event(run={"runId": "w"}, outputs=[dataset("t")])]

    *_, (_, _, news) = _learning([*map(_facts, linked), [*edit_entry("e", 0, None, [split]).facts(2)]])

    assert [*map(_edge, news.edges)] == ["load > t"]


def test_the_schema_of_a_dataset_is_not_news_when_the_dataset_only_gets_another_name() -> None:
    names = facet(identifiers=[{"namespace": "hive", "name": "s.t", "type": "TABLE"}])
    facets = {"schema": schema("x"), "symlinks": names}
    declared = {"eventTime": "2026-05-22T14:25:11Z", "producer": PRODUCER, "dataset": dataset("declared/t", **facets)}

    all_news = news_of(
        event(outputs=[dataset("s.t", "hive", schema=schema("x"))]), event(outputs=[dataset("t", **facets)]), declared
    )

    assert [schemas for _, _, schemas in all_news] == [["s.t"], [], []]


def test_a_repeated_schema_is_news_if_the_same_event_joins_a_dataset_of_another_schema() -> None:
    names = facet(identifiers=[{"namespace": "hive", "name": "s.t", "type": "TABLE"}])

    all_news = news_of(
        event(eventTime="2026-05-22T14:01:00Z", outputs=[dataset("t", schema=schema("x"))]),
        event(eventTime="2026-05-22T14:02:00Z", outputs=[dataset("s.t", "hive", schema=schema("y"))]),
        event(eventTime="2026-05-22T14:03:00Z", outputs=[dataset("t", schema=schema("x"), symlinks=names)]),
    )

    assert [schemas for _, _, schemas in all_news] == [["t"], ["s.t"], ["s.t"]]


def test_data_that_a_run_handed_on_before_it_belonged_to_another_job_is_news_of_that_job() -> None:
    own = _lineage("unknown", of_job={"type": "JOB"}, fed_by=_job("fetch"))

    all_news = news_of(event(job=own), event(eventTime="2026-05-22T14:24:11Z", job=_job("real")))

    assert [edges for _, edges, _ in all_news] == [["fetch > unknown"], ["fetch > real"]]


def test_an_edge_of_a_declared_job_is_not_news_when_its_dataset_gets_another_name_or_is_declared_by_it() -> None:
    names = facet(identifiers=[{"namespace": "hive", "name": "s.t", "type": "TABLE"}])
    of_table = dataset("s.t", "hive")

    all_news = news_of(
        _declared(1, inputs=[dataset("t")]),
        _declared(2, inputs=[dataset("t", symlinks=names)]),
        _declared(3, inputs=[of_table]),
        _declared(4, inputs=[of_table], outputs=[of_table]),
    )

    assert [edges for _, edges, _ in all_news] == [["t > load"], [], [], ["load > s.t"]]


def _declared(minute: int, **ends: object) -> dict[str, Any]:
    declared = event(eventTime=f"2026-05-22T14:{minute:02d}:00Z", **ends)
    return without_run(declared)


def test_an_edge_by_a_flow_is_not_news_if_the_replaced_declaration_had_it_under_another_name() -> None:
    names = facet(identifiers=[{"namespace": "hive", "name": "s.t", "type": "TABLE"}])
    table = {"namespace": "hive", "name": "s.t", "type": "DATASET"}
    linked = event(run={"runId": "w"}, job={"namespace": "etl", "name": "w"}, outputs=[dataset("t", symlinks=names)])

    all_news = news_of(
        linked,
        _declared(1, inputs=[dataset("t")]),
        _declared(2, job=_lineage("load", of_job={"type": "JOB"}, fed_by=table), inputs=[]),
    )

    assert [edges for _, edges, _ in all_news] == [["w > t"], ["t > load"], []]


def test_a_dataset_without_a_namespace_is_not_news() -> None:
    unplaced = dataset("a", "", schema=schema("x"))

    (started,) = news_of(event(inputs=[unplaced], outputs=[dataset("b")]))

    assert started == ("RUNNING", ["load > b"], [])


def test_a_declared_edge_and_schema_are_news_only_the_first_time() -> None:
    declared = event(outputs=[dataset("t", schema=schema("x"))])
    body = without_run(declared)

    first, again = news_of(body, {**body, "eventTime": "2026-05-22T14:24:11Z"})

    assert first == (None, ["load > t"], ["t"])
    assert again == (None, [], [])


def test_data_handed_from_job_to_job_is_news_once_whoever_reports_it() -> None:
    own = _lineage("load", of_job={"type": "JOB"}, fed_by=_job("fetch"))
    others = _lineage("watch", of_job=_job("load"), fed_by=_job("fetch"))
    declared = event(job=_lineage("load", of_job={"type": "JOB"}, fed_by=_job("ask")))
    del declared["run"], declared["eventType"]

    all_news = news_of(event(job=own), event(job=own), event(run={"runId": "w"}, job=others), declared, declared)

    assert [edges for _, edges, _ in all_news] == [["fetch > load"], [], [], ["ask > load"], []]


def test_an_edge_of_a_job_that_another_job_reports_is_news() -> None:
    table = {"namespace": "lake", "name": "a", "type": "DATASET"}
    others = _lineage("watch", of_job=_job("load"), fed_by=table)

    all_news = news_of(event(job=others), event(run={"runId": "l"}, inputs=[dataset("a")], outputs=[dataset("b")]))

    assert [edges for _, edges, _ in all_news] == [["a > load"], ["load > b"]]


def test_what_a_run_read_before_it_belonged_to_another_job_is_news_of_that_job() -> None:
    ends, later = {"inputs": [dataset("a")]}, "2026-05-22T14:24:11Z"
    renamed = event(eventTime=later, job={"namespace": "etl", "name": "real"}, outputs=[dataset("b")])

    all_news = news_of(event(job={"namespace": "etl", "name": "unknown"}, **ends), renamed, renamed)

    assert [edges for _, edges, _ in all_news] == [["a > unknown"], ["a > real", "real > b"], []]


def test_an_input_of_a_run_is_news_once_as_one_of_the_job_that_it_belongs_to() -> None:
    ends = {"inputs": [dataset("a")]}
    parent = facet(run={"runId": "p"}, job={"namespace": "etl", "name": "dag"})
    owned = event(
        run={"runId": "r", "facets": {"parent": parent}}, job={"namespace": "etl", "name": "dag.load"}, **ends
    )
    unowned = event(run={"runId": "r"}, **ends)
    further = event(run={"runId": "r"}, inputs=[dataset("b")])

    all_news = news_of(owned, unowned, further)

    assert [edges for _, edges, _ in all_news] == [["a > dag.load"], [], ["b > dag.load"]]
