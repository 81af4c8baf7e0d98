"""The store, independent of the database: the log of raw bytes, and the merged facts beside it.

Events reach the log in transactions that are on disk before they are acknowledged. Their facts follow (`backlog`);
those lost in a crash are folded again from the log by the next process that opens or writes the database. Reads through
the store never see the difference, because they catch up first.

Facts are derived entry by entry in log order, since the meaning of an edit depends on deletions before it. So each
process takes in the whole log up to its own entries, including what others wrote.
"""

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import ClassVar, Final, NamedTuple

from headwater.errors import InvalidEventError, SetupError, UnavailableError
from headwater.model.edits import DELETED, FactsInOrder
from headwater.model.facts import Fact, Target
from headwater.model.nodes import Arrival
from headwater.model.words import so_many
from headwater.signing.erasure import is_left_of
from headwater.signing.leaf import SALT_BYTES, Seal, seal
from headwater.signing.merkle import EMPTY, Frontier, Growth
from headwater.store.backlog import FactBacklog, ShouldYield
from headwater.store.backoff import Backoff
from headwater.store.bulk import Insert, select_in
from headwater.store.connection import Connection, Row
from headwater.store.entries import Entry, Stored, found, parsed
from headwater.store.log_reader import LOG_SIZE, WITHOUT_FOLDED
from headwater.store.merged import FACT_TABLES
from headwater.store.opened import FACTS_AGAIN_AFTER_S, FACTS_WITHIN_S, READS_WITHIN_S, OpenStore
from headwater.store.packing import packed, unpacked
from headwater.store.segments import Segments
from headwater.store.tables import target_of_key
from headwater.store.tree import ReadTree, grown, stored_frontier

log = logging.getLogger(__name__)

_LOG: Final = Insert("log", 9)
_MOST_BEHIND: Final = 512
"""Back-pressure: with so many events in the backlog, more are taken only once their facts are stored."""
_SEALED_TOGETHER: Final = 512
"""Entries per transaction when the tree is built for a log that had none."""
_READ_TOGETHER: Final = 256
"""Entries of other processes taken in per step."""
_RESTART: Final = "was it restored, or did a fail-over lose the last ones? Restart the service"
_LOG_EVERY_S: Final = 5.0
"""How often progress is logged: refolding a log, as for a new schema, takes a second per thousand entries or so."""

_WRITES_WITHIN_S: Final = 12.0
"""Database time-out for writes: longer than the database lets a writer wait for another."""

News = Callable[[Sequence[Stored]], None]


class WriterHandover(NamedTuple):
    """How another process opens the store as its writer."""

    where: Path | str
    segments: Path | None
    log_key: str | None
    lock: int | None
    """The file descriptor that holds the lock, to be inherited."""


class Known(NamedTuple):
    """How far a process knows a log: a prefix of it."""

    size: int
    deleted: frozenset[Target]
    """What was deleted by then, which decides what later entries mean."""
    head: Frontier
    """The head of the tree over these entries."""


