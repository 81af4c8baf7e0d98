"""Shipping files of events: order, resuming, and events that are held back."""

import errno
import json
import os
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.emit.chain import MAX_UNSIGNED
from headwater.emit.config import FileConfig
from headwater.emit.file import FileTransport
from headwater.emit.overflow import BATCH
from headwater.emit.shipment import ShipmentOptions, Shipped, Trouble, ship
from headwater.emit.transport import Acknowledged, Outcome, Refused, Unavailable
from headwater.errors import SetupError
from headwater.signing.verify import Verification


class Target:
    """Accepts events up to a number at once; `script` has the outcomes of the first calls."""

    name = "target"
    target = "http://lineage.test/api/v1/lineage"

    def __init__(self, *script: Sequence[Outcome], at_once: int = 3) -> None:
        self.got: list[bytes] = []
        self._script = deque(script)
        self._at_once = at_once

    def send_batch(self, events: Sequence[bytes]) -> Sequence[Outcome]:
        outcomes = self._script.popleft() if self._script else [Acknowledged()] * self._at_once
        event_outcomes = list(zip(events, outcomes, strict=False))
        self.got += [event for event, outcome in event_outcomes if isinstance(outcome, Acknowledged)]
        return [outcome for _, outcome in event_outcomes]

    def close(self) -> None:
        pass


def verify(event: bytes) -> Verification:
    return Verification("tampered", None, "changed") if b"bad" in event else Verification("ok", "node", None)


def shipped(folder: Path, target: Target, *, from_start: bool = False) -> Shipped:
    options = ShipmentOptions(transport=target, verify=verify, wait=lambda _: None, rng=Random(0), tries=3)  # noqa: S311
    return ship(folder, options, from_start=from_start)


def test_rotated_files_are_sent_first_and_in_order(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"e\nf\n")
    (tmp_path / "events-20260522T100000Z-0002.jsonl").write_bytes(b"c\nd\n")
    (tmp_path / "events-20260522T100000Z-0001.jsonl").write_bytes(b"a\nb\n")
    target = Target()

    report = shipped(tmp_path, target)

    assert b"".join(target.got) == b"abcdef"
    assert (report.arrived, report.is_whole) == (6, True)


@pytest.mark.parametrize("create", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("nowhere")])
def test_an_entry_that_is_not_a_file_blocks_no_events(create: Callable[[Path], None], tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"a\nb\n")
    create(tmp_path / "an-output-of-spark.jsonl")

    report = shipped(tmp_path, Target())

    assert (report.arrived, report.is_whole) == (2, True)


def test_a_file_that_cannot_be_read_is_reported_and_holds_up_no_other(tmp_path: Path) -> None:
    (tmp_path / "events-20260522T100000Z-0001.jsonl").write_bytes(b"a\n")
    unreadable = tmp_path / "events-20260522T100000Z-0002.jsonl"
    unreadable.symlink_to("/proc/self/mem")  # no process has anything at address 0: reading fails as from a bad sector
    (tmp_path / "events.jsonl").write_bytes(b"c\n")
    target = Target()

    report = shipped(tmp_path, target)
    unreadable.unlink()
    unreadable.write_bytes(b"b\n")
    later = shipped(tmp_path, target)

    assert (report.arrived, report.unreadable, report.is_whole) == (2, 1, False)
    assert report.troubles == [Trouble(unreadable.name, None, "unreadable", os.strerror(errno.EIO))]
    assert (later.arrived, later.unreadable, later.is_whole) == (1, 0, True)
    assert target.got == [b"a", b"c", b"b"]


def test_marks_that_cannot_be_written_end_the_shipment_before_events_are_sent_again(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"a\nb\nc\nd\n")
    target = Target()
    shipped(tmp_path, target)
    (marks,) = tmp_path.glob(".shipped-*.json")
    marks.with_suffix(".new").mkdir()

    with pytest.raises(SetupError, match=r"Is a directory"):
        shipped(tmp_path, target, from_start=True)

    assert target.got == [b"a", b"b", b"c", b"d", b"a", b"b", b"c"]


def in_place(epoch: str, sequence: int, *follows: str) -> bytes:
    """An event with its chain facet only."""
    chain_facet = {"epoch": epoch, "sequence": sequence, "follows": [{"epoch": each} for each in follows]}
    return json.dumps({"run": {"facets": {"headwater_chain": chain_facet}}}).encode()


JOB = b'{"job":{"name":"load"}}'


