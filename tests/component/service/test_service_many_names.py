"""An event that gives one dataset very many names: what it takes to learn grows as they do, not as their square."""

import asyncio
from contextlib import closing
from cProfile import Profile
from pathlib import Path
from pstats import Stats
from typing import Any

import orjson

from headwater.graph.lineage import Graph
from headwater.graph.walk import neighbourhood
from headwater.model.events import parse_event
from headwater.model.names import JobId
from headwater.service.gate.restricted import Restricted
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.views.coverage import CoverageQuery, coverage
from headwater.store.entries import entry_of
from headwater.store.sqlite import SqliteStore
from tests.support.app import START_US, dataset, event, facet


def naming(count: int) -> dict[str, Any]:
    """An event about a dataset with so many names beside its own."""
    others = [{"namespace": f"glue{number}", "name": "orders", "type": "TABLE"} for number in range(count)]
    return event(outputs=[dataset("orders", symlinks=facet(identifiers=others))])


def calls_to_learn(path: Path, told: dict[str, Any]) -> int:
    """How many functions are called until a service that is asked questions knows what an event says."""
    with closing(SqliteStore(path)) as store:
        knowledge = Knowledge(store, Graph(store.content))
        restricted = Restricted(knowledge)
        asyncio.run(
            coverage(knowledge, CoverageQuery(START_US), store.another_reader)
        )  # from now on gaps are looked for
        (stored,) = store.add([entry_of(parse_event(orjson.dumps(told)), "unsigned", None, 0)])
        with Profile() as profile:
            restricted.learned(stored.facts, knowledge.learn(stored.facts))
        assert len(knowledge.graph.members(knowledge.graph.shown(next(iter(knowledge.graph.datasets))))) > 200
        calls: int = vars(Stats(profile))["total_calls"]
        return calls


def calls_to_look_around(path: Path, told: dict[str, Any]) -> int:
    """How many functions are called to find what lies around the job of an event."""
    with closing(SqliteStore(path)) as store:
        knowledge = Knowledge(store, Graph(store.content))
        (stored,) = store.add([entry_of(parse_event(orjson.dumps(told)), "unsigned", None, 0)])
        knowledge.learn(stored.facts)
        with Profile() as profile:
            found = neighbourhood(knowledge.graph, knowledge.derivations, JobId("etl", "load"), 20)
        assert found.jobs == [JobId("etl", "load")]
        calls: int = vars(Stats(profile))["total_calls"]
        return calls


def test_what_it_takes_to_look_around_a_job_grows_as_the_partitions_of_the_table_that_it_writes(tmp_path: Path) -> None:
    table = facet(identifiers=[{"namespace": "glue", "name": "sales.orders", "type": "TABLE"}])

    few, many = (
        calls_to_look_around(
            tmp_path / f"{count}.db",
            event(outputs=[dataset(f"orders/day={day}", symlinks=table) for day in range(count)]),
        )
        for count in (250, 1_000)
    )

    assert many < 5 * few


def test_what_it_takes_to_learn_an_event_with_many_names_for_one_dataset_grows_as_they_do(tmp_path: Path) -> None:
    few, many = (calls_to_learn(tmp_path / f"{count}.db", naming(count)) for count in (250, 1_000))

    assert many < 5 * few
