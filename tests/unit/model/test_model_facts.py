"""Facts of every kind, as other processes are told of them."""

import pickle
from dataclasses import fields
from typing import Any, get_args

import pytest

from headwater.model.facts import Fact


@pytest.mark.parametrize("kind", get_args(Fact))
def test_a_fact_that_another_process_is_told_of_is_the_same_there(kind: type[Any]) -> None:
    fact = kind(*(f"the {each.name}" for each in fields(kind)))

    told = pickle.loads(pickle.dumps(fact, pickle.HIGHEST_PROTOCOL))  # noqa: S301  of our own

    assert told == fact
    assert type(told) is kind
