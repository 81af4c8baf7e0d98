import json
import os
import stat
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from headwater.emit.config import FileConfig
from headwater.emit.file import FileTransport
from headwater.emit.transport import Acknowledged, Refused, Unavailable

EIGHTY_BYTES_MB = 80 / (1 << 20)


def event(n: int) -> bytes:
    return b'{"n":%06d}' % n  # 12 bytes, 13 with its line end


def numbers_in(file: Path) -> list[int]:
    return [int(json.loads(line.replace(b":0", b":1"))["n"]) - 100_000 for line in file.read_bytes().splitlines()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "not" / "there" / "events.jsonl"


@pytest.fixture
def transport(path: Path) -> Iterator[FileTransport]:
    transport = FileTransport(FileConfig(path=path))
    yield transport
    transport.close()


def test_each_event_is_one_line_of_a_file_that_is_created_with_its_directories(
    transport: FileTransport, path: Path
) -> None:
    outcomes = [transport.send(event(n)) for n in range(3)]

    assert outcomes == [Acknowledged()] * 3
    assert path.read_bytes() == b'{"n":000000}\n{"n":000001}\n{"n":000002}\n'


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_the_file_has_mode_0640_with_any_umask(umask: int, transport: FileTransport, path: Path) -> None:
    before = os.umask(umask)
    try:
        transport.send(event(0))
    finally:
        os.umask(before)

    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("line_break", [b"\n", b"\r", b"\r\n"])
def test_an_event_with_a_line_break_is_refused(line_break: bytes, transport: FileTransport, path: Path) -> None:
    outcome = transport.send(b'{"n":' + line_break + b"1}")

    assert isinstance(outcome, Refused)
    assert not path.exists()


def test_a_full_file_is_renamed_and_no_name_is_used_twice(path: Path) -> None:
    noon = datetime(2013, 1, 1, 12, tzinfo=UTC)
    transport = FileTransport(FileConfig(path=path, rotation_size_mb=EIGHTY_BYTES_MB), now=lambda: noon)
    for n in range(20):
        transport.send(event(n))
    transport.close()

    files = sorted(path.parent.iterdir())
    assert [file.name for file in files] == [
        "events-20130101T120000Z-0001.jsonl",
        "events-20130101T120000Z-0002.jsonl",
        "events-20130101T120000Z-0003.jsonl",
        "events.jsonl",
    ]
    assert all(file.stat().st_size <= 80 for file in files)
    assert [n for file in files for n in numbers_in(file)] == list(range(20))


def test_an_event_larger_than_the_limit_of_a_file_is_written_into_its_own_file(path: Path) -> None:
    transport = FileTransport(FileConfig(path=path, rotation_size_mb=EIGHTY_BYTES_MB))
    large = b'{"padding":"%b"}' % (b"x" * 1000)
    for line in (event(0), large, event(1)):
        assert transport.send(line) == Acknowledged()
    transport.close()

    assert sorted(file.read_bytes() for file in path.parent.iterdir()) == sorted(
        [event(0) + b"\n", large + b"\n", event(1) + b"\n"]
    )


def test_a_line_that_a_crash_cut_off_is_ended_before_the_next_event(transport: FileTransport, path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(event(0) + b'\n{"n":00')

    transport.send(event(1))

    assert path.read_bytes() == event(0) + b'\n{"n":00\n' + event(1) + b"\n"


def test_a_file_that_was_moved_away_is_created_again(transport: FileTransport, path: Path) -> None:
    transport.send(event(0))
    path.rename(path.with_name("taken.jsonl"))

    transport.send(event(1))

    assert numbers_in(path) == [1]
    assert numbers_in(path.with_name("taken.jsonl")) == [0]


def test_several_writers_share_a_file_and_its_rotation_without_losing_or_mixing_a_line(path: Path) -> None:
    def write(first: int) -> None:
        transport = FileTransport(FileConfig(path=path, rotation_size_mb=50 * EIGHTY_BYTES_MB))
        for n in range(first, first + 500):
            assert transport.send(event(n)) == Acknowledged()
        transport.close()

    writers = [threading.Thread(target=write, args=(first,)) for first in (0, 1000, 2000, 3000)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    files = sorted(path.parent.iterdir())
    assert len(files) > 1
    assert all(file.stat().st_size <= 4000 for file in files)
    assert sorted(n for file in files for n in numbers_in(file)) == [
        first + n for first in (0, 1000, 2000, 3000) for n in range(500)
    ]


def test_a_full_device_is_unavailable() -> None:
    transport = FileTransport(FileConfig(path=Path("/dev/full")))

    outcome = transport.send(event(0))

    assert outcome == Unavailable("No space left on device: /dev/full")


def test_a_path_that_is_a_directory_is_unavailable(tmp_path: Path) -> None:
    assert isinstance(FileTransport(FileConfig(path=tmp_path)).send(event(0)), Unavailable)


def test_a_path_that_no_system_call_takes_is_unavailable(tmp_path: Path) -> None:
    transport = FileTransport(FileConfig(path=tmp_path / "a\0b"))

    assert transport.send(event(0)) == Unavailable(f"the path contains a null character: '{tmp_path}/a\\x00b'")
    assert not transport.sync()