class Store(OpenStore):
    """Keeps events and facts in a database.

    `add`, `follow` and `catch_up` may be called from any thread, the reading methods from one thread at a time.
    """

    has_tree: ClassVar[bool] = True
    growth: Growth
    """The last growth of the tree over the log; for the thread that called `add`."""

    def __init__(
        self, writer: Connection, reader: Connection, segments: Segments | None = None, known: Known | None = None
    ) -> None:
        """Open the store; with `known`, entries beyond that prefix are reported as news, without it none are."""
        super().__init__(reader, segments)
        self._writer = writer
        self._writing = threading.RLock()
        self._catching_up = Backoff(self._catch_up_soon, FACTS_AGAIN_AFTER_S)
        self._is_handed_over = False
        self._unreported: list[Stored] = []
        self._news: News | None = None if known is None else self._unreported.extend
        size, deleted, head = known or (0, (), EMPTY)
        self._taken_in, self._in_order, self._head = size, FactsInOrder(deleted), head
        self._reported, self._reported_head = size, head
        """The number of entries reported, by `add` or as news, or present at the start; and the head of their tree."""
        if fault := self._is_another_log():
            raise SetupError(fault)
        self._begin(None if known is None else size)

    def _begin(self, known: int | None = None) -> None:
        """Read the state of the database, and take in log entries whose facts are not stored.

        `known` is the number of entries this process took in before: others may have stored the facts of later ones,
        which still have to be reported here.
        """
        sql = "SELECT events, target FROM folded LEFT JOIN edit ON what = ? AND value = ?"
        rows = list(self._writer.rows(sql, (DELETED, b"true")))
        if not rows:
            raise UnavailableError(WITHOUT_FOLDED)
        folded: int = rows[0][0]
        if known is None or folded <= known:
            self._taken_in = folded
            self._in_order = FactsInOrder(target_of_key(key) for _, key in rows if key is not None)
        self._backlog = FactBacklog(self._writer)  # assigned here, as `wait_for_facts` looks at it
        self._seal_unsealed()
        self._head = self._head_of(self._taken_in)
        self._take_in(self._log_size())
        self.catch_up()

    def _is_another_log(self) -> str | None:
        """Why the log does not start with the entries reported so far, or None if it does."""
        if self._log_size() < self._reported:
            return f"the database has fewer events than before: {_RESTART}"
        if self._head_of(self._reported_head.size) != self._reported_head:
            return f"the database has different events than before: {_RESTART}"
        return None

    def _head_of(self, size: int) -> Frontier:
        """The stored head of the tree over the log's first `size` entries."""
        return ReadTree(self._writer.rows).frontier(size) if self.has_tree and size else EMPTY

    @property
    def fault(self) -> str | None:
        """Why the database cannot be written to now, or None if no fault is known."""
        return self._catching_up.fault if self._is_behind else None

    @property
    def _is_behind(self) -> bool:
        """Whether facts of reported entries are not stored, or have to be derived again."""
        return self._taken_in < self._reported or self._backlog.are_due(1)

    def signs_with(self, log_key: str) -> None:
        """Claim the log for this signing key while the store is open.

        Raises:
            SetupError: another process that has the store open signs with another key.
        """

    def watch(self, news: News, wake: Callable[[], None]) -> None:
        """Call `news` with what other processes stored, in log order, within calls of `add` or `follow`.

        `wake` is called from any thread when `follow` should be called. From now on, connections have short time-outs.
        """
        self.connection.answers_within(READS_WITHIN_S)
        self._writer.answers_within(_WRITES_WITHIN_S)
        self._news = news
        if self._unreported:
            news(self._unreported)
            self._unreported = []

    def hand_over_writing(self) -> WriterHandover:
        """Close the connections, so that another process can write; keep the lock.

        Readers and connections can still be opened. Close the store once the other process has ended.
        """
        self._catch_up_if_possible()
        self._is_handed_over = True
        super().close()
        self._writer.close()
        return self._handover()

    def _handover(self) -> WriterHandover:
        raise NotImplementedError

    @property
    def known(self) -> Known:
        """What this process knows of the log."""
        return Known(self._taken_in, self._in_order.deleted, self.head)

    @property
    def head(self) -> Frontier:
        """The head of the tree over the entries that this process knows."""
        return self._head

    @property
    def facts_stored(self) -> int:
        """The number of log entries whose facts are stored, as far as this process took them in."""
        return self._backlog.first(default=self._taken_in)

    def close(self) -> None:
        """Store the backlog, then close the connections."""
        self._news = None
        if not self._is_handed_over:
            self._catch_up_if_possible()  # the rest is folded again at the next start
            super().close()
            self._writer.close()

    def add(self, entries: Sequence[Entry]) -> list[Stored]:
        """Store the events in one transaction, which is on disk when this returns; their facts follow.

        An event whose exact bytes were stored before, or come earlier in `entries`, changes nothing.

        Raises:
            UnavailableError: the disk is full, or the database does not answer; nothing is stored, as far as is known,
                and the same events may be added again.
            InvalidEventError: the database rejects the content of an event; none is stored.
        """
        with self._writing:
            self._be_ready()
            if len(self._backlog) >= _MOST_BEHIND:
                self.catch_up()
            with self._backlog.transaction(is_acknowledged=True):
                indexes, new = self._append(entries)
                growth = self._grown(new)
            self.growth = growth
            self._take_in(max(indexes, default=-1) + 1, new)
            return [
                Stored(log_index, True, self._backlog[log_index])
                if new.pop(log_index, None)
                else Stored(log_index, False, ())
                for log_index in indexes
            ]

    def catch_up(self, should_yield: ShouldYield = lambda: False, at_least: int = 1) -> None:
        """Store the backlog of facts, if it has `at_least` so many events, or was partly stored before.

        Interrupted when `should_yield` says so; the next call continues.

        Raises:
            UnavailableError: the disk is full, or the database does not answer; the facts stay in the backlog.
        """
        with self._writing:
            is_done = True
            while is_done and self._backlog.are_due(at_least):
                self._be_ready()
                is_done = self._backlog.store(self._taken_in, should_yield)

    def follow(self) -> None:
        """Take in what other processes stored, and report it as news.

        Raises:
            UnavailableError: the database does not answer.
        """
        with self._writing:
            self._be_ready()
            self._take_in(self._log_size())

    def _be_ready(self) -> None:
        """Hook, called before anything is written."""

    def _log_size(self) -> int:
        [(size,)] = self._writer.rows(LOG_SIZE)
        return int(size)

    def _append(self, entries: Sequence[Entry]) -> tuple[list[int], dict[int, Entry]]:
        """Append what is new; returns the log index of each entry, and the new entries by log index."""
        digests = [entry.digest for entry in entries]
        sql = "SELECT NULL, coalesce(max(idx) + 1, 0) FROM log UNION ALL SELECT digest, idx FROM log WHERE digest IN"
        indexes: dict[bytes | None, int] = dict(select_in(self._writer, sql, digests))
        size = indexes.pop(None, 0)  # without entries nothing is queried
        self._backlog.numbers.assign_runs(entry.run_id for entry in entries if entry.run_id is not None)
        new: dict[int, Entry] = {}
        for entry, digest in zip(entries, digests, strict=True):
            if digest not in indexes:
                indexes[digest] = size + len(new)
                new[indexes[digest]] = entry
        _LOG.run(self._writer, [self._log_row(log_index, entry) for log_index, entry in new.items()])
        return [indexes[digest] for digest in digests], new

    def _grown(self, new: Mapping[int, Entry]) -> Growth:
        """Grow the tree by what was appended, and by what an older Headwater appended without a tree."""
        before = self.growth.frontier
        size = min(new, default=None)
        if not self.has_tree:
            return self.growth
        if before.size != size:
            before = stored_frontier(self._writer.execute)
            if size is not None and before.size > size:
                raise UnavailableError(
                    f"the log has {so_many(size, 'entry')}, but its tree {before.size:,}: the last ones were removed, "
                    "or it was restored in part; restore it whole from a backup"
                )
            if size is not None and before.size < size:
                before = grown(self._writer, before, self._new_seals(range(before.size, size))).frontier
        return grown(self._writer, before, [entry.seal or _sealed(entry) for entry in new.values()])

    def _seal_unsealed(self) -> None:
        """Make leaves for entries that were stored before there was a tree."""
        size = self._log_size() if self.has_tree else 0  # read first, as another service may go on storing
        self.growth = Growth(stored_frontier(self._writer.rows), [])
        if self.growth.size < size:
            log.warning("building the log's tree, which is done once", extra={"entries": size - self.growth.size})
        while self.growth.size < size:
            with self._backlog.transaction(is_acknowledged=False):
                before = stored_frontier(self._writer.execute)  # another service may do the same
                indexes = range(before.size, max(before.size, min(before.size + _SEALED_TOGETHER, size)))
                growth = grown(self._writer, before, self._new_seals(indexes))
            self.growth = growth

    def _new_seals(self, indexes: range) -> list[Seal]:
        sql = (
            "SELECT idx, digest, event_type, received_us, verdict, key_id, packed FROM log "
            "WHERE idx >= ? AND idx < ? ORDER BY idx"
        )
        rows = self._writer.execute(sql, (indexes.start, indexes.stop))
        if len(rows) != len(indexes):
            raise UnavailableError(
                f"the log lacks an entry from {indexes.start} on, but has later ones: was it restored in part?"
            )
        return [
            seal(self._unpacked(log_index, digest, frame), found(*members), secrets.token_bytes(SALT_BYTES))
            for log_index, digest, *members, frame in rows
        ]

    def _log_row(self, log_index: int, entry: Entry) -> Row:
        return (
            log_index,
            entry.digest,
            entry.received_us,
            entry.event_us,
            entry.event_type,
            None if entry.run_id is None else self._backlog.numbers.run(entry.run_id),
            entry.verdict,
            entry.key_id,
            entry.frame,
        )

    def replace(self, log_index: int, raw: bytes, salt: bytes, entry: Entry) -> int:
        """Replace an event's bytes, append the entry that records it, and derive all facts from the log again.

        Returns the log index of that entry. The old bytes are overwritten if the database can do that.

        Raises:
            InvalidEventError: these exact bytes are in the log already.
            UnavailableError: the disk is full, or the database does not answer.
        """
        with self._writing:
            self.catch_up()
            self._writer.forget_freed()
            self._restore_raw(log_index)
            with self._backlog.transaction(is_acknowledged=True):
                (recorded_at,), new = self._append([entry])
                self._grown(new)
                digest = sha256(raw).digest()
                self._writer.execute(
                    "UPDATE log SET packed = ?, digest = ? WHERE idx = ?", (packed(raw), digest, log_index)
                )
                self._writer.execute("UPDATE leaf SET salt = ? WHERE idx = ?", (salt, log_index))
                for table in sorted(FACT_TABLES):
                    self._writer.execute(f"DELETE FROM {table}")  # noqa: S608  names of ours
                self._writer.execute("UPDATE folded SET events = 0")
                if self.known_segments is not None:
                    self.known_segments.sweep()
                self._rewrite_segment(log_index)
            self._writer.forget_freed()  # before the facts are derived again, which takes minutes
            self.content.cache_clear()
            self._begin()
            return recorded_at

    def _restore_raw(self, log_index: int) -> None:
        """Restore an event's bytes from its segment to its row, so that a kill in between loses nothing."""
        [(frame,)] = self._writer.rows("SELECT packed FROM log WHERE idx = ?", (log_index,))
        if not frame:
            with self._backlog.transaction(is_acknowledged=True):
                again = packed(self.segments.raw(log_index))
                self._writer.execute("UPDATE log SET packed = ? WHERE idx = ?", (again, log_index))

    def _rewrite_segment(self, log_index: int) -> None:
        """Rewrite the segment with that event, if there is one, from the log."""
        for indexes in self.known_segments.ranges() if self.known_segments is not None else ():
            if log_index in indexes and self.known_segments is not None:
                sql = "SELECT idx, digest, packed FROM log WHERE idx >= ? AND idx < ? ORDER BY idx"
                rows = self._writer.execute(sql, (indexes.start, indexes.stop))
                self.known_segments.write(indexes.start, [self._unpacked(*row) for row in rows])

    def empty(self, indexes: range) -> None:
        """As in any open store."""
        segments = self.segments
        bounds = (indexes.start, indexes.stop)
        with self._writing:
            self._be_ready()
            for log_index, digest in self._writer.rows(
                "SELECT idx, digest FROM log WHERE idx >= ? AND idx < ?", bounds
            ):
                if sha256(segments.raw(log_index)).digest() != digest:
                    self._undo_erasure(log_index)
            with self._backlog.transaction(is_acknowledged=True):
                sql = "UPDATE log SET packed = ? WHERE idx >= ? AND idx < ? AND packed <> ?"
                self._writer.execute(sql, (b"", *bounds, b""))

    def _undo_erasure(self, log_index: int) -> None:
        """Restore a segment from the log, if an erasure was interrupted before the log recorded it.

        Raises:
            UnavailableError: the segment differs for another reason.
        """
        [(digest, frame)] = self._writer.rows("SELECT digest, packed FROM log WHERE idx = ?", (log_index,))
        if not frame or not is_left_of(self.segments.raw(log_index), self._unpacked(log_index, digest, frame)):
            raise UnavailableError(f"event {log_index}: the segments in the folder belong to another log; move them")
        log.warning("an erasure was interrupted and has no effect: repeat it", extra={"log_index": log_index})
        self._rewrite_segment(log_index)

    def _take_in(self, until: int, own: Mapping[int, Entry] | None = None) -> None:
        """Derive the facts of log entries up to `until`; `own` are the last of these, already in memory."""
        others_until = min(own, default=until) if own else until
        logged_s = time.monotonic()
        while self._taken_in < others_until:
            self._take_in_others(range(self._taken_in, min(self._taken_in + _READ_TOGETHER, others_until)))
            if time.monotonic() - logged_s > _LOG_EVERY_S:
                log.warning("deriving facts from the log", extra={"entries": self._taken_in, "of": others_until})
                logged_s = time.monotonic()
        for log_index, entry in (own or {}).items():
            self._add_to_backlog(log_index, self._facts(entry, log_index))
        if own:
            self._head = self.growth.frontier
        self._note_reported()

    def _note_reported(self) -> None:
        if self._taken_in >= self._reported:
            self._reported, self._reported_head = self._taken_in, self._head

    def _facts(self, entry: Entry, log_index: int) -> tuple[Fact, ...]:
        if entry.edits is not None:
            return self._in_order.of_edits(entry.edits, log_index)
        return self._in_order.of_event(entry.facts, entry.named, entry.event_us, log_index)

    def _take_in_others(self, indexes: range) -> None:
        if len(self._backlog) >= _READ_TOGETHER:
            self._catch_up_if_possible()
        sql = (
            "SELECT hash, log.idx, digest, received_us, verdict, key_id, event_type, packed "
            "FROM log LEFT JOIN leaf ON leaf.idx = log.idx WHERE log.idx >= ? AND log.idx < ? ORDER BY log.idx"
        )
        rows = list(self._writer.rows(sql, (indexes.start, indexes.stop)))
        leaves = self._leaves_of([row[0] for row in rows], indexes)
        news: list[Stored] = []
        for leaf, (_, log_index, digest, *arrival, kind, frame) in zip(leaves, rows, strict=True):
            facts = self._facts_again(log_index, Arrival(*arrival), kind, self._unpacked(log_index, digest, frame))
            self._add_to_backlog(log_index, facts)
            self._head = self._head if leaf is None else Growth(self._head, [leaf]).frontier
            if log_index >= self._reported:
                news.append(Stored(log_index, True, facts))
        if self._taken_in < indexes.stop:
            raise UnavailableError(
                f"the log has no entry {self._taken_in}, but has later ones: was it restored in part?"
            )
        if news and self._news is not None:
            self._news(news)
        self._note_reported()

    def _leaves_of(self, found: Sequence[bytes | None], indexes: range) -> Sequence[bytes | None]:
        """The leaves of what others appended; made here for entries of an older Headwater, which makes none."""
        if None not in found or not self.has_tree:
            return found
        self._seal_unsealed()
        return ReadTree(self._writer.rows).tile(0, indexes.start, indexes.stop)

    def _facts_again(self, log_index: int, arrival: Arrival, kind: str, raw: bytes) -> tuple[Fact, ...]:
        try:
            return self._in_order.facts(parsed(kind, raw), log_index, arrival)
        except InvalidEventError as fault:
            log.error("an event accepted before is refused now", extra={"log_index": log_index, "fault": str(fault)})
        except MemoryError:
            raise
        except Exception:  # must not affect other entries, nor prevent the start
            log.exception("an event accepted before cannot be read now", extra={"log_index": log_index})
        return ()

    def _add_to_backlog(self, log_index: int, event_facts: tuple[Fact, ...]) -> None:
        self._backlog.add(log_index, event_facts)
        self._taken_in = log_index + 1

    def wait_for_facts(self) -> None:
        """As in `Bounded`."""
        if self._is_behind:
            self._catching_up.attempt()

    def _catch_up_soon(self) -> None:
        with self._own_turn():
            self.catch_up()

    def _catch_up_if_possible(self) -> None:
        with suppress(UnavailableError):
            self.catch_up()

    @contextmanager
    def _own_turn(self) -> Iterator[None]:
        """Take the lock for writing, with a short time-out.

        Raises:
            UnavailableError: another thread still holds it.
        """
        if not self._writing.acquire(timeout=FACTS_WITHIN_S):
            raise UnavailableError("the latest entries cannot be read yet; try again in a second")
        try:
            yield
        finally:
            self._writing.release()

    def _read_content_body(self, digest: bytes) -> bytes:
        return self._backlog.contents.get(digest) or super()._read_content_body(digest)


def _sealed(entry: Entry) -> Seal:
    members = found(entry.event_type, entry.received_us, entry.verdict, entry.key_id)
    return seal(unpacked(entry.frame), members, secrets.token_bytes(SALT_BYTES))