@pytest.mark.parametrize(
    "files",
    [
        # One process, whose clock was set back in between.
        {
            "events-20260522T100000Z-0001.jsonl": [JOB, in_place("e", 0), in_place("e", 1)],
            "events-20260521T100000Z-0001.jsonl": [in_place("e", 2), in_place("e", 3), JOB],
            "events-20260521T110000Z-0001.jsonl": [in_place("e", 4)],
            "events.jsonl": [in_place("e", 5)],
        },
        # An epoch that began in the file before, and one that follows the last of the file before.
        {
            "events-20260522T100000Z-0001.jsonl": [in_place("a", 0), in_place("b", 0, "a"), in_place("b", 1)],
            "events-20260521T100000Z-0001.jsonl": [in_place("b", 2), in_place("c", 0, "b"), in_place("c", 1)],
            "events-20260520T100000Z-0001.jsonl": [JOB, in_place("d", 0, "c"), in_place("d", 1)],
            "events.jsonl": [in_place("d", 2)],
        },
        # A file that begins with a burst of events without a run, which have no place.
        {
            "events-20260522T100000Z-0001.jsonl": [in_place("e", 0), *[JOB] * (MAX_UNSIGNED - 1)],
            "events-20260521T100000Z-0001.jsonl": [*[JOB] * BATCH, in_place("e", 1)],
            "events-20260520T100000Z-0001.jsonl": [*[JOB] * (MAX_UNSIGNED - 1 + BATCH), in_place("e", 2)],
            "events.jsonl": [in_place("e", 3)],
        },
        # Contradictory files are last, by name.
        {
            "events-4.jsonl": [in_place("e", 0)],
            "events-3.jsonl": [in_place("e", 1)],
            "events-1.jsonl": [in_place("a", 0, "b"), in_place("a", 1)],
            "events-2.jsonl": [in_place("b", 0, "a"), in_place("b", 1)],
        },
        {"events-1.jsonl": [JOB], "events-2.jsonl": [b"[]"], "events.jsonl": [b'{"run":{"facets":null}}']},
    ],
)
def test_the_order_of_files_is_derived_from_their_content(tmp_path: Path, files: dict[str, list[bytes]]) -> None:
    for name, events in files.items():
        (tmp_path / name).write_bytes(b"".join(event + b"\n" for event in events))
    target = Target(at_once=10)

    assert shipped(tmp_path, target).is_whole
    assert target.got == [event for events in files.values() for event in events]


def test_a_second_shipment_sends_only_new_events_even_if_the_file_was_rotated(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"a\nb\n")
    shipped(tmp_path, Target())
    with (tmp_path / "events.jsonl").open("ab") as file:
        file.write(b"c\n")
    (tmp_path / "events.jsonl").rename(tmp_path / "events-20260522T100000Z-0001.jsonl")
    (tmp_path / "events.jsonl").write_bytes(b"d\n")
    target = Target()

    shipped(tmp_path, target)

    assert target.got == [b"c", b"d"]


def test_files_with_the_same_beginning_are_distinguished_even_after_rotation(tmp_path: Path) -> None:
    (tmp_path / "events-20260522T100000Z-0001.jsonl").write_bytes(b"a\nb\n")
    (tmp_path / "events.jsonl").write_bytes(b"a\nc\n")
    first, second = Target(), Target()
    shipped(tmp_path, first)
    with (tmp_path / "events.jsonl").open("ab") as file:
        file.write(b"d\n")
    (tmp_path / "events.jsonl").rename(tmp_path / "events-20260522T110000Z-0001.jsonl")
    (tmp_path / "events.jsonl").write_bytes(b"a\ne\n")

    shipped(tmp_path, second)

    assert (first.got, second.got) == ([b"a", b"b", b"a", b"c"], [b"d", b"a", b"e"])


def test_a_truncated_and_rewritten_file_is_sent_from_its_beginning(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"a\nb\nc\n")
    shipped(tmp_path, Target())
    (tmp_path / "events.jsonl").write_bytes(b"a\nX\nY\nZ\n")  # by `copytruncate`, and with the same first line
    target = Target(at_once=4)

    shipped(tmp_path, target)

    assert target.got == [b"a", b"X", b"Y", b"Z"]


def test_a_copy_of_a_sent_file_is_not_sent_again(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"a\nb\n")
    shipped(tmp_path, Target())
    (tmp_path / "events-copy.jsonl").write_bytes(b"a\nb\n")
    target = Target()

    shipped(tmp_path, target)

    assert target.got == []


def test_a_line_that_is_still_being_written_waits_for_its_end(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"a\nb")
    first = shipped(tmp_path, Target())
    (tmp_path / "events.jsonl").write_bytes(b"a\nbc\n")
    target = Target()

    second = shipped(tmp_path, target)

    assert (first.arrived, first.unfinished, first.is_whole) == (1, 1, False)
    assert first.troubles == [Trouble("events.jsonl", 2, "unfinished", "the line is incomplete")]
    assert target.got == [b"bc"]
    assert (second.unfinished, second.is_whole) == (0, True)


