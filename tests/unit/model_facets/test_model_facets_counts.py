"""Counts that are told as text are numbers, and nothing else is."""

from typing import Any

import pytest

from headwater.model.facets.counts import as_numbers, counts_as_text
from headwater.model.facets.input_output import OutputStatisticsFacet
from headwater.model.facets.quality import DataQualityMetricsFacet
from headwater.model.facets.view import Unreadable


@pytest.mark.parametrize(("told", "count"), [("12", 12), ("0", 0), (7.0, 7), (3, 3), ("007", 7)])
def test_a_count_is_the_number_that_a_text_of_digits_writes(told: object, count: int) -> None:
    read = OutputStatisticsFacet.read({"outputStatistics": {"rowCount": told, "size": told}})

    assert isinstance(read, OutputStatisticsFacet)
    assert (read.row_count, read.size) == (count, count)


@pytest.mark.parametrize("told", ["", " 12", "1,000", "12.0", "-1", "1e3", "twelve", "١٢", "1" * 20, True, [1]])
def test_any_other_text_is_no_count(told: object) -> None:
    facet: dict[str, Any] = {"rowCount": told}

    assert isinstance(OutputStatisticsFacet.read({"outputStatistics": facet}), Unreadable)
    assert [*counts_as_text(facet)] == []
    assert as_numbers(facet) is facet


def test_the_counts_of_columns_are_told_by_their_paths_and_what_is_measured_stays_as_it_came() -> None:
    facet = {"rowCount": "2", "columnMetrics": {"id": {"nullCount": "0", "min": "1"}, "at": {"distinctCount": 2}}}

    counts, numbers = [*counts_as_text(facet)], as_numbers(facet)

    assert counts == ["rowCount", "columnMetrics.id.nullCount"]
    assert numbers == {"rowCount": 2, "columnMetrics": {"id": {"nullCount": 0, "min": "1"}, "at": {"distinctCount": 2}}}
    assert isinstance(DataQualityMetricsFacet.read({"dataQualityMetrics": numbers}), Unreadable)  # for its `min`
