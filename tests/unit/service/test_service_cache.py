"""Caches with a maximum size, also of compressed values, and their eviction."""

from collections.abc import Mapping, Sequence
from hashlib import sha256

from headwater.service.knowledge.cache import Codec, CompressedCache, FallbackCache, LruCache

PLAIN: Codec[bytes] = Codec(len, bytes, bytes)


def value(number: int) -> bytes:
    """32 incompressible bytes."""
    return sha256(b"%d" % number).digest()


def filled(values: int) -> CompressedCache[int, bytes]:
    """A cache after this many values; it has room for 31, and for about 20 more that are compressed."""
    cache = CompressedCache[int, bytes](PLAIN, max_bytes=1_000)
    for number in range(values):
        cache.keep(number, value(number))
    return cache


def test_values_beyond_the_limit_are_compressed_and_can_be_read() -> None:
    cache = filled(40)

    assert [cache.get(number) for number in range(40)] == [value(number) for number in range(40)]
    assert cache.missing([0, 39, 40]) == [40]
    assert cache.has_room


def test_the_first_compressed_values_are_evicted_first() -> None:
    cache = filled(80)

    missing = cache.missing(range(80))
    assert missing == [*range(31, 31 + len(missing))]
    assert 20 < len(missing) < 40
    assert not cache.has_room


def test_dropped_values_leave_room_for_others() -> None:
    cache = filled(80)

    for number in range(80):
        cache.drop(number)
    cache.keep(99, value(99))

    assert cache.missing([*range(80), 99]) == [*range(80)]
    assert cache.has_room


def test_a_requested_value_is_decompressed_once_and_nothing_is_evicted_for_it() -> None:
    decompressed: list[bytes] = []

    def read(written: bytes) -> bytes:
        decompressed.append(written)
        return written

    cache = CompressedCache[int, bytes](Codec(len, bytes, read), max_bytes=1_000)
    for number in range(40):
        cache.keep(number, value(number))

    first = [cache.get(number) for number in (38, 39)]
    again = [cache.get(number) for number in (38, 39)]

    assert first == again == decompressed == [value(38), value(39)]
    assert cache.missing(range(40)) == []
    assert (cache.get(0), cache.get(1)) == (value(0), value(1))


def test_values_compressed_ahead_are_not_compressed_again() -> None:
    compressed: list[bytes] = []

    def written(plain: bytes) -> bytes:
        compressed.append(plain)
        return plain

    cache = CompressedCache[int, bytes](Codec(len, written, bytes), max_bytes=1_000)
    for number in range(33):
        cache.keep(number, b"%032d" % number)
    for _ in cache.pack_ahead():
        pass
    compressed.clear()

    assert [cache.get(number) for number in (31, 32, 0, 1)] == [b"%032d" % number for number in (31, 32, 0, 1)]
    assert compressed == []


def test_nothing_is_compressed_ahead_while_there_is_room() -> None:
    assert list(filled(31).pack_ahead()) == []


def test_a_decompressed_value_remains_when_its_compressed_form_is_evicted() -> None:
    cache = filled(33)
    cached = cache.get(32)

    for number in range(100, 140):
        cache.keep(number, value(number))

    assert cache.missing([31, 32]) == [31]
    assert cache.get(32) == cached == value(32)


def test_similar_values_need_a_tenth_of_the_room_when_compressed() -> None:
    cache = CompressedCache[int, bytes](PLAIN, max_bytes=200_000)

    for number in range(2_000):
        cache.keep(number, b'{"id":"job:etl:%d","type":"JOB","data":%s}' % (number, b'{"name":"load","tags":[]}' * 20))

    assert cache.missing(range(2_000)) == []
    assert cache.has_room


def test_the_least_recently_used_value_is_evicted_first() -> None:
    by_size = LruCache[str, bytes](10, len)
    for key in "abc":
        by_size.keep(key, b"...")
    by_size.get("a")

    assert by_size.keep("d", b"....") == [("b", b"...")]
    assert ([*by_size], by_size.bytes) == (["c", "a", "d"], 10)


def test_a_value_larger_than_the_limit_is_evicted_with_all_others() -> None:
    by_size = LruCache[str, bytes](10, len)
    by_size.keep("a", b"...")

    assert by_size.keep("b", b"." * 11) == [("a", b"..."), ("b", b"." * 11)]
    assert (len(by_size), by_size.bytes) == (0, 0)


def test_the_fallback_is_read_once_for_all_missing_keys() -> None:
    requests: list[Sequence[int]] = []

    def others(keys: Sequence[int]) -> Mapping[int, bytes]:
        requests.append(keys)
        return {key: value(key) for key in keys if key % 2}

    cache = FallbackCache[int, bytes](PLAIN, 1_000, others)
    cache.keep(2, value(2))

    assert cache.missing([1, 2, 3, 4]) == [4]
    assert cache.found([1, 2, 3, 4]) == {number: value(number) for number in (1, 2, 3)}
    assert [cache.get(number) for number in (3, 4)] == [value(3), None]
    assert requests == [[1, 3, 4], [4], [4]]