def test_a_line_that_is_finished_soon_is_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    file.write_bytes(b"a\nb")
    target, waits = Target(), list[float]()

    def wait(seconds: float) -> None:
        waits.append(seconds)
        file.write_bytes(b"a\nbc\nd\n")

    options = ShipmentOptions(transport=target, verify=verify, wait=wait, rng=Random(0))  # noqa: S311
    report = ship(tmp_path, options)

    assert target.got == [b"a", b"bc", b"d"]
    assert (report.unfinished, report.is_whole, len(waits)) == (0, True, 1)
    assert waits[0] <= 1


@pytest.mark.parametrize("name", ["events.jsonl", "events-20260522T100000Z-0001.jsonl"])
def test_a_file_without_a_complete_line_is_reported(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b'{"cut off')

    report = shipped(tmp_path, Target())

    assert (report.arrived, report.unfinished, report.is_whole) == (0, 1, False)
    assert report.troubles == [Trouble(name, 1, "unfinished", "the line is incomplete")]


@pytest.mark.parametrize("content", [b"", b"\n", b"a\n\n", b"a\n  ", b"\n\n  \n"])
def test_blank_lines_are_not_unfinished_events(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "events.jsonl").write_bytes(content)

    assert shipped(tmp_path, Target()).is_whole


def test_a_cut_off_line_is_reported_each_time_and_for_each_file(tmp_path: Path) -> None:
    (tmp_path / "events-20260522T100000Z-0001.jsonl").write_bytes(b"a\nb\ncut")
    (tmp_path / "events.jsonl").write_bytes(b"d\nbad\ncut")
    unavailable: list[Outcome] = [Unavailable("no route")]

    reports = [
        shipped(tmp_path, Target()),
        shipped(tmp_path, Target(unavailable, unavailable, unavailable)),
        shipped(tmp_path, Target()),
    ]

    assert [(report.unfinished, report.is_whole) for report in reports] == [(2, False)] * 3
    assert [(trouble.file, trouble.line) for trouble in reports[0].troubles if trouble.verdict == "unfinished"] == [
        ("events-20260522T100000Z-0001.jsonl", 3),
        ("events.jsonl", 3),
    ]


def test_untrusted_events_are_held_back_and_refused_ones_are_reported(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"a\n\nbad\nb\nc\n")
    target = Target([Acknowledged(), Refused("422 run.runId: no UUID"), Acknowledged()])

    report = shipped(tmp_path, target)

    assert target.got == [b"a", b"c"]
    assert report.troubles == [
        Trouble("events.jsonl", 3, "tampered", "changed"),
        Trouble("events.jsonl", 4, "refused", "422 run.runId: no UUID"),
    ]
    assert (report.arrived, report.held_back, report.refused, report.is_whole) == (2, 1, 1, False)


def test_an_event_to_be_sent_again_is_sent_before_the_next(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"a\nb\nc\n")
    target = Target([Acknowledged(), Unavailable("busy"), Acknowledged()])

    report = shipped(tmp_path, target)

    assert target.got == [b"a", b"c", b"b", b"c"]
    assert (report.arrived, report.left) == (3, 0)


def test_a_service_that_answers_before_the_last_try_gets_all_and_is_waited_for_as_long_as_it_asks(
    tmp_path: Path,
) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"a\nb\n")
    asleep: list[Outcome] = [Unavailable("asleep", after_s=7.0)]
    waits: list[float] = []
    target = Target(asleep, asleep, [Acknowledged()], asleep, asleep)
    options = ShipmentOptions(transport=target, verify=verify, wait=waits.append, rng=Random(0), tries=3)  # noqa: S311

    report = ship(tmp_path, options)

    assert (report.arrived, report.left, report.is_whole) == (2, 0, True)
    assert (target.got, waits) == ([b"a", b"b"], [7.0] * 4)


def test_if_the_service_stays_unavailable_the_rest_is_left_for_the_next_shipment(tmp_path: Path) -> None:
    (tmp_path / "events-20260522T100000Z-0001.jsonl").write_bytes(b"a\nb\nc\nd\n")
    (tmp_path / "events.jsonl").write_bytes(b"e\n")
    unavailable: list[Outcome] = [Unavailable("no route")]
    target = Target([Acknowledged()], unavailable, unavailable, unavailable)

    first = shipped(tmp_path, target)
    second = shipped(tmp_path, target)

    assert (first.arrived, first.left, first.why) == (1, 4, "no route")
    assert (second.arrived, target.got) == (4, [b"a", b"b", b"c", b"d", b"e"])


