"""Sets of input columns, by transformation.

An output column may depend on a thousand inputs through a thousand operators. So the sets are shared and only ever
united, and a change of the transformation moves whole sets instead of touching each column.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from headwater.graph.sparkplan.transformation import DIRECT, Subtype, Transformation

IDENTITY: Final = Transformation(Subtype.IDENTITY)
TRANSFORMATION: Final = Transformation(Subtype.TRANSFORMATION)
MASKED: Final = Transformation(Subtype.TRANSFORMATION, masking=True)
AGGREGATION: Final = Transformation(Subtype.AGGREGATION)
JOIN: Final = Transformation(Subtype.JOIN)
GROUP_BY: Final = Transformation(Subtype.GROUP_BY)
FILTER: Final = Transformation(Subtype.FILTER)
SORT: Final = Transformation(Subtype.SORT)
WINDOW: Final = Transformation(Subtype.WINDOW)
CONDITIONAL: Final = Transformation(Subtype.CONDITIONAL)

_STRENGTH = {subtype: rank for rank, subtype in enumerate(Subtype)}


class Source(NamedTuple):
    """A column of a leaf. A negative origin is a placeholder: a gap, or the previous iteration of a recursive query."""

    origin: int
    column: str


class Inputs:
    """Input columns by transformation; immutable.

    For a struct built from values, and a collection of such, `fields` has the inputs of each field in order, so that an
    access to one field depends on that only. A function of the whole value drops them.
    """

    __slots__ = ("_sources", "fields")

    def __init__(
        self, sources: Mapping[Transformation, frozenset[Source]], fields: Sequence["Inputs"] | None = None
    ) -> None:
        self._sources = sources
        self.fields = fields

    @classmethod
    def of(cls, source: Source, transformation: Transformation = IDENTITY) -> "Inputs":
        """One column, used as is or through `transformation`."""
        return cls({transformation: frozenset((source,))})

    def items(self) -> Iterable[tuple[Transformation, frozenset[Source]]]:
        """The columns of each transformation."""
        return self._sources.items()

    def origins(self) -> Iterator[int]:
        """The origin of every column, with repetitions."""
        return (source.origin for sources in self._sources.values() for source in sources)

    def through(self, transformation: Transformation) -> "Inputs":
        """These inputs, for an output that uses them with this transformation; without fields."""
        if len(self._sources) == 1:
            ((inner, sources),) = self._sources.items()
            outer = composed(transformation, inner)
            return self if outer is inner and self.fields is None else Inputs({outer: sources})
        return _union((composed(transformation, inner), sources) for inner, sources in self._sources.items())

    def keeping_fields(self, transformation: Transformation, *more: "Inputs") -> "Inputs":
        """As `through`, with further inputs, for a value that still has its fields."""
        combined = merged([self.through(transformation), *more])
        if self.fields is None:
            return combined
        fields = [field.keeping_fields(transformation, *more) for field in self.fields]
        return Inputs(combined._sources, fields)

    def replaced(self, origin: int, columns: Mapping[str, "Inputs"]) -> "Inputs":
        """These inputs with every column of the placeholder `origin` replaced by the inputs that it stands for."""
        others = _union((use, frozenset(s for s in found if s.origin != origin)) for use, found in self.items())
        replacements = (
            columns[source.column].through(use)
            for use, found in self.items()
            for source in found
            if source.origin == origin
        )
        return merged((others, *replacements))

    def equals(self, other: "Inputs") -> bool:
        """True if both have the same columns with the same transformations."""
        return self._sources == other._sources


NOTHING: Final = Inputs({})


def merged(parts: Iterable[Inputs]) -> Inputs:
    """All inputs of all parts."""
    filled = [part for part in parts if part.items()]
    if not filled:
        return NOTHING
    if all(part is filled[0] for part in filled):
        return filled[0]
    return _union(item for part in filled for item in part.items())


def alternatives(parts: Sequence[Inputs]) -> Inputs:
    """The inputs of a value that is one of several; it has fields if all of them have the same number."""
    combined = merged(parts)
    fields = [part.fields for part in parts if part.fields is not None]
    if not fields or len(fields) < len(parts) or len({len(each) for each in fields}) > 1:
        return Inputs(combined._sources) if combined.fields is not None else combined
    return Inputs(combined._sources, [alternatives(each) for each in zip(*fields, strict=True)])


@cache
def composed(outer: Transformation, inner: Transformation) -> Transformation:
    """The transformation of a column with `inner` in a value that is used with `outer`.

    An indirect use makes the composition indirect; the outermost one is taken: everything in a filter's condition
    filters. Of direct uses the strongest is taken.

    >>> composed(AGGREGATION, IDENTITY).subtype
    <Subtype.AGGREGATION: 'AGGREGATION'>
    >>> composed(TRANSFORMATION, CONDITIONAL).subtype
    <Subtype.CONDITIONAL: 'CONDITIONAL'>
    """
    masking = outer.masking or inner.masking
    if outer.subtype not in DIRECT:
        return Transformation(outer.subtype, masking)
    if inner.subtype not in DIRECT:
        return Transformation(inner.subtype, masking)
    return Transformation(max(outer.subtype, inner.subtype, key=_STRENGTH.__getitem__), masking)


def _union(items: Iterable[tuple[Transformation, frozenset[Source]]]) -> Inputs:
    union: dict[Transformation, frozenset[Source]] = {}
    for transformation, sources in items:
        if sources:
            present = union.get(transformation)
            union[transformation] = sources if present is None or present is sources else present | sources
    return Inputs(union)
