"""What our own answers are made of: every key that stands in one, whatever it is about, and what may stand there."""

from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

from typing_extensions import get_type_hints, is_typeddict  # the shapes are of its kind

from headwater.access.veil import Format
from headwater.service import shapes
from headwater.service.graphql.answer import WORDS as WORDS_OF_GRAPHQL
from headwater.service.shapes import access as shapes_access
from headwater.service.shapes import batch as shapes_batch
from headwater.service.shapes import causes as shapes_causes
from headwater.service.shapes import coverage as shapes_coverage
from headwater.service.shapes import diff as shapes_diff
from headwater.service.shapes import drift as shapes_drift
from headwater.service.shapes import evidence as shapes_evidence
from headwater.service.shapes import impact as shapes_impact
from headwater.service.shapes import keys as shapes_keys
from headwater.service.shapes import lineage as shapes_lineage
from headwater.service.shapes import log as shapes_log
from headwater.service.shapes import nodes as shapes_nodes
from headwater.service.shapes import overview as shapes_overview

_NULLS: Final = (NoneType, Any)

_SHAPES: Final = (
    *(shapes, shapes_access, shapes_batch, shapes_causes, shapes_coverage, shapes_diff, shapes_drift),
    *(shapes_evidence, shapes_impact, shapes_keys, shapes_lineage, shapes_log, shapes_nodes, shapes_overview),
)


def _members() -> Iterator[tuple[str, object]]:
    """Each key of each shape, and the type of what stands there."""
    for module in _SHAPES:
        for kind in vars(module).values():
            if is_typeddict(kind):
                yield from get_type_hints(kind).items()


def _either(kind: object) -> Iterator[object]:
    """The types that a type is made of by `|`, and the words of a `Literal` as they are."""
    if get_origin(kind) in (Union, UnionType, Literal):
        for each in get_args(kind):
            yield from _either(each)
    else:
        yield kind


def _format() -> Format:
    words: dict[str, frozenset[str]] = {}
    strict: set[str] = set()
    for key, kind in _members():
        kinds = {*_either(kind)}
        words[key] = words.get(key, frozenset()) | {each for each in kinds if isinstance(each, str)}
        if kinds.isdisjoint(_NULLS):
            strict.add(key)
    return Format(WORDS_OF_GRAPHQL | words.keys(), words, frozenset(words.keys() - strict))


FORMAT: Final = _format()
"""A column that is called as one of its keys stays hidden as a value; a key tells of no column."""
