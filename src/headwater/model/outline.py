"""An event's outline: where its facets stand, and the little around them.

Nearly all of an event are facets, and most of them came before. So they are cut out as they were written, and what is
left is read as a whole. An event that hardly any program would write has no outline; its reader goes the long way.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Generic, Literal, NamedTuple, TypeVar, cast

import msgspec
from typing_extensions import TypedDict

from headwater.errors import InvalidEventError
from headwater.model import strict_json
from headwater.model.facet_texts import FacetTexts

_HOLE: Final = b"0"
"""Stands where a facet was cut out, which is an object."""
_BEGINNING: Final = 32
"""Bytes of a facet that are looked for first: to look for all of it takes longer."""

Path = tuple[str, ...]


class FacetPlace(NamedTuple):
    """A facet's value in an event: from which byte up to which, and its path, as `run.facets.parent`."""

    begin: int
    end: int
    path: Path


_NO_OUTLINE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, InvalidEventError)
"""What reading a text without one raises; msgspec says of a key that it is not UTF-8 as Python does."""


class Outline(NamedTuple):
    """An event without its facets, and these by the path of what holds them, such as `("run", "facets")`."""

    shell: Mapping[str, Any]
    """The event as `strict_json` reads it, with 0 in the place of each facet."""
    facets: Mapping[Path, FacetTexts]
    places: tuple[FacetPlace, ...]
    """Where the facets stand, in the order of the text."""


def outline(raw: bytes) -> Outline | None:
    """The outline of an event, or None where it has none; then it may be an event or not.

    What has an outline is what `strict_json` reads, and each of its facets is an object.
    """
    try:
        rest, texts, places = _cut(raw)
        shell = cast(_Shell, strict_json.parse(rest))
        return Outline(shell, {path: FacetTexts(each) for path, each in texts.items()}, places)
    except _NO_OUTLINE:
        return None


def places_of_facets(raw: bytes) -> tuple[FacetPlace, ...] | None:
    """Where the facets of an event stand, as in its outline, for one who need not know what they say.

    None where they are not found so. In a quarter of the time that an outline takes where facets are new.
    """
    try:
        return _cut(raw)[2]
    except _NO_OUTLINE:
        return None


_FacetT = TypeVar("_FacetT")


class _Holder(TypedDict, Generic[_FacetT], total=False):
    facets: dict[str, _FacetT] | None


class _Dataset(TypedDict, Generic[_FacetT], total=False):
    facets: dict[str, _FacetT] | None
    inputFacets: dict[str, _FacetT] | None
    outputFacets: dict[str, _FacetT] | None


class _Event(TypedDict, Generic[_FacetT], total=False):
    """What holds facets; as it is read, the keys are in the order of the text."""

    run: _Holder[_FacetT] | None
    job: _Holder[_FacetT] | None
    dataset: _Holder[_FacetT] | None
    inputs: list[_Dataset[_FacetT]] | None
    outputs: list[_Dataset[_FacetT]] | None


_Shell = Mapping[str, Any]
_with_texts: Final = msgspec.json.Decoder(_Event[msgspec.Raw])
_with_holes: Final = msgspec.json.Decoder(_Event[Literal[0]])


def _cut(raw: bytes) -> tuple[bytes, dict[Path, dict[str, bytes]], tuple[FacetPlace, ...]]:
    """The event's text with holes for facets, these as they were written, and where they stand.

    Raises:
        MsgspecError, UnicodeDecodeError, RecursionError, InvalidEventError: it has no outline.
    """
    rest: list[bytes] = []
    facets: dict[Path, dict[str, bytes]] = {}
    places: list[FacetPlace] = []
    end = 0
    for path, held in _held(_with_texts.decode(raw)):
        texts = facets[path] = {}
        for name, each in held.items():
            text = texts[name] = bytes(each)
            begin = raw.find(text[:_BEGINNING], end)
            if not raw.startswith(text, begin):
                begin = raw.find(text, end)
            if begin < 0 or not text.startswith(b"{"):
                raise InvalidEventError("event: its facets are no objects, in the order in which they were read")
            rest.append(raw[end:begin])
            end = begin + len(text)
            places.append(FacetPlace(begin, end, (*path, name)))
    rest.append(raw[end:])
    shell = _HOLE.join(rest)
    _with_holes.decode(shell)  # else what was cut out was not a facet, but looked like one
    return shell, facets, tuple(places)


def _held(found: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, msgspec.Raw]]]:
    """Facets by the path of what holds them, in the order of the text."""
    for key, holder in found.items():
        if isinstance(holder, list):
            for number, each in enumerate(holder):
                for slot, facets in each.items():
                    if facets:
                        yield (key, str(number), slot), facets
        elif holder and holder.get("facets"):
            yield (key, "facets"), holder["facets"]
