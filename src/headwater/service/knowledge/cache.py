"""Caches bounded by memory: the least recently used value is evicted first."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Final, Generic, NamedTuple, TypeVar

import zstandard

from headwater.service.background import groups

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")

_PACKED_TOGETHER: Final = 32
"""About a millisecond's work."""

_SAMPLES: Final = 100
_DICTIONARY_BYTES: Final = 16 * 2**10
"""Cached values resemble each other: with a dictionary trained on a hundred of the first, jobs of 4,250 bytes compress
to 320 bytes instead of 1,160, and decompress in half the time. Training takes 30 ms, once."""


def fitted(text: bytes) -> bytes:
    """A copy that takes no more memory than its bytes; results of orjson and zstandard hold 2 to 10 times as much."""
    return bytes(memoryview(text))


class LruCache(Generic[KeyT, ValueT]):
    """A cache of at most `max_bytes`; `size` gives the bytes of a value, and is called once for each."""

    def __init__(self, max_bytes: int, size: Callable[[ValueT], int]) -> None:
        self._max_bytes = max_bytes
        self._size = size
        self._kept: OrderedDict[KeyT, tuple[ValueT, int]] = OrderedDict()
        """Most recently used last."""
        self.bytes = 0

    def __contains__(self, key: KeyT) -> bool:
        """Whether a value is cached for the key."""
        return key in self._kept

    def __iter__(self) -> Iterator[KeyT]:
        """The keys, least recently used first."""
        return iter(self._kept)

    def __len__(self) -> int:
        """How many values are cached."""
        return len(self._kept)

    def get(self, key: KeyT) -> ValueT | None:
        """The value for the key, or None if none is cached."""
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key][0]

    def keep(self, key: KeyT, value: ValueT) -> Sequence[tuple[KeyT, ValueT]]:
        """Cache the value; returns what was evicted for it, which may be the value itself."""
        if key in self._kept:
            self.drop(key)
        size = self._size(value)
        self._kept[key] = value, size
        self.bytes += size
        evicted = []
        while self.bytes > self._max_bytes:
            oldest, (its, its_size) = self._kept.popitem(last=False)
            self.bytes -= its_size
            evicted.append((oldest, its))
        return evicted

    def drop(self, key: KeyT) -> ValueT | None:
        """Remove the key; returns its value, if one was cached."""
        value, size = self._kept.pop(key, (None, 0))
        self.bytes -= size
        return value

    def clear(self) -> None:
        """Remove everything."""
        self._kept.clear()
        self.bytes = 0


class Codec(NamedTuple, Generic[ValueT]):
    """The size of a value in bytes, and its serialisation."""

    size: Callable[[ValueT], int]
    encode: Callable[[ValueT], bytes]
    decode: Callable[[bytes], ValueT]


class Compression:
    """Compression with a dictionary trained on similar values."""

    def __init__(self, alike: Sequence[bytes]) -> None:
        try:
            shared = zstandard.train_dictionary(_DICTIONARY_BYTES, [*alike])
        except zstandard.ZstdError:  # too few samples, or nothing in common
            shared = zstandard.ZstdCompressionDict(b"", dict_type=zstandard.DICT_TYPE_RAWCONTENT)
        self.packed = zstandard.ZstdCompressor(level=3, dict_data=shared).compress
        self.unpacked = zstandard.ZstdDecompressor(dict_data=shared).decompress


