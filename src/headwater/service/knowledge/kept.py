"""Values kept in memory up to a size in all: those that were not asked for the longest are given up first."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Final, Generic, NamedTuple, TypeVar

import zstandard

from headwater.service.ahead import groups

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")

_PACKED_TOGETHER: Final = 32
"""About a millisecond's work."""

_SAMPLES: Final = 100
_DICTIONARY_BYTES: Final = 16 * 2**10
"""What is packed is much alike: with a dictionary of a hundred of the first values, jobs of 4,250 bytes take 320 where
they took 1,160, and half the time to unpack. To make it takes 30 ms, once."""


def fitted(text: bytes) -> bytes:
    """The same bytes in as much memory as they need; what orjson and zstandard give keeps two to ten times as much."""
    return bytes(memoryview(text))


class BySize(Generic[KeyT, ValueT]):
    """Values up to a size in all, in bytes; `size` is asked once for each."""

    def __init__(self, max_bytes: int, size: Callable[[ValueT], int]) -> None:
        self._max_bytes = max_bytes
        self._size = size
        self._kept: OrderedDict[KeyT, tuple[ValueT, int]] = OrderedDict()
        """Those asked for last come last."""
        self.bytes = 0

    def __contains__(self, key: KeyT) -> bool:
        """Whether a value is kept for the key."""
        return key in self._kept

    def __iter__(self) -> Iterator[KeyT]:
        """The keys, those that were not asked for the longest first."""
        return iter(self._kept)

    def __len__(self) -> int:
        """How many are kept."""
        return len(self._kept)

    def get(self, key: KeyT) -> ValueT | None:
        """The value for the key, or None where none is kept."""
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key][0]

    def keep(self, key: KeyT, value: ValueT) -> Sequence[tuple[KeyT, ValueT]]:
        """Keep the value for the key; says what was given up for it, which may be itself."""
        self.drop(key)
        size = self._size(value)
        self._kept[key] = value, size
        self.bytes += size
        given_up = []
        while self.bytes > self._max_bytes:
            longest_unasked, (its, its_size) = self._kept.popitem(last=False)
            self.bytes -= its_size
            given_up.append((longest_unasked, its))
        return given_up

    def drop(self, key: KeyT) -> ValueT | None:
        """Keep nothing for the key; gives what was kept."""
        value, size = self._kept.pop(key, (None, 0))
        self.bytes -= size
        return value

    def clear(self) -> None:
        """Keep nothing."""
        self._kept.clear()
        self.bytes = 0


class Writing(NamedTuple, Generic[ValueT]):
    """How large a value is, and how it becomes bytes and comes back."""

    size: Callable[[ValueT], int]
    written: Callable[[ValueT], bytes]
    read: Callable[[bytes], ValueT]


class Packing:
    """Makes bytes small that are like others."""

    def __init__(self, alike: Sequence[bytes]) -> None:
        try:
            shared = zstandard.train_dictionary(_DICTIONARY_BYTES, [*alike])
        except zstandard.ZstdError:  # too few, or nothing in common
            shared = zstandard.ZstdCompressionDict(b"", dict_type=zstandard.DICT_TYPE_RAWCONTENT)
        self.packed = zstandard.ZstdCompressor(level=3, dict_data=shared).compress
        self.unpacked = zstandard.ZstdDecompressor(dict_data=shared).decompress


