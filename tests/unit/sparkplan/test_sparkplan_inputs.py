"""Composition of transformations: laws that make the result independent of the order of the walk."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.graph.sparkplan.inputs import (
    AGGREGATION,
    CONDITIONAL,
    FILTER,
    IDENTITY,
    JOIN,
    MASKED,
    TRANSFORMATION,
    Inputs,
    Source,
    composed,
    merged,
)
from headwater.graph.sparkplan.transformation import Subtype, Transformation

USES = [Transformation(subtype, masking) for subtype in Subtype for masking in (False, True)]

sources = st.builds(Source, st.integers(0, 2), st.sampled_from("ab"))
inputs = st.dictionaries(st.sampled_from(USES), st.frozensets(sources, min_size=1), max_size=4).map(Inputs)


def test_composition_is_associative_and_identity_changes_nothing() -> None:
    for outer, middle, inner in product(USES, repeat=3):
        assert composed(outer, composed(middle, inner)) == composed(composed(outer, middle), inner)
    for use in USES:
        assert composed(use, IDENTITY) == composed(IDENTITY, use) == use


@pytest.mark.parametrize(
    ("outer", "inner", "together"),
    [
        (TRANSFORMATION, AGGREGATION, AGGREGATION),
        (AGGREGATION, TRANSFORMATION, AGGREGATION),
        (AGGREGATION, MASKED, Transformation(Subtype.AGGREGATION, masking=True)),
        (TRANSFORMATION, CONDITIONAL, CONDITIONAL),
        (FILTER, CONDITIONAL, FILTER),
        (JOIN, MASKED, Transformation(Subtype.JOIN, masking=True)),
    ],
)
def test_the_stronger_direct_use_or_the_outer_indirect_use_counts(
    outer: Transformation, inner: Transformation, together: Transformation
) -> None:
    assert composed(outer, inner) == together


@given(st.lists(inputs, max_size=4), st.sampled_from(USES))
def test_using_all_is_using_each(parts: list[Inputs], use: Transformation) -> None:
    assert merged(parts).through(use).equals(merged(part.through(use) for part in parts))


@given(inputs, inputs, inputs)
def test_merging_is_a_union(first: Inputs, second: Inputs, third: Inputs) -> None:
    assert merged([first, second]).equals(merged([second, first]))
    assert merged([first, merged([second, third])]).equals(merged([merged([first, second]), third]))
    assert merged([first, first]).equals(first)


def test_placeholders_of_columns_are_replaced_by_them_in_their_use() -> None:
    known = Source(0, "a")
    loop = Inputs({FILTER: frozenset({Source(-1, "x"), known}), IDENTITY: frozenset({Source(-1, "y")})})

    replaced = loop.replaced(-1, {"x": Inputs.of(Source(1, "b")), "y": Inputs.of(Source(2, "c"), AGGREGATION)})

    expected = {FILTER: frozenset({known, Source(1, "b")}), AGGREGATION: frozenset({Source(2, "c")})}
    assert replaced.equals(Inputs(expected))
