"""Sums over a run's executions, by source read and by output written."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from openlineage.client.facet_v2 import input_statistics_input_dataset, output_statistics_output_dataset

from headwater.observe.spark.executions import Moved


@dataclass(slots=True)
class Tally:
    """How much a run has read and written so far.

    Attributes:
        read: by source; a source scanned more than once counts with its largest scan.
        written: by the output's path in the pipeline file; micro-batches add up.
    """

    read: dict[str, Moved] = field(default_factory=dict)
    written: dict[str, Moved] = field(default_factory=dict)

    def add_scan(self, source: str, scan: Moved) -> None:
        """Add a scan."""
        known = self.read.get(source, Moved())
        self.read[source] = Moved(
            _largest(known.rows, scan.rows), _largest(known.bytes, scan.bytes), _largest(known.files, scan.files)
        )

    def add_write(self, output: str, write: Moved) -> None:
        """Add a write."""
        known = self.written.get(output, Moved())
        self.written[output] = sum_of((known, write))


def sum_of(figures: Iterable[Moved]) -> Moved:
    """The sum; a figure that none of them has stays unknown."""
    moved = list(figures)
    return Moved(total(one.rows for one in moved), total(one.bytes for one in moved), total(one.files for one in moved))


def read_facet(moved: Moved) -> input_statistics_input_dataset.InputStatisticsInputDatasetFacet:
    """The input facet with how much was read."""
    return input_statistics_input_dataset.InputStatisticsInputDatasetFacet(
        rowCount=moved.rows, size=moved.bytes, fileCount=moved.files
    )


def written_facet(moved: Moved) -> output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet:
    """The output facet with how much was written."""
    return output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(
        rowCount=moved.rows, size=moved.bytes, fileCount=moved.files
    )


def total(figures: Iterable[int | None]) -> int | None:
    """The sum of the known figures; None if there are figures and none is known."""
    all_figures = list(figures)
    known = [figure for figure in all_figures if figure is not None]
    return sum(known) if known or not all_figures else None


def _largest(one: int | None, other: int | None) -> int | None:
    return max((figure for figure in (one, other) if figure is not None), default=None)