class Kept(Generic[KeyT, ValueT]):
    """Values up to a size in all, and as much again packed: in the same room these are ten times as many.

    What finds no room is packed. What is packed and asked for takes the place of what was not asked for the longest.
    `gone` is told of what finds no room packed either.
    """

    def __init__(
        self, writing: Writing[ValueT], max_bytes: int, gone: Callable[[KeyT], None] = lambda key: None
    ) -> None:
        self._writing = writing
        self._max_bytes = max_bytes
        self._gone = gone
        self._values: BySize[KeyT, ValueT] = BySize(max_bytes, writing.size)
        self._packed: BySize[KeyT, bytes] = BySize(max_bytes, len)
        """Also of some that are at hand."""

    def get(self, key: KeyT) -> ValueT | None:
        """The value for the key, or None where none is kept."""
        value = self._values.get(key)
        if value is None and (frame := self._packed.get(key)) is not None:
            value = self._writing.read(self._packing.unpacked(frame))
            self._have_at_hand(key, value)
        return value

    def found(self, keys: Iterable[KeyT]) -> dict[KeyT, ValueT]:
        """The values for those of the keys for which one is kept."""
        return {key: value for key in keys if (value := self.get(key)) is not None}

    def keep(self, key: KeyT, value: ValueT) -> None:
        """Keep the value for the key."""
        self.drop(key)
        if self._values.bytes + self._writing.size(value) <= self._max_bytes:
            self._have_at_hand(key, value)
        else:
            self._pack(key, value)

    def pack_ahead(self) -> Iterator[None]:
        """Pack what is at hand too, some with each step, so that it can be given up in no time.

        Nothing is done while all finds room.
        """
        for keys in groups([*self._values], _PACKED_TOGETHER) if self._packed else ():
            if not self.has_room:
                break
            for key in keys:
                if key not in self._packed and (value := self._values.get(key)) is not None:
                    self._pack(key, value)
            yield

    def _have_at_hand(self, key: KeyT, value: ValueT) -> None:
        for given_up, its in self._values.keep(key, value):
            if given_up not in self._packed:
                self._pack(given_up, its)

    def _pack(self, key: KeyT, value: ValueT) -> None:
        frame = fitted(self._packing.packed(self._writing.written(value)))
        for given_up, _ in self._packed.keep(key, frame):
            if given_up not in self._values:
                self._gone(given_up)

    def drop(self, key: KeyT) -> None:
        """Keep nothing for the key."""
        self._values.drop(key)
        self._packed.drop(key)

    @cached_property
    def _packing(self) -> Packing:
        few = islice(self._values, 0, None, max(1, len(self._values) // _SAMPLES))
        return Packing([self._writing.written(value) for key in [*few] if (value := self._values.get(key)) is not None])

    def missing(self, keys: Iterable[KeyT]) -> list[KeyT]:
        """The keys for which nothing is kept."""
        return [key for key in keys if key not in self._values and key not in self._packed]

    @property
    def has_room(self) -> bool:
        """Whether another tenth would still find room."""
        return self._packed.bytes < self._max_bytes * 0.9


class KeptBeside(Kept[KeyT, ValueT]):
    """Values of which some others are kept already: `others` gives those, of the keys for which they hold here too."""

    def __init__(
        self, writing: Writing[ValueT], max_bytes: int, others: Callable[[Sequence[KeyT]], Mapping[KeyT, ValueT]]
    ) -> None:
        super().__init__(writing, max_bytes)
        self._others = others

    def get(self, key: KeyT) -> ValueT | None:
        """The value for the key, or None where none is kept here or there."""
        value = super().get(key)
        return self._beside([key]).get(key) if value is None else value

    def found(self, keys: Iterable[KeyT]) -> dict[KeyT, ValueT]:
        """As in `Kept`; whether those that are kept there hold here is found out for all together."""
        wanted = list(keys)
        mine = {key: value for key in wanted if (value := super(KeptBeside, self).get(key)) is not None}
        return {**mine, **self._beside([key for key in wanted if key not in mine])}

    def _beside(self, keys: Sequence[KeyT]) -> Mapping[KeyT, ValueT]:
        others = self._others(keys) if keys else {}
        for key, value in others.items():
            self._have_at_hand(key, value)
        return others

    def missing(self, keys: Iterable[KeyT]) -> list[KeyT]:
        """The keys for which nothing is kept here or there."""
        missing = super().missing(keys)
        found = self._beside(missing)
        return [key for key in missing if key not in found]
