"""Values that are kept up to a size, also packed, and given up in time."""

from collections.abc import Mapping, Sequence
from hashlib import sha256

from headwater.service.knowledge.cache import Codec, CompressedCache, FallbackCache, LruCache

PLAIN: Codec[bytes] = Codec(len, bytes, bytes)


def value(number: int) -> bytes:
    """32 bytes that nothing makes smaller."""
    return sha256(b"%d" % number).digest()


def kept(values: int) -> CompressedCache[int, bytes]:
    """So many were kept where 31 find room, and about 20 more when they are packed."""
    found = CompressedCache[int, bytes](PLAIN, max_bytes=1_000)
    for number in range(values):
        found.keep(number, value(number))
    return found


def test_what_finds_no_room_is_packed_and_comes_back() -> None:
    found = kept(40)

    assert [found.get(number) for number in range(40)] == [value(number) for number in range(40)]
    assert found.missing([0, 39, 40]) == [40]
    assert found.has_room


def test_of_what_is_packed_the_first_goes_first() -> None:
    found = kept(80)

    missing = found.missing(range(80))
    assert missing == [*range(31, 31 + len(missing))]
    assert 20 < len(missing) < 40
    assert not found.has_room


def test_what_is_dropped_leaves_its_room_to_others() -> None:
    found = kept(80)

    for number in range(80):
        found.drop(number)
    found.keep(99, value(99))

    assert found.missing([*range(80), 99]) == [*range(80)]
    assert found.has_room


def test_what_is_asked_for_is_unpacked_once_and_nothing_is_lost_for_it() -> None:
    unpacked: list[bytes] = []

    def read(written: bytes) -> bytes:
        unpacked.append(written)
        return written

    found = CompressedCache[int, bytes](Codec(len, bytes, read), max_bytes=1_000)
    for number in range(40):
        found.keep(number, value(number))

    first = [found.get(number) for number in (38, 39)]
    again = [found.get(number) for number in (38, 39)]

    assert first == again == unpacked == [value(38), value(39)]
    assert found.missing(range(40)) == []
    assert (found.get(0), found.get(1)) == (value(0), value(1))


def test_what_is_packed_ahead_is_given_up_without_packing_it() -> None:
    packed: list[bytes] = []

    def written(plain: bytes) -> bytes:
        packed.append(plain)
        return plain

    found = CompressedCache[int, bytes](Codec(len, written, bytes), max_bytes=1_000)
    for number in range(33):
        found.keep(number, b"%032d" % number)
    for _ in found.pack_ahead():
        pass
    packed.clear()

    assert [found.get(number) for number in (31, 32, 0, 1)] == [b"%032d" % number for number in (31, 32, 0, 1)]
    assert packed == []


def test_nothing_is_packed_ahead_while_all_finds_room() -> None:
    assert list(kept(31).pack_ahead()) == []


def test_what_is_at_hand_stays_when_its_packed_form_goes() -> None:
    found = kept(33)
    asked = found.get(32)

    for number in range(100, 140):
        found.keep(number, value(number))

    assert found.missing([31, 32]) == [31]
    assert found.get(32) == asked == value(32)


def test_what_is_much_alike_takes_a_tenth_of_the_room_when_it_is_packed() -> None:
    found = CompressedCache[int, bytes](PLAIN, max_bytes=200_000)

    for number in range(2_000):
        found.keep(number, b'{"id":"job:etl:%d","type":"JOB","data":%s}' % (number, b'{"name":"load","tags":[]}' * 20))

    assert found.missing(range(2_000)) == []
    assert found.has_room


def test_what_was_not_asked_for_the_longest_is_given_up_first() -> None:
    by_size = LruCache[str, bytes](10, len)
    for key in "abc":
        by_size.keep(key, b"...")
    by_size.get("a")

    assert by_size.keep("d", b"....") == [("b", b"...")]
    assert ([*by_size], by_size.bytes) == (["c", "a", "d"], 10)


def test_what_is_larger_than_all_the_room_is_given_up_with_all_the_rest() -> None:
    by_size = LruCache[str, bytes](10, len)
    by_size.keep("a", b"...")

    assert by_size.keep("b", b"." * 11) == [("a", b"..."), ("b", b"." * 11)]
    assert (len(by_size), by_size.bytes) == (0, 0)


def test_what_is_kept_beside_is_found_for_all_keys_together_and_asked_for_once() -> None:
    asked: list[Sequence[int]] = []

    def others(keys: Sequence[int]) -> Mapping[int, bytes]:
        asked.append(keys)
        return {key: value(key) for key in keys if key % 2}

    found = FallbackCache[int, bytes](PLAIN, 1_000, others)
    found.keep(2, value(2))

    assert found.missing([1, 2, 3, 4]) == [4]
    assert found.found([1, 2, 3, 4]) == {number: value(number) for number in (1, 2, 3)}
    assert [found.get(number) for number in (3, 4)] == [value(3), None]
    assert asked == [[1, 3, 4], [4], [4]]
