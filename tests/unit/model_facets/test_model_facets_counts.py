"""Counts that are reported as text are numbers, and other texts are not."""

from typing import Any

import pytest

from headwater.model.facets.counts import as_numbers, counts_as_text
from headwater.model.facets.input_output import OutputStatisticsFacet
from headwater.model.facets.quality import DataQualityMetricsFacet
from headwater.model.facets.view import Unreadable


@pytest.mark.parametrize(("reported", "count"), [("12", 12), ("0", 0), (7.0, 7), (3, 3), ("007", 7)])
def test_a_text_of_digits_is_read_as_a_count(reported: object, count: int) -> None:
    read = OutputStatisticsFacet.read({"outputStatistics": {"rowCount": reported, "size": reported}})

    assert isinstance(read, OutputStatisticsFacet)
    assert (read.row_count, read.size) == (count, count)


@pytest.mark.parametrize("reported", ["", " 12", "1,000", "12.0", "-1", "1e3", "twelve", "١٢", "1" * 20, True, [1]])
def test_any_other_text_is_not_a_count(reported: object) -> None:
    facet: dict[str, Any] = {"rowCount": reported}

    assert isinstance(OutputStatisticsFacet.read({"outputStatistics": facet}), Unreadable)
    assert [*counts_as_text(facet)] == []
    assert as_numbers(facet) is facet


def test_counts_of_columns_are_listed_by_path_and_measured_values_are_unchanged() -> None:
    facet = {"rowCount": "2", "columnMetrics": {"id": {"nullCount": "0", "min": "1"}, "at": {"distinctCount": 2}}}

    counts, numbers = [*counts_as_text(facet)], as_numbers(facet)

    assert counts == ["rowCount", "columnMetrics.id.nullCount"]
    assert numbers == {"rowCount": 2, "columnMetrics": {"id": {"nullCount": 0, "min": "1"}, "at": {"distinctCount": 2}}}
    assert isinstance(DataQualityMetricsFacet.read({"dataQualityMetrics": numbers}), Unreadable)  # for its `min`
