"""The vocabulary of our own answers: every key that occurs in any of them, and the type of its value."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

from typing_extensions import get_type_hints, is_typeddict  # the shapes are of its kind

from headwater.access.redaction import Format
from headwater.service import shapes
from headwater.service.graphql.answer import WORDS as WORDS_OF_GRAPHQL

_NULLS: Final = (NoneType, Any)

_SHAPES: Final = [import_module(module.name) for module in iter_modules(shapes.__path__, f"{shapes.__name__}.")]


def _members() -> Iterator[tuple[str, object]]:
    """Each key of each shape, and the type of its value."""
    for module in _SHAPES:
        for kind in vars(module).values():
            if is_typeddict(kind):
                yield from get_type_hints(kind).items()


def _either(kind: object) -> Iterator[object]:
    """The members of a union type, and the words of a `Literal`."""
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
"""A hidden column that is named like one of its keys is hidden as a value only; the key itself discloses nothing."""
