"""Caches between answers never show: each answer equals that of a freshly loaded log."""

import json
import re
from collections.abc import Callable, Coroutine, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar, cast

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.errors import NotFoundError
from headwater.graph.lineage import Graph
from headwater.model.events import parse_event
from headwater.model.names import DatasetId, JobId
from headwater.service.knowledge.activity import Activity, activity
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.tallies.tallied import NodeT
from headwater.service.tallies.totals import Nodes
from headwater.service.views.causes import Question, root_cause
from headwater.service.views.counts import summary
from headwater.service.views.coverage import CoverageQuery, coverage
from headwater.service.views.jobs import job_shapes
from headwater.service.views.lineage import lineage
from headwater.service.views.namespaces import datasets_in, namespaces
from headwater.service.views.search import Query, search
from headwater.service.views.stats import dataset_stats, job_stats
from headwater.store.entries import entry_of
from headwater.store.sqlite import SqliteStore
from tests.support.app import dataset, event, facet, without_run
from tests.support.logs import logs, of_many_runs
from tests.support.slow_lineage import Body, slow_lineage
from tests.support.slow_overview import EDGES_US, slow_overview

AnswerT = TypeVar("AnswerT")

_HOPS = st.integers(0, 3)
LATER_US = round(datetime(2026, 5, 22, 18, tzinfo=UTC).timestamp()) * 1_000_000
"""Some hours after all events."""


def learn(store: SqliteStore, knowledge: Knowledge, events: Sequence[bytes]) -> None:
    for raw in events:
        for stored in store.add([entry_of(parse_event(raw), "unsigned", None, 0)]):
            if stored.is_new:
                knowledge.learn(stored.facts)


def fresh(store: SqliteStore) -> Knowledge:
    knowledge = Knowledge(store, Graph(store.content))
    knowledge.load()
    return knowledge


@contextmanager
def queried_meanwhile(
    log: Sequence[bytes], later: Sequence[bytes], ask: Callable[[Knowledge], object], each: int = 1
) -> Iterator[tuple[SqliteStore, Knowledge]]:
    """The knowledge of both logs, with `ask` called before every `each`-th event of the later one."""
    with TemporaryDirectory() as folder, closing(SqliteStore(Path(folder) / "headwater.db")) as store:
        knowledge = Knowledge(store, Graph(store.content))
        learn(store, knowledge, log)
        for number, raw in enumerate(later):
            if number % each == 0:
                ask(knowledge)
            learn(store, knowledge, [raw])
        yield store, knowledge


def nodes(knowledge: Knowledge) -> list[DatasetId | JobId]:
    jobs = [job for job in knowledge.graph.jobs if knowledge.is_job(job)]
    return [*sorted(knowledge.graph.shown_datasets()), *sorted(jobs)]


def finished(answer: Coroutine[None, None, AnswerT]) -> AnswerT:
    """The result of a coroutine, run alone to its end."""
    while True:
        try:
            answer.send(None)
        except StopIteration as end:
            return cast(AnswerT, end.value)


def quick_answers(knowledge: Knowledge, max_hops: int) -> list[Body]:
    return [json.loads(finished(lineage(knowledge, node, max_hops))) for node in nodes(knowledge)]


def slow_answers(knowledge: Knowledge, max_hops: int) -> list[Body]:
    return [orjson.loads(orjson.dumps(slow_lineage(knowledge, node, max_hops))) for node in nodes(knowledge)]


@given(logs, logs, _HOPS)
@settings(deadline=None, max_examples=20)
def test_lineage_queried_before_and_after_events_equals_that_of_a_freshly_loaded_log(
    log: list[bytes], later: list[bytes], max_hops: int
) -> None:
    with queried_meanwhile(log, later, lambda knowledge: quick_answers(knowledge, max_hops)) as (store, knowledge):
        answers = quick_answers(knowledge, max_hops)

        assert answers == slow_answers(fresh(store), max_hops)


