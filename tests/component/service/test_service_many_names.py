"""An event that gives one dataset very many names: the cost to learn it is linear in their number, not quadratic."""

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
    """An event about a dataset with so many aliases."""
    others = [{"namespace": f"glue{number}", "name": "orders", "type": "TABLE"} for number in range(count)]
    return event(outputs=[dataset("orders", symlinks=facet(identifiers=others))])


def calls_to_learn(path: Path, body: dict[str, Any]) -> int:
    """The number of function calls until a service that answers questions has learned an event."""
    with closing(SqliteStore(path)) as store:
        knowledge = Knowledge(store, Graph(store.content))
        restricted = Restricted(knowledge)
        asyncio.run(coverage(knowledge, CoverageQuery(START_US), store.another_reader))  # from now on gaps are tracked
        (stored,) = store.add([entry_of(parse_event(orjson.dumps(body)), "unsigned", None, 0)])
        with Profile() as profile:
            restricted.learned(stored.facts, knowledge.learn(stored.facts))
        assert len(knowledge.graph.members(knowledge.graph.shown(next(iter(knowledge.graph.datasets))))) > 200
        calls: int = vars(Stats(profile))["total_calls"]
        return calls


def calls_to_look_around(path: Path, body: dict[str, Any]) -> int:
    """The number of function calls to find the neighbourhood of the job of an event."""
    with closing(SqliteStore(path)) as store:
        knowledge = Knowledge(store, Graph(store.content))
        (stored,) = store.add([entry_of(parse_event(orjson.dumps(body)), "unsigned", None, 0)])
        knowledge.learn(stored.facts)
        with Profile() as profile:
            found = neighbourhood(knowledge.graph, knowledge.derivations, JobId("etl", "load"), 20)
        assert found.jobs == [JobId("etl", "load")]
        calls: int = vars(Stats(profile))["total_calls"]
        return calls


def test_the_cost_of_a_jobs_neighbourhood_is_linear_in_the_partitions_of_its_output(tmp_path: Path) -> None:
    table = facet(identifiers=[{"namespace": "glue", "name": "sales.orders", "type": "TABLE"}])

    few, many = (
        calls_to_look_around(
            tmp_path / f"{count}.db",
            event(outputs=[dataset(f"orders/day={day}", symlinks=table) for day in range(count)]),
        )
        for count in (250, 1_000)
    )

    assert many < 5 * few


def test_the_cost_to_learn_an_event_is_linear_in_the_names_of_its_dataset(tmp_path: Path) -> None:
    few, many = (calls_to_learn(tmp_path / f"{count}.db", naming(count)) for count in (250, 1_000))

    assert many < 5 * few
