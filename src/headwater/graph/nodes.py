"""Node records: the chain of each node's events, and inconsistencies in it.

A record maps positions to links, which may arrive in any order; gaps and duplicates come out the same whatever the
order. What a node says of epochs that ended before (`follows`) gives their expected length.

Anybody can sign events in a node's name with a key of their own. So once a trusted key signed any event of a node, only
such events count, and those whose hashes they name (`previousHash`, `follows`), directly or over others.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

import orjson

from headwater.model.digest import as_text, hash_of
from headwater.model.facts import ChainLink
from headwater.model.merging import Seen
from headwater.model.nodes import ERASED_HASH

TroubleKind = Literal["fork", "broken", "hole", "replay", "erased", "silence", "dropped", "clock"]

_HASH: Final = 32
_TIME: Final = 8
"""Bytes of an event time, and of a time of arrival."""
_TIMES_INTERVAL: Final = 2
_LONGEST_INTERVAL_S: Final = 2**40
"""A longer one counts as this: whoever signs may announce any number, also 1e308, which times a million is infinite."""
_AHEAD_US: Final = 5_000_000
"""The most that a node's clock may be ahead of ours before it is reported."""


class Trouble(NamedTuple):
    """One inconsistency in a node's record; `first` and `last` are sequence numbers in the epoch, where it has any."""

    kind: TroubleKind
    epoch: str
    words: str
    at_us: int
    events: int = 0
    """The number of events missing, forked, replayed, dropped, or of which an erasure hides which of these they are."""
    first: int | None = None
    last: int | None = None


@dataclass(slots=True)
class Epoch:
    """The part of a node's record that one emitter wrote."""

    seen: Seen
    received: Seen
    ahead_us: int
    """The most that an event time was ahead of its arrival time; negative if it never was."""
    delay_us: int
    """The least time from event to arrival."""
    links: dict[int, bytes] = field(default_factory=dict)
    """By sequence: payload hash, previous hash, event time, event digest and arrival; if several came, the least."""
    again: dict[int, set[bytes]] = field(default_factory=dict)
    """Further events at the same sequence."""
    last: int = -1
    added: int = field(default=0, compare=False)
    """How many links were added, including those that it had."""
    statements: dict[tuple[int, bytes], bytes] = field(default_factory=dict)
    """By sequence and event digest, what `follows`, `dropped` and so on are made of, as in `ChainLink`."""
    interval_us: int | None = None
    """The longest silence that its heartbeats announce."""
    is_over: bool = False
    dropped: dict[tuple[int, bytes], Mapping[str, Any]] = field(default_factory=dict)
    follows: set[tuple[str, int, str]] = field(default_factory=set)
    unsigned: set[str] = field(default_factory=set)
    _broken: set[int] = field(default_factory=set, compare=False)
    _unchecked: set[int] = field(default_factory=set, compare=False)
    """Sequences to be rechecked when `broken` is read, since many events may come for one."""

    @property
    def broken(self) -> Collection[int]:
        """Sequences whose event names another predecessor than the one recorded."""
        while self._unchecked:
            self._check(self._unchecked.pop())
        return self._broken

    @property
    def events(self) -> int:
        """The number of its events; several at one sequence count once."""
        return len(self.links)

    @property
    def head_hash(self) -> str:
        """The payload hash of its last event; empty if that was erased."""
        payload_hash = self.links[self.last][:_HASH]
        return "" if payload_hash == ERASED_HASH else as_text(payload_hash)

    @property
    def heard_us(self) -> int:
        """When the last of its events first came: who sends an old one again in other bytes does not speak for it."""
        if not self.again:
            return self.received.last_us
        first_us: dict[tuple[int, bytes], int] = {}
        for sequence in self.links:
            for link in self.links_at(sequence):
                one, arrived_us = (sequence, _circumstances(link)), int.from_bytes(link[-_TIME:], signed=True)
                first_us[one] = min(first_us.get(one, arrived_us), arrived_us)
        return max(first_us.values())

    def payloads(self, sequence: int) -> set[bytes]:
        """The payload hashes signed for a sequence; empty if one was erased, as they are then unknown."""
        found = {link[:_HASH] for link in self.links_at(sequence)}
        return set() if ERASED_HASH in found else found

    def links_at(self, sequence: int) -> Iterator[bytes]:
        """The links at a sequence, as in `links`."""
        if sequence in self.links:
            yield self.links[sequence]
            yield from self.again.get(sequence, ())

    def add(self, fact: ChainLink) -> None:
        """Add one link; idempotent."""
        self.added += 1
        if not self.seen.first_us <= fact.event_us <= self.seen.last_us:
            self.seen = self.seen.union(Seen(fact.event_us, fact.event_us))
        if not self.received.first_us <= fact.received_us <= self.received.last_us:
            self.received = self.received.union(Seen(fact.received_us, fact.received_us))
        self.ahead_us = max(self.ahead_us, fact.event_us - fact.received_us)
        self.delay_us = min(self.delay_us, fact.received_us - fact.event_us)
        self.last = max(self.last, fact.sequence)
        key = (fact.sequence, fact.digest)
        self._take(fact.sequence, _link(fact))
        if fact.statements:
            self.statements[key] = fact.statements
            self._add_statements(key, orjson.loads(fact.statements))

    def _take(self, sequence: int, link: bytes) -> None:
        known = self.links.get(sequence)
        if known is None:
            self.links[sequence] = link
        elif known != link:
            self.links[sequence] = min(known, link)
            self.again.setdefault(sequence, set()).add(max(known, link))
        for each in (sequence, sequence + 1):
            if self.again.keys().isdisjoint((each - 1, each)):
                self._check(each)
            else:
                self._unchecked.add(each)

    def _check(self, sequence: int) -> None:
        """Recheck whether the event at a sequence names its predecessor; unknown where either is missing."""
        if not self.again:  # the common case: at most one link per sequence
            link, previous = self.links.get(sequence), self.links.get(sequence - 1) if sequence else bytes(_HASH)
            fits = link is None or previous is None or link[_HASH : 2 * _HASH] == previous[:_HASH]
            fits |= sequence > 0 and previous is not None and previous[:_HASH] == ERASED_HASH
            (self._broken.discard if fits else self._broken.add)(sequence)
            return
        before = self.payloads(sequence - 1) if sequence else {bytes(_HASH)}  # empty: unknown
        fits = not before or all(link[_HASH : 2 * _HASH] in before for link in self.links_at(sequence))
        (self._broken.discard if fits else self._broken.add)(sequence)

    def _add_statements(self, key: tuple[int, bytes], statements: Mapping[str, Any]) -> None:
        self.follows.update((epoch, sequence, payload) for epoch, sequence, payload in statements.get("follows", ()))
        self.unsigned.update(statements.get("unsigned", ()))
        if "dropped" in statements:
            self.dropped[key] = statements["dropped"]
        if (heartbeat := statements.get("heartbeat")) is not None:
            interval_s = max(0, min(heartbeat["intervalSeconds"], _LONGEST_INTERVAL_S))
            self.interval_us = max(self.interval_us or 0, int(interval_s * 1_000_000))
            self.is_over |= heartbeat["isLast"]


