"""Parts of answers that are kept, also packed, and given up in time."""

from headwater.model.names import DatasetId, JobId
from headwater.service.rendered import JobNode, Kept, Packing, Rendered

TEXT: Packing[bytes] = Packing(len, lambda value: b"<" + value[:4], lambda frame: frame[1:])


def node(number: int) -> JobNode:
    reads = [(DatasetId("lake", "a"), b'{"origin":"dataset:lake:a"}'), (DatasetId("", "b:\0"), b"{}")]
    return JobNode(b'{"id":"job:etl:%d"}' % number, reads, [(DatasetId("lake", "ü"), b"[]")])


def test_what_finds_no_room_is_packed_and_comes_back() -> None:
    kept = Kept[str, bytes](TEXT, max_bytes=10)

    for key in ("first", "second", "third"):
        kept.keep(key, key.encode())

    assert [kept.get(key) for key in ("first", "second", "third")] == [b"first", b"seco", b"third"]
    assert kept.missing(["first", "third", "fourth"]) == ["fourth"]


def test_of_what_is_packed_the_first_goes_first() -> None:
    kept = Kept[int, bytes](TEXT, max_bytes=10)

    for number in range(4):
        kept.keep(number, b"1234567890")

    assert [number for number in range(4) if kept.get(number) is not None] == [0, 2, 3]
    assert not kept.has_room


def test_what_is_dropped_leaves_its_room_to_others() -> None:
    kept = Kept[int, bytes](TEXT, max_bytes=10)
    for number in range(3):
        kept.keep(number, b"1234567890")

    for number in range(3):
        kept.drop(number)
    kept.keep(7, b"ABCDEFGHIJ")

    assert [kept.get(number) for number in (0, 1, 2, 7)] == [None, None, None, b"ABCDEFGHIJ"]
    assert kept.has_room


def test_a_job_that_was_packed_is_the_same_with_all_its_edges() -> None:
    rendered = Rendered(max_bytes=200)

    for number in range(3):
        rendered.job_nodes.keep(JobId("etl", str(number)), node(number))

    assert [rendered.job_nodes.get(JobId("etl", str(number))) for number in range(3)] == [node(0), node(1), node(2)]
