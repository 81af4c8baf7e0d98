"""The order in which files of events were written, by their events rather than by their names.

A file is named by the clock when it is rotated, and a clock may be set back. The events are reliable: each has a
sequence number in its epoch, and an epoch names those that ended before it. Nothing is verified here: a forged place
would only affect the order.
"""

import heapq
import os
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import orjson

from headwater.emit.chain import MAX_UNSIGNED
from headwater.emit.overflow import BATCH
from headwater.signing.chain import CHAIN

_FIRST_LINES: Final = MAX_UNSIGNED + BATCH
"""So many lines contain at least one chained event: after each batch, too many unsigned events get one."""
_TAIL_BYTES: Final = 1 << 20


class Place(NamedTuple):
    """An event's place in its node's chain."""

    epoch: str
    sequence: int


class Span(NamedTuple):
    """The places of a file's first and last chained event, and the epochs that the first one `follows`."""

    first: Place | None = None
    last: Place | None = None
    follows: frozenset[str] = frozenset()


class FileOrder:
    """Sorts a folder's files; a file's span is cached until the file grows."""

    def __init__(self) -> None:
        """Start with an empty cache."""
        self._read: dict[tuple[int, int, int], Span] = {}

    def of(self, paths: Iterable[Path]) -> list[Path]:
        """The files in the order written; those without chained events by name, `events-….jsonl` before `events.jsonl`.

        A file that is removed meanwhile is left out; one that cannot be read has no chained events.
        """
        spans: dict[Path, Span] = {}
        for path in paths:
            try:
                spans[path] = self._span(path)
            except FileNotFoundError:
                continue
            except OSError:
                spans[path] = Span()
        return in_order(spans)

    def _span(self, path: Path) -> Span:
        status = path.stat()
        known = (status.st_dev, status.st_ino, status.st_size)
        if known not in self._read:
            with path.open("rb") as file:
                self._read[known] = _span_of(file, status.st_size)
        return self._read[known]


def in_order(spans: Mapping[Path, Span]) -> list[Path]:
    """A topological sort by the files' spans, ties by name; files in a cycle come last, by name.

    >>> a, b, c = map(Path, "abc")
    >>> in_order({c: Span(Place("e", 0), Place("e", 4)), b: Span(Place("e", 5), Place("e", 7)), a: Span()})
    [PosixPath('a'), PosixPath('c'), PosixPath('b')]
    """
    behind: dict[Path, set[Path]] = defaultdict(set)
    for before, after in _pairs(spans):
        behind[before].add(after)
    waits_for = {path: 0 for path in spans}
    for after in chain.from_iterable(behind.values()):
        waits_for[after] += 1
    ready = sorted(path for path, others in waits_for.items() if not others)
    left, ordered = dict.fromkeys(sorted(spans)), list[Path]()
    while left:
        path = heapq.heappop(ready) if ready else next(iter(left))
        if path not in left:
            continue
        del left[path]
        ordered.append(path)
        for after in behind[path]:
            waits_for[after] -= 1
            if not waits_for[after]:
                heapq.heappush(ready, after)
    return ordered


def _pairs(spans: Mapping[Path, Span]) -> Iterator[tuple[Path, Path]]:
    """Pairs of a file and one that was written after it."""
    begun: dict[str, list[tuple[int, Path]]] = defaultdict(list)
    ended: dict[str, list[Path]] = defaultdict(list)
    for path, span in spans.items():
        if span.first is not None:
            begun[span.first.epoch].append((span.first.sequence, path))
        if span.last is not None:
            ended[span.last.epoch].append(path)
    for each in begun.values():
        each.sort()
        yield from pairwise(path for _, path in each)
    for path, span in spans.items():
        yield from ((other, path) for epoch in span.follows for other in ended[epoch] if other != path)
        if span.first is None or span.last is None or span.first.epoch == span.last.epoch:
            continue
        later = begun.get(span.last.epoch, [])
        at = bisect_right(later, span.last.sequence, key=lambda each: each[0])
        yield from ((path, after) for _, after in later[at : at + 1])


def _span_of(file: IO[bytes], size: int) -> Span:
    first = next(filter(None, map(_chained, islice(file, _FIRST_LINES))), None)
    if first is None:
        return Span()
    tail = os.pread(file.fileno(), _TAIL_BYTES, max(0, size - _TAIL_BYTES)).splitlines(keepends=True)
    last = next(filter(None, map(_chained, reversed(tail))), None)
    return Span(_place(first), _place(last) if last else None, frozenset(_followed(first)))


def _chained(line: bytes) -> Mapping[str, Any] | None:
    """The chain facet of the event on the line; None if it has none, or is not a complete event."""
    try:
        link: Mapping[str, Any] = orjson.loads(line)["run"]["facets"][CHAIN]
        _place(link)
    except (ValueError, LookupError, TypeError, OverflowError):
        return None
    return link


def _place(link: Mapping[str, Any]) -> Place:
    return Place(str(link["epoch"]), int(link["sequence"]))


def _followed(link: Mapping[str, Any]) -> Iterator[str]:
    match link.get("follows"):
        case [*heads]:
            yield from (str(head["epoch"]) for head in heads if isinstance(head, dict) and "epoch" in head)