class CompressedCache(Generic[KeyT, ValueT]):
    """A two-level cache: values up to `max_bytes`, and as much again compressed, which holds ten times as many.

    A value that does not fit the first level is compressed into the second. A compressed value that is read moves to
    the first level, in place of the least recently used one. `on_evicted` is called when a value leaves both.
    """

    def __init__(
        self, codec: Codec[ValueT], max_bytes: int, on_evicted: Callable[[KeyT], None] = lambda key: None
    ) -> None:
        self._codec = codec
        self._max_bytes = max_bytes
        self._on_evicted = on_evicted
        self._values: LruCache[KeyT, ValueT] = LruCache(max_bytes, codec.size)
        self._packed: LruCache[KeyT, bytes] = LruCache(max_bytes, len)
        """Also holds some of the values in the first level."""

    def get(self, key: KeyT) -> ValueT | None:
        """The value for the key, or None if none is cached."""
        value = self._values.get(key)
        if value is None and (frame := self._packed.get(key)) is not None:
            value = self._codec.decode(self._compression.unpacked(frame))
            self._keep_unpacked(key, value)
        return value

    def found(self, keys: Iterable[KeyT]) -> dict[KeyT, ValueT]:
        """The cached values for these keys; other keys are left out."""
        return {key: value for key in keys if (value := self.get(key)) is not None}

    def keep(self, key: KeyT, value: ValueT) -> None:
        """Cache the value."""
        self.drop(key)
        if self._values.bytes + self._codec.size(value) <= self._max_bytes:
            self._keep_unpacked(key, value)
        else:
            self._pack(key, value)

    def pack_ahead(self) -> Iterator[None]:
        """Compress first-level values ahead of their eviction, so that it costs nothing then; some with each step.

        Does nothing while everything fits the first level.
        """
        for keys in groups([*self._values], _PACKED_TOGETHER) if self._packed else ():
            if not self.has_room:
                break
            for key in keys:
                if key not in self._packed and (value := self._values.get(key)) is not None:
                    self._pack(key, value)
            yield

    def _keep_unpacked(self, key: KeyT, value: ValueT) -> None:
        for evicted, its in self._values.keep(key, value):
            if evicted not in self._packed:
                self._pack(evicted, its)

    def _pack(self, key: KeyT, value: ValueT) -> None:
        frame = fitted(self._compression.packed(self._codec.encode(value)))
        for evicted, _ in self._packed.keep(key, frame):
            if evicted not in self._values:
                self._on_evicted(evicted)

    def drop(self, key: KeyT) -> None:
        """Remove the key."""
        self._values.drop(key)
        self._packed.drop(key)

    @cached_property
    def _compression(self) -> Compression:
        few = islice(self._values, 0, None, max(1, len(self._values) // _SAMPLES))
        return Compression(
            [self._codec.encode(value) for key in [*few] if (value := self._values.get(key)) is not None]
        )

    def missing(self, keys: Iterable[KeyT]) -> list[KeyT]:
        """The keys for which nothing is cached."""
        return [key for key in keys if key not in self._values and key not in self._packed]

    @property
    def has_room(self) -> bool:
        """Whether a tenth of the second level is still free."""
        return self._packed.bytes < self._max_bytes * 0.9


class FallbackCache(CompressedCache[KeyT, ValueT]):
    """A cache that falls back to another: `fallback` returns its values for those keys for which they hold here too."""

    def __init__(
        self, codec: Codec[ValueT], max_bytes: int, fallback: Callable[[Sequence[KeyT]], Mapping[KeyT, ValueT]]
    ) -> None:
        super().__init__(codec, max_bytes)
        self._fallback = fallback

    def get(self, key: KeyT) -> ValueT | None:
        """The value for the key, or None if neither cache has one."""
        value = super().get(key)
        return self._fetch([key]).get(key) if value is None else value

    def found(self, keys: Iterable[KeyT]) -> dict[KeyT, ValueT]:
        """As in `CompressedCache`; the fallback is asked once for all keys."""
        requested = list(keys)
        mine = {key: value for key in requested if (value := super(FallbackCache, self).get(key)) is not None}
        return {**mine, **self._fetch([key for key in requested if key not in mine])}

    def _fetch(self, keys: Sequence[KeyT]) -> Mapping[KeyT, ValueT]:
        fetched = self._fallback(keys) if keys else {}
        for key, value in fetched.items():
            self._keep_unpacked(key, value)
        return fetched

    def missing(self, keys: Iterable[KeyT]) -> list[KeyT]:
        """The keys for which neither cache has a value."""
        missing = super().missing(keys)
        fetched = self._fetch(missing)
        return [key for key in missing if key not in fetched]
