"""Facts of every kind: as other processes are told of them, and who must know each."""

import pickle
from dataclasses import fields
from typing import Any, get_args

import pytest

from headwater.graph.growth import Growth
from headwater.model.facts import Fact
from headwater.store.tables import TABLES

KINDS = get_args(Fact)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fact_that_another_process_is_told_of_is_the_same_there(kind: type[Any]) -> None:
    fact = kind(*(f"the {each.name}" for each in fields(kind)))

    told = pickle.loads(pickle.dumps(fact, pickle.HIGHEST_PROTOCOL))  # noqa: S301  of our own

    assert told == fact
    assert type(told) is kind


def test_every_kind_of_fact_has_one_table_in_the_store() -> None:
    kept = [table.kind for table in TABLES]

    assert set(kept) == set(KINDS)
    assert len(kept) == len(KINDS)
    assert len({table.insert.table for table in TABLES}) == len(KINDS)


def test_every_kind_of_fact_is_known_to_the_graph() -> None:
    growth = Growth(lambda digest: pytest.fail(f"no content is asked for: {digest!r}"))

    assert set(growth._add) == set(KINDS)
