"""An event's outline: the positions of its facets, and the rest of the event.

Facets make up nearly all of an event, and most have been seen before. So they are cut out unparsed, and only the rest
is parsed. Unusual events have no outline; they take the slow path.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Generic, Literal, NamedTuple, TypeVar, cast

import msgspec
from typing_extensions import TypedDict

from headwater.errors import InvalidEventError
from headwater.model import strict_json
from headwater.model.facet_texts import FacetTexts

_HOLE: Final = b"0"
"""Stands in for a facet that was cut out; a facet is an object, so the two cannot be confused."""
_BEGINNING: Final = 32
"""The number of bytes of a facet that are searched for first: searching for all of it takes longer."""

Path = tuple[str, ...]


class FacetSpan(NamedTuple):
    """The byte range of a facet's value in an event, and its path, such as `run.facets.parent`."""

    begin: int
    end: int
    path: Path


_NO_OUTLINE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, InvalidEventError)
"""The exceptions for a text without an outline; msgspec reports a key that is not UTF-8 as Python does."""


class Outline(NamedTuple):
    """An event without its facets, and the facets by the path of their container, such as `("run", "facets")`."""

    shell: Mapping[str, Any]
    """The event as `strict_json` parses it, with 0 in place of each facet."""
    facets: Mapping[Path, FacetTexts]
    spans: tuple[FacetSpan, ...]
    """The positions of the facets, in the order of the text."""


def outline(raw: bytes) -> Outline | None:
    """The outline of an event, or None if it has none; then the text may still be an event.

    A text with an outline is one that `strict_json` accepts, and each of its facets is an object.
    """
    try:
        rest, texts, spans = _cut(raw)
        shell = cast(_Shell, strict_json.parse(rest))
        return Outline(shell, {path: FacetTexts(each) for path, each in texts.items()}, spans)
    except _NO_OUTLINE:
        return None


def fast_facet_spans(raw: bytes) -> tuple[FacetSpan, ...] | None:
    """The positions of an event's facets, as in its outline, without parsing them.

    None where they are not found that way. Takes a quarter of the time of an outline if the facets are new.
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
    """The containers of facets; parsed with keys in the order of the text."""

    run: _Holder[_FacetT] | None
    job: _Holder[_FacetT] | None
    dataset: _Holder[_FacetT] | None
    inputs: list[_Dataset[_FacetT]] | None
    outputs: list[_Dataset[_FacetT]] | None


_Shell = Mapping[str, Any]
_with_texts: Final = msgspec.json.Decoder(_Event[msgspec.Raw])
_with_holes: Final = msgspec.json.Decoder(_Event[Literal[0]])


def _cut(raw: bytes) -> tuple[bytes, dict[Path, dict[str, bytes]], tuple[FacetSpan, ...]]:
    """The event's text with holes for facets, the facets as written, and their positions.

    Raises:
        MsgspecError, UnicodeDecodeError, RecursionError, InvalidEventError: it has no outline.
    """
    rest: list[bytes] = []
    facets: dict[Path, dict[str, bytes]] = {}
    spans: list[FacetSpan] = []
    end = 0
    for path, held in _held(_with_texts.decode(raw)):
        texts = facets[path] = {}
        for name, each in held.items():
            text = texts[name] = bytes(each)
            begin = raw.find(text[:_BEGINNING], end)
            if not raw.startswith(text, begin):
                begin = raw.find(text, end)
            if begin < 0 or not text.startswith(b"{"):
                raise InvalidEventError("event: its facets are not objects in the order in which they were read")
            rest.append(raw[end:begin])
            end = begin + len(text)
            spans.append(FacetSpan(begin, end, (*path, name)))
    rest.append(raw[end:])
    shell = _HOLE.join(rest)
    _with_holes.decode(shell)  # raises if something else that looked like a facet was cut out
    return shell, facets, tuple(spans)


def _held(found: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, msgspec.Raw]]]:
    """Facets by the path of their container, in the order of the text."""
    for key, holder in found.items():
        if isinstance(holder, list):
            for number, each in enumerate(holder):
                for slot, facets in each.items():
                    if facets:
                        yield (key, str(number), slot), facets
        elif holder and holder.get("facets"):
            yield (key, "facets"), holder["facets"]