def test_events_that_did_not_arrive_are_reported_again_until_they_have(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"a\nbad\nb\n")
    shipped(tmp_path, Target([Acknowledged(), Refused("422 run.runId: no UUID")]))
    (tmp_path / "events.jsonl").rename(tmp_path / "events-20260522T100000Z-0001.jsonl")

    second, third = shipped(tmp_path, Target()), shipped(tmp_path, Target())
    from_start = shipped(tmp_path, Target(), from_start=True)
    afterwards = shipped(tmp_path, Target())

    assert second == third
    assert (second.arrived, second.held_back, second.refused, second.is_whole) == (0, 0, 0, False)
    assert (second.held_back_before, second.refused_before) == (1, 1)
    assert second.troubles == [
        Trouble("events-20260522T100000Z-0001.jsonl", 2, "tampered", "changed", is_from_before=True),
        Trouble("events-20260522T100000Z-0001.jsonl", 3, "refused", "422 run.runId: no UUID", is_from_before=True),
    ]
    assert (from_start.arrived, from_start.held_back, from_start.refused_before, from_start.held_back_before) == (
        2,
        1,
        0,
        0,
    )
    assert (afterwards.held_back_before, afterwards.refused_before) == (1, 0)


def test_a_line_that_did_not_arrive_and_was_removed_is_no_longer_counted(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"a\nb\n")
    shipped(tmp_path, Target([Acknowledged(), Refused("422")]))
    (tmp_path / "events.jsonl").write_bytes(b"a\n")

    assert shipped(tmp_path, Target()).is_whole


def test_an_event_that_did_not_arrive_is_not_counted_twice_because_of_a_copy(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"a\nb\n")
    (tmp_path / "events-copy.jsonl").write_bytes(b"a\nb\n")
    first = shipped(tmp_path, Target([Acknowledged(), Refused("422")]))

    second = shipped(tmp_path, Target())

    assert (first.refused, first.refused_before) == (1, 0)
    assert (second.refused, second.refused_before) == (0, 1)


def test_an_event_held_back_after_the_service_became_unavailable_is_counted_once(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"bad\na\nb\nbad\n")
    unavailable: list[Outcome] = [Unavailable("no route")]
    shipped(tmp_path, Target([Acknowledged()], unavailable, unavailable, unavailable))

    second = shipped(tmp_path, Target())

    assert (second.arrived, second.held_back_before, second.held_back) == (1, 1, 1)


def test_all_events_that_did_not_arrive_are_counted_and_the_first_are_listed(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"bad\n" * 300)
    shipped(tmp_path, Target())

    second = shipped(tmp_path, Target())

    assert second.held_back_before == 300
    assert [trouble.line for trouble in second.troubles] == [*range(1, 101)]


NOT_ARRIVED = ("held_back", "refused", "held_back_before", "refused_before", "left", "unfinished", "unreadable")


@pytest.mark.parametrize("count", NOT_ARRIVED)
def test_a_shipment_is_whole_only_if_nothing_is_left_for_any_reason(count: str) -> None:
    assert Shipped(arrived=1).is_whole
    assert not Shipped(arrived=1, **{count: 1}).is_whole  # type: ignore[arg-type]


def test_from_start_sends_everything_again(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"a\n")
    shipped(tmp_path, Target())
    target = Target()

    shipped(tmp_path, target, from_start=True)

    assert target.got == [b"a"]


def test_damaged_marks_are_refused(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"a\n")
    shipped(tmp_path, Target())
    next(tmp_path.glob(".shipped-*.json")).write_text("{")

    with pytest.raises(SetupError, match="is damaged: remove it"):
        shipped(tmp_path, Target())


@given(st.lists(st.sampled_from(["write", "ship", "away"]), max_size=30), st.integers(1, 4))
def test_with_any_interruptions_every_event_arrives_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], at_once: int
) -> None:
    folder = tmp_path_factory.mktemp("lineage")
    writer = FileTransport(FileConfig(path=folder / "events.jsonl", rotation_size_mb=20 / (1 << 20)))
    written: list[bytes] = []
    arrived: list[bytes] = []
    for step in [*steps, "ship"]:
        if step == "write":
            written.append(b"event %d" % len(written))
            assert writer.send(written[-1]) == Acknowledged()
        else:
            unavailable: list[Outcome] = [Unavailable("no route")]
            outcomes: list[list[Outcome]] = [[Acknowledged()], *[unavailable] * 3] if step == "away" else []
            target = Target(*outcomes, at_once=at_once)
            shipped(folder, target)
            arrived += target.got
    writer.close()

    assert arrived == written
