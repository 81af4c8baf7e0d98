"""The file that the queue runs over into."""

import os
from pathlib import Path

from headwater.emit.overflow import Overflow, left_behind
from headwater.emit.spool import Outgoing


def test_who_looks_in_after_it_was_closed_finds_nothing_and_closes_no_file_of_others(tmp_path: Path) -> None:
    overflow = Overflow(tmp_path / "overflow", 1 << 20, wake=lambda: None, lose=lambda: None)
    overflow.append(Outgoing(1.0, b"{}"))
    overflow.close()
    with (tmp_path / "of others").open("wb") as others:  # it has the number that the overflow's had
        taken = list(overflow.take())

        assert os.fstat(others.fileno()).st_size == 0
    assert taken == []
    assert list(left_behind(tmp_path / "overflow")) == [[Outgoing(1.0, b"{}")]]