def _link(fact: ChainLink) -> bytes:
    event_time, arrival = (each.to_bytes(_TIME, signed=True) for each in (fact.event_us, fact.received_us))
    return fact.payload_hash + fact.previous_hash.rjust(_HASH, b"\0") + event_time + fact.digest + arrival


_Epochs = dict[str, Epoch]


class Nodes:
    """Every node's epochs, by node id and epoch."""

    def __init__(self) -> None:
        self._proved: dict[str, _Epochs] = {}
        self._unproved: dict[str, _Epochs] = {}
        self._completed: dict[str, dict[str, _Completed]] = {}

    @property
    def epochs(self) -> Mapping[str, Mapping[str, Epoch]]:
        """The epochs that count: of a node that ever proved to be itself, as in the module's docstring."""
        return {node: self.epochs_of(node) for node in {**self._unproved, **self._proved}}

    def is_proved(self, node: str) -> bool:
        """Whether a trusted key signed any event of the node."""
        return node in self._proved

    def unproved(self, node: str) -> int:
        """The number of events in the node's name that no trusted key signed, and no event names that one signed."""
        self.epochs_of(node)
        named = sum(each.named for each in self._completed.get(node, {}).values())
        epochs = self._unproved.get(node, {}).values()
        return sum(len(epoch.links) + sum(map(len, epoch.again.values())) for epoch in epochs) - named

    def add(self, fact: ChainLink) -> None:
        """Add one link."""
        _add((self._proved if fact.is_proved else self._unproved).setdefault(fact.node, {}), fact)

    def epochs_of(self, node: str) -> Mapping[str, Epoch]:
        """The epochs of one node, as in `epochs`; none if nothing is known of it."""
        proved, unproved = self._proved.get(node), self._unproved.get(node)
        if proved is None or unproved is None:
            return proved or unproved or {}
        return _with_named(node, proved, unproved, self._completed.setdefault(node, {}))


