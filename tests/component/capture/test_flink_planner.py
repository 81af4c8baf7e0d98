"""The plan trees that column lineage is tested with are those of the real planner."""

from pathlib import Path

import pytest

from headwater.lab.lab import Lab
from tests.support.flink_statements import planned, recorded, statements


@pytest.fixture(scope="module")
def _flink_is_fetched() -> None:
    Lab("flink", Path("unused")).fetch(lambda _: None)


@pytest.mark.usefixtures("_flink_is_fetched")
def test_the_planner_makes_the_recorded_trees_of_the_statements() -> None:
    trees = planned()

    assert list(trees) == [statement.name for statement in statements()]
    assert trees == recorded()
