"""The group of Connect's workers: whether any is alive, by the broker's list of groups and by what workers write."""

import logging
from collections.abc import Sequence
from typing import Final, NamedTuple

from headwater.capture.connect.connectors import Workers

log = logging.getLogger(__name__)

_CONNECT_PROTOCOL: Final = "connect"


class Listed(NamedTuple):
    """A consumer group, as the broker lists it."""

    name: str
    protocol: str
    is_empty: bool
    fault: str | None = None
    """Why the broker does not show its members."""


class Group:
    """Tracks whether workers are alive, as far as can be determined.

    A group that was never seen proves nothing: its name may be wrong, or we may lack the right to see it. Neither does
    one that looks empty while workers still write.

    Args:
        name: the group's name; None to find the only Connect group.
        seen_ms: when a worker in it was last seen; 0 if never.
        silent_ms: if workers still write this long after the group looked empty, that is not believed.
    """

    def __init__(self, name: str | None, seen_ms: int, silent_ms: int) -> None:
        self.name = name
        self.seen_ms = seen_ms
        self.workers: Workers | None = None
        """None if unknown."""
        self._silent_ms = silent_ms
        self._missed_ms: int | None = None
        """When the group was first seen empty after it last had a member."""
        self._wrote_ms = 0
        self._is_blind = False
        self._is_doubted = False

    def wrote(self, now_ms: int) -> None:
        """Note that a worker wrote something just now."""
        self._wrote_ms = now_ms

    def unseen(self, fault: str) -> None:
        """Note that the broker could not be asked, which says nothing about the workers."""
        if not self._is_blind:
            log.warning("cannot read the consumer group of the workers", extra={"fault": fault})
        self.workers, self._is_blind = None, True

    def look(self, groups: Sequence[Listed], now_ms: int) -> None:
        """Update from the broker's list of groups."""
        if self.name is None:
            found = [group.name for group in groups if group.protocol == _CONNECT_PROTOCOL and not group.is_empty]
            self.name = found[0] if len(found) == 1 else None
        group = next((group for group in groups if group.name == self.name and _may_be_connect(group)), None)
        if group is not None and group.fault is not None:
            self.unseen(group.fault)
        elif self.name is None or (group is None and not self.seen_ms):
            if self.name is not None:
                self._doubt("no worker was ever seen in this group, so an absence of workers is ignored")
            self.workers, self._is_blind = None, False
        else:
            self._seen(group is not None and not group.is_empty, now_ms)

    def _seen(self, is_there: bool, now_ms: int) -> None:
        if is_there:
            self._missed_ms, self._is_doubted = None, False
        elif self._missed_ms is None:
            self._missed_ms = now_ms
        elif self._wrote_ms - self._missed_ms >= self._silent_ms:
            self._doubt("workers outside this group are active, so an absence of workers is ignored")
            is_there = True
        # A broker that comes back lists the groups only after a moment; the time it was away does not count.
        if is_there or self._is_blind or not self.seen_ms:
            self.seen_ms = now_ms
        self._is_blind = False
        is_as_before = self.workers is not None and self.workers.are_there == is_there
        since_ms = self.workers.since_ms if self.workers is not None and is_as_before else now_ms
        self.workers = Workers(is_there, self.seen_ms, since_ms)

    def _doubt(self, why: str) -> None:
        if not self._is_doubted:
            log.warning(why, extra={"group": self.name})
        self._is_doubted = True


def _may_be_connect(group: Listed) -> bool:
    """Whether it is a group of Connect workers, or still empty; another kind of group of that name is ignored."""
    return group.protocol in (_CONNECT_PROTOCOL, "")
