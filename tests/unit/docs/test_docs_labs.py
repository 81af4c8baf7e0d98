"""The pipelines of the labs are what `headwater run` takes, and lint has nothing to say of them."""

from pathlib import Path

import pytest

from headwater.pipeline.lint import lint_pipeline

LABS = Path(__file__).parents[3] / "labs"


@pytest.mark.parametrize("path", sorted(LABS.glob("*/*.yaml")), ids=lambda path: path.name)
def test_a_lab_s_pipeline_passes_lint(path: Path) -> None:
    assert lint_pipeline(path) == ()