@given(logs, logs)
@settings(deadline=None, max_examples=50)
def test_the_overview_after_events_equals_one_computed_from_every_job_and_dataset(
    log: list[bytes], later: list[bytes]
) -> None:
    with queried_meanwhile(log, later, overview) as (store, knowledge):
        answers = overview(knowledge)

        assert answers == slow_overview(fresh(store))


def test_a_dataset_whose_shown_name_changes_is_counted_once(tmp_path: Path) -> None:
    symlinks = {"identifiers": [{"namespace": "lake", "name": "t1", "type": "TABLE"}]}
    entries = [{"namespace": "lake", "name": "t1", "type": "DATASET", "inputs": []}]
    declared = event(job={"namespace": "etl", "name": "load"}, outputs=[dataset("t2", symlinks=facet(**symlinks))])
    mart = event(job={"namespace": "etl", "name": "mart", "facets": {"lineage": facet(entries=entries)}}, outputs=[])
    with closing(SqliteStore(tmp_path / "headwater.db")) as store:
        knowledge = Knowledge(store, Graph(store.content))
        for each in (declared, mart):
            overview(knowledge)
            learn(store, knowledge, [json.dumps(without_run(each)).encode()])

        answers = overview(knowledge)

        assert knowledge.graph.shown(DatasetId("lake", "t2")) == DatasetId("lake", "t1")
        assert answers == slow_overview(fresh(store))


def test_a_dataset_whose_shown_name_is_withdrawn_is_counted_under_its_other_name(tmp_path: Path) -> None:
    symlinks = {"identifiers": [{"namespace": "lake", "name": "t1", "type": "TABLE"}]}
    entries = [{"namespace": "lake", "name": "t1", "type": "DATASET", "inputs": []}]
    load = {"namespace": "etl", "name": "load"}
    declared = without_run(event(job=load, outputs=[dataset("t0", symlinks=facet(**symlinks))]))
    ran = event(job={**load, "facets": {"lineage": facet(entries=entries)}}, outputs=[])
    withdrawn = without_run(event(job=load, outputs=[], eventTime="2026-05-22T15:00:00Z"))
    with closing(SqliteStore(tmp_path / "headwater.db")) as store:
        knowledge = Knowledge(store, Graph(store.content))
        for each in (declared, ran, withdrawn):
            overview(knowledge)
            learn(store, knowledge, [json.dumps(each).encode()])

        answers = overview(knowledge)

        assert knowledge.graph.shown(DatasetId("lake", "t0")) == DatasetId("lake", "t1")
        assert answers == slow_overview(fresh(store))


def overview(knowledge: Knowledge) -> Body:
    counted = summary(knowledge, {}, 0)
    listed = namespaces(knowledge, 1_000, 0)["namespaces"]
    return {
        "counts": [counted[member] for member in ("jobs", "runs", "datasets", "columns", "edges", "columnEdges")],
        "jobs": knowledge.job_tallies.newest_first().page(None),
        "namespaces": {each["name"]: (each["createdAt"], each["updatedAt"]) for each in listed},
        "in": {each["name"]: inside(knowledge, each["name"]) for each in listed},
        "known by": [each["count"] for stats in (job_stats, dataset_stats) for each in stats(knowledge, EDGES_US)],
    }


def inside(knowledge: Knowledge, namespace: str) -> list[list[DatasetId] | list[JobId]]:
    return [_all(datasets_in(knowledge, namespace)), _all(knowledge.job_tallies.newest(None, namespace))]


def _all(steps: Generator[None, None, Nodes[NodeT]]) -> list[NodeT]:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            nodes: Nodes[NodeT] = end.value
            return nodes.page(None)


@given(logs, logs, st.text("tT01s/%:dlgoai", max_size=4) | st.sampled_from(["job:etl:load", "dataset:lake:t0"]))
@settings(deadline=None, max_examples=30)
def test_a_search_after_events_finds_what_comparing_every_name_finds(
    log: list[bytes], later: list[bytes], text: str
) -> None:
    with TemporaryDirectory() as folder, closing(SqliteStore(Path(folder) / "headwater.db")) as store:
        knowledge = Knowledge(store, Graph(store.content))
        learn(store, knowledge, log)
        query = Query(text, None, None, "NAME")
        search(knowledge, query, 100)
        learn(store, knowledge, later)

        hits = search(knowledge, query, 100)

        assert {hit["nodeId"] for hit in hits["results"]} == {
            node.node_id for node in nodes(fresh(store)) if any(holds(name, text) for name in names(knowledge, node))
        }


