"""The group of Connect's workers: whether any of them is there, by what the broker lists and by what they write."""

import logging
from collections.abc import Sequence
from typing import Final, NamedTuple

from headwater.capture.connect.connectors import Workers

log = logging.getLogger(__name__)

_CONNECT_PROTOCOL: Final = "connect"


class Listed(NamedTuple):
    """A group, as the broker lists it."""

    name: str
    protocol: str
    is_empty: bool
    fault: str | None = None
    """Why the broker does not show who is in it."""


class Group:
    """Whether workers are there, as far as can be seen from here.

    A group that was never seen shows nothing: its name may be wrong, or be hidden from who asks. One in which nobody
    is seen, while workers write, shows as little.

    Args:
        name: the group's; None to look for the one Connect group there is.
        seen_ms: when a worker of it was seen last; 0 if none ever was.
        silent_ms: how long workers must have written after nobody was seen in the group, for that not to be believed.
    """

    def __init__(self, name: str | None, seen_ms: int, silent_ms: int) -> None:
        self.name = name
        self.seen_ms = seen_ms
        self.workers: Workers | None = None
        """None where it is not known."""
        self._silent_ms = silent_ms
        self._missed_ms: int | None = None
        """When nobody was seen in the group first, since somebody was."""
        self._wrote_ms = 0
        self._is_blind = False
        self._is_doubted = False

    def wrote(self, now_ms: int) -> None:
        """A worker has written something just now."""
        self._wrote_ms = now_ms

    def unseen(self, fault: str) -> None:
        """The broker could not be asked, which is not held against anybody."""
        if not self._is_blind:
            log.warning("the group of the workers cannot be seen", extra={"fault": fault})
        self.workers, self._is_blind = None, True

    def look(self, groups: Sequence[Listed], now_ms: int) -> None:
        """Look at the groups that the broker lists."""
        if self.name is None:
            found = [group.name for group in groups if group.protocol == _CONNECT_PROTOCOL and not group.is_empty]
            self.name = found[0] if len(found) == 1 else None
        group = next((group for group in groups if group.name == self.name and _may_be_connect(group)), None)
        if group is not None and group.fault is not None:
            self.unseen(group.fault)
        elif self.name is None or (group is None and not self.seen_ms):
            if self.name is not None:
                self._doubt("no worker was ever seen in this group, so none is missed")
            self.workers, self._is_blind = None, False
        else:
            self._seen(group is not None and not group.is_empty, now_ms)

    def _seen(self, is_there: bool, now_ms: int) -> None:
        if is_there:
            self._missed_ms, self._is_doubted = None, False
        elif self._missed_ms is None:
            self._missed_ms = now_ms
        elif self._wrote_ms - self._missed_ms >= self._silent_ms:
            self._doubt("workers write that are not seen in this group, so none is missed")
            is_there = True
        # A broker that comes back knows the groups only a moment later: while it was away nobody was missed.
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
    """Whether it is of workers, or was of nobody yet: another one of that name shows nothing."""
    return group.protocol in (_CONNECT_PROTOCOL, "")
