"""Which numbers of rows are a jump, computed by hand."""

import math

import pytest

from headwater.graph.causes.row_counts import jump


@pytest.mark.parametrize(
    ("rows", "earlier"),
    [
        (1_000, [1_000, 1_000, 1_000]),
        (1_400, [1_000, 1_000, 1_000]),  # less than one and a half times
        (700, [1_000, 1_000, 1_000]),
        (0, [10, 10]),  # two runs are too few
        (2_000, [500, 1_000, 1_500, 900, 1_200]),  # median 1000, deviations' median 200: 0.6745 * 1000 / 200 = 3.4
        (0, [0, 0, 0]),
    ],
)
def test_a_count_near_the_usual_is_not_a_jump(rows: int, earlier: list[int]) -> None:
    assert jump(rows, earlier) is None


@pytest.mark.parametrize(
    ("rows", "earlier", "usual", "ratio", "z"),
    [
        (2_100, [500, 1_000, 1_500, 900, 1_200], 1_000, 2.1, 0.6745 * 1_100 / 200),
        (2_000, [1_000, 1_000, 1_000], 1_000, 2.0, None),  # nothing to measure the spread by
        (0, [1_000, 1_000, 1_000], 1_000, 0.0, None),
        (5, [0, 0, 0], 0, math.inf, None),
    ],
)
def test_a_count_far_from_the_usual_is_a_jump(
    rows: int, earlier: list[int], usual: float, ratio: float, z: float | None
) -> None:
    detected = jump(rows, earlier)

    assert detected is not None
    assert (detected.usual, detected.ratio, detected.z) == (usual, ratio, z if z is None else pytest.approx(z))
