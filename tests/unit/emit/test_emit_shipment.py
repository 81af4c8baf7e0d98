"""ShipmentOptions files of events: order, going on where it stopped, and what is held back."""

import json
import os
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.emit.config import FileConfig
from headwater.emit.file import FileTransport
from headwater.emit.shipment import ShipmentOptions, Shipped, Trouble, ship
from headwater.emit.transport import Acknowledged, Outcome, Refused, Unavailable
from headwater.errors import SetupError
from headwater.signing.verify import Verification


class Target:
    """Takes events up to a number at once; what `script` says comes first, an outcome a call."""

    name = "target"
    target = "http://lineage.test/api/v1/lineage"

    def __init__(self, *script: Sequence[Outcome], at_once: int = 3) -> None:
        self.got: list[bytes] = []
        self._script = deque(script)
        self._at_once = at_once

    def send_batch(self, events: Sequence[bytes]) -> Sequence[Outcome]:
        outcomes = self._script.popleft() if self._script else [Acknowledged()] * self._at_once
        told = list(zip(events, outcomes, strict=False))
        self.got += [event for event, outcome in told if isinstance(outcome, Acknowledged)]
        return [outcome for _, outcome in told]

    def close(self) -> None:
        pass


def verify(event: bytes) -> Verification:
    return Verification("tampered", None, "changed") if b"bad" in event else Verification("ok", "node", None)


def shipped(folder: Path, target: Target, *, from_start: bool = False) -> Shipped:
    how = ShipmentOptions(transport=target, verify=verify, wait=lambda _: None, rng=Random(0), tries=3)  # noqa: S311
    return ship(folder, how, from_start=from_start)


def test_rotated_files_go_first_and_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"e\nf\n")
    (tmp_path / "events-20260522T100000Z-0002.jsonl").write_bytes(b"c\nd\n")
    (tmp_path / "events-20260522T100000Z-0001.jsonl").write_bytes(b"a\nb\n")
    target = Target()

    report = shipped(tmp_path, target)

    assert b"".join(target.got) == b"abcdef"
    assert (report.arrived, report.is_whole) == (6, True)


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("nowhere")])
def test_what_is_no_file_holds_up_no_events(make: Callable[[Path], None], tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"a\nb\n")
    make(tmp_path / "an-output-of-spark.jsonl")

    report = shipped(tmp_path, Target())

    assert (report.arrived, report.is_whole) == (2, True)


def in_place(epoch: str, sequence: int, *follows: str) -> bytes:
    """An event as far as it says where it stands."""
    told = {"epoch": epoch, "sequence": sequence, "follows": [{"epoch": each} for each in follows]}
    return json.dumps({"run": {"facets": {"headwater_chain": told}}}).encode()


JOB = b'{"job":{"name":"load"}}'


@pytest.mark.parametrize(
    "files",
    [
        # One process, and the clock was set back between.
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
        # What contradicts itself goes last, by name.
        {
            "events-4.jsonl": [in_place("e", 0)],
            "events-3.jsonl": [in_place("e", 1)],
            "events-1.jsonl": [in_place("a", 0, "b"), in_place("a", 1)],
            "events-2.jsonl": [in_place("b", 0, "a"), in_place("b", 1)],
        },
        {"events-1.jsonl": [JOB], "events-2.jsonl": [b"[]"], "events.jsonl": [b'{"run":{"facets":null}}']},
    ],
)
def test_what_files_hold_says_in_which_order_they_were_written(tmp_path: Path, files: dict[str, list[bytes]]) -> None:
    for name, events in files.items():
        (tmp_path / name).write_bytes(b"".join(event + b"\n" for event in events))
    target = Target(at_once=10)

    assert shipped(tmp_path, target).is_whole
    assert target.got == [event for events in files.values() for event in events]


def test_a_second_shipment_sends_only_what_came_since_also_where_the_file_was_rotated(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"a\nb\n")
    shipped(tmp_path, Target())
    with (tmp_path / "events.jsonl").open("ab") as file:
        file.write(b"c\n")
    (tmp_path / "events.jsonl").rename(tmp_path / "events-20260522T100000Z-0001.jsonl")
    (tmp_path / "events.jsonl").write_bytes(b"d\n")
    target = Target()

    shipped(tmp_path, target)

    assert target.got == [b"c", b"d"]