def _add(epochs: _Epochs, fact: ChainLink) -> None:
    epoch = epochs.get(fact.epoch)
    if epoch is None:
        seen, received = Seen(fact.event_us, fact.event_us), Seen(fact.received_us, fact.received_us)
        delay_us = fact.received_us - fact.event_us
        epoch = epochs[fact.epoch] = Epoch(seen, received, -delay_us, delay_us)
    epoch.add(fact)


class _Completed(NamedTuple):
    """An epoch with the unproved links that count in it; none if no unproved link does."""

    inputs: tuple[int, int, frozenset[tuple[int, bytes]]]
    """What it was made of: the number of links added, proved and unproved, and the heads that others name."""
    epoch: Epoch | None
    named: int
    """How many unproved links count in it."""


def _with_named(node: str, proved: _Epochs, unproved: _Epochs, known: dict[str, _Completed]) -> _Epochs:
    """The proved links, and the unproved ones whose hashes these name, directly or over others, at empty places.

    `known` is what was found before, and is updated: epochs that are over do not change any more.
    """
    named: dict[str, set[tuple[int, bytes]]] = {}
    for epoch in proved.values():
        _name_heads(epoch.follows, named)
    counted = {**proved}
    waiting = {*unproved}
    while waiting:
        name = waiting.pop()
        ours, heads = proved.get(name), frozenset(named.get(name, ()))
        inputs = 0 if ours is None else ours.added, unproved[name].added, heads
        if name not in known or known[name].inputs != inputs:
            known[name] = _Completed(inputs, *_completed(node, name, ours, unproved[name], heads))
        completed = known[name].epoch
        if completed is not None:
            counted[name] = completed
            waiting |= _name_heads(completed.follows, named) & unproved.keys()
    return counted


def _completed(
    node: str, name: str, proved: Epoch | None, unproved: Epoch, heads: Collection[tuple[int, bytes]]
) -> tuple[Epoch | None, int]:
    found: _Epochs = {}
    named = 0
    for fact in _named_links(node, name, proved, unproved, heads):
        _add(found, fact)
        named += 1
    if proved is not None and found:
        for sequence in proved.links:
            for link in proved.links_at(sequence):
                _add(found, _fact(node, name, proved, sequence, link))
    return found.get(name), named


def _name_heads(heads: Collection[tuple[str, int, str]], named: dict[str, set[tuple[int, bytes]]]) -> set[str]:
    """Add the heads to those named; returns the epochs of new ones."""
    new: set[str] = set()
    for epoch, sequence, payload_hash in heads:
        head = sequence, hash_of(payload_hash) or b""
        if head not in named.setdefault(epoch, set()):
            named[epoch].add(head)
            new.add(epoch)
    return new


def _named_links(
    node: str, name: str, proved: Epoch | None, unproved: Epoch, heads: Collection[tuple[int, bytes]]
) -> Iterator[ChainLink]:
    by_sequence: dict[int, set[bytes]] = {}
    for sequence, payload in heads:
        by_sequence.setdefault(sequence, set()).add(payload)
    last, before = -1, b""
    """The link found last, and the hash that it names."""
    for sequence in sorted(unproved.links, reverse=True):
        if proved is not None and sequence in proved.links:
            continue
        expected = by_sequence.get(sequence, set()) | ({before} if last == sequence + 1 else set())
        if proved is not None:
            expected |= {link[_HASH : 2 * _HASH] for link in proved.links_at(sequence + 1)}
        fitting = [link for link in unproved.links_at(sequence) if link[:_HASH] in {*expected, ERASED_HASH}]
        if expected and fitting:
            link = min(fitting)
            last, before = sequence, link[_HASH : 2 * _HASH]
            yield _fact(node, name, unproved, sequence, link)


def _fact(node: str, name: str, epoch: Epoch, sequence: int, link: bytes) -> ChainLink:
    """The fact that gave a link, as far as it matters for a record."""
    payload_hash, previous_hash, rest = link[:_HASH], link[_HASH : 2 * _HASH], link[2 * _HASH :]
    digest = rest[_TIME:-_TIME]
    event_us, received_us = (int.from_bytes(each, signed=True) for each in (rest[:_TIME], rest[-_TIME:]))
    statements = epoch.statements.get((sequence, digest), b"")
    return ChainLink(node, name, sequence, digest, payload_hash, previous_hash, event_us, received_us, True, statements)


def troubles(epochs: Mapping[str, Epoch], now_us: int) -> Iterator[Trouble]:
    """The inconsistencies in a node's record, epoch by epoch; `now_us` matters only for silence."""
    ends = _ends(epochs)
    for name, epoch in sorted(epochs.items()):
        yield from _duplicates(name, epoch)
        for sequence in sorted(epoch.broken):
            yield Trouble(
                "broken", name, "refers to a different event before it", epoch.seen.last_us, 1, sequence, sequence
            )
        named = ends.pop(name, ())
        yield from _holes(name, epoch, named)
        yield from _reported(name, epoch)
        if not named:  # else it has ended, and what is missing is a hole
            yield from _silence(name, epoch, now_us)
    for name, heads in sorted(ends.items()):
        last = max(sequence for sequence, _, _ in heads)
        at_us = min(at_us for _, _, at_us in heads)
        yield Trouble("hole", name, "no event of this epoch arrived", at_us, last + 1, 0, last)


