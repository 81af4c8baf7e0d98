"""Facts of every kind: sent to other processes, stored, and added to the graph."""

import pickle
from dataclasses import fields
from typing import Any, get_args

import pytest

from headwater.graph.growth import Growth
from headwater.model.facts import Fact
from headwater.store.tables import TABLES

KINDS = get_args(Fact)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fact_that_is_sent_to_another_process_is_the_same_there(kind: type[Any]) -> None:
    fact = kind(*(f"the {each.name}" for each in fields(kind)))

    received = pickle.loads(pickle.dumps(fact, pickle.HIGHEST_PROTOCOL))  # noqa: S301  of our own

    assert received == fact
    assert type(received) is kind


def test_every_kind_of_fact_has_one_table_in_the_store() -> None:
    stored = [table.kind for table in TABLES]

    assert set(stored) == set(KINDS)
    assert len(stored) == len(KINDS)
    assert len({table.insert.table for table in TABLES}) == len(KINDS)


def test_every_kind_of_fact_is_known_to_the_graph() -> None:
    growth = Growth(lambda digest: pytest.fail(f"no content is asked for: {digest!r}"))

    assert set(growth._add) == set(KINDS)