def test_files_that_begin_alike_are_told_apart_also_once_they_were_rotated(tmp_path: Path) -> None:
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


def test_a_file_that_was_cut_off_and_begun_anew_is_sent_from_its_beginning(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"a\nb\nc\n")
    shipped(tmp_path, Target())
    (tmp_path / "events.jsonl").write_bytes(b"a\nX\nY\nZ\n")  # by `copytruncate`, and its first line came again
    target = Target(at_once=4)

    shipped(tmp_path, target)

    assert target.got == [b"a", b"X", b"Y", b"Z"]


def test_a_copy_of_what_was_sent_is_not_sent_again(tmp_path: Path) -> None:
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


def test_a_line_that_is_finished_in_a_moment_is_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    file.write_bytes(b"a\nb")
    target, waits = Target(), list[float]()

    def wait(seconds: float) -> None:
        waits.append(seconds)
        file.write_bytes(b"a\nbc\nd\n")

    how = ShipmentOptions(transport=target, verify=verify, wait=wait, rng=Random(0))  # noqa: S311
    report = ship(tmp_path, how)

    assert target.got == [b"a", b"bc", b"d"]
    assert (report.unfinished, report.is_whole, len(waits)) == (0, True, 1)
    assert waits[0] <= 1


@pytest.mark.parametrize("name", ["events.jsonl", "events-20260522T100000Z-0001.jsonl"])
def test_a_file_of_which_no_line_is_whole_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b'{"cut off')

    report = shipped(tmp_path, Target())

    assert (report.arrived, report.unfinished, report.is_whole) == (0, 1, False)
    assert report.troubles == [Trouble(name, 1, "unfinished", "the line is incomplete")]


@pytest.mark.parametrize("content", [b"", b"\n", b"a\n\n", b"a\n  ", b"\n\n  \n"])
def test_blank_lines_are_no_unfinished_events(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "events.jsonl").write_bytes(content)

    assert shipped(tmp_path, Target()).is_whole


def test_a_line_that_was_cut_off_is_told_each_time_and_of_each_file(tmp_path: Path) -> None:
    (tmp_path / "events-20260522T100000Z-0001.jsonl").write_bytes(b"a\nb\ncut")
    (tmp_path / "events.jsonl").write_bytes(b"d\nbad\ncut")
    away: list[Outcome] = [Unavailable("no route")]

    reports = [shipped(tmp_path, Target()), shipped(tmp_path, Target(away, away, away)), shipped(tmp_path, Target())]

    assert [(report.unfinished, report.is_whole) for report in reports] == [(2, False)] * 3
    assert [(trouble.file, trouble.line) for trouble in reports[0].troubles if trouble.verdict == "unfinished"] == [
        ("events-20260522T100000Z-0001.jsonl", 3),
        ("events.jsonl", 3),
    ]


def test_what_no_trusted_key_signed_is_held_back_and_what_is_refused_is_told(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"a\n\nbad\nb\nc\n")
    target = Target([Acknowledged(), Refused("422 run.runId: no UUID"), Acknowledged()])

    report = shipped(tmp_path, target)

    assert target.got == [b"a", b"c"]
    assert report.troubles == [
        Trouble("events.jsonl", 3, "tampered", "changed"),
        Trouble("events.jsonl", 4, "refused", "422 run.runId: no UUID"),
    ]
    assert (report.arrived, report.held_back, report.refused, report.is_whole) == (2, 1, 1, False)


def test_what_must_be_sent_again_is_sent_before_what_is_behind_it(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"a\nb\nc\n")
    target = Target([Acknowledged(), Unavailable("busy"), Acknowledged()])

    report = shipped(tmp_path, target)

    assert target.got == [b"a", b"c", b"b", b"c"]
    assert (report.arrived, report.left) == (3, 0)


