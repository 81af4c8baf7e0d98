"""The labs' pipelines and dashboards are valid."""

from pathlib import Path

import pytest

from headwater.capture.dashboards.reading import read_dashboards
from headwater.pipeline.lint import lint_pipeline

LABS = Path(__file__).parents[3] / "labs"


DASHBOARDS = "dashboards.yaml"
PIPELINES = sorted(path for path in LABS.glob("*/*.yaml") if path.name != DASHBOARDS)


@pytest.mark.parametrize("path", PIPELINES, ids=lambda path: path.name)
def test_a_labs_pipeline_passes_lint(path: Path) -> None:
    assert lint_pipeline(path) == ()


def test_a_labs_dashboards_are_valid() -> None:
    read = read_dashboards(LABS / "02-end-to-end" / DASHBOARDS)

    assert [dashboard.name for dashboard in read.dashboards] == ["revenue"]
