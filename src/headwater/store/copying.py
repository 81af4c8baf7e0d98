"""Copy a store: the log entry by entry, from which the facts follow again, and then compare the two."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

import orjson

from headwater.errors import SetupError, UnavailableError
from headwater.signing.leaf import Seal
from headwater.store.entries import WITHOUT_RUN, Entry, LoggedEvent, entry_again
from headwater.store.reader import Reader
from headwater.store.store import Store

_TOGETHER: Final = 128
"""Entries of one transaction."""
_ROUNDS: Final = 3
"""How often the end is looked for, where others go on writing."""

Advance = Callable[[int, int], None]
"""Told how many of how many entries are through."""


class Digest(NamedTuple):
    """The content of a store, summarised; equal for stores of equal content."""

    entries: int
    log: str
    """SHA-256 over the log's raw bytes in their order, each with what was noted of it; hexadecimal."""
    tree: str
    """The head of the tree over the log, which copying keeps; hexadecimal."""
    facts: int
    of_facts: str
    """The sum of the SHA-256 of each merged fact, modulo 2^256, since facts have no order; hexadecimal."""


class Copied(NamedTuple):
    """The result of copying."""

    copied: int
    """Entries that were not there before."""
    source: Digest
    target: Digest
    misplaced: Sequence[int]
    """The entries that FROM has under another time or run than their bytes say, of those that were copied now."""

    @property
    def is_same(self) -> bool:
        """Whether both stores have the same content."""
        return self.source == self.target


def copy(source: Store, target: Store, advance: Advance) -> Copied:
    """Append to `target` what it lacks of `source`, then compare the two, bytes and facts.

    Raises:
        SetupError: `target` holds something else than the beginning of `source`, one of them is written to, or `source`
            does not have what it took.
        UnavailableError: a database does not answer; the same call goes on from there.
    """
    before, misplaced = target.size(), list[int]()
    _check_prefix(source, target, before)
    for _ in range(_ROUNDS):
        source.follow()
        misplaced += _append(source, target, advance)
        digests = digest(source), digest(target)
        if source.size() == digests[0].entries == digests[1].entries:
            return Copied(digests[1].entries - before, *digests, misplaced)
    raise SetupError("FROM is being written to: stop the services that use it, and copy again for the rest")


def digest(store: Reader) -> Digest:
    """Summarise a store, read once from beginning to end."""
    log, entries, facts, of_facts = hashlib.sha256(), 0, 0, 0
    for each in store.logged(range(store.size())):
        log.update(_log_row_json(each))
        log.update(each.raw)
        entries += 1
    for fact in store.facts():
        of_facts += int.from_bytes(hashlib.sha256(repr(fact).encode()).digest())
        facts += 1
    root = store.tree.frontier(entries).root.hex()
    return Digest(entries, log.hexdigest(), root, facts, f"{of_facts % 2**256:064x}")


def _check_prefix(source: Store, target: Store, size: int) -> None:
    there, here = source.logged(range(min(size, source.size()))), target.logged(range(size))
    for log_index in range(size):
        if next(there, None) != next(here):
            raise SetupError(f"TO differs from FROM from log entry {log_index} on; name an empty one")
    if source.tree.frontier(size) != target.tree.frontier(size):
        raise SetupError("TO has FROM's entries in a different tree, with other salts; name an empty one")


def _append(source: Store, target: Store, advance: Advance) -> Iterator[int]:
    """Append what is lacking; gives the entries that are misplaced."""
    first, size = target.size(), source.size()
    for part in _parts(source.logged(range(first, size))):
        indexes = range(first, first + len(part))
        seals, runs = source.tree.seals(indexes), source.runs_at(indexes)
        for log_index, each, sealed in zip(indexes, part, seals, strict=True):
            if not each.is_intact_at(log_index, sealed):
                raise SetupError(
                    f"FROM lacks log entry {log_index}, or its bytes are not those received: it was damaged or "
                    "edited; restore it from a backup"
                )
        first = indexes.stop
        again = [_again(each, sealed, runs.get(each.log_index)) for each, sealed in zip(part, seals, strict=True)]
        try:
            stored = target.add(again)
        except UnavailableError as fault:
            raise UnavailableError(f"TO: {fault}") from fault
        if [each.log_index for each in stored] != [each.log_index for each in part]:
            raise SetupError("TO is being written to: stop the services that use it, and start over with an empty one")
        for each, entry in zip(part, again, strict=True):
            if (entry.event_us, entry.run_id) != (each.event_us, runs.get(each.log_index)):
                yield each.log_index
        advance(indexes.stop, size)


def _again(logged: LoggedEvent, sealed: Seal, run_id: str | None) -> Entry:
    entry = entry_again(logged, sealed)
    if entry.run_id is None and entry.event_type not in WITHOUT_RUN:  # it would be refused today, and says nothing
        return entry._replace(run_id=run_id)
    return entry


def _parts(entries: Iterator[LoggedEvent]) -> Iterator[list[LoggedEvent]]:
    while part := list(islice(entries, _TOGETHER)):
        yield part


def _log_row_json(each: LoggedEvent) -> bytes:
    members = (each.event_type, each.event_us, each.received_us, each.verdict, each.key_id, len(each.raw))
    return orjson.dumps(members)