def test_a_service_that_stays_away_leaves_the_rest_for_the_next_shipment(tmp_path: Path) -> None:
    (tmp_path / "events-20260522T100000Z-0001.jsonl").write_bytes(b"a\nb\nc\nd\n")
    (tmp_path / "events.jsonl").write_bytes(b"e\n")
    away: list[Outcome] = [Unavailable("no route")]
    target = Target([Acknowledged()], away, away, away)

    first = shipped(tmp_path, target)
    second = shipped(tmp_path, target)

    assert (first.arrived, first.left, first.why) == (1, 4, "no route")
    assert (second.arrived, target.got) == (4, [b"a", b"b", b"c", b"d", b"e"])


def test_what_did_not_arrive_is_told_again_until_it_has(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"a\nbad\nb\n")
    shipped(tmp_path, Target([Acknowledged(), Refused("422 run.runId: no UUID")]))
    (tmp_path / "events.jsonl").rename(tmp_path / "events-20260522T100000Z-0001.jsonl")

    second, third = shipped(tmp_path, Target()), shipped(tmp_path, Target())
    again = shipped(tmp_path, Target(), from_start=True)
    after = shipped(tmp_path, Target())

    assert second == third
    assert (second.arrived, second.held_back, second.refused, second.is_whole) == (0, 0, 0, False)
    assert (second.held_back_before, second.refused_before) == (1, 1)
    assert second.troubles == [
        Trouble("events-20260522T100000Z-0001.jsonl", 2, "tampered", "changed", is_from_before=True),
        Trouble("events-20260522T100000Z-0001.jsonl", 3, "refused", "422 run.runId: no UUID", is_from_before=True),
    ]
    assert (again.arrived, again.held_back, again.refused_before, again.held_back_before) == (2, 1, 0, 0)
    assert (after.held_back_before, after.refused_before) == (1, 0)


def test_a_line_that_did_not_arrive_and_is_taken_out_counts_no_more(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"a\nb\n")
    shipped(tmp_path, Target([Acknowledged(), Refused("422")]))
    (tmp_path / "events.jsonl").write_bytes(b"a\n")

    assert shipped(tmp_path, Target()).is_whole


def test_a_copy_does_not_count_twice_what_did_not_arrive(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"a\nb\n")
    (tmp_path / "events-copy.jsonl").write_bytes(b"a\nb\n")
    first = shipped(tmp_path, Target([Acknowledged(), Refused("422")]))

    second = shipped(tmp_path, Target())

    assert (first.refused, first.refused_before) == (1, 0)
    assert (second.refused, second.refused_before) == (0, 1)


def test_what_was_held_back_behind_the_place_where_the_service_gave_out_counts_once(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"bad\na\nb\nbad\n")
    away: list[Outcome] = [Unavailable("no route")]
    shipped(tmp_path, Target([Acknowledged()], away, away, away))

    second = shipped(tmp_path, Target())

    assert (second.arrived, second.held_back_before, second.held_back) == (1, 1, 1)


def test_of_very_many_that_did_not_arrive_each_counts_and_the_first_are_named(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"bad\n" * 300)
    shipped(tmp_path, Target())

    second = shipped(tmp_path, Target())

    assert second.held_back_before == 300
    assert [trouble.line for trouble in second.troubles] == [*range(1, 101)]


def test_from_the_start_means_everything_again(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"a\n")
    shipped(tmp_path, Target())
    target = Target()

    shipped(tmp_path, target, from_start=True)

    assert target.got == [b"a"]


def test_damaged_marks_are_told_and_not_guessed(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"a\n")
    shipped(tmp_path, Target())
    next(tmp_path.glob(".shipped-*.json")).write_text("{")

    with pytest.raises(SetupError, match="is damaged: remove it"):
        shipped(tmp_path, Target())


@given(st.lists(st.sampled_from(["write", "ship", "away"]), max_size=30), st.integers(1, 4))
def test_whatever_happens_in_between_every_event_arrives_once_and_in_order(
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
            away: list[Outcome] = [Unavailable("no route")]
            target = Target(*([[Acknowledged()], away, away, away] if step == "away" else []), at_once=at_once)
            shipped(folder, target)
            arrived += target.got
    writer.close()

    assert arrived == written
