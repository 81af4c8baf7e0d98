"""Sets of input columns, kept by how they take part.

An output column may rest on a thousand inputs through a thousand operators. So the sets are shared and only ever
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
    """A column of a leaf. A negative origin is no leaf but stands for something: a gap, or a loop's earlier round."""

    origin: int
    column: str


class Inputs:
    """Input columns with their transformations; never changed once made.

    Of a struct that was put together, and of a collection of such, `fields` has the inputs of each field in
    order: who takes one field takes nothing of the others. What changes a value as a whole leaves none.
    """

    __slots__ = ("_sources", "fields")

    def __init__(
        self, sources: Mapping[Transformation, frozenset[Source]], fields: Sequence["Inputs"] | None = None
    ) -> None:
        self._sources = sources
        self.fields = fields

    @classmethod
    def of(cls, source: Source, transformation: Transformation = IDENTITY) -> "Inputs":
        """One column, taken as it is or else through `transformation`."""
        return cls({transformation: frozenset((source,))})

    def items(self) -> Iterable[tuple[Transformation, frozenset[Source]]]:
        """The columns of each transformation."""
        return self._sources.items()

    def origins(self) -> Iterator[int]:
        """The origin of every column, with repetitions."""
        return (source.origin for sources in self._sources.values() for source in sources)

    def through(self, transformation: Transformation) -> "Inputs":
        """These inputs once more, seen from an output that uses them in this way."""
        if len(self._sources) == 1:
            ((inner, sources),) = self._sources.items()
            outer = composed(transformation, inner)
            return self if outer is inner and self.fields is None else Inputs({outer: sources})
        return _united((composed(transformation, inner), sources) for inner, sources in self._sources.items())

    def kept(self, transformation: Transformation, *more: "Inputs") -> "Inputs":
        """These inputs used in this way with others beside them, by a value that still has the fields it had."""
        whole = merged([self.through(transformation), *more])
        if self.fields is None:
            return whole
        fields = [field.kept(transformation, *more) for field in self.fields]
        return Inputs(whole._sources, fields)

    def replaced(self, origin: int, columns: Mapping[str, "Inputs"]) -> "Inputs":
        """These inputs with every column of `origin` replaced by what it stands for."""
        kept = _united((use, frozenset(s for s in found if s.origin != origin)) for use, found in self.items())
        stood_for = (
            columns[source.column].through(use)
            for use, found in self.items()
            for source in found
            if source.origin == origin
        )
        return merged((kept, *stood_for))

    def equals(self, other: "Inputs") -> bool:
        """True where both hold the same columns, used in the same ways."""
        return self._sources == other._sources


NOTHING: Final = Inputs({})


def merged(parts: Iterable[Inputs]) -> Inputs:
    """All inputs of all parts."""
    filled = [part for part in parts if part.items()]
    if not filled:
        return NOTHING
    if all(part is filled[0] for part in filled):
        return filled[0]
    return _united(item for part in filled for item in part.items())


def alternatives(parts: Sequence[Inputs]) -> Inputs:
    """All inputs of values of which one is taken; fields stay known where all of them have them."""
    whole = merged(parts)
    fields = [part.fields for part in parts if part.fields is not None]
    if not fields or len(fields) < len(parts) or len({len(each) for each in fields}) > 1:
        return Inputs(whole._sources) if whole.fields is not None else whole
    return Inputs(whole._sources, [alternatives(each) for each in zip(*fields, strict=True)])


@cache
def composed(outer: Transformation, inner: Transformation) -> Transformation:
    """How a column takes part that is used `inner` in something that is used `outer`.

    Influence stays influence, named after its outermost use: whatever is in a filter's condition filters. Of direct
    uses the strongest tells.

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


def _united(items: Iterable[tuple[Transformation, frozenset[Source]]]) -> Inputs:
    union: dict[Transformation, frozenset[Source]] = {}
    for transformation, sources in items:
        if sources:
            present = union.get(transformation)
            union[transformation] = sources if present is None or present is sources else present | sources
    return Inputs(union)