@given(logs, logs, st.sampled_from([None, "etl", "lake"]))
@settings(deadline=None, max_examples=30)
def test_gaps_after_events_equal_those_of_a_freshly_loaded_log(
    log: list[bytes], later: list[bytes], namespace: str | None
) -> None:
    def gaps(knowledge: Knowledge) -> object:
        with suppress(NotFoundError):  # the namespace is not known yet
            return finished(coverage(knowledge, CoverageQuery(LATER_US, namespace, limit=1_000)))
        return None

    with queried_meanwhile(log, later, gaps) as (store, knowledge):
        answer = gaps(knowledge)

        assert answer == gaps(fresh(store))


@given(logs, logs)
@settings(deadline=None, max_examples=50)
def test_jobs_with_their_runs_after_events_equal_those_of_a_freshly_loaded_log(
    log: list[bytes], later: list[bytes]
) -> None:
    with queried_meanwhile(log, later, job_details) as (store, knowledge):
        answer = job_details(knowledge)

        assert answer == job_details(fresh(store))


def job_details(knowledge: Knowledge) -> object:
    jobs = [node for node in nodes(knowledge) if isinstance(node, JobId)]
    return orjson.loads(orjson.dumps(job_shapes(knowledge, jobs)))


@given(logs, logs)
@settings(deadline=None, max_examples=20)
def test_root_causes_after_events_equal_those_of_a_freshly_loaded_log(log: list[bytes], later: list[bytes]) -> None:
    with queried_meanwhile(log, later, root_causes) as (store, knowledge):
        answers = root_causes(knowledge)

        assert answers == root_causes(fresh(store))


def root_causes(knowledge: Knowledge) -> list[object]:
    return [finished(root_cause(knowledge, Question(node, None, 20))) for node in nodes(knowledge)]


@given(logs, logs, st.integers(1, 3))
@settings(deadline=None, max_examples=100)
def test_activities_of_jobs_after_events_equal_those_computed_from_all_their_runs(
    log: list[bytes], later: list[bytes], each: int
) -> None:
    with queried_meanwhile(log, later, job_activities, each) as (_, knowledge):
        activities = job_activities(knowledge)

        graph = knowledge.graph
        assert activities == {job: activity(graph, job) for job in activities}


def job_activities(knowledge: Knowledge) -> dict[JobId, Activity]:
    return {job: knowledge.activity(job) for job, known in knowledge.graph.jobs.items() if known.is_known}


def names(knowledge: Knowledge, node: DatasetId | JobId) -> Sequence[DatasetId | JobId]:
    return [node] if isinstance(node, JobId) else knowledge.graph.members(node)


def holds(node: DatasetId | JobId, text: str) -> bool:
    """Whether the name matches a pattern, in which `%` stands for anything, or the text is its node id."""
    pattern = ".*".join(re.escape(part) for part in text.split("%"))
    return re.search(pattern, node.name, re.IGNORECASE) is not None or text.casefold() == node.node_id.casefold()


@given(logs | of_many_runs, logs | of_many_runs)
@settings(deadline=None, max_examples=30)
def test_the_order_of_a_jobs_runs_after_events_equals_that_of_a_freshly_loaded_log(
    log: list[bytes], later: list[bytes]
) -> None:
    with queried_meanwhile(log, later, runs_by_job) as (store, knowledge):
        assert runs_by_job(knowledge) == runs_by_job(fresh(store))


def runs_by_job(knowledge: Knowledge) -> Body:
    orders = {job: [*knowledge.runs_by_last_event.of(job)] for job in knowledge.graph.jobs}
    return {job.node_id: order for job, order in orders.items() if order}
