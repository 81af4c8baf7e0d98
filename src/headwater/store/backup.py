"""Back up a SQLite store as of one moment, while a service goes on writing to it."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import chain, repeat
from pathlib import Path
from typing import Final, NamedTuple

from headwater.errors import SetupError, UnavailableError
from headwater.model.words import so_many
from headwater.signing.merkle import EMPTY, Growth, leaf_hash
from headwater.store.opening import WHERE_ONE_IS, open_reader
from headwater.store.reader import Reader
from headwater.store.sqlite import is_sqlite_store, segments_of
from headwater.store.tree import ReadTree, new_tile_roots

_PAGES: Final = 256
"""Pages copied per step: a megabyte."""
_READ_EVERY: Final = 1_000
_DAMAGED: Final = "the database was damaged or edited; keep earlier backups"

Advance = Callable[[str, int, int], None]
"""Reports progress: the step, how much of it is done, and of how much."""


class BackedUp(NamedTuple):
    """What a backup contains, as read back from it."""

    entries: int
    tree: str
    """The head of the tree over the log; hexadecimal."""
    size_bytes: int
    """Of the file and its segments."""


def back_up(source: Path, target: Path, advance: Advance) -> BackedUp:
    """Copy the file and its segments as they are now, and verify the copy; `target` exists only once that is done.

    Raises:
        SetupError: there is no such database, or it is of another version; `target` is there already, or its folder is
            not; or the copy is not whole. But for the last, nothing was written.
        UnavailableError: a segment is damaged, or the tree lacks a leaf.
        OSError: the disk is full, or may not be written to.
    """
    _check_source(source)
    _check_target(target)
    unfinished = target.with_name(f".{target.name}.unfinished")
    try:
        _copy_pages(source, unfinished, advance)
        _copy_segments(segments_of(source), segments_of(unfinished))
        content = _read_back(unfinished, advance)
        os.sync()
        if segments_of(unfinished).exists():
            os.replace(segments_of(unfinished), segments_of(target))
        os.replace(unfinished, target)
    except UnavailableError as fault:  # of a segment that the copy lacks, as the store does
        raise UnavailableError(str(fault).replace(f"{segments_of(unfinished)}", f"{segments_of(source)}")) from fault
    finally:
        _remove(unfinished)
    return content


def _check_source(source: Path) -> None:
    if not source.exists():
        raise SetupError(f"there is no database {source}: {WHERE_ONE_IS}")
    if not is_sqlite_store(source):
        raise SetupError(f"{source} is not a Headwater store: restore it, or set HEADWATER_HOME to where one is")
    open_reader(source, segments_of(source)).close()  # which refuses tables that cannot be read back


def _check_target(target: Path) -> None:
    for taken in (target, segments_of(target)):
        if taken.exists():
            raise SetupError(f"{taken} already exists: name a new file")
    if not target.parent.is_dir():
        raise SetupError(f"there is no folder {target.parent}: create it, or name a file in an existing one")


def _copy_pages(source: Path, target: Path, advance: Advance) -> None:
    _remove(target)  # of a backup that was killed
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))  # for its user only, like the store
    try:
        with closing(sqlite3.connect(source, isolation_level=None)) as here, closing(sqlite3.connect(target)) as there:
            here.execute("BEGIN")
            here.execute(
                "SELECT count(*) FROM sqlite_schema"
            ).fetchall()  # starts the snapshot: later writes are not seen
            here.backup(there, pages=_PAGES, progress=lambda _, left, all_: advance("copying pages", all_ - left, all_))
            [(state,)] = there.execute("PRAGMA quick_check(1)").fetchall()
    except sqlite3.Error as fault:
        raise SetupError(f"cannot copy {source} to {target.parent}: {fault}; is there room in both?") from fault
    if state != "ok":
        raise SetupError(f"{source} is damaged: {state}")


def _copy_segments(source: Path, target: Path) -> None:
    """Copy the current segments; events moved meanwhile are then in both the segment and the copied file."""
    if source.exists():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns(".*"))


def _read_back(path: Path, advance: Advance) -> BackedUp:
    with closing(open_reader(path, segments_of(path))) as reader:
        entries = reader.size()
        if (leaves := reader.tree.size()) != entries:
            raise SetupError(f"the log has {so_many(entries, 'entry')}, but its tree has {leaves}: {_DAMAGED}")
        for indexes in _in_parts(entries):
            _check_entries(reader, indexes)
            advance("reading back", indexes.stop, entries)
        root = _root(reader.tree, entries)
    files = [path, *segments_of(path).glob("*")]
    return BackedUp(entries, root.hex(), sum(file.stat().st_size for file in files))


def _check_entries(reader: Reader, indexes: range) -> None:
    """Check that these entries are there, each with the bytes that its leaf commits to."""
    seals = reader.tree.seals(indexes)
    entries = chain(reader.logged(indexes), repeat(None))  # the last may be missing
    for log_index, sealed, logged in zip(indexes, seals, entries, strict=False):
        if logged is None or not logged.is_intact_at(log_index, sealed):
            raise SetupError(f"the log lacks entry {log_index}, or its bytes are not those received: {_DAMAGED}")


def _in_parts(entries: int) -> Iterator[range]:
    return (range(begin, min(begin + _READ_EVERY, entries)) for begin in range(0, entries, _READ_EVERY))


def _root(tree: ReadTree, entries: int) -> bytes:
    """The tree's root, once each leaf is known to follow from its entry's row, and the tree from its leaves."""
    frontier = EMPTY
    for indexes in _in_parts(entries):
        begin, end = indexes.start, indexes.stop
        leaves = tree.tile(0, begin, end)
        if leaves != [leaf_hash(data) for data in tree.leaf_data(indexes)]:
            raise SetupError(f"a leaf of entries {begin} to {end} is not what the log says of its entry: {_DAMAGED}")
        growth = Growth(frontier, leaves)
        for level, index, node in new_tile_roots(growth):
            if tree.tile(level, index, index + 1) != [node]:
                raise SetupError(f"a node above entries {begin} to {end} does not follow from its leaves: {_DAMAGED}")
        frontier = growth.frontier
    if frontier != tree.frontier():
        raise SetupError(f"the head of the log's tree does not follow from its leaves: {_DAMAGED}")
    return frontier.root


def _remove(unfinished: Path) -> None:
    for each in (unfinished, *(unfinished.with_name(unfinished.name + end) for end in ("-wal", "-shm", "-journal"))):
        each.unlink(missing_ok=True)
    shutil.rmtree(segments_of(unfinished), ignore_errors=True)
