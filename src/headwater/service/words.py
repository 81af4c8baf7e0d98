"""The words of our own answers: every key that stands in one, whatever it is about."""

from collections.abc import Iterator
from types import ModuleType
from typing import Final

from typing_extensions import is_typeddict  # the shapes are of its kind

from headwater.service import (
    shapes,
    shapes_access,
    shapes_batch,
    shapes_causes,
    shapes_coverage,
    shapes_diff,
    shapes_drift,
    shapes_evidence,
    shapes_impact,
    shapes_keys,
    shapes_lineage,
    shapes_log,
    shapes_nodes,
    shapes_overview,
)
from headwater.service.graphql.answer import WORDS as WORDS_OF_GRAPHQL

_SHAPES: Final = (
    *(shapes, shapes_access, shapes_batch, shapes_causes, shapes_coverage, shapes_diff, shapes_drift),
    *(shapes_evidence, shapes_impact, shapes_keys, shapes_lineage, shapes_log, shapes_nodes, shapes_overview),
)


def _keys(module: ModuleType) -> Iterator[str]:
    for kind in vars(module).values():
        if is_typeddict(kind):
            yield from kind.__annotations__


WORDS: Final = WORDS_OF_GRAPHQL.union(*map(_keys, _SHAPES))
"""A column of such a name stays hidden as a value; a key tells of no column."""