_Ends = tuple[int, str, int]
"""A sequence that an epoch has according to a later one, its payload hash, and when that was reported."""


def _ends(epochs: Mapping[str, Epoch]) -> dict[str, list[_Ends]]:
    ends: dict[str, list[_Ends]] = {}
    for epoch in epochs.values():
        for name, sequence, payload_hash in epoch.follows:
            ends.setdefault(name, []).append((sequence, payload_hash, epoch.seen.first_us))
    return ends


def _duplicates(name: str, epoch: Epoch) -> Iterator[Trouble]:
    for sequence in sorted(epoch.again):
        different, replayed, unknown = _told_apart([*epoch.links_at(sequence)])
        if different > 1:
            words = f"{different:,} different events were signed for one sequence number"
            yield Trouble("fork", name, words, epoch.seen.last_us, different, sequence, sequence)
        if replayed:
            words = "one event arrived again in different bytes"
            yield Trouble("replay", name, words, epoch.received.last_us, replayed, sequence, sequence)
        if unknown:
            words = "whether an event arrived again or a different one was signed is unknown: it was erased"
            yield Trouble("erased", name, words, epoch.received.last_us, unknown, sequence, sequence)


class _ToldApart(NamedTuple):
    """How many events at one sequence are surely different, surely repeat one of these, and may be either."""

    different: int
    replayed: int
    unknown: int


def _told_apart(links: Sequence[bytes]) -> _ToldApart:
    """Two events are one if their payload hashes are equal.

    An erased one surely differs from those that were signed after another event or at another time.
    """
    erased = {link for link in links if link[:_HASH] == ERASED_HASH}
    payloads = {link[:_HASH] for link in links} - {ERASED_HASH}
    unlike = {*map(_circumstances, erased)} - {_circumstances(link) for link in links if link not in erased}
    return _ToldApart(
        different=len(payloads) + len(unlike),
        replayed=len(links) - len(erased) - len(payloads),
        unknown=len(erased) - len(unlike),
    )


def _circumstances(link: bytes) -> bytes:
    """What an erasure leaves of a link that is the same of equal events: the previous hash and the event time."""
    return link[_HASH : 2 * _HASH + _TIME]


def _holes(name: str, epoch: Epoch, ends: "list[_Ends] | tuple[()]") -> Iterator[Trouble]:
    last = max([epoch.last, *(sequence for sequence, _, _ in ends)])
    if len(epoch.links) <= last:
        expected = 0
        for sequence in [*sorted(epoch.links), last + 1]:
            if sequence > expected:
                events = sequence - expected
                yield Trouble("hole", name, "events are missing", epoch.seen.last_us, events, expected, sequence - 1)
            expected = sequence + 1
    for sequence, payload_hash, at_us in sorted(ends):
        if (known := epoch.payloads(sequence)) and hash_of(payload_hash) not in known:
            yield Trouble(
                "broken", name, "a later epoch refers to a different last event", at_us, 1, sequence, sequence
            )


def _reported(name: str, epoch: Epoch) -> Iterator[Trouble]:
    for (sequence, _), dropped in sorted(epoch.dropped.items()):
        reasons = ", ".join(f"{events:,} {reason}" for reason, events in sorted(dropped["reasons"].items()))
        words = f"the node dropped events from {dropped['firstAt']} to {dropped['lastAt']}: {reasons}"
        yield Trouble("dropped", name, words, epoch.seen.last_us, dropped["events"], sequence, sequence)
    if epoch.ahead_us > _AHEAD_US:
        words = f"its clock was at least {epoch.ahead_us / 1_000_000:,.0f} s ahead of this service's"
        yield Trouble("clock", name, words, epoch.received.last_us)


def _silence(name: str, epoch: Epoch, now_us: int) -> Iterator[Trouble]:
    """Measured by arrival: the node's clock may be wrong."""
    if epoch.interval_us is None or epoch.is_over:
        return
    heard_us = epoch.heard_us
    if now_us - heard_us > _TIMES_INTERVAL * epoch.interval_us:
        words = f"nothing arrived since; it announced a heartbeat every {epoch.interval_us // 1_000_000:,} s"
        yield Trouble("silence", name, words, heard_us)
